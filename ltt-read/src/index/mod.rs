//! Packet indexes: where each packet of a tracefile is, and its times.
//!
//! An index is made when it is first needed, for seeking: from LTTng's index
//! files where they are there and sound, otherwise by reading the header and
//! context of each packet. Reading in order never needs one.
//!
//! What packets say of their times need not be true: see [`PacketTimes`].

mod lttng;
mod scan;
mod survey;
mod times;

use std::sync::{Arc, OnceLock};

use crate::duplicates::Duplicates;
use crate::notice::{Notice, NoticeKind};
use crate::time::Timestamp;
use crate::trace::Trace;
use crate::tracefile::Tracefile;

pub(crate) use survey::Survey;
pub use times::PacketTimes;
pub(crate) use times::TimedPacket;

/// Traces of no more bytes than this are read wholly before their first seek, instead of
/// relying on what packets say of their times, unless other options are given.
pub(crate) const SMALL: u64 = 16 << 20;

/// A packet as an [`Index`] knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexEntry {
    /// Which of the tracefile's files it is in.
    pub file: u32,
    /// Number in that file, from 0.
    pub number: u64,
    /// Offset of its first byte in that file.
    pub offset: u64,
    /// Size in bytes, padding included.
    pub size: u64,
    /// Time at its begin, or the earliest one that it may have.
    pub begin: Timestamp,
    /// Time at its end, or the latest one that it may have.
    pub end: Timestamp,
    /// The default clock before it, in cycles.
    pub(crate) clock_before: u64,
    pub(crate) declared: Declared,
}

/// The times that a packet declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) begin: Option<Timestamp>,
    pub(crate) end: Option<Timestamp>,
}

impl Declared {
    /// Returns the declared end, unless it is before the begin: a tracer that crashed
    /// leaves it 0.
    pub(crate) fn known_end(self) -> Option<Timestamp> {
        self.end.filter(|end| self.begin.is_none_or(|begin| begin <= *end))
    }
}

/// The packets of one tracefile, in file order, with the times that they declare.
#[derive(Debug, Default)]
pub struct Index {
    entries: Vec<IndexEntry>,
    notices: Vec<Notice>,
    /// Which of the tracefile's files have their entries from an index file that was not
    /// wholly compared with the packets.
    unchecked: Vec<bool>,
    times: OnceLock<PacketTimes>,
}

/// The index of a tracefile, and the one that took its place when an index file turned
/// out to be wrong.
#[derive(Debug, Default)]
pub(crate) struct Indexes {
    first: OnceLock<Index>,
    rebuilt: OnceLock<Index>,
}

impl Indexes {
    /// Returns the index, built if it is not there yet.
    pub(crate) fn get(&self, trace: &Trace, tracefile: &Tracefile) -> &Index {
        self.rebuilt
            .get()
            .unwrap_or_else(|| self.first.get_or_init(|| Index::build(trace, tracefile)))
    }

    /// Builds the index from the data alone, since an index file disagrees with it.
    fn rebuild(&self, trace: &Trace, tracefile: &Tracefile, wrong: Notice) {
        self.rebuilt.get_or_init(|| {
            let mut index = Index::from_data(trace, tracefile);
            index.notices.insert(0, wrong);
            index
        });
    }

    /// Returns the notices of all indexes built so far.
    pub(crate) fn notices(&self) -> impl Iterator<Item = &Notice> {
        let built = [self.first.get(), self.rebuilt.get()].into_iter().flatten();
        built.flat_map(|index| {
            let times = index.times.get().into_iter().flat_map(PacketTimes::notices);
            index.notices.iter().chain(times)
        })
    }
}

impl Index {
    /// Where a file's packets end is where its index ends: what comes after a
    /// damaged packet header cannot be found. The next file's packets follow.
    fn build(trace: &Trace, tracefile: &Tracefile) -> Index {
        let (schema, tables) = (trace.schema(), trace.tables());
        let is_small = trace.is_small();
        let mut index = Index::default();
        let mut clock = 0;
        for (number, file) in tracefile.files.iter().enumerate() {
            let number = number as u32;
            let read = lttng::read(schema, tables, file, number, is_small);
            index.unchecked.push(!is_small && matches!(read, Ok(Some(_))));
            match read {
                Ok(Some(entries)) => index.entries.extend(entries),
                Ok(None) => {
                    index.entries.extend(scan::packets(schema, tables, file, number, &mut clock))
                }
                Err(notice) => {
                    index.notices.push(notice);
                    index.entries.extend(scan::packets(schema, tables, file, number, &mut clock));
                }
            }
        }
        Duplicates::take_out(schema, tables, tracefile, &mut index.entries);
        index.widen_times();
        index
    }

    /// Builds an index without looking for index files.
    fn from_data(trace: &Trace, tracefile: &Tracefile) -> Index {
        let (schema, tables) = (trace.schema(), trace.tables());
        let mut index = Index::default();
        let mut clock = 0;
        for (number, file) in (0..).zip(&tracefile.files) {
            index.entries.extend(scan::packets(schema, tables, file, number, &mut clock));
            index.unchecked.push(false);
        }
        Duplicates::take_out(schema, tables, tracefile, &mut index.entries);
        index.widen_times();
        index
    }

    /// Bounds the times of packets that do not tell them. An end before the begin is
    /// unknown (a tracer that crashed leaves it 0): the next packet's begin bounds it.
    /// Where clocks went back, an end is at least that of the packet before.
    fn widen_times(&mut self) {
        let mut next_begin = Timestamp::MAX;
        for entry in self.entries.iter_mut().rev() {
            if entry.end < entry.begin {
                entry.end = next_begin.max(entry.begin);
            }
            next_begin = entry.begin;
        }
        let mut latest = Timestamp::MIN;
        for entry in &mut self.entries {
            latest = latest.max(entry.end);
            entry.end = latest;
        }
    }

    /// The packets.
    pub fn entries(&self) -> &[IndexEntry] {
        &self.entries
    }

    /// Why index files were not used.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Compares entries that come from an index file with their packets. Returns what is
    /// wrong with the first that differs.
    fn check(
        &self,
        trace: &Trace,
        tracefile: &Tracefile,
        entries: &[IndexEntry],
    ) -> Option<Notice> {
        let mut unchecked =
            entries.iter().filter(|entry| self.unchecked.get(entry.file as usize) == Some(&true));
        let wrong = unchecked.find(|entry| {
            let Some(file) = tracefile.files.get(entry.file as usize) else { return true };
            !lttng::agrees(trace.schema(), trace.tables(), file, entry)
        })?;
        Some(Notice {
            kind: NoticeKind::IndexIgnored { reason: lttng::DISAGREES },
            file: tracefile.files.get(wrong.file as usize)?.index_path.as_path().into(),
            packet: wrong.number,
            offset: wrong.offset,
        })
    }
}

/// Returns the times of the packets of a tracefile, found out if they are not known yet.
pub(crate) fn times(trace: &Arc<Trace>, tracefile: usize) -> &PacketTimes {
    let index = trace.packet_index(tracefile);
    index.times.get_or_init(|| match times::doubt(trace, tracefile, index) {
        Ok(()) => PacketTimes::declared(trace, index),
        Err(doubt) => Survey::new(trace, tracefile, doubt).whole(),
    })
}

/// Returns what it takes to find out the times of the packets of a tracefile, if that is
/// not done and takes long.
pub(crate) fn survey(trace: &Arc<Trace>, tracefile: usize) -> Option<Survey> {
    let index = trace.packet_index(tracefile);
    if index.times.get().is_some() {
        return None;
    }
    let doubt = times::doubt(trace, tracefile, index).err()?;
    Some(Survey::new(trace, tracefile, doubt))
}

/// Keeps what a survey that is through has found.
pub(crate) fn keep(survey: Survey) {
    let (trace, tracefile) = (survey.trace().clone(), survey.tracefile());
    // If another thread was faster, it has found the same.
    _ = trace.packet_index(tracefile).times.set(survey.finish());
}

/// Returns the first packet that may hold an event at a time or later, and whether it
/// does; if none may, the last one. `None` if there is no packet.
///
/// What an index file says of this packet and its neighbours is compared with them first;
/// that the file's times are in order was seen to when it was read. So no other entry
/// can mislead.
pub(crate) fn packet_reaching(
    trace: &Arc<Trace>,
    tracefile: usize,
    time: Timestamp,
) -> Option<(TimedPacket, bool)> {
    loop {
        let times = times(trace, tracefile);
        let at = times.first_reaching(time);
        let found = times.packets().get(at).or(times.packets().last()).copied();
        let index = trace.packet_index(tracefile);
        if times.are_read() || !index.unchecked.contains(&true) {
            return found.map(|packet| (packet, at < times.packets().len()));
        }
        // The packets are those of the index then.
        let last = index.entries.len().min(at.saturating_add(2));
        let used = index.entries.get(at.saturating_sub(1)..last).unwrap_or_default();
        let file = &trace.tracefiles()[tracefile];
        match index.check(trace, file, used) {
            None => return found.map(|packet| (packet, at < times.packets().len())),
            Some(wrong) => file.index.rebuild(trace, file, wrong),
        }
    }
}
