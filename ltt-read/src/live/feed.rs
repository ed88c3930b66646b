//! The traces of a live session, fed by the replies of a relay daemon.

use std::path::PathBuf;
use std::sync::Arc;

use super::reply::{IndexInfo, StreamInfo};
use super::request::Request;
use crate::base::time::Timestamp;
use crate::growth::GrowingTrace;
use crate::merge::Merge;
use crate::report::Error;
use crate::trace::{Trace, TracefileIndex};

/// The greatest number of streams of a session.
const MAX_STREAMS: usize = 1 << 17;
/// The greatest size of the metadata of all traces in bytes.
const MAX_METADATA: usize = 1 << 28;
/// The default of the bytes that are kept until they are released.
const MEMORY: u64 = 1 << 28;

/// The traces and streams of the sessions that are read.
#[derive(Debug)]
pub(super) struct Feed {
    root: PathBuf,
    traces: Vec<LiveTrace>,
    streams: Vec<LiveStream>,
    versions: Vec<Arc<Trace>>,
    has_grown: bool,
    /// The number of bytes that may be kept.
    memory: u64,
    /// The number of bytes that are kept.
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

impl LiveTrace {
    /// Notes that metadata cannot be parsed: it may end within a declaration. Other errors are
    /// returned.
    fn refuse(&mut self, error: Error) -> Result<(), Error> {
        match error {
            Error::Metadata { .. } => {
                self.error = Some(error);
                Ok(())
            }
            error => Err(error),
        }
    }
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

    /// Takes note that the connection is made anew: what was being fetched is fetched again, and
    /// metadata comes from its start.
    pub(super) fn reconnect(&mut self) {
        self.metadata_size = 0;
        for trace in &mut self.traces {
            trace.known_metadata = trace.known_metadata.max(trace.metadata.len());
            trace.metadata.clear();
            (trace.metadata_stream, trace.wants_metadata) = (None, false);
        }
        for stream in &mut self.streams {
            (stream.packet, stream.is_idle, stream.is_lost) = (None, false, true);
        }
    }

    /// Ends the streams of a session that the daemon has not declared over a new connection.
    pub(super) fn end_lost_streams(&mut self, session: u64) {
        let is_lost =
            |stream: &&LiveStream| stream.session == session && stream.is_lost && !stream.is_over;
        let lost: Vec<_> = self.streams.iter().filter(is_lost).map(|stream| stream.id).collect();
        self.lost_streams += lost.len();
        lost.into_iter().for_each(|stream| self.end_stream(stream));
    }

    /// Returns the sessions of the streams that are not over.
    pub(super) fn sessions(&self) -> Vec<u64> {
        let streams = self.streams.iter().filter(|stream| !stream.is_over);
        let mut sessions: Vec<_> = streams.map(|stream| stream.session).collect();
        sessions.sort_unstable();
        sessions.dedup();
        sessions
    }

    /// Returns `true` if something of a stream has arrived.
    pub(super) fn has_begun(&self) -> bool {
        self.streams.iter().any(|stream| stream.last.is_some())
    }

    /// Returns the metadata stream that has to be asked for.
    pub(super) fn metadata_wanted(&self) -> Option<u64> {
        let mut wanted = self.traces.iter().filter(|trace| trace.wants_metadata);
        wanted.find_map(|trace| trace.metadata_stream)
    }

    /// Adds a piece of metadata. `end` says that there is no more now, and whether there never
    /// will be more.
    pub(super) fn add_metadata(
        &mut self,
        stream: u64,
        data: Vec<u8>,
        end: Option<bool>,
    ) -> Result<(), Error> {
        let of = |trace: &&mut LiveTrace| trace.metadata_stream == Some(stream);
        let Some(trace) = self.traces.iter_mut().find(of) else { return Ok(()) };
        // An empty piece is not followed by others.
        trace.wants_metadata = end.is_none() && !data.is_empty();
        self.metadata_size = self.metadata_size.saturating_add(data.len());
        if self.metadata_size > MAX_METADATA {
            let reason = "it is larger than 256 MiB";
            return Err(Error::MetadataChanged { path: trace.path.clone().into(), reason });
        }
        trace.metadata.extend_from_slice(&data);
        if end == Some(true) {
            trace.metadata_stream = None;
        }
        if data.is_empty() && trace.growing.is_some() {
            return Ok(());
        }
        self.parse_metadata(stream)
    }

    /// Parses the metadata that has arrived.
    fn parse_metadata(&mut self, stream: u64) -> Result<(), Error> {
        let Some(at) = self.traces.iter().position(|it| it.metadata_stream == Some(stream)) else {
            return Ok(());
        };
        let trace = &mut self.traces[at];
        if trace.metadata.len() < trace.known_metadata {
            return Ok(());
        }
        if let Some((growing, _)) = &mut trace.growing {
            let extended = growing.extend_metadata(&trace.metadata);
            trace.error = None;
            return match extended {
                Ok(has_grown) => {
                    self.has_grown |= has_grown;
                    Ok(())
                }
                Err(error) => trace.refuse(error),
            };
        }
        let path = self.root.join(&trace.path);
        let mut growing = match GrowingTrace::new(path, &trace.metadata) {
            Ok(growing) => growing,
            Err(error) => return trace.refuse(error),
        };
        trace.error = None;
        self.has_grown = true;
        for stream in self.streams.iter_mut().filter(|stream| stream.trace == at) {
            let name = stream.name.rsplit('/').next().unwrap_or_default();
            let tracefile = growing.add_tracefile(name);
            stream.tracefile = Some(tracefile);
            for packet in stream.waiting.drain(..) {
                growing.append(tracefile, packet);
            }
            if stream.is_over {
                growing.complete(tracefile);
            }
        }
        let number = self.traces.iter().filter(|trace| trace.growing.is_some()).count();
        self.traces[at].growing = Some((growing, number));
        for stream in 0..self.streams.len() {
            if self.streams[stream].trace == at {
                self.apply_beacon(stream);
            }
        }
        Ok(())
    }

    /// Notes that a stream's trace has new metadata. Returns the session of the stream.
    pub(super) fn note_flags(&mut self, stream: u64, has_metadata: bool) -> Option<u64> {
        let stream = self.streams.iter().find(|known| known.id == stream)?;
        self.traces[stream.trace].wants_metadata |= has_metadata;
        Some(stream.session)
    }

    /// Returns the next request about a stream: for the rest of a packet, or for the next index
    /// of the stream that is known up to the earliest time.
    pub(super) fn next_request(&self, chunk: u64) -> Option<Request> {
        if self.pauses {
            return None;
        }
        let active = || self.streams.iter().filter(|stream| stream.is_active() && !stream.is_idle);
        if let Some((stream, (index, bytes))) =
            active().find_map(|stream| Some((stream.id, stream.packet.as_ref()?)))
        {
            let left = index.packet_bits / 8 - bytes.len() as u64;
            let (offset, len) = (index.offset.saturating_add(bytes.len() as u64), left.min(chunk));
            return Some(Request::Packet { stream, offset, len: len as u32 });
        }
        let next = active().min_by_key(|stream| stream.known)?;
        // If too much is kept, only what holds up the others is read.
        let growing = self.streams.iter().filter(|stream| !stream.is_over);
        let earliest = growing.map(|stream| stream.known).min()?;
        if self.kept > self.memory && next.known > earliest {
            return None;
        }
        Some(Request::NextIndex { stream: next.id })
    }

    /// Returns `true` if a session has a stream that is not over.
    pub(super) fn has_active_stream(&self, session: u64) -> bool {
        self.streams.iter().any(|stream| stream.session == session && stream.is_active())
    }

    /// Returns `true` if no stream may have more events.
    pub(super) fn is_over(&self) -> bool {
        !self.streams.iter().any(LiveStream::is_active)
    }

    /// Starts another round of questions, in which streams may have something new.
    pub(super) fn start_round(&mut self) {
        self.pauses = false;
        self.streams.iter_mut().for_each(|stream| stream.is_idle = false);
    }

    fn stream(&mut self, id: u64) -> Option<(usize, &mut LiveStream)> {
        self.streams.iter_mut().enumerate().find(|(_, stream)| stream.id == id)
    }

    pub(super) fn set_idle(&mut self, stream: u64) {
        if let Some((_, stream)) = self.stream(stream) {
            stream.is_idle = true;
        }
    }

    /// Starts to fetch a packet.
    pub(super) fn start_packet(&mut self, stream: u64, index: IndexInfo) {
        let Some((_, stream)) = self.stream(stream) else { return };
        stream.repeats &= Some((index.end, index.begin)) <= stream.last;
        if index.packet_bits > 0 && !stream.repeats {
            stream.packet = Some((index, Vec::new()));
        }
    }

    /// Gives up a packet that the daemon has removed.
    pub(super) fn drop_packet(&mut self, stream: u64) {
        if let Some((_, stream)) = self.stream(stream) {
            stream.removed += u64::from(stream.packet.take().is_some());
        }
    }

    /// Adds bytes to the packet that is being fetched.
    pub(super) fn add_bytes(&mut self, id: u64, data: Vec<u8>) -> Result<PacketState, Error> {
        let Some((_, stream)) = self.stream(id) else { return Ok(PacketState::Whole) };
        let Some((index, bytes)) = &mut stream.packet else { return Ok(PacketState::Whole) };
        match bytes.is_empty() {
            true => *bytes = data,
            false => bytes.extend_from_slice(&data),
        }
        if (bytes.len() as u64) < index.packet_bits / 8 {
            return Ok(PacketState::Partial);
        }
        let Some((index, bytes)) = stream.packet.take() else { return Ok(PacketState::Whole) };
        let (trace, tracefile) = (stream.trace, stream.tracefile);
        self.kept += bytes.len() as u64;
        self.pauses = self.kept > self.memory;
        if self.kept > self.memory.saturating_mul(2) {
            return Ok(PacketState::TooMuch);
        }
        match (&mut self.traces[trace].growing, tracefile) {
            (Some((growing, _)), Some(tracefile)) => growing.append(tracefile, bytes),
            _ => {
                let live = &mut self.traces[trace];
                if live.error.is_none() {
                    live.error = GrowingTrace::new(self.root.join(&live.path), &[]).err();
                }
                if self.kept > self.memory
                    && let Some(error) = live.error.take()
                {
                    return Err(error);
                }
                if let Some((_, stream)) = self.stream(id) {
                    stream.waiting.push(bytes);
                }
            }
        }
        self.has_grown = true;
        if let Some((_, stream)) = self.stream(id) {
            stream.last = stream.last.max(Some((index.end, index.begin)));
            stream.removed = 0;
        }
        self.note_known(id, index.stream_class, index.end);
        Ok(PacketState::Whole)
    }

    /// Notes a beacon: no event of the stream before a time follows.
    pub(super) fn silent_until(&mut self, id: u64, stream_class: u64, cycles: u64) {
        let Some((at, stream)) = self.stream(id) else { return };
        stream.is_idle = true;
        stream.beacon = Some((stream_class, cycles));
        stream.last = stream.last.max(Some((cycles, 0)));
        self.note_known(id, stream_class, cycles);
        self.apply_beacon(at);
    }

    /// Notes the time up to which a stream is known.
    fn note_known(&mut self, id: u64, stream_class: u64, cycles: u64) {
        let Some(at) = self.streams.iter().position(|stream| stream.id == id) else { return };
        let growing = self.traces[self.streams[at].trace].growing.as_ref();
        if let Some(time) = growing.and_then(|(growing, _)| growing.time_of(stream_class, cycles)) {
            self.streams[at].known = self.streams[at].known.max(time);
        }
    }

    /// Passes the last beacon of a stream on, if its clock is known.
    fn apply_beacon(&mut self, at: usize) {
        let stream = &mut self.streams[at];
        let Some((growing, _)) = &mut self.traces[stream.trace].growing else { return };
        let Some((class, cycles)) = stream.beacon else { return };
        if let (Some(time), Some(tracefile)) = (growing.time_of(class, cycles), stream.tracefile) {
            growing.silent_until(tracefile, time);
            stream.beacon = None;
            self.has_grown = true;
        }
    }

    /// Notes that a stream has no more packets.
    pub(super) fn end_stream(&mut self, id: u64) {
        self.drop_packet(id);
        let Some((_, stream)) = self.stream(id) else { return };
        stream.is_over = true;
        let (trace, tracefile) = (stream.trace, stream.tracefile);
        if let (Some((growing, _)), Some(tracefile)) = (&mut self.traces[trace].growing, tracefile)
        {
            growing.complete(tracefile);
            self.has_grown = true;
        }
    }

    /// Ends all streams.
    pub(super) fn complete(&mut self) {
        for trace in &mut self.traces {
            trace.growing.iter_mut().for_each(|(growing, _)| growing.complete_all());
        }
        self.has_grown = true;
    }

    /// Returns the reasons why the metadata of traces cannot be parsed as far as it has arrived.
    /// A trace of which nothing has arrived has none.
    pub(super) fn metadata_errors(&self) -> impl Iterator<Item = &Error> {
        self.unparsed().filter_map(|trace| self.traces[trace].error.as_ref())
    }

    /// Takes the first of the [`metadata_errors`](Self::metadata_errors).
    pub(super) fn take_metadata_error(&mut self) -> Option<Error> {
        let first = self.unparsed().next()?;
        self.traces[first].error.take()
    }

    /// Returns the indices of the traces with metadata or packets, but without valid metadata.
    fn unparsed(&self) -> impl Iterator<Item = usize> + '_ {
        let has_data = |at: &usize| {
            let mut streams = self.streams.iter().filter(|stream| stream.trace == *at);
            !self.traces[*at].metadata.is_empty() || streams.any(|it| !it.waiting.is_empty())
        };
        let failed = (0..self.traces.len()).filter(|at| self.traces[*at].error.is_some());
        failed.filter(has_data)
    }

    /// Returns the number of packets that the daemon had removed before they were fetched, and
    /// after which none of the same stream arrived.
    pub(super) fn missing_packets(&self) -> u64 {
        self.streams.iter().map(|stream| stream.removed).sum()
    }

    /// Returns the number of streams that ended while the connection was lost.
    pub(super) fn lost_streams(&self) -> usize {
        self.lost_streams
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
