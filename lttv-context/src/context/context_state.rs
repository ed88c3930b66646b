//! The state of extensions at the current position: checkpoints and seeking with state.

use ltt_read::Timestamp;

use super::TracesetContext;
use super::read::ReadError;
use crate::bounds::{Bounds, EndReason, ReadEnd};
use crate::state::{Checkpoint, CheckpointMismatch, CheckpointPolicy, Checkpoints, Extensions};

/// The state of the extensions of a context, returned by [`TracesetContext::state`]: to bring it to a
/// position, and to keep it in checkpoints.
///
/// ```
/// use lttv_context::{Bounds, CheckpointPolicy, Traceset, TracesetContext};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// context.state().set_policy(CheckpointPolicy::every(1000));
/// let half = context.contexts().time_span().expect("events").start.saturating_add(300_000_000);
/// context.state().seek_time(half);
/// assert!(context.is_state_current());
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug)]
pub struct ContextState<'c, 'h> {
    pub(crate) context: &'c mut TracesetContext<'h>,
}

impl<'h> TracesetContext<'h> {
    /// Returns the state of extensions, to seek with it and to change checkpoints.
    pub fn state(&mut self) -> ContextState<'_, 'h> {
        ContextState { context: self }
    }

    /// Returns `true` if the state of extensions is that of the current position. This holds while
    /// events are read in order, and no longer after seeking.
    pub fn is_state_current(&self) -> bool {
        self.state.is_current()
    }

    /// Returns the checkpoints so far.
    pub fn checkpoints(&self) -> &Checkpoints {
        self.state.checkpoints()
    }

    pub(super) fn checkpoint_here(&mut self) -> Checkpoint {
        Checkpoint::new(self.position(), self.extensions().save())
    }

    /// Counts events that were read, and saves a checkpoint if one is due.
    pub(super) fn count_read_events(&mut self, events: u64) {
        if self.state.count(events) {
            self.state().save_checkpoint();
        }
    }

    /// Returns the memory limit of checkpoints, in bytes.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn checkpoint_memory(&self) -> usize {
        self.state.policy().memory
    }

    /// Sets the checkpoints to some that are known to fit this context.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn replace_checkpoints(&mut self, checkpoints: Checkpoints) {
        self.state.set_checkpoints(checkpoints);
    }

    fn check_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), CheckpointMismatch> {
        self.check_position(checkpoint.position())?;
        self.state.check(checkpoint.states())
    }

    fn go_to_checkpoint(&mut self, checkpoint: Option<Checkpoint>) {
        let Some(checkpoint) = checkpoint else {
            self.seek_time(Timestamp::MIN);
            return;
        };
        let states = checkpoint.states();
        if self.state.check(states).is_err() || self.seek_position(checkpoint.position()).is_err() {
            self.seek_time(Timestamp::MIN);
            return;
        }
        self.state.restore(states);
    }
}

impl ContextState<'_, '_> {
    /// Seeks a time and computes the state of extensions there: restores the nearest checkpoint and
    /// replays the events since. Returns the number of replayed events.
    pub fn seek_time(&mut self, time: Timestamp) -> u64 {
        self.seek_checkpoint(time);
        let events = self.catch_up(&Bounds::all().until_start_of(time));
        self.context.state.reach(time);
        events
    }

    /// Seeks the last checkpoint before a time, or the start if there is none, and restores the
    /// state of extensions there. [Replaying](Self::replay) from there to the time brings the state
    /// to that time.
    pub fn seek_checkpoint(&mut self, time: Timestamp) {
        let nearest = self.context.checkpoints().nearest(time).cloned();
        self.context.go_to_checkpoint(nearest);
    }

    /// Computes the state of extensions at the current position, after seeking: restores the nearest
    /// checkpoint and replays the events since. Returns the number of replayed events: 0 if the state
    /// was current.
    pub fn update(&mut self) -> u64 {
        if self.context.is_state_current() {
            return 0;
        }
        let position = self.context.position();
        let nearest = self.context.checkpoints().nearest_position(&position).cloned();
        self.context.go_to_checkpoint(nearest);
        self.catch_up(&Bounds::all().until_position(&position))
    }

    /// Reads events from the current position on, but calls only the hooks of extensions: this
    /// brings their state forward in pieces as large as the caller wants.
    ///
    /// No event is skipped. An end time stops the read at the place to which seeking it leads, as
    /// [`until_start_of`](Bounds::until_start_of) does.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`read`](TracesetContext::read), for the hooks of extensions.
    pub fn replay(&mut self, bounds: &Bounds) -> Result<ReadEnd, ReadError> {
        self.context.replay(bounds)
    }

    /// Sets the state of extensions by a function, which has to leave the state of the current position
    /// in all of them: for states that come from elsewhere than [checkpoints](Self::checkpoint).
    pub fn set(&mut self, set: impl FnOnce(&mut Extensions)) {
        set(self.context.extensions_mut());
        self.context.state.note_current();
    }

    /// Replays events, and continues when a hook of an extension stops the read: the next
    /// read returns the error of a hook. Returns the number
    /// of replayed events.
    fn catch_up(&mut self, bounds: &Bounds) -> u64 {
        let mut events = 0;
        while let Ok(ReadEnd { events: more, reason, .. }) = self.context.replay_on(bounds) {
            events += more;
            if reason != EndReason::Stopped {
                break;
            }
        }
        events
    }

    /// Sets the policy by which checkpoints are saved from now on, while events are read in order.
    /// Existing checkpoints are subject to the same memory limit.
    pub fn set_policy(&mut self, policy: CheckpointPolicy) {
        self.context.state.set_policy(policy);
    }

    /// Adds a checkpoint at the current position. Returns `false` if the state of extensions is not
    /// that of the position.
    pub fn save_checkpoint(&mut self) -> bool {
        let checkpoint = self.checkpoint();
        let is_current = checkpoint.is_some();
        checkpoint.into_iter().for_each(|checkpoint| self.context.state.keep(checkpoint));
        is_current
    }

    /// Creates a checkpoint at the current position and returns it to the caller instead of keeping
    /// it. Returns `None` if the state of extensions is not that of the position.
    pub fn checkpoint(&mut self) -> Option<Checkpoint> {
        self.context.is_state_current().then(|| self.context.checkpoint_here())
    }

    /// Seeks a checkpoint of this context or of one with the same extensions, and restores its
    /// state.
    ///
    /// # Errors
    ///
    /// Returns [`CheckpointMismatch`] if the checkpoint belongs to another traceset, or if its
    /// extensions differ from those attached here in type, in
    /// [identity](crate::Extension::identity) or in order. Nothing changes then.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), CheckpointMismatch> {
        self.context.check_checkpoint(checkpoint)?;
        self.context.go_to_checkpoint(Some(checkpoint.clone()));
        Ok(())
    }

    /// Sets the checkpoints to those of another context of the same traceset, with the same
    /// extensions. Some are removed if they exceed the [memory limit](CheckpointPolicy::memory) of this
    /// context.
    ///
    /// # Errors
    ///
    /// Returns [`CheckpointMismatch`] if one of them does not fit this context, under the
    /// conditions of [`restore`](Self::restore). The previous checkpoints stay then.
    pub fn set_checkpoints(&mut self, checkpoints: Checkpoints) -> Result<(), CheckpointMismatch> {
        checkpoints.iter().try_for_each(|checkpoint| self.context.check_checkpoint(checkpoint))?;
        self.context.state.set_checkpoints(checkpoints);
        Ok(())
    }
}
