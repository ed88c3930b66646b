//! Reads in steps, which can be watched and cancelled.

use std::ops::ControlFlow;

use super::TracesetContext;
use super::context_state::ContextState;
use super::read::ReadError;
use crate::bounds::{Bounds, EndReason, ReadEnd};

impl<'h> TracesetContext<'h> {
    /// Reads events like [`read`](Self::read), in steps of about `step` events, and calls `each` after
    /// each step, also after the last one: to show progress, to take results so far, or to cancel the
    /// read. If `each` returns `Break` before the end, the reason is [`EndReason::Stopped`].
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use lttv_context::{Bounds, Traceset, TracesetContext};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let mut steps = 0;
    /// let end = context.read_steps(&Bounds::all(), 2_000, |context| {
    ///     let progress = context.merge().progress();
    ///     println!("{} of {} bytes", progress.done, progress.total);
    ///     steps += 1;
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert_eq!((end.events, steps), (6_087, 4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`read`](TracesetContext::read). Those of hooks have the events of all steps.
    pub fn read_steps(
        &mut self,
        bounds: &Bounds,
        step: u64,
        each: impl FnMut(&mut Self) -> ControlFlow<()>,
    ) -> Result<ReadEnd, ReadError> {
        self.steps(bounds, step, Self::read, each)
    }

    fn steps(
        &mut self,
        bounds: &Bounds,
        step: u64,
        read: impl Fn(&mut Self, &Bounds) -> Result<ReadEnd, ReadError>,
        mut each: impl FnMut(&mut Self) -> ControlFlow<()>,
    ) -> Result<ReadEnd, ReadError> {
        let mut left = bounds.clone().max_examined(step);
        let (mut events, mut examined) = (0, 0);
        loop {
            let end = match read(self, &left) {
                Err(ReadError::Hook(mut error)) => {
                    error.read.events += events;
                    error.read.examined += examined;
                    return Err(ReadError::Hook(error));
                }
                end => end?,
            };
            events += end.events;
            examined += end.examined;
            let is_over = end.reason != EndReason::ExaminedCount;
            let is_cancelled = each(self).is_break() && !is_over;
            if is_over || is_cancelled {
                let reason = if is_cancelled { EndReason::Stopped } else { end.reason };
                return Ok(ReadEnd { events, examined, reason, errors: end.errors });
            }
            if let Some(most) = bounds.max_events() {
                left = left.events(most.saturating_sub(events));
            }
        }
    }
}

impl<'h> ContextState<'_, 'h> {
    /// Replays events like [`replay`](Self::replay), in steps like those of
    /// [`read_steps`](TracesetContext::read_steps).
    ///
    /// # Errors
    ///
    /// Returns the errors of [`read`](TracesetContext::read). Those of hooks have the events of all steps.
    pub fn replay_steps(
        self,
        bounds: &Bounds,
        step: u64,
        each: impl FnMut(&mut TracesetContext<'h>) -> ControlFlow<()>,
    ) -> Result<ReadEnd, ReadError> {
        self.context.steps(bounds, step, TracesetContext::replay, each)
    }
}
