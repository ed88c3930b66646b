//! Operations for those who schedule reads.

use ltt_read::selection::EventSelection;
use ltt_read::tuning::TimeSearch;
use ltt_read::{Event, Timestamp};

use super::TracesetContext;
use crate::hooks::Check;
use crate::state::Extensions;
use crate::traceset::{Revision, StalePosition};

/// A seek to a time that is done in pieces, created by [`Scheduling::search_time`].
#[derive(Debug)]
pub struct IncrementalSeek {
    search: TimeSearch,
    generation: Revision,
}

impl IncrementalSeek {
    /// Returns the time that is sought.
    pub fn time(&self) -> Timestamp {
        self.search.time()
    }

    /// Continues the seek over at most `events` events. Returns `true` once the time is found. See
    /// [`TimeSearch::run`].
    pub fn run(&mut self, events: u64) -> bool {
        self.search.run(events)
    }
}

/// The operations of a context for those who divide its reads and seeks into pieces, and choose its hooks:
/// returned by [`TracesetContext::scheduling`].
#[derive(Debug)]
pub struct Scheduling<'c, 'h> {
    context: &'c mut TracesetContext<'h>,
}

impl<'h> TracesetContext<'h> {
    /// Returns the operations for those who divide reads and seeks into pieces.
    pub fn scheduling(&mut self) -> Scheduling<'_, 'h> {
        Scheduling { context: self }
    }
}

impl<'h> Scheduling<'_, 'h> {
    /// Sets a check that also depends on the extensions of the context, usually on the state of
    /// extensions.
    ///
    /// `choice` makes the decisions that are known in advance. For other events `passes` is called
    /// instead of [`EventSelection::matches`], at most once per event, with the same state that the first
    /// hook without state of its own is called with.
    pub fn set_filter_with(
        &mut self,
        choice: &impl EventSelection,
        passes: impl FnMut(&Event<'_>, &Extensions) -> bool + 'h,
    ) {
        self.context.set_check(Check::with(&self.context.contexts, choice, passes));
    }

    /// Sets whether reads leave the state of extensions aside: their hooks are then not called, so that
    /// after the first event the state is [not current](TracesetContext::is_state_current), and a filter
    /// may skip events. [`ContextState::update`](crate::ContextState::update) brings the state to the
    /// position afterwards. For reads whose hooks do not use the state.
    pub fn leave_state_aside(&mut self, is_aside: bool) {
        self.context.state.set_aside(is_aside);
    }

    /// Returns `true` if a check is set that does not let all events pass.
    pub fn has_filter(&self) -> bool {
        self.context.check.is_some()
    }

    /// Returns `true` if there are hooks that belong neither to a set that has begun nor to an
    /// extension, after making the changes that hooks have requested.
    pub fn has_other_hooks(&mut self) -> bool {
        self.context.hooks.change(&self.context.contexts);
        self.context.hooks.has_other_hooks()
    }

    /// Returns a number that differs after each change of the hooks that belong to no set.
    pub fn hook_changes(&self) -> u64 {
        self.context.hooks.changes()
    }

    /// Creates a seek to a time that is done in pieces, since a seek in large packets takes
    /// milliseconds. The context stays where it is and may be used for anything else until
    /// [`seek_result`](Self::seek_result) is called.
    ///
    /// ```
    /// use lttv_context::{TracesetContext, Traceset};
    /// use ltt_read::Timestamp;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let span = context.contexts().time_span().expect("some events");
    /// let mut seek = context.scheduling().search_time(span.end);
    /// while !seek.run(100) {
    ///     // Do other work.
    /// }
    /// context.scheduling().seek_result(seek)?;
    /// let there = context.position();
    /// context.seek_time(span.end);
    /// assert_eq!(there, context.position());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search_time(&self, time: Timestamp) -> IncrementalSeek {
        IncrementalSeek {
            search: self.context.reader.search(time),
            generation: self.context.traceset().revision(),
        }
    }

    /// Seeks the time of `seek`, with the same result as [`TracesetContext::seek_time`]. If the
    /// search is not finished, this finishes it.
    ///
    /// # Errors
    ///
    /// Returns [`StalePosition`] if `seek` belongs to another traceset. Nothing changes then.
    pub fn seek_result(&mut self, mut seek: IncrementalSeek) -> Result<(), StalePosition> {
        self.context.check_generation(seek.generation)?;
        if self.context.traceset().is_growing() {
            // The traceset may have grown since the search was created.
            self.context.seek_time(seek.time());
            return Ok(());
        }
        while !seek.run(u64::MAX) {}
        self.context.reader.seek_result(seek.search);
        self.context.moved();
        Ok(())
    }

    /// Computes a time of delivery by which all events before `end` have been delivered. It is
    /// `end` itself unless a clock goes back. Returns `None` if such events may follow until the
    /// end of the traceset. A check does not affect the result. See
    /// [`Merge::delivered_by`](ltt_read::Merge::delivered_by).
    pub fn delivered_by(&mut self, end: Timestamp) -> Option<Timestamp> {
        self.context.reader.delivered_by_all(end)
    }

    /// Returns `true` if the next event is not final yet: a read ends with
    /// [`EndReason::Pending`](crate::EndReason::Pending) at once.
    pub fn is_pending(&mut self) -> bool {
        self.context.reader.is_growing() && !self.context.reader.has_next()
    }
}
