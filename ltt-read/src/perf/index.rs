//! The index of records: for each CPU, the runs of its records in a file, in order of time.
//!
//! The file has the buffers of the CPUs in turns, in no exact order. The records of one CPU are in
//! order of time, with few exceptions, for which there are further sequences.

use hashbrown::HashMap;

use super::attributes::{Attribute, HEADER, sample};
use super::kinds::{
    AUXTRACE, FINISHED_ROUND, FIRST_OF_PERF, Kind, LAST_KNOWN, LOST, SAMPLE, TRACING_DATA,
};
use crate::report::DecodeError;
use crate::schema::ByteOrder;

/// The index of a recording.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) sequences: Vec<Sequence>,
    /// The kinds of records that are no samples.
    pub(super) kinds: Vec<Kind>,
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
}

impl Source {
    /// Returns the name of the tracefile of the sequence with a number.
    pub(super) fn name(self, number: u32) -> String {
        let name = match self {
            Source::Cpu(cpu) => format!("cpu{cpu}"),
            Source::Task => "task".to_owned(),
            Source::Untimed => "untimed".to_owned(),
        };
        match number {
            0 => name,
            number => format!("{name}-{}", number + 1),
        }
    }

    /// Returns the CPU of the records, if they have one.
    pub(super) fn cpu(self) -> Option<u32> {
        match self {
            Source::Cpu(cpu) => Some(cpu),
            Source::Task | Source::Untimed => None,
        }
    }
}

/// The numbers of the sequences in which the records of each source are in order of time.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// The sequences of each source.
    of_source: HashMap<Source, Vec<u32>>,
    /// The time of the last record of each sequence.
    last: Vec<u64>,
    /// The source of the last record, with its first sequence, which most records are of.
    recent: Option<(Source, u32)>,
    /// `true` if there are more CPUs or places without order than sequences.
    pub(super) is_crowded: bool,
}

impl Order {
    /// Returns the number of the sequence with the latest record, and its time.
    pub(super) fn latest(&self) -> Option<(usize, u64)> {
        self.last.iter().copied().enumerate().max_by_key(|(_, time)| *time)
    }

    /// Returns the first sequence of a source whose records are not later than a time, and notes the time. The
    /// result is `Ok` for a sequence that is known, `Err` with its number among those of its source for a new one,
    /// whose number among all is that of all before it.
    #[inline]
    pub(super) fn sequence(&mut self, source: Source, time: Option<u64>) -> Result<usize, u32> {
        if let Some((_, first)) = self.recent.filter(|(recent, _)| *recent == source)
            && let Some(last) = self.last.get_mut(first as usize)
            && *last <= time.unwrap_or(u64::MAX)
        {
            *last = time.unwrap_or(0);
            return Ok(first as usize);
        }
        let known = self.of_source.entry(source).or_default();
        self.recent = known.first().map(|first| (source, *first));
        let last = &mut self.last;
        let is_before = |at: &&u32| {
            last.get(**at as usize).is_some_and(|last| *last <= time.unwrap_or(u64::MAX))
        };
        let is_full = last.len() >= MAX_SEQUENCES || known.len() >= MAX_OF_SOURCE;
        let found = known.iter().find(is_before).copied();
        let found = found.or_else(|| {
            self.is_crowded |= is_full;
            is_full.then(|| known.last().copied().unwrap_or(0))
        });
        if let Some(at) = found {
            if let Some(last) = last.get_mut(at as usize) {
                *last = time.unwrap_or(0);
            }
            return Ok(at as usize);
        }
        let number = known.len() as u32;
        known.push(last.len() as u32);
        last.push(time.unwrap_or(0));
        Err(number)
    }
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
pub(super) const MAX_RUN: u64 = 1 << 16;

/// The header of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordHeader {
    pub(super) kind: u32,
    pub(super) misc: u16,
    pub(super) size: u64,
}

/// The place of a record in the order of all.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordPlace {
    pub(super) source: Source,
    /// The time; `None` if the record has none.
    pub(super) time: Option<u64>,
    /// The number of events that were lost before, if it is a record of that.
    pub(super) lost: Option<u64>,
}

/// The way to read records: their attributes and times.
#[derive(Debug)]
pub(super) struct Records {
    order: ByteOrder,
    ids: Ids,
    /// The places of the id that tells the attribute: from the start of samples, and from the end of other records.
    /// `None` if there is none, or one attribute alone.
    id_in_sample: Option<u32>,
    id_before_end: Option<u32>,
    /// For each attribute, the places of times and CPUs.
    forms: Box<[Form]>,
}

/// The places of the time and the CPU in the records of an attribute, in bytes: from the start of samples, and from the
/// end of other records.
#[derive(Debug, Clone, Copy)]
struct Form {
    time_in_sample: Option<u32>,
    cpu_in_sample: Option<u32>,
    time_before_end: Option<u32>,
    cpu_before_end: Option<u32>,
}

impl Form {
    fn new(attribute: &Attribute) -> Self {
        Form {
            time_in_sample: attribute.time_in_sample(),
            cpu_in_sample: attribute.cpu_in_sample(),
            time_before_end: attribute.before_end(sample::TIME),
            cpu_before_end: attribute.before_end(sample::CPU),
        }
    }
}

/// The numbers of attributes by id.
#[derive(Debug)]
enum Ids {
    /// The numbers of successive ids, which the kernel assigns mostly in a row.
    Dense {
        first: u64,
        numbers: Box<[u32]>,
    },
    Sparse(HashMap<u64, u32>),
}

/// The greatest range of ids for which there is a number each.
const MAX_DENSE: u64 = 1 << 16;

impl Ids {
    fn new(attributes: &[Attribute]) -> Self {
        let pairs = attributes.iter().zip(0..);
        let pairs = pairs.flat_map(|(attribute, at)| attribute.ids.iter().map(move |id| (*id, at)));
        let ids = || pairs.clone().map(|(id, _)| id);
        let (first, last) = (ids().min().unwrap_or(0), ids().max().unwrap_or(0));
        if last - first >= MAX_DENSE {
            return Ids::Sparse(pairs.collect());
        }
        let mut numbers = vec![0; (last - first + 1) as usize];
        for (id, number) in pairs {
            if let Some(known) = numbers.get_mut((id - first) as usize) {
                *known = number;
            }
        }
        Ids::Dense { first, numbers: numbers.into() }
    }

    /// Returns the number of the attribute with an id; 0 if there is none.
    #[inline(always)]
    fn number(&self, id: u64) -> u32 {
        let found = match self {
            Ids::Dense { first, numbers } => numbers.get(id.wrapping_sub(*first) as usize),
            Ids::Sparse(numbers) => numbers.get(&id),
        };
        found.copied().unwrap_or(0)
    }
}

/// A sample, as far as its time and attribute.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub(super) attribute: u32,
    pub(super) time: u64,
    /// The size in bytes.
    pub(super) size: u64,
}

impl Records {
    /// Creates the way to read records with some attributes, of which there is at least one.
    pub(super) fn new(order: ByteOrder, attributes: &[Attribute]) -> Self {
        let first = attributes.first().filter(|_| attributes.len() > 1);
        let (id_in_sample, id_before_end) = match first {
            Some(first) if first.has(sample::IDENTIFIER) => {
                (Some(HEADER), first.before_end(sample::IDENTIFIER))
            }
            Some(first) if first.has(sample::ID) => {
                (Some(first.id_in_sample()), first.before_end(sample::ID))
            }
            _ => (None, None),
        };
        Records {
            order,
            ids: Ids::new(attributes),
            id_in_sample,
            id_before_end,
            forms: attributes.iter().map(Form::new).collect(),
        }
    }

    /// Returns the offset of the first record of the kernel at a byte or after the ends of rounds there, which lie
    /// between the records of a run.
    #[inline(always)]
    pub(super) fn after_rounds(&self, data: &[u8], mut at: u64) -> u64 {
        while let Some(RecordHeader { kind: FINISHED_ROUND, size, .. }) = self.header(data, at) {
            at += size;
        }
        at
    }

    /// Reads the sample with a time at a byte; `None` if another record is there, or none that is whole.
    #[inline(always)]
    pub(super) fn sample(&self, data: &[u8], at: u64) -> Option<Sample> {
        let RecordHeader { kind, size, .. } = self.header(data, at)?;
        let (begin, end) = (at as usize, (at + size) as usize);
        let record = data.get(begin..end).filter(|_| kind == SAMPLE)?;
        let attribute = self.attribute(record, SAMPLE);
        let time = self.time(record, SAMPLE, attribute)?;
        Some(Sample { attribute, time, size })
    }

    /// Reads the header of the record at a byte; `None` if there is none that is sound.
    #[inline(always)]
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
    #[inline(always)]
    pub(super) fn attribute(&self, record: &[u8], kind: u32) -> u32 {
        let id = match kind {
            SAMPLE => self.id_in_sample.and_then(|at| self.number(record, at as usize)),
            _ => self.id_before_end.and_then(|at| self.number(record, before_end(record, at)?)),
        };
        id.map_or(0, |id| self.ids.number(id))
    }

    /// Returns the number of 8 bytes at a byte of a record.
    #[inline(always)]
    fn number(&self, record: &[u8], at: usize) -> Option<u64> {
        let bytes = *record.get(at..)?.first_chunk()?;
        Some(match self.order {
            ByteOrder::Little => u64::from_le_bytes(bytes),
            ByteOrder::Big => u64::from_be_bytes(bytes),
        })
    }

    /// Returns the number of 4 bytes at a byte of a record.
    #[inline(always)]
    fn half(&self, record: &[u8], at: usize) -> Option<u32> {
        let bytes = *record.get(at..)?.first_chunk()?;
        Some(match self.order {
            ByteOrder::Little => u32::from_le_bytes(bytes),
            ByteOrder::Big => u32::from_be_bytes(bytes),
        })
    }

    /// Returns the time of a record; `None` if it has none.
    #[inline(always)]
    pub(super) fn time(&self, record: &[u8], kind: u32, attribute: u32) -> Option<u64> {
        let form = self.forms.get(attribute as usize)?;
        if kind == SAMPLE {
            return self.number(record, form.time_in_sample? as usize);
        }
        let time = self.number(record, before_end(record, form.time_before_end?)?)?;
        // Records that perf makes up have no time.
        (time != 0 && time != u64::MAX).then_some(time)
    }

    /// Returns the source of a record that has a time.
    #[inline(always)]
    fn source(&self, record: &[u8], kind: u32, attribute: u32) -> Source {
        let cpu = || {
            let form = self.forms.get(attribute as usize)?;
            let at = match kind {
                SAMPLE => form.cpu_in_sample? as usize,
                _ => before_end(record, form.cpu_before_end?)?,
            };
            self.half(record, at)
        };
        cpu().map_or(Source::Task, Source::Cpu)
    }

    /// Returns the place of a record in the order of all.
    #[inline(always)]
    pub(super) fn place(&self, record: &[u8], kind: u32) -> RecordPlace {
        let attribute = self.attribute(record, kind);
        let lost = match kind {
            LOST => self.number(record, HEADER as usize + 8),
            _ => None,
        };
        let time = self.time(record, kind, attribute);
        let source = match time {
            Some(_) => self.source(record, kind, attribute),
            None => Source::Untimed,
        };
        RecordPlace { source, time, lost }
    }

    /// Returns the run that a whole file is.
    pub(super) fn one_run(&self, file: &[u8]) -> Result<Run, DecodeError> {
        let size = file.len() as u64;
        let missing = u64::from(HEADER).saturating_sub(size);
        let header = self.header(file, 0).ok_or(match missing {
            0 => DecodeError::NotARecord,
            _ => DecodeError::TruncatedPacket { missing },
        })?;
        let record = file.get(..header.size as usize).ok_or({
            let missing = header.size.saturating_sub(size);
            DecodeError::TruncatedPacket { missing }
        })?;
        let RecordPlace { time, lost, .. } = self.place(record, header.kind);
        Ok(Run { offset: 0, size, start: time, lost, damage: None })
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
            if kind == FINISHED_ROUND {
                building.skipped += size;
                at = end;
                continue;
            }
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
            let RecordPlace { source, time, lost } = self.place(record, kind);
            if kind != SAMPLE {
                let kind = Kind::new(kind, misc, time.is_some());
                if !building.index.kinds.contains(&kind) && kind.number <= LAST_KNOWN {
                    building.index.kinds.push(kind);
                }
            }
            building.add(source, time, at, size, lost);
            at = end;
        };
        if let Some(damage) = damage {
            building.add_damage(at.min(len), damage);
        }
        let mut index = building.index;
        index.is_crowded = building.order.is_crowded;
        index.sequences.sort_by_key(|sequence| (sequence.source, sequence.number));
        index
    }
}

/// Returns the place of what is some bytes before the end of a record; `None` if that is before its start.
#[inline(always)]
fn before_end(record: &[u8], size: u32) -> Option<usize> {
    record.len().checked_sub(size as usize)
}

/// The state while records are indexed.
#[derive(Debug, Default)]
struct Building {
    index: Index,
    order: Order,
    /// The sequence of the record before.
    last: Option<usize>,
    /// The size of the ends of rounds since then, in bytes. They do not end a run.
    skipped: u64,
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
        let size_with_skipped = std::mem::take(&mut self.skipped) + size;
        let Some(sequence) = self.index.sequences.get_mut(at) else { return };
        match sequence.runs.last_mut() {
            Some(run) if follows && lost.is_none() && run.size + size_with_skipped <= MAX_RUN => {
                run.size += size_with_skipped;
            }
            _ => sequence.runs.push(Run { offset, size, start: time, lost, damage: None }),
        }
    }

    /// Adds damage after all records, in the sequence of the last one.
    fn add_damage(&mut self, offset: u64, damage: DecodeError) {
        let latest = self.order.latest();
        let (at, last) = latest.unwrap_or_else(|| (self.sequence(Source::Untimed, None), 0));
        let Some(sequence) = self.index.sequences.get_mut(at) else { return };
        let start = Some(last).filter(|_| sequence.source != Source::Untimed);
        let damage = Some(damage);
        sequence.runs.push(Run { offset, size: 0, start, lost: None, damage });
    }

    /// Returns the number of the sequence for a record of a source.
    #[inline]
    fn sequence(&mut self, source: Source, time: Option<u64>) -> usize {
        let sequences = &mut self.index.sequences;
        self.order.sequence(source, time).unwrap_or_else(|number| {
            sequences.push(Sequence { source, number, runs: Vec::new() });
            sequences.len() - 1
        })
    }
}
