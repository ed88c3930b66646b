//! Seeking forward and backward by a number of events.

use ltt_read::{Event, Timestamp};

use super::TracesetContext;
use crate::bounds::Bounds;
use crate::traceset::TracesetPosition;

/// The length of the first step back, in ns, and the factor by which each step exceeds the
/// previous one.
const FIRST_STEP: i64 = 16_000;
const STEP_GROWTH: i64 = 4;

impl TracesetContext<'_> {
    /// Seeks forward over `events` events for which `matching` returns `true`, or to the end if
    /// there are fewer. Returns the number of matching events passed. Only hooks of extensions are
    /// called, so their state stays current if it was current.
    ///
    /// ```
    /// # use lttv_context::{TracesetContext, Traceset};
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// # let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let is_switch = |event: &ltt_read::Event<'_>| event.event_type().name() == "sched_switch";
    /// assert_eq!(context.seek_forward(10, is_switch), 10);
    /// assert_eq!(context.seek_backward(3, is_switch), 3);
    /// // The next switch is the eighth.
    /// assert_eq!(context.seek_forward(1000, is_switch), 497 - 7);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn seek_forward(
        &mut self,
        events: u64,
        mut matching: impl FnMut(&Event<'_>) -> bool,
    ) -> u64 {
        self.reader.unfilter();
        self.ahead.stop();
        let mut found = 0;
        while found < events
            && let Some(is_matching) = self.reader.peek(&mut matching)
        {
            found += u64::from(is_matching);
            self.catch_up(&Bounds::all().events(1));
        }
        found
    }

    /// Seeks backward to the position before the matching event that is `events` matching events
    /// before the current position. If there are fewer, it seeks the position before the first of
    /// them, and if there are none, the start of the traceset. Returns the number of matching
    /// events passed.
    ///
    /// No hooks are called. Stretches of growing length are read, each at most twice, until they
    /// contain enough matching events.
    pub fn seek_backward(
        &mut self,
        events: u64,
        mut matching: impl FnMut(&Event<'_>) -> bool,
    ) -> u64 {
        if events == 0 {
            return 0;
        }
        let mut end = self.position();
        let span = self.contexts.time_span();
        let first = span.map_or(Timestamp::MAX, |span| span.start);
        let from = end.time().or(span.map(|span| span.end)).unwrap_or(Timestamp::MAX);
        let (mut found, mut step) = (0, FIRST_STEP);
        // The start of the earliest stretch that contains matching events.
        let mut earliest = None;
        loop {
            let time = Timestamp::from_ns(from.as_ns().saturating_sub(step));
            let all = time <= first || step == i64::MAX;
            let time = if all { Timestamp::MIN } else { time };
            self.seek_time(time);
            let begin = self.position();
            let mut here = 0;
            self.reader.scan(&end, |event| {
                here += u64::from(matching(event));
                true
            });
            found += here;
            if here > 0 {
                earliest = Some(begin.clone());
            }
            if found >= events || all {
                break;
            }
            end = begin;
            step = step.saturating_mul(STEP_GROWTH);
        }
        let Some(begin) = earliest else {
            self.seek_start();
            return 0;
        };
        // The earliest stretch may contain more matching events than needed.
        let mut before = found.saturating_sub(events);
        let sought = self.seek_position(&begin);
        debug_assert!(sought.is_ok(), "the traceset stays the same");
        let end = TracesetPosition::end(self.traceset());
        self.reader.scan(&end, |event| {
            if !matching(event) {
                return true;
            }
            let passed = before > 0;
            before -= u64::from(passed);
            passed
        });
        found.min(events)
    }
}
