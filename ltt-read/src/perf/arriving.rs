//! Recordings that are being written, whose records arrive one after the other.
//!
//! perf writes the buffers of the CPUs in turns, and marks the end of each round. A round does not overlap the one
//! after the next, so the records before the latest time of a round are complete when the next one ends. They are
//! delivered then, or when nothing has arrived for a time.

use std::path::Path;
use std::sync::Arc;

use super::decode::FileKind;
use super::header::Recording;
use super::index::{MAX_RUN, Order, RecordPlace, Records, Source};
use super::kinds::{FINISHED_ROUND, all_kinds};
use super::open::{decoder, section_error, tracefile, warnings};
use super::unpack::{Unpacking, missing_of};
use crate::format;
use crate::metadata::Diagnostic;
use crate::report::{DecodeError, Error};
use crate::trace::{FilePart, Tracefile};
use crate::tracepoint::input::{ENDS, Fault, Input};

/// The size of the header of a pipe in bytes, with which a file begins as well.
const PIPE_HEADER: usize = 16;

/// The greatest number of bytes that wait for those after them. Descriptions of some thousand tracepoints have some
/// megabytes.
const MAX_REST: usize = 1 << 28;

/// A recording that is being written.
#[derive(Debug)]
pub(crate) struct Arriving {
    path: Arc<Path>,
    /// The bytes that were not used yet.
    rest: Vec<u8>,
    /// Their offset in the file.
    offset: u64,
    /// The facts before the records; `None` while they are not known.
    recording: Option<Recording>,
    unpacking: Unpacking,
    records: Option<KernelRecords>,
    /// The damage after which nothing is read.
    damage: Option<DecodeError>,
    is_complete: bool,
}

/// A part of a recording that has become known; parts are in order.
#[derive(Debug)]
pub(crate) enum Found {
    /// The descriptions of what follows, with warnings.
    Start(Box<format::Decoder>, Vec<Diagnostic>),
    /// A tracefile, the next one.
    Tracefile(Box<Tracefile>),
    Part(FoundPart),
    /// No records before a time follow, in cycles.
    SilentUntil(u64),
}

/// Records of a tracefile, which follow those before.
#[derive(Debug)]
pub(crate) struct FoundPart {
    /// The number of the tracefile.
    pub(crate) tracefile: usize,
    pub(crate) bytes: Vec<u8>,
    pub(crate) begin: FilePart,
    pub(crate) kind: format::FileKind,
}

/// The records of the kernel.
#[derive(Debug)]
struct KernelRecords {
    records: Records,
    found: Vec<Found>,
    order: Order,
    sequences: Vec<Waiting>,
    /// The size of all that were unpacked, in bytes.
    unpacked: u64,
    /// The latest time of all records.
    latest: u64,
    /// The latest time at the end of the last round.
    round: u64,
}

/// The records of a sequence that wait until earlier ones of others are known.
#[derive(Debug, Default)]
struct Waiting {
    bytes: Vec<u8>,
    records: Vec<WaitingRecord>,
}

/// A record that waits.
#[derive(Debug, Clone, Copy)]
struct WaitingRecord {
    /// The offset in the file, or in all records that were unpacked, in bytes.
    offset: u64,
    size: u64,
    time: Option<u64>,
    is_loss: bool,
}

impl Arriving {
    /// Creates a recording of which nothing has arrived. The path is for messages and names.
    pub(crate) fn new(path: &Path) -> Self {
        Arriving {
            path: path.into(),
            rest: Vec::new(),
            offset: 0,
            recording: None,
            unpacking: Unpacking::default(),
            records: None,
            damage: None,
            is_complete: false,
        }
    }

    /// Returns `true` if nothing follows.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Returns the latest time that has arrived, in cycles; `None` if there is none.
    pub(crate) fn latest(&self) -> Option<u64> {
        self.records.as_ref().map(|records| records.latest).filter(|latest| *latest > 0)
    }

    /// Takes what has become known.
    pub(crate) fn take_found(&mut self) -> Vec<Found> {
        self.records.as_mut().map_or_else(Vec::new, |records| std::mem::take(&mut records.found))
    }

    /// Adds the bytes that follow.
    ///
    /// # Errors
    ///
    /// [`Error::NotATrace`] if this is no recording, [`Error::Section`] if it is damaged before its records,
    /// [`Error::Unsupported`] if no decoder can be compiled from it. Nothing more is read then.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.is_complete || self.damage.is_some() {
            return Ok(());
        }
        self.rest.extend_from_slice(bytes);
        let result = self.read();
        if result.is_err() {
            self.is_complete = true;
            self.rest = Vec::new();
        }
        result
    }

    fn read(&mut self) -> Result<(), Error> {
        let recording = match &mut self.recording {
            Some(recording) => recording,
            none => {
                let Some((recording, size)) = header(&self.path, &self.rest)? else {
                    return Ok(());
                };
                self.rest.drain(..size);
                self.offset = size as u64;
                let recording = none.insert(recording);
                // A pipe has its descriptions in records.
                if !recording.is_packed {
                    self.records = Some(KernelRecords::new(&self.path, recording)?);
                }
                recording
            }
        };
        let order = recording.order;
        let mut input = Input::arriving(&self.rest, self.offset, order, "records");
        let mut unpacked = Vec::new();
        loop {
            let at = input.offset();
            match self.unpacking.next(recording, &mut input, &mut unpacked) {
                Ok(None) | Err(Fault { reason: ENDS, .. }) => break,
                Err(fault) => {
                    recording.keep(Err(fault));
                    self.damage = Some(DecodeError::NotARecord);
                    break;
                }
                Ok(Some(kind)) => {
                    let is_first = self.records.is_none() && !unpacked.is_empty();
                    if is_first {
                        self.records = Some(KernelRecords::new(&self.path, recording)?);
                    }
                    let Some(records) = &mut self.records else { continue };
                    // Of plain records, their places in the file are known.
                    let is_plain = !recording.is_packed && kind < FINISHED_ROUND;
                    records.add(&unpacked, is_plain.then_some(at));
                    unpacked.clear();
                    if kind == FINISHED_ROUND {
                        records.end_round();
                    }
                }
            }
        }
        let used = (input.offset() - self.offset) as usize;
        self.offset += used as u64;
        self.rest.drain(..used);
        if self.rest.len() > MAX_REST {
            self.damage = Some(DecodeError::NotARecord);
        }
        Ok(())
    }

    /// Delivers the records whose times, in cycles, are final.
    pub(crate) fn deliver(&mut self, is_final: impl Fn(u64) -> bool) {
        if let Some(records) = &mut self.records {
            records.deliver(is_final);
        }
    }

    /// Notes that nothing follows: all records are delivered. What is left of the last one is damage.
    ///
    /// # Errors
    ///
    /// If there is no trace: see [`push`](Self::push).
    pub(crate) fn complete(&mut self) -> Result<(), Error> {
        if std::mem::replace(&mut self.is_complete, true) {
            return Ok(());
        }
        let Some(recording) = &mut self.recording else {
            let reason = "it is no recording of perf, or ends before its records";
            return Err(Error::NotATrace { path: self.path.to_path_buf(), reason });
        };
        let mut unpacked = Vec::new();
        let of_stream = self.unpacking.finish(recording, &mut unpacked);
        let records = match &mut self.records {
            Some(records) => records,
            none => none.insert(KernelRecords::new(&self.path, recording)?),
        };
        records.add(&unpacked, None);
        records.deliver(|_| true);
        let rest = std::mem::take(&mut self.rest);
        let cut = (!rest.is_empty()).then(|| {
            let missing = missing_of(&rest, recording.order);
            DecodeError::TruncatedPacket { missing }
        });
        if let Some(damage) = self.damage.or(cut).or(of_stream) {
            records.add_damage(damage, self.offset);
        }
        Ok(())
    }
}

/// Reads what is before the records, with its size; `None` while it is not there.
fn header(path: &Path, bytes: &[u8]) -> Result<Option<(Recording, usize)>, Error> {
    let Some(start) = bytes.get(..PIPE_HEADER) else { return Ok(None) };
    let size = match Recording::read(start) {
        Some(Ok(_)) => PIPE_HEADER,
        // A file has more.
        Some(Err(Fault { reason: ENDS, .. })) => match Recording::begin_of_records(bytes) {
            None => return Ok(None),
            Some(begin) => usize::try_from(begin).unwrap_or(usize::MAX),
        },
        Some(Err(fault)) => return Err(section_error(path, fault)),
        None => {
            let reason = "it is no recording of perf";
            return Err(Error::NotATrace { path: path.to_owned(), reason });
        }
    };
    if size > MAX_REST {
        let fault = Fault { section: "file header", offset: 40, reason: "it is too large" };
        return Err(section_error(path, fault));
    }
    let recording = bytes.get(..size).and_then(Recording::read);
    let recording = recording.transpose().map_err(|fault| section_error(path, fault))?;
    Ok(recording.map(|recording| (recording, size)))
}

impl KernelRecords {
    /// Creates the trace, without records. All kinds of records are declared, so that its schema does not grow.
    fn new(path: &Arc<Path>, recording: &mut Recording) -> Result<Self, Error> {
        recording.check().map_err(|fault| section_error(path, fault))?;
        let new = || Records::new(recording.order, &recording.attributes);
        let decoder = decoder(path, recording, new(), (all_kinds(), true), Vec::new())?;
        let records = new();
        let found = vec![Found::Start(Box::new(decoder), warnings(recording))];
        Ok(KernelRecords {
            records,
            found,
            order: Order::default(),
            sequences: Vec::new(),
            unpacked: 0,
            latest: 0,
            round: 0,
        })
    }

    /// Adds whole records. `place` is the offset of the first one in the file, if they were not packed.
    fn add(&mut self, mut bytes: &[u8], place: Option<u64>) {
        let mut offset = place.unwrap_or(self.unpacked);
        self.unpacked += bytes.len() as u64;
        while let Some(header) = self.records.header(bytes, 0) {
            let Some((record, rest)) = bytes.split_at_checked(header.size as usize) else { break };
            let RecordPlace { source, time, lost } = self.records.place(record, header.kind);
            let at = self
                .order
                .sequence(source, time)
                .unwrap_or_else(|number| self.add_tracefile(source, number));
            if let Some(waiting) = self.sequences.get_mut(at) {
                waiting.bytes.extend_from_slice(record);
                let (size, is_loss) = (header.size, lost.is_some());
                waiting.records.push(WaitingRecord { offset, size, time, is_loss });
            }
            self.latest = self.latest.max(time.unwrap_or(0));
            offset += header.size;
            bytes = rest;
        }
    }

    /// Adds a tracefile, and returns its number.
    fn add_tracefile(&mut self, source: Source, number: u32) -> usize {
        let tracefile = tracefile(source, number, Vec::new());
        self.found.push(Found::Tracefile(Box::new(tracefile)));
        self.sequences.push(Waiting::default());
        self.sequences.len() - 1
    }

    /// Delivers what is known to be complete at the end of a round.
    fn end_round(&mut self) {
        let round = std::mem::replace(&mut self.round, self.latest);
        self.deliver(|time| time <= round);
        if round > 0 {
            self.found.push(Found::SilentUntil(round));
        }
    }

    /// Delivers the first records of each sequence, as long as their times are final; those without a time are.
    fn deliver(&mut self, is_final: impl Fn(u64) -> bool) {
        for (tracefile, Waiting { bytes, records }) in self.sequences.iter_mut().enumerate() {
            let count = records.iter().take_while(|record| record.time.is_none_or(&is_final));
            let count = count.count();
            let mut begin = 0_usize;
            let mut parts = records.drain(..count).peekable();
            while let Some(first) = parts.next() {
                let mut size = first.size;
                let follows = |next: &WaitingRecord, size: u64| {
                    next.offset == first.offset + size
                        && !next.is_loss
                        && size + next.size <= MAX_RUN
                };
                while let Some(next) = parts.next_if(|next| follows(next, size)) {
                    size += next.size;
                }
                let end = begin + size as usize;
                let bytes = bytes.get(begin..end).unwrap_or(&[]).to_vec();
                let part = FilePart { offset: first.offset, packet: 0 };
                let kind = format::FileKind::Perf(FileKind::OneRun);
                self.found.push(Found::Part(FoundPart { tracefile, bytes, begin: part, kind }));
                begin = end;
            }
            drop(parts);
            bytes.drain(..begin.min(bytes.len()));
        }
    }

    /// Adds damage after all records, in the sequence of the latest one.
    fn add_damage(&mut self, damage: DecodeError, offset: u64) {
        let latest = self.order.latest().map(|(at, _)| at);
        let tracefile = latest.unwrap_or_else(|| self.add_tracefile(Source::Untimed, 0));
        let kind = format::FileKind::Perf(FileKind::Damage(damage));
        let begin = FilePart { offset, packet: 0 };
        self.found.push(Found::Part(FoundPart { tracefile, bytes: vec![0], begin, kind }));
    }
}
