//! Slices that workers read along with a context, which goes ahead and finds the places between
//! them.

use ltt_read::Timestamp;

use super::in_order::{Ends, in_order};
use super::slice::{Place, TimeSlice};
use crate::bounds::{Bounds, EndReason, ReadEnd};
use crate::context::TracesetContext;
use crate::traceset::{StalePosition, Traceset, TracesetPosition};

impl<'h> TracesetContext<'h> {
    /// Reads events from the current position on, as [`read`](Self::read) does, and divides them into
    /// slices of about `size` events, which other threads read. Each slice begins with a search in all
    /// tracefiles, so it should have several events of each.
    ///
    /// This context goes ahead without decoding what its hooks do not ask for. When it has passed a
    /// slice, `passed` is called with it. Another thread then calls `work` with the slice, which
    /// creates the context of the slice, adds hooks and reads it. `take` is called with the results in
    /// order, and returns `false` if it wants no more of them. Few results are kept in memory at a
    /// time.
    ///
    /// Every event that `read` would deliver is delivered in exactly one slice, in the same order,
    /// also where clocks go back and where events have no time. No event is read more than twice:
    /// once by this context, once in its slice. This context meets all errors and notices, in the
    /// same order as `read`; slices report none. A maximum number of events in the bounds has no
    /// effect. If a clock goes back, a read with an [end time](Bounds::until) before this one may have
    /// delivered events after the current position, which are delivered again.
    ///
    /// ```
    /// use lttv_context::{Bounds, TracesetContext, Traceset};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let mut names = String::new();
    /// let work = |slice: &mut lttv_context::TimeSlice<'_>| {
    ///     let mut names = String::new();
    ///     let mut context = slice.context();
    ///     context.on_event("*", |call| {
    ///         names.push_str(call.event.event_type().name());
    ///         names.push('\n');
    ///     });
    ///     slice.read(&mut context).expect("no extension");
    ///     drop(context);
    ///     names
    /// };
    /// let take = |part: String| {
    ///     names.push_str(&part);
    ///     true
    /// };
    /// context.read_slices(&Bounds::all(), 2, 500, |_| (), work, take)?;
    /// assert_eq!(names.lines().count(), 6087);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns [`StalePosition`] if the end position of the bounds belongs to another traceset.
    /// Nothing is read then.
    ///
    /// # Panics
    ///
    /// Panics if one of the functions does.
    pub fn read_slices<R: Send>(
        &mut self,
        bounds: &Bounds,
        threads: usize,
        size: u64,
        passed: impl FnMut(&mut TracesetContext<'h>),
        work: impl Fn(&mut TimeSlice<'_>) -> R + Sync,
        take: impl FnMut(R) -> bool,
    ) -> Result<ReadEnd, StalePosition> {
        let traceset = self.traceset().clone();
        let mut ahead = Ahead {
            begin: Some(self.position()),
            bounds: bounds.clone().unlimited(),
            batch: bounds.clone().unlimited().max_examined(size.max(1)),
            slices: 0,
            end: Ok(ReadEnd {
                events: 0,
                examined: 0,
                errors: 0,
                reason: EndReason::EndOfTraceset,
            }),
            context: self,
            passed,
            take,
        };
        in_order(threads.max(1), &mut ahead, |slice: Slice| {
            work(&mut slice.in_traceset(&traceset))
        });
        ahead.end
    }
}

/// A context that goes ahead of the slices, and what takes their results.
struct Ahead<'c, 'h, P, F> {
    context: &'c mut TracesetContext<'h>,
    /// The bounds of the whole read.
    bounds: Bounds,
    /// The bounds of each step of the context.
    batch: Bounds,
    /// The place of the next slice; `None` after the last one.
    begin: Option<TracesetPosition>,
    /// The number of slices so far.
    slices: usize,
    end: Result<ReadEnd, StalePosition>,
    passed: P,
    take: F,
}

/// A slice that has been found.
struct Slice {
    number: usize,
    begin: TracesetPosition,
    end: Option<Timestamp>,
    bounds: Bounds,
}

impl Slice {
    fn in_traceset(self, traceset: &Traceset) -> TimeSlice<'_> {
        TimeSlice::new(traceset, self.number, Place::Position(self.begin), self.end, self.bounds)
    }
}

impl<'h, R, P, F> Ends<Slice, R> for Ahead<'_, 'h, P, F>
where
    P: FnMut(&mut TracesetContext<'h>),
    F: FnMut(R) -> bool,
{
    fn next_job(&mut self) -> Option<Slice> {
        let begin = self.begin.take()?;
        let until = self.bounds.end_time();
        loop {
            let read = match self.context.read(&self.batch) {
                Ok(read) => read,
                Err(stale) => {
                    self.end = Err(stale);
                    return None;
                }
            };
            if let Ok(end) = &mut self.end {
                end.events += read.events;
                end.examined += read.examined;
                end.errors = read.errors;
                end.reason = read.reason;
            }
            (self.passed)(self.context);
            let (number, bounds) = (self.slices, self.bounds.clone());
            if read.reason != EndReason::ExaminedCount {
                self.slices += 1;
                return Some(Slice { number, begin, end: until, bounds });
            }
            let place = self.context.position();
            // After the end time, the context looks for events before it, if a clock goes back. Those
            // belong to the last slice.
            if until.is_none_or(|until| place.time().is_some_and(|time| time < until)) {
                self.slices += 1;
                let (end, bounds) = (place.time(), bounds.until_position(&place));
                self.begin = Some(place);
                return Some(Slice { number, begin, end, bounds });
            }
        }
    }

    fn take(&mut self, result: R) -> bool {
        (self.take)(result)
    }
}
