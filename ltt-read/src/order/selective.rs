//! Reads of the events that a selection can choose, and of as little other data as possible.

use std::mem;

use super::position::{UNKNOWN, time_of};
use crate::base::time::{TimeSpan, Timestamp};
use crate::event::Event;
use crate::merge::{Decision, Merge};
use crate::selection::Spans;

/// The tracefiles and spans of time in which a selection can choose events, and the place of a merge
/// among the spans.
///
/// Tracefiles outside of them are not read, nor are packets between the spans. The other packets
/// are read, but only wanted events are merged. The order is that of a read of all events, even
/// where clocks go back.
#[derive(Debug, Clone)]
pub struct SelectiveRead {
    /// `true` for each tracefile whose events may be wanted, by tracefile number. Empty for all.
    tracefiles: Box<[bool]>,
    spans: Spans,
    all_spans: Vec<TimeSpan>,
    /// `true` if the merge is at a place to which the time spans have led it.
    is_at_span: bool,
}

impl SelectiveRead {
    /// Creates a read of some tracefiles, `true` for each that is read by its number, in spans of time
    /// that are in order and not adjacent.
    pub fn new(tracefiles: Box<[bool]>, spans: Vec<TimeSpan>) -> Self {
        let guide = Spans::new(spans.clone());
        SelectiveRead { tracefiles, spans: guide, all_spans: spans, is_at_span: false }
    }

    /// Extends the read to later versions of the traces.
    pub fn grow(&mut self, tracefiles: Box<[bool]>, spans: Vec<TimeSpan>) {
        self.tracefiles = tracefiles;
        if spans != self.all_spans {
            (self.spans, self.all_spans) = (Spans::new(spans.clone()), spans);
            self.is_at_span = false;
        }
    }

    /// Notes that the merge was moved by a seek.
    pub fn note_moved(&mut self) {
        self.is_at_span = false;
    }

    /// Stops a merge from reading the tracefiles that are not wanted.
    pub(super) fn retain_tracefiles(&mut self, merge: &mut Merge) {
        merge.retain_tracefiles(|number| self.tracefiles.get(number.0) == Some(&true));
        self.note_moved();
    }

    /// Restarts the time spans at the current position of the merge, unless it is at a place to
    /// which they have led it. Moves the merge to the first span that is not over, if a bound on
    /// the times before the position is known and the span starts after it. `latest` is this bound:
    /// see [`OrderPosition::new`](super::OrderPosition::new).
    pub fn enter_spans(&mut self, merge: &mut Merge, latest: Option<Timestamp>) {
        if mem::replace(&mut self.is_at_span, true) {
            return;
        }
        match latest {
            UNKNOWN => self.spans.restart(),
            latest => self.spans.enter(merge, latest),
        }
    }

    /// Reads up to the next event that `look` takes, or that is not before `limit`, which becomes
    /// the [current](Merge::current) one. Returns its time of delivery; `None` if there is none.
    ///
    /// `look` is called for events before the limit, and may be called twice for one event unless it
    /// takes it. Where it returns [`Decision::Stop`], the read ends.
    #[inline]
    pub fn next(
        &mut self,
        merge: &mut Merge,
        limit: Timestamp,
        mut look: impl FnMut(&Event<'_>) -> Decision,
    ) -> Option<Timestamp> {
        while let Some(last) = self.spans.last() {
            let stop = limit.min(last.saturating_add(1));
            let mut has_stopped = false;
            let event = merge.next_taken(|event| {
                if time_of(event) >= stop {
                    return Decision::Stop;
                }
                let decision = look(event);
                has_stopped |= decision == Decision::Stop;
                decision
            })?;
            let time = time_of(&event);
            if time <= last || time >= limit || has_stopped {
                return Some(merge.delivery_time().map_or(time, |at| time.max(at)));
            }
            self.spans.move_on(merge, time);
        }
        None
    }
}
