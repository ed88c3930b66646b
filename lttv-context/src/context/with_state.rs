//! The state of extensions at the current position: checkpoints and seeking with state.

use ltt_read::Timestamp;

use super::TracesetContext;
use crate::bounds::{Bounds, EndReason, ReadEnd};
use crate::state::{Checkpoint, CheckpointMismatch, CheckpointPolicy, Checkpoints};

impl TracesetContext<'_> {
    /// Sets the policy by which checkpoints are saved from now on, while events are read in order.
    /// Existing checkpoints are subject to the same memory limit.
    pub fn set_checkpoint_policy(&mut self, policy: CheckpointPolicy) {
        self.state.set_policy(policy);
    }

    /// Adds a checkpoint at the current position. Returns `false` if the state of extensions is not
    /// that of the position.
    pub fn save_checkpoint(&mut self) -> bool {
        if !self.state.is_current() {
            return false;
        }
        let checkpoint = self.checkpoint_here();
        self.state.keep(checkpoint);
        true
    }

    /// Creates a checkpoint at the current position and returns it to the caller instead of keeping
    /// it. Returns `None` if the state of extensions is not that of the position.
    pub fn checkpoint(&mut self) -> Option<Checkpoint> {
        self.state.is_current().then(|| self.checkpoint_here())
    }

    pub(super) fn checkpoint_here(&mut self) -> Checkpoint {
        Checkpoint::new(self.position(), self.extensions().save())
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
        self.check_checkpoint(checkpoint)?;
        self.go_to_checkpoint(Some(checkpoint.clone()));
        Ok(())
    }

    fn check_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), CheckpointMismatch> {
        self.check_position(checkpoint.position())?;
        self.state.check(checkpoint.states())
    }

    /// Returns the checkpoints kept so far.
    pub fn checkpoints(&self) -> &Checkpoints {
        self.state.checkpoints()
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
        checkpoints.iter().try_for_each(|checkpoint| self.check_checkpoint(checkpoint))?;
        self.state.set_checkpoints(checkpoints);
        Ok(())
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

    /// Returns `true` if the state of extensions is that of the current position. This holds while
    /// events are read in order, and no longer after seeking.
    pub fn is_state_current(&self) -> bool {
        self.state.is_current()
    }

    /// Seeks the last checkpoint before a time, or the start if there is none, and restores the
    /// state of extensions there. [Replaying](Self::replay_state) from there to the time brings the state
    /// to that time.
    pub fn seek_checkpoint(&mut self, time: Timestamp) {
        let nearest = self.checkpoints().nearest(time).cloned();
        self.go_to_checkpoint(nearest);
    }

    /// Seeks a time and computes the state of extensions there: restores the nearest checkpoint and
    /// replays the events since. Returns the number of replayed events.
    pub fn seek_time_with_state(&mut self, time: Timestamp) -> u64 {
        self.seek_checkpoint(time);
        self.catch_up(&Bounds::all().until_start_of(time))
    }

    /// Computes the state of extensions at the current position, after seeking: restores the nearest
    /// checkpoint and replays the events since. Returns the number of replayed events: 0 if the state
    /// was current.
    pub fn update_state(&mut self) -> u64 {
        if self.state.is_current() {
            return 0;
        }
        let position = self.position();
        let nearest = self.checkpoints().nearest_position(&position).cloned();
        self.go_to_checkpoint(nearest);
        self.catch_up(&Bounds::all().until_position(&position))
    }

    /// Replays events, and continues when a hook of an extension stops the read. Returns the number
    /// of replayed events.
    pub(super) fn catch_up(&mut self, bounds: &Bounds) -> u64 {
        let mut events = 0;
        while let Ok(ReadEnd { events: more, reason, .. }) = self.replay_state(bounds) {
            events += more;
            if reason != EndReason::Stopped {
                break;
            }
        }
        events
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

    /// Counts events that were read, and saves a checkpoint if one is due.
    pub(super) fn count_read_events(&mut self, events: u64) {
        if self.state.count(events) {
            self.save_checkpoint();
        }
    }
}
