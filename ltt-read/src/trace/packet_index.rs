//! Packet indexes: the place and the times of each packet of a tracefile.

use std::sync::OnceLock;

use super::packet_times::PacketTimes;
use crate::base::time::Timestamp;
use crate::report::Notice;

/// A packet in an [`Index`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexEntry {
    /// The index of its file among those of the tracefile.
    pub file: u32,
    /// The number of the packet in that file, from 0.
    pub number: u64,
    /// The offset of its first byte in that file, in bytes.
    pub offset: u64,
    /// The size of the packet in bytes, including padding.
    pub size: u64,
    /// The time at its start, or a lower bound of it.
    pub start: Timestamp,
    /// The time at its end, or an upper bound of it.
    pub end: Timestamp,
    /// The value of the default clock before it, in cycles.
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
    /// Returns the declared end; `None` if it is before the declared start, because a
    /// tracer that crashed leaves it 0.
    pub(crate) fn known_end(self) -> Option<Timestamp> {
        self.end.filter(|end| self.begin.is_none_or(|begin| begin <= *end))
    }
}

/// The packets of one tracefile in file order, with the times that they declare.
#[derive(Debug, Default)]
pub struct Index {
    pub(crate) entries: Vec<IndexEntry>,
    pub(crate) notices: Vec<Notice>,
    /// For each file of the tracefile, `true` if its entries come from an index file that
    /// was not fully compared with the packets.
    pub(crate) unchecked: Vec<bool>,
    pub(crate) times: OnceLock<PacketTimes>,
}

/// The index of a tracefile, and the index that replaced it after an index file turned
/// out to be wrong.
#[derive(Debug, Default)]
pub(crate) struct Indexes {
    first: OnceLock<Index>,
    rebuilt: OnceLock<Index>,
}

impl Indexes {
    /// Returns the index, building it if necessary.
    pub(crate) fn get_or_build(&self, build: impl FnOnce() -> Index) -> &Index {
        self.rebuilt.get().unwrap_or_else(|| self.first.get_or_init(build))
    }

    /// Replaces the index by one that is built from the data alone.
    pub(crate) fn rebuild(&self, build: impl FnOnce() -> Index) {
        self.rebuilt.get_or_init(build);
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
    /// Returns the entries of all packets, in file order.
    pub fn entries(&self) -> &[IndexEntry] {
        &self.entries
    }

    /// Returns the notices about index files that were not used.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Bounds the times that packets do not declare. An end before the start is unknown
    /// (a tracer that crashed leaves it 0) and is bounded by the start of the next
    /// packet. If clocks went back, an end is at least that of the previous packet.
    pub(crate) fn widen_times(&mut self) {
        let mut next_begin = Timestamp::MAX;
        for entry in self.entries.iter_mut().rev() {
            if entry.end < entry.start {
                entry.end = next_begin.max(entry.start);
            }
            next_begin = entry.start;
        }
        let mut latest = Timestamp::MIN;
        for entry in &mut self.entries {
            latest = latest.max(entry.end);
            entry.end = latest;
        }
    }
}
