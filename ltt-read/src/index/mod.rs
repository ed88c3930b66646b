//! Packet indexes: where each packet of a tracefile is, and its times.
//!
//! An index is made when it is first needed, for seeking: from LTTng's index
//! files where they are there and sound, otherwise by reading the header and
//! context of each packet. Reading in order never needs one.

mod lttng;
mod scan;

use crate::duplicates::Duplicates;
use crate::layout::tables::Tables;
use crate::notice::Notice;
use crate::quirks;
use crate::schema::Schema;
use crate::time::Timestamp;
use crate::tracefile::Tracefile;

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
}

/// The packets of one tracefile, in file order.
#[derive(Debug, Default)]
pub struct Index {
    entries: Vec<IndexEntry>,
    notices: Vec<Notice>,
    /// Whether events may come a little after their packet's end.
    late_events: bool,
}

impl Index {
    /// Where a file's packets end is where its index ends: what comes after a
    /// damaged packet header cannot be found. The next file's packets follow.
    pub(crate) fn build(schema: &Schema, tables: &Tables, tracefile: &Tracefile) -> Index {
        let late_events = quirks::events_after_packet_end(schema);
        let mut index = Index { late_events, ..Index::default() };
        let mut clock = 0;
        for (number, file) in tracefile.files.iter().enumerate() {
            let number = number as u32;
            match lttng::read(schema, tables, file, number) {
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

    /// Makes the times safe to search by. An end before the begin is unknown
    /// (a tracer that crashed leaves it 0): the next packet's begin bounds it.
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

    /// The first packet that may hold an event at or after `time`.
    pub(crate) fn first_reaching(&self, time: Timestamp) -> Option<&IndexEntry> {
        let at = self.entries.partition_point(|e| e.end < time);
        // An event past its packet's end is one of its last: a packet further
        // back cannot have any at `time`, it ends before the next one begins.
        self.entries.get(if self.late_events { at.saturating_sub(1) } else { at })
    }
}
