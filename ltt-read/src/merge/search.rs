//! Seeking a time in bounded steps.

use std::sync::Arc;

use super::{Damage, Merge};
use crate::base::time::Timestamp;
use crate::cursor::{Cursor, Position};
use crate::index::{self, Survey};
use crate::trace::Trace;

/// A seek to a time in bounded steps, for programs that must not block: a
/// [seek](Merge::seek) can take milliseconds in large packets.
///
/// A search is independent of any merge. [`Merge::seek_result`] moves a merge to its
/// result.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// # let traces = ltt_read::open_all(path)?;
/// use ltt_read::Merge;
/// use ltt_read::tuning::TimeSearch;
///
/// let mut merge = Merge::new(&traces);
/// let time = (0..1000).find_map(|_| merge.next()?.timestamp()).expect("a kernel's trace");
/// let mut search = TimeSearch::new(&traces, time);
/// while !search.run(100) {
///     // Handle user input, for example.
/// }
/// merge.seek_result(search);
/// assert_eq!(merge.next().and_then(|event| event.timestamp()), Some(time));
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug)]
pub struct TimeSearch {
    time: Timestamp,
    /// A cursor for each tracefile that remains to be searched, in reverse order.
    rest: Vec<Cursor>,
    /// `true` if the last of these cursors is in the packet that has to be searched.
    is_in_packet: bool,
    /// The scan that determines the times of its packets first, if they are not known.
    survey: Option<Survey>,
    found: Vec<Position>,
    damage: Damage,
}

/// The cost of entering a packet, in events.
const ENTRY: u64 = 64;

impl TimeSearch {
    /// Creates a search for a time in all tracefiles of the traces. Nothing is read yet.
    pub fn new(traces: &[Arc<Trace>], time: Timestamp) -> Self {
        Self::within(&Merge::new(traces), time)
    }

    /// Creates a search for a time in all tracefiles of a merge, also in those that are left
    /// out. Nothing is read yet.
    pub(crate) fn within(merge: &Merge, time: Timestamp) -> Self {
        let cursor = |of: &Cursor| of.trace().cursor(of.tracefile_index());
        TimeSearch {
            time,
            rest: merge.cursors.iter().rev().map(cursor).collect(),
            is_in_packet: false,
            survey: None,
            found: Vec::new(),
            damage: Damage::default(),
        }
    }

    /// Returns the time that is sought.
    pub fn time(&self) -> Timestamp {
        self.time
    }

    /// Continues the search over at most `events` events; entering a packet counts as 64.
    /// Returns `true` if the search is complete.
    ///
    /// The first step in a tracefile builds its [packet index](Trace::packet_index) if
    /// necessary, all at once. If its [packet times](Trace::packet_times) have to be read
    /// from the data, this is done within the limit on events.
    pub fn run(&mut self, events: u64) -> bool {
        let mut left = events.max(1);
        while let Some(cursor) = self.rest.last_mut() {
            if left == 0 {
                return false;
            }
            if !self.is_in_packet && self.survey.is_none() {
                self.survey = index::survey(cursor.trace(), cursor.tracefile_index());
            }
            if let Some(mut survey) = self.survey.take() {
                match survey.resume(&mut left) {
                    true => index::store_survey(survey),
                    false => self.survey = Some(survey),
                }
                continue;
            }
            let step = if self.is_in_packet {
                cursor.skip_up_to(self.time, &mut left)
            } else {
                self.is_in_packet = true;
                left = left.saturating_sub(ENTRY);
                cursor.seek_packet(self.time)
            };
            let is_reached = step.unwrap_or_else(|error| {
                self.damage.keep(error);
                !cursor.skip_packet()
            });
            if is_reached {
                self.found.push(cursor.undelivered_position(false));
                self.rest.pop();
                self.is_in_packet = false;
            }
        }
        true
    }

    /// Returns `true` if the search is complete.
    pub fn is_complete(&self) -> bool {
        self.rest.is_empty()
    }
}

impl Merge {
    /// Seeks the result of a search of the same traces, as [`seek`](Self::seek) would. No
    /// tracefile is left out afterwards. Tracefiles that an incomplete search has not
    /// reached do not move.
    pub fn seek_result(&mut self, search: TimeSearch) {
        self.note_indexes();
        self.seek_positions(&search.found);
        self.damage.add(search.damage);
    }
}
