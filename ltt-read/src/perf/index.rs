//! The index of records: for each CPU, the runs of its records in a file, in order of time.
//!
//! The file has the buffers of the CPUs in turns, in no exact order. The records of one CPU are in
//! order of time, with few exceptions, for which there are further sequences.

use hashbrown::HashMap;

use super::attributes::{Attribute, HEADER, sample};
use super::kinds::{AUXTRACE, FIRST_OF_PERF, HAS_BUILD_ID, LOST, MMAP2, SAMPLE, TRACING_DATA};
use crate::report::DecodeError;
use crate::schema::ByteOrder;

/// The index of a recording.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) sequences: Vec<Sequence>,
    /// The kinds of records that are no samples, with the bit of the header that changes their fields.
    pub(super) kinds: Vec<(u32, u16)>,
    /// `true` if there are more CPUs or places without order than sequences.
    pub(super) is_crowded: bool,
}

/// Records of a CPU in order of time.
#[derive(Debug)]
pub(super) struct Sequence {
    pub(super) source: Source,
    /// The number of the sequence among those of its source, from 0.
    pub(super) number: u32,
    pub(super) runs: Vec<Run>,
    last: u64,
}

/// The source of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Source {
    /// Records without a time.
    Untimed,
    Cpu(u32),
    /// Records with a time, but without a CPU.
    Task,
}

/// Records that follow each other in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// The offset in the records, in bytes.
    pub(super) offset: u64,
    /// The size in bytes.
    pub(super) size: u64,
    /// The time of the first record.
    pub(super) start: Option<u64>,
    /// The number of events that were lost before.
    pub(super) lost: Option<u64>,
    /// The damage that is there, in place of records.
    pub(super) damage: Option<DecodeError>,
}

/// The greatest number of sequences.
const MAX_SEQUENCES: usize = 1 << 12;

/// The greatest number of sequences of a source, each of which takes time.
const MAX_OF_SOURCE: usize = 512;

/// The greatest size of a run in bytes, unless it is one record.
const MAX_RUN: u64 = 1 << 16;

/// The header of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordHeader {
    pub(super) kind: u32,
    pub(super) misc: u16,
    pub(super) size: u64,
}

/// The way to read records: their attributes and times.
#[derive(Debug)]
pub(super) struct Records {
    order: ByteOrder,
    attributes: Box<[Attribute]>,
    by_id: HashMap<u64, u32>,
    has_identifier: bool,
    has_id: bool,
}

impl Records {
    /// Creates the way to read records with some attributes, of which there is at least one.
    pub(super) fn new(order: ByteOrder, attributes: &[Attribute]) -> Self {
        let pairs = attributes.iter().zip(0..);
        let by_id = pairs.flat_map(|(attribute, at)| attribute.ids.iter().map(move |id| (*id, at)));
        let of_first = |bit| attributes.first().is_some_and(|first| first.has(bit));
        let is_single = attributes.len() < 2;
        Records {
            order,
            by_id: by_id.collect(),
            attributes: attributes.into(),
            has_identifier: !is_single && of_first(sample::IDENTIFIER),
            has_id: !is_single && of_first(sample::ID),
        }
    }

    /// Reads the header of the record at a byte; `None` if there is none that is sound.
    #[inline]
    pub(super) fn header(&self, data: &[u8], at: u64) -> Option<RecordHeader> {
        let bytes: [u8; 8] = *data.get(usize::try_from(at).ok()?..)?.first_chunk()?;
        let [a, b, c, d, e, f, g, h] = bytes;
        let (kind, misc, size) = match self.order {
            ByteOrder::Little => (
                u32::from_le_bytes([a, b, c, d]),
                u16::from_le_bytes([e, f]),
                u16::from_le_bytes([g, h]),
            ),
            ByteOrder::Big => (
                u32::from_be_bytes([a, b, c, d]),
                u16::from_be_bytes([e, f]),
                u16::from_be_bytes([g, h]),
            ),
        };
        let size = u64::from(size);
        (size >= HEADER.into()).then_some(RecordHeader { kind, misc, size })
    }

    /// Returns the number of the attribute of a record.
    #[inline]
    pub(super) fn attribute(&self, record: &[u8], kind: u32) -> u32 {
        let before_end = |size: usize| self.number(record, record.len().checked_sub(size)?);
        let id = match (self.has_identifier, kind) {
            (true, SAMPLE) => self.number(record, HEADER as usize),
            (true, _) => before_end(8),
            _ if !self.has_id => None,
            (_, SAMPLE) => {
                let at = self.attributes.first().map(Attribute::id_in_sample);
                at.and_then(|at| self.number(record, at as usize))
            }
            _ => {
                let at = self.attributes.first().and_then(|first| first.before_end(sample::ID));
                at.and_then(|at| before_end(at as usize))
            }
        };
        id.and_then(|id| self.by_id.get(&id)).copied().unwrap_or(0)
    }

    /// Returns the number of 8 bytes at a byte of a record.
    #[inline]
    fn number(&self, record: &[u8], at: usize) -> Option<u64> {
        let bytes = *record.get(at..)?.first_chunk()?;
        Some(match self.order {
            ByteOrder::Little => u64::from_le_bytes(bytes),
            ByteOrder::Big => u64::from_be_bytes(bytes),
        })
    }

    /// Returns the number of 4 bytes at a byte of a record.
    #[inline]
    fn half(&self, record: &[u8], at: usize) -> Option<u32> {
        let bytes = *record.get(at..)?.first_chunk()?;
        Some(match self.order {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        })
    }

    /// Returns the time of a record; `None` if it has none.
    #[inline]
    pub(super) fn time(&self, record: &[u8], kind: u32, attribute: u32) -> Option<u64> {
        let attribute = self.attributes.get(attribute as usize)?;
        if kind == SAMPLE {
            return self.number(record, attribute.time_in_sample()? as usize);
        }
        let at = attribute.before_end(sample::TIME)?;
        let time = self.number(record, record.len().checked_sub(at as usize)?)?;
        // Records that perf makes up have no time.
        (time != 0 && time != u64::MAX).then_some(time)
    }

    /// Returns the source of a record that has a time.
    #[inline]
    fn source(&self, record: &[u8], kind: u32, attribute: u32) -> Source {
        let cpu = || {
            let attribute = self.attributes.get(attribute as usize)?;
            let at = match kind {
                SAMPLE => attribute.cpu_in_sample()? as usize,
                _ => record.len().checked_sub(attribute.before_end(sample::CPU)? as usize)?,
            };
            self.half(record, at)
        };
        cpu().map_or(Source::Task, Source::Cpu)
    }

    /// Creates the index of records, of which `missing` bytes are known to be missing at the end.
    pub(super) fn index(&self, data: &[u8], missing: u64, damage: Option<DecodeError>) -> Index {
        let mut building = Building::default();
        let (mut at, len) = (0, data.len() as u64);
        let missing = (missing > 0).then_some(DecodeError::TruncatedPacket { missing });
        let damage = loop {
            if at >= len {
                // What follows a record may be said to reach beyond the end.
                let beyond = (at > len).then(|| DecodeError::TruncatedPacket { missing: at - len });
                break damage.or(missing).or(beyond);
            }
            let Some(header) = self.header(data, at) else {
                let missing = u64::from(HEADER).saturating_sub(len - at);
                break Some(match missing {
                    0 => DecodeError::NotARecord,
                    _ => DecodeError::TruncatedPacket { missing },
                });
            };
            let RecordHeader { kind, misc, size } = header;
            let end = at + size;
            let bounds = usize::try_from(at).ok().zip(usize::try_from(end).ok());
            let Some(record) = bounds.and_then(|(at, end)| data.get(at..end)) else {
                break Some(DecodeError::TruncatedPacket { missing: end - len });
            };
            if kind >= FIRST_OF_PERF {
                let following = match kind {
                    TRACING_DATA => self.half(record, HEADER as usize).map(u64::from),
                    AUXTRACE => self.number(record, HEADER as usize),
                    _ => None,
                };
                at = end.saturating_add(following.unwrap_or(0));
                building.last = None;
                continue;
            }
            let attribute = self.attribute(record, kind);
            let lost = match kind {
                LOST => self.number(record, HEADER as usize + 8),
                _ => None,
            };
            if kind != SAMPLE {
                let form = if kind == MMAP2 { misc & HAS_BUILD_ID } else { 0 };
                let kind = (kind, form);
                if !building.index.kinds.contains(&kind) && kind.0 <= LAST_KNOWN {
                    building.index.kinds.push(kind);
                }
            }
            match self.time(record, kind, attribute) {
                Some(time) => {
                    let source = self.source(record, kind, attribute);
                    building.add(source, Some(time), at, size, lost);
                }
                None => building.add(Source::Untimed, None, at, size, lost),
            }
            at = end;
        };
        if let Some(damage) = damage {
            building.add_damage(at.min(len), damage);
        }
        let mut index = building.index;
        index.sequences.sort_by_key(|sequence| (sequence.source, sequence.number));
        index
    }
}

/// The greatest kind of records of the kernel that is known.
const LAST_KNOWN: u32 = 22;

/// The state while records are indexed.
#[derive(Debug, Default)]
struct Building {
    index: Index,
    /// The sequences of each source.
    of_source: HashMap<Source, Vec<usize>>,
    /// The sequence of the record before.
    last: Option<usize>,
}

impl Building {
    fn add(
        &mut self,
        source: Source,
        time: Option<u64>,
        offset: u64,
        size: u64,
        lost: Option<u64>,
    ) {
        let at = self.sequence(source, time);
        let follows = self.last == Some(at);
        self.last = Some(at);
        let Some(sequence) = self.index.sequences.get_mut(at) else { return };
        sequence.last = time.unwrap_or(0);
        match sequence.runs.last_mut() {
            Some(run) if follows && lost.is_none() && run.size + size <= MAX_RUN => {
                run.size += size
            }
            _ => sequence.runs.push(Run { offset, size, start: time, lost, damage: None }),
        }
    }

    /// Adds damage after all records, in the sequence of the last one.
    fn add_damage(&mut self, offset: u64, damage: DecodeError) {
        let latest = |(_, sequence): &(usize, &Sequence)| sequence.last;
        let at = self.index.sequences.iter().enumerate().max_by_key(latest).map(|(at, _)| at);
        let at = at.unwrap_or_else(|| self.sequence(Source::Untimed, None));
        let Some(sequence) = self.index.sequences.get_mut(at) else { return };
        let start = Some(sequence.last).filter(|_| sequence.source != Source::Untimed);
        let damage = Some(damage);
        sequence.runs.push(Run { offset, size: 0, start, lost: None, damage });
    }

    /// Returns the number of the first sequence of a source whose records are not later than a time.
    fn sequence(&mut self, source: Source, time: Option<u64>) -> usize {
        let known = self.of_source.entry(source).or_default();
        let sequences = &mut self.index.sequences;
        let is_before = |at: &&usize| {
            sequences.get(**at).is_some_and(|sequence| sequence.last <= time.unwrap_or(u64::MAX))
        };
        if let Some(at) = known.iter().find(is_before) {
            return *at;
        }
        if sequences.len() >= MAX_SEQUENCES || known.len() >= MAX_OF_SOURCE {
            self.index.is_crowded = true;
            return known.last().copied().unwrap_or(sequences.len() - 1);
        }
        let number = known.len() as u32;
        known.push(sequences.len());
        sequences.push(Sequence { source, number, runs: Vec::new(), last: 0 });
        sequences.len() - 1
    }
}
