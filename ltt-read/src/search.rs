//! Seeking a time, a little at a time.

use std::sync::Arc;

use crate::cursor::{Cursor, Position};
use crate::index::{self, Survey};
use crate::merge::{Damage, Merge};
use crate::time::Timestamp;
use crate::trace::Trace;

/// A seek to a time in pieces, for those who have to look after other things
/// meanwhile: in large packets a [seek](Merge::seek) takes milliseconds.
///
/// It is independent of any merge until [`Merge::seek_found`] takes one there.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// # let traces = ltt_read::open_all(path)?;
/// use ltt_read::{Merge, TimeSearch};
///
/// let mut merge = Merge::new(&traces);
/// let time = (0..1000).find_map(|_| merge.next()?.timestamp()).expect("a kernel's trace");
/// let mut search = TimeSearch::new(&traces, time);
/// while !search.go_on(100) {
///     // Look after other things.
/// }
/// merge.seek_found(search);
/// assert_eq!(merge.next().and_then(|event| event.timestamp()), Some(time));
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug)]
pub struct TimeSearch {
    time: Timestamp,
    /// One for each tracefile to be searched yet, the last one's first.
    rest: Vec<Cursor>,
    /// Whether the last of them is in the packet to search.
    is_in_packet: bool,
    /// What finds out the times of its packets before that, if they are not known.
    survey: Option<Survey>,
    found: Vec<Position>,
    damage: Damage,
}

/// What it takes to enter a packet, in events.
const ENTRY: u64 = 64;

impl TimeSearch {
    /// Begins to seek a time in all tracefiles of these traces. Nothing is read yet.
    pub fn new(traces: &[Arc<Trace>], time: Timestamp) -> Self {
        let cursors = |trace: &Arc<Trace>| {
            let tracefiles = 0..trace.tracefiles().len();
            tracefiles.rev().map(|tracefile| trace.cursor(tracefile)).collect::<Vec<_>>()
        };
        TimeSearch {
            time,
            rest: traces.iter().rev().flat_map(cursors).collect(),
            is_in_packet: false,
            survey: None,
            found: Vec::new(),
            damage: Damage::default(),
        }
    }

    /// What is sought.
    pub fn time(&self) -> Timestamp {
        self.time
    }

    /// Goes on, over so many events at most; to enter a packet counts as 64. Whether it
    /// is through.
    ///
    /// The first look at a tracefile makes its [packet index](Trace::packet_index)
    /// if need be, all at once. If its [times](Trace::packet_times) have to be read from
    /// the data, that is done over as many events as anything else.
    pub fn go_on(&mut self, events: u64) -> bool {
        let mut left = events.max(1);
        while let Some(cursor) = self.rest.last_mut() {
            if left == 0 {
                return false;
            }
            if !self.is_in_packet && self.survey.is_none() {
                self.survey = index::survey(cursor.trace(), cursor.tracefile_index());
            }
            if let Some(mut survey) = self.survey.take() {
                match survey.go_on(&mut left) {
                    true => index::keep(survey),
                    false => self.survey = Some(survey),
                }
                continue;
            }
            let step = if self.is_in_packet {
                cursor.skip_some(self.time, &mut left)
            } else {
                self.is_in_packet = true;
                left = left.saturating_sub(ENTRY);
                cursor.seek_packet(self.time)
            };
            let is_there = step.unwrap_or_else(|error| {
                self.damage.keep(error);
                !cursor.skip_packet()
            });
            if is_there {
                self.found.push(cursor.cut(false));
                self.rest.pop();
                self.is_in_packet = false;
            }
        }
        true
    }

    /// Whether it is through.
    pub fn is_through(&self) -> bool {
        self.rest.is_empty()
    }
}

impl Merge {
    /// Goes where a search of the same traces has led: as [`seek`](Self::seek). No
    /// tracefile is left out any more. Tracefiles that it has not come to stay where
    /// they are.
    pub fn seek_found(&mut self, search: TimeSearch) {
        self.note_indexes();
        self.read_whole(&search.found);
        self.damage.add(search.damage);
    }
}
