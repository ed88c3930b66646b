//! One recording of perf that is followed.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError};

use super::tail::read_at;
use crate::base::time::Timestamp;
use crate::growth::growing_trace::GrowingTrace;
use crate::growth::stream::Packets;
use crate::perf::arriving::{Arriving, Found, FoundPart};
use crate::perf::end_of_records;
use crate::report::Error;
use crate::trace::TracefileIndex;

/// The number of bytes that are read at once.
const CHUNK: usize = 4 << 20;

/// The size of the header of a file in bytes.
const HEADER: usize = 104;

/// A recording of perf of which new records are read as they are written.
#[derive(Debug)]
pub(super) struct FollowedRecording {
    path: PathBuf,
    arriving: Arriving,
    /// The trace; `None` while its descriptions are not known.
    pub(super) growing: Option<GrowingTrace>,
    /// The time before which no records follow.
    limit: Timestamp,
    source: Source,
    /// `true` if the last read reached the end of what is there.
    is_read: bool,
}

/// The source of the bytes of a recording.
#[derive(Debug)]
enum Source {
    /// A file, with the number of bytes that were read.
    File(File, u64),
    /// A stream, such as a pipe, which another thread reads.
    Stream(Receiver<io::Result<Vec<u8>>>),
}

impl FollowedRecording {
    pub(super) fn of_file(path: &Path, file: File) -> Self {
        FollowedRecording::new(path, Source::File(file, 0))
    }

    pub(super) fn of_stream(path: &Path, stream: Receiver<io::Result<Vec<u8>>>) -> Self {
        FollowedRecording::new(path, Source::Stream(stream))
    }

    fn new(path: &Path, source: Source) -> Self {
        let arriving = Arriving::new(path);
        let (path, growing) = (path.to_owned(), None);
        let limit = Timestamp::MIN;
        FollowedRecording { path, arriving, growing, limit, source, is_read: false }
    }

    /// Reads the records that have become whole. Returns `true` if there are some.
    pub(super) fn read(&mut self, failures: &mut Vec<Error>) -> bool {
        if self.arriving.is_complete() {
            return false;
        }
        let result = match &mut self.source {
            Source::File(file, offset) => read_file(file, offset),
            Source::Stream(stream) => read_stream(stream),
        };
        let result = result.map(|Read { bytes, is_read, has_ended }| (bytes, is_read, has_ended));
        let (bytes, is_read, has_ended) = result.unwrap_or_else(|error| {
            failures.push(Error::Io { path: self.path.clone(), error });
            // A stream that cannot be read has ended.
            (Vec::new(), true, matches!(self.source, Source::Stream(_)))
        });
        self.is_read = is_read;
        failures.extend(self.arriving.push(&bytes).err());
        let has_grown = self.take_found();
        if has_ended && !self.arriving.is_complete() {
            failures.extend(self.complete().err());
            return true;
        }
        has_grown
    }

    /// Adds what has become known to the trace. Returns `true` if this is something.
    fn take_found(&mut self) -> bool {
        let found = self.arriving.take_found();
        let has_grown = !found.is_empty();
        for found in found {
            if let Found::Start(decoder, warnings) = found {
                let growing = GrowingTrace::of_decoder(&self.path, *decoder, warnings);
                self.growing = Some(growing);
                continue;
            }
            let Some(growing) = &mut self.growing else { continue };
            match found {
                Found::Start(..) => {}
                Found::Tracefile(tracefile) => {
                    let tracefile = growing.add_tracefile_of(*tracefile);
                    growing.silent_until(tracefile, self.limit);
                }
                Found::Part(FoundPart { tracefile, bytes, begin, kind }) => {
                    let file = self.path.as_path().into();
                    let packets = Packets { file, bytes, begin, kind };
                    growing.append_packets(TracefileIndex(tracefile), packets);
                }
                Found::SilentUntil(cycles) => {
                    if let Some(time) = growing.time_of(0, cycles) {
                        self.limit = self.limit.max(time);
                        silent_until(growing, time);
                    }
                }
            }
        }
        has_grown
    }

    /// Returns the latest time that has arrived; [`Timestamp::MIN`] if there is none.
    pub(super) fn latest(&self) -> Timestamp {
        let time = |latest| self.growing.as_ref()?.time_of(0, latest);
        self.arriving.latest().and_then(time).unwrap_or(Timestamp::MIN)
    }

    /// Delivers the records up to a time, before which no others follow.
    pub(super) fn silent_until(&mut self, time: Timestamp) {
        let Some(growing) = &self.growing else { return };
        let is_final = |cycles| growing.time_of(0, cycles).is_none_or(|at| at <= time);
        self.arriving.deliver(is_final);
        self.take_found();
        self.limit = self.limit.max(time);
        self.growing.iter_mut().for_each(|growing| silent_until(growing, time));
    }

    /// Notes that nothing follows: what is left of the last record is damage.
    ///
    /// # Errors
    ///
    /// If there is no trace.
    pub(super) fn complete(&mut self) -> Result<(), Error> {
        let result = self.arriving.complete();
        self.take_found();
        self.growing.iter_mut().for_each(GrowingTrace::complete_all);
        result
    }

    /// Returns `true` if nothing follows.
    pub(super) fn is_complete(&self) -> bool {
        self.arriving.is_complete()
    }

    /// Returns `true` if the last read reached the end of what is there.
    pub(super) fn is_read(&self) -> bool {
        self.is_read || self.arriving.is_complete()
    }
}

/// Notes that all tracefiles have no events before a time.
fn silent_until(growing: &mut GrowingTrace, time: Timestamp) {
    (0..growing.tracefiles()).for_each(|at| growing.silent_until(TracefileIndex(at), time));
}

/// The bytes that were read.
struct Read {
    bytes: Vec<u8>,
    /// `true` if they are all that is there.
    is_read: bool,
    /// `true` if nothing follows them.
    has_ended: bool,
}

/// Returns `true` if the header of a file tells the end of its records, as perf writes it when recording ends.
pub(super) fn has_ended(file: &File) -> io::Result<bool> {
    let mut header = [0; HEADER];
    let read = read_at(file, &mut header, 0)?;
    Ok(end_of_records(header.get(..read).unwrap_or(&[])).is_some())
}

/// Reads what was written to a file since the last call. When recording ends, perf writes the size of the records to
/// the header.
fn read_file(file: &File, offset: &mut u64) -> io::Result<Read> {
    let mut header = [0; HEADER];
    let read = read_at(file, &mut header, 0)?;
    let end = end_of_records(header.get(..read).unwrap_or(&[]));
    let len = file.metadata()?.len();
    let known = end.unwrap_or(u64::MAX).min(len).saturating_sub(*offset);
    let mut bytes = vec![0; known.min(CHUNK as u64) as usize];
    let read = read_at(file, &mut bytes, *offset)?;
    bytes.truncate(read);
    *offset += read as u64;
    let is_read = read as u64 == known;
    Ok(Read { bytes, is_read, has_ended: is_read && end.is_some_and(|end| end <= len) })
}

/// Reads what has arrived from a stream since the last call.
fn read_stream(stream: &Receiver<io::Result<Vec<u8>>>) -> io::Result<Read> {
    let mut bytes = Vec::new();
    while bytes.len() < CHUNK {
        match stream.try_recv() {
            Ok(Ok(more)) => bytes.extend(more),
            Ok(Err(error)) => return Err(error),
            Err(TryRecvError::Empty) => {
                return Ok(Read { bytes, is_read: true, has_ended: false });
            }
            Err(TryRecvError::Disconnected) => {
                return Ok(Read { bytes, is_read: true, has_ended: true });
            }
        }
    }
    Ok(Read { bytes, is_read: false, has_ended: false })
}
