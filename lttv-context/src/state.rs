//! Keeping the state of extensions at the current position.

use ltt_read::Timestamp;

use crate::bounds::{Bounds, EndReason, ReadEnd};
use crate::checkpoint::{Checkpoint, CheckpointMismatch, Checkpoints};
use crate::context::TracesetContext;
use crate::position::{StalePosition, TracesetPosition};
use crate::saving::Saving;

impl TracesetContext<'_> {
    /// Saves checkpoints from now on, while events are read in order. Those that
    /// are there already are bound by the same memory.
    pub fn save_checkpoints(&mut self, saving: Saving) {
        self.state.saving = saving;
        self.keep_within_memory();
    }

    /// Drops checkpoints until the others take no more memory than they may. Gives
    /// how many times every other one was dropped.
    fn keep_within_memory(&mut self) -> u32 {
        let saving = &mut self.state.saving;
        let times = self.checkpoints.fit(saving.memory);
        saving.every = saving.every.saturating_mul(1u64.checked_shl(times).unwrap_or(u64::MAX));
        times
    }

    /// Saves a checkpoint at the current position. False if the state of
    /// extensions is not that of the position.
    pub fn save_checkpoint(&mut self) -> bool {
        if !self.state.is_current {
            return false;
        }
        let checkpoint = self.checkpoint_here();
        let number = self.checkpoints.insert(checkpoint);
        let every = self.state.saving.every;
        let times = self.keep_within_memory();
        // It may have been dropped: so far is it since the last one that was not.
        let dropped = number as u64 & !u64::MAX.checked_shl(times).unwrap_or(0);
        self.state.events = dropped.saturating_mul(every);
        true
    }

    /// The state of extensions at the current position, for the caller to keep.
    /// `None` if it is not the state of that position.
    pub fn checkpoint(&mut self) -> Option<Checkpoint> {
        self.state.is_current.then(|| self.checkpoint_here())
    }

    pub(crate) fn checkpoint_here(&mut self) -> Checkpoint {
        Checkpoint { position: self.position(), states: self.extensions.save().into() }
    }

    /// Goes to a checkpoint of this context, or of one with the same extensions.
    ///
    /// # Errors
    ///
    /// If it is of another traceset, or has the state of other extensions than those
    /// attached here, in type, [identity](crate::Extension::identity) or order; then
    /// nothing changes.
    pub fn restore(&mut self, checkpoint: &Checkpoint) -> Result<(), CheckpointMismatch> {
        self.check_checkpoint(checkpoint)?;
        self.go_to(Some(checkpoint.clone()));
        Ok(())
    }

    fn check_checkpoint(&self, checkpoint: &Checkpoint) -> Result<(), CheckpointMismatch> {
        self.check_position(&checkpoint.position)?;
        self.extensions.check(&checkpoint.states)
    }

    /// The checkpoints saved so far.
    pub fn checkpoints(&self) -> &Checkpoints {
        &self.checkpoints
    }

    /// Takes over the checkpoints of another context of the same traceset, with
    /// the same extensions. Some are dropped if they take more memory than
    /// [they may](Saving::memory) here.
    ///
    /// # Errors
    ///
    /// If one of them is not of this context, as for [`restore`](Self::restore); then
    /// those that are there stay.
    pub fn set_checkpoints(&mut self, checkpoints: Checkpoints) -> Result<(), CheckpointMismatch> {
        checkpoints.iter().try_for_each(|checkpoint| self.check_checkpoint(checkpoint))?;
        self.checkpoints = checkpoints;
        self.keep_within_memory();
        Ok(())
    }

    /// Whether the state of the extensions is that of the current position: it is
    /// while events are read in order, not after seeking.
    pub fn is_state_current(&self) -> bool {
        self.state.is_current
    }

    /// Goes to the last checkpoint before the events of a time, or else to the
    /// begin, with the state of extensions from there. Reading from there to that
    /// time ([`replay`](Self::replay)) gives the state at that time.
    pub fn seek_checkpoint(&mut self, time: Timestamp) {
        let nearest = self.checkpoints.nearest(time).cloned();
        self.go_to(nearest);
    }

    /// Goes to a time with the state of extensions from there: to the nearest
    /// checkpoint, and on by their hooks alone. Tells how many events that took.
    pub fn seek_time_with_state(&mut self, time: Timestamp) -> u64 {
        self.seek_checkpoint(time);
        self.catch_up(&Bounds::all().until_start_of(time))
    }

    /// As [`seek_time_with_state`](Self::seek_time_with_state), to a position.
    ///
    /// # Errors
    ///
    /// If it is of another traceset; then nothing changes.
    pub fn seek_position_with_state(
        &mut self,
        position: &TracesetPosition,
    ) -> Result<u64, StalePosition> {
        self.check_position(position)?;
        let nearest = self.checkpoints.nearest_position(position).cloned();
        self.go_to(nearest);
        Ok(self.catch_up(&Bounds::all().until_position(position)))
    }

    /// Brings the state of extensions to the current position, after seeking.
    /// Tells how many events that took.
    pub fn update_state(&mut self) -> u64 {
        if self.state.is_current {
            return 0;
        }
        let position = self.position();
        self.seek_position_with_state(&position).unwrap_or(0)
    }

    /// Replays, passing over requests to stop.
    pub(crate) fn catch_up(&mut self, bounds: &Bounds) -> u64 {
        let mut events = 0;
        while let Ok(ReadEnd { events: more, reason }) = self.replay(bounds) {
            events += more;
            if reason != EndReason::Stopped {
                break;
            }
        }
        events
    }

    fn go_to(&mut self, checkpoint: Option<Checkpoint>) {
        let Some(Checkpoint { position, states }) = checkpoint else {
            self.seek_begin();
            return;
        };
        if self.extensions.check(&states).is_err() || self.seek_position(&position).is_err() {
            self.seek_begin();
            return;
        }
        self.extensions.restore(&states);
        self.state.is_current = true;
        self.state.events = 0;
    }

    /// How many events may be read before a checkpoint is due.
    pub(crate) fn events_to_checkpoint(&self) -> u64 {
        if !self.state.is_current || self.extensions.is_empty() {
            return u64::MAX;
        }
        self.state.saving.every.saturating_sub(self.state.events).max(1)
    }

    /// Counts events, and saves a checkpoint if one is due.
    pub(crate) fn passed(&mut self, events: u64) {
        self.state.events = self.state.events.saturating_add(events);
        if self.state.events >= self.state.saving.every && !self.extensions.is_empty() {
            self.save_checkpoint();
        }
    }
}
