//! The traces of a live session, fed by the replies of a relay daemon.

mod metadata;
mod packets;
mod reconnect;

use std::path::PathBuf;
use std::sync::Arc;

use super::reply::{IndexInfo, StreamInfo};
use crate::base::time::Timestamp;
use crate::growth::GrowingTrace;
use crate::merge::Merge;
use crate::report::Error;
use crate::trace::{Trace, TracefileIndex};

/// The greatest number of streams of a session.
const MAX_STREAMS: usize = 1 << 17;
/// The greatest size of the metadata of all traces in bytes.
const MAX_METADATA: usize = 1 << 28;
/// The default limit of stored bytes.
const MEMORY: u64 = 1 << 28;

/// The traces and streams of the sessions that are read.
#[derive(Debug)]
pub(super) struct Feed {
    root: PathBuf,
    traces: Vec<LiveTrace>,
    streams: Vec<LiveStream>,
    versions: Vec<Arc<Trace>>,
    has_grown: bool,
    /// The limit of stored bytes.
    memory: u64,
    /// The number of stored bytes.
    kept: u64,
    /// `true` if nothing more is fetched in this round, so that the caller can release data.
    pauses: bool,
    /// The size of the metadata of all traces in bytes.
    metadata_size: usize,
    /// The number of streams that ended while the connection was lost.
    lost_streams: usize,
}

/// A trace of a session.
#[derive(Debug)]
struct LiveTrace {
    session: u64,
    id: u64,
    path: String,
    metadata_stream: Option<u64>,
    metadata: Vec<u8>,
    /// The size of the metadata before the connection was made anew: until as much has arrived, it
    /// tells nothing new.
    known_metadata: usize,
    wants_metadata: bool,
    /// The trace once its metadata can be parsed, with its index among the versions.
    growing: Option<(GrowingTrace, usize)>,
    /// The reason why the metadata cannot be parsed as far as it has arrived.
    error: Option<Error>,
}

/// A stream of events.
#[derive(Debug)]
struct LiveStream {
    id: u64,
    session: u64,
    trace: usize,
    name: String,
    tracefile: Option<TracefileIndex>,
    /// The packet that is being fetched, with the bytes that are there.
    packet: Option<(IndexInfo, Vec<u8>)>,
    /// Whole packets that wait for the first metadata.
    waiting: Vec<Vec<u8>>,
    /// The last beacon, if the clock is not known yet: a stream class and a time in cycles.
    beacon: Option<(u64, u64)>,
    /// The time up to which the stream is known.
    known: Timestamp,
    /// The end and the start of the last packet, or the last beacon, in cycles.
    last: Option<(u64, u64)>,
    /// The number of packets after it that the daemon had removed before they were fetched.
    removed: u64,
    /// `true` until the daemon declares the stream over a new connection.
    is_lost: bool,
    /// `true` if packets up to `last` are sent again.
    repeats: bool,
    /// `true` if the daemon had nothing new in this round.
    is_idle: bool,
    is_over: bool,
}

/// The state of a packet after a piece of it arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PacketState {
    Partial,
    Whole,
    /// More is kept than twice the limit: the caller does not release it, or the daemon does not
    /// say up to which times its packets are.
    TooMuch,
}

impl LiveStream {
    /// Returns `true` if the daemon may have more of the stream.
    fn is_active(&self) -> bool {
        !self.is_over && !self.is_lost
    }
}

/// Returns the name of a stream.
fn name_of(info: &StreamInfo) -> String {
    format!("{}/{}", info.path, info.channel)
}

impl Feed {
    pub(super) fn new() -> Feed {
        Feed {
            root: PathBuf::new(),
            traces: Vec::new(),
            streams: Vec::new(),
            versions: Vec::new(),
            has_grown: false,
            memory: MEMORY,
            kept: 0,
            pauses: false,
            metadata_size: 0,
            lost_streams: 0,
        }
    }

    pub(super) fn set_root(&mut self, root: PathBuf) {
        self.root = root;
    }

    pub(super) fn set_memory(&mut self, bytes: u64) {
        self.memory = bytes;
    }

    /// Returns the number of bytes that may be kept.
    pub(super) fn memory(&self) -> u64 {
        self.memory
    }

    /// Adds streams of a session. The error is the reason why they are refused.
    pub(super) fn add_streams(
        &mut self,
        session: u64,
        streams: Vec<StreamInfo>,
    ) -> Result<(), &'static str> {
        for info in streams {
            if self.streams.len() >= MAX_STREAMS || self.traces.len() >= MAX_STREAMS {
                return Err("too many streams");
            }
            if let Some(known) = self.streams.iter_mut().find(|known| known.id == info.id) {
                let is_same = known.session == session && known.name == name_of(&info);
                match known.is_lost && is_same {
                    true => (known.is_lost, known.repeats) = (false, known.last.is_some()),
                    false => return Err("a stream that is known already"),
                }
                continue;
            }
            let same = |trace: &LiveTrace| trace.session == session && trace.id == info.trace;
            let trace = self.traces.iter().position(same).unwrap_or_else(|| {
                self.traces.push(LiveTrace {
                    session,
                    id: info.trace,
                    path: info.path.clone(),
                    metadata_stream: None,
                    metadata: Vec::new(),
                    known_metadata: 0,
                    wants_metadata: false,
                    growing: None,
                    error: None,
                });
                self.traces.len() - 1
            });
            if info.is_metadata {
                self.traces[trace].metadata_stream = Some(info.id);
                self.traces[trace].wants_metadata = true;
                continue;
            }
            let known = self.traces[trace].growing.as_mut();
            let tracefile = known.map(|(growing, _)| growing.add_tracefile(&info.channel));
            self.has_grown = true;
            self.streams.push(LiveStream {
                id: info.id,
                session,
                trace,
                name: name_of(&info),
                tracefile,
                packet: None,
                waiting: Vec::new(),
                beacon: None,
                known: Timestamp::MIN,
                last: None,
                removed: 0,
                is_lost: false,
                repeats: false,
                is_idle: false,
                is_over: false,
            });
        }
        Ok(())
    }

    /// Notes that a stream's trace has new metadata. Returns the session of the stream.
    pub(super) fn note_flags(&mut self, stream: u64, has_metadata: bool) -> Option<u64> {
        let stream = self.streams.iter().find(|known| known.id == stream)?;
        self.traces[stream.trace].wants_metadata |= has_metadata;
        Some(stream.session)
    }

    /// Returns `true` if a session has a stream that is not over.
    pub(super) fn has_active_stream(&self, session: u64) -> bool {
        self.streams.iter().any(|stream| stream.session == session && stream.is_active())
    }

    /// Returns `true` if no stream may have more events.
    pub(super) fn is_over(&self) -> bool {
        !self.streams.iter().any(LiveStream::is_active)
    }

    /// Ends all streams.
    pub(super) fn complete(&mut self) {
        for trace in &mut self.traces {
            trace.growing.iter_mut().for_each(|(growing, _)| growing.complete_all());
        }
        self.has_grown = true;
    }

    /// Returns the number of packets that the daemon had removed before they were fetched, and
    /// after which none of the same stream arrived.
    pub(super) fn missing_packets(&self) -> u64 {
        self.streams.iter().map(|stream| stream.removed).sum()
    }

    /// Returns the name of a stream.
    pub(super) fn name_of(&self, id: u64) -> String {
        if let Some(stream) = self.streams.iter().find(|stream| stream.id == id) {
            return format!("stream {id} ({})", stream.name);
        }
        match self.traces.iter().find(|trace| trace.metadata_stream == Some(id)) {
            Some(trace) => format!("stream {id} ({})", trace.path),
            None => format!("stream {id}"),
        }
    }

    /// Returns the traces as far as they have arrived.
    pub(super) fn versions(&mut self) -> &[Arc<Trace>] {
        if std::mem::take(&mut self.has_grown) {
            let mut growing: Vec<_> =
                self.traces.iter_mut().filter_map(|trace| trace.growing.as_mut()).collect();
            growing.sort_by_key(|(_, number)| *number);
            self.versions =
                growing.into_iter().map(|(growing, _)| growing.version().clone()).collect();
        }
        &self.versions
    }

    /// Forgets the data that a merge has delivered.
    pub(super) fn release(&mut self, merge: &Merge) {
        let mut kept = 0;
        for trace in &mut self.traces {
            if let Some((growing, number)) = &mut trace.growing {
                growing.release(merge, *number);
                kept += growing.size();
            }
        }
        let waiting = self.streams.iter().flat_map(|stream| &stream.waiting);
        self.kept = kept + waiting.map(|packet| packet.len() as u64).sum::<u64>();
    }
}
