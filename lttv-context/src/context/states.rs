//! The state of the extensions of a context, and its checkpoints.

use ltt_read::Timestamp;

use crate::state::{
    Checkpoint, CheckpointMismatch, CheckpointPolicy, Checkpoints, Extensions, Saved,
};

/// The extensions of a context, the status of their state, and the checkpoints of it.
#[derive(Debug)]
pub(super) struct States {
    extensions: Extensions,
    checkpoints: Checkpoints,
    policy: CheckpointPolicy,
    /// `true` if the state is that of the current position.
    is_current: bool,
    /// `true` while reads leave the state of extensions aside.
    is_aside: bool,
    /// `true` if nothing has been read since the first event was sought.
    at_start: bool,
    /// The number of events read since the last stored checkpoint.
    events: u64,
}

impl States {
    /// Creates the states of a context that is before the first event.
    pub(super) fn new() -> Self {
        States {
            extensions: Extensions::new(),
            checkpoints: Checkpoints::default(),
            policy: CheckpointPolicy::never(),
            is_current: true,
            is_aside: false,
            at_start: true,
            events: 0,
        }
    }

    pub(super) fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    #[inline]
    pub(super) fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.extensions
    }

    pub(super) fn checkpoints(&self) -> &Checkpoints {
        &self.checkpoints
    }

    #[cfg(feature = "checkpoint-files")]
    pub(super) fn policy(&self) -> CheckpointPolicy {
        self.policy
    }

    pub(super) fn is_current(&self) -> bool {
        self.is_current
    }

    /// Notes that an extension was added, which is in its initial state.
    pub(super) fn note_added(&mut self) {
        self.checkpoints = Checkpoints::default();
        self.is_current &= self.at_start;
    }

    /// Notes that the context was moved by a seek.
    pub(super) fn note_moved(&mut self) {
        (self.is_current, self.at_start) = (false, false);
    }

    /// Counts events that were read. Returns `true` if a checkpoint is due.
    pub(super) fn count(&mut self, events: u64) -> bool {
        self.events = self.events.saturating_add(events);
        self.events >= self.policy.every && !self.extensions.is_empty()
    }

    /// Notes that events were read, perhaps without the hooks of extensions.
    pub(super) fn note_read(&mut self, leaves_state: bool) {
        self.at_start = false;
        self.is_current &= !leaves_state || self.extensions.is_empty();
    }

    /// Returns `true` while reads leave the state of extensions aside.
    pub(super) fn is_aside(&self) -> bool {
        self.is_aside
    }

    pub(super) fn set_aside(&mut self, is_aside: bool) {
        self.is_aside = is_aside;
    }

    /// Returns the number of events that may be read before the next checkpoint is due.
    pub(super) fn events_to_checkpoint(&self) -> u64 {
        if !self.is_current || self.extensions.is_empty() {
            return u64::MAX;
        }
        self.policy.every.saturating_sub(self.events).max(1)
    }

    /// Sets all extensions to their state before the first event, where the context is.
    pub(super) fn reset(&mut self) {
        self.extensions.reset();
        (self.is_current, self.at_start, self.events) = (true, true, 0);
    }

    /// Brings all extensions to a time before the next event.
    pub(super) fn reach(&mut self, time: Timestamp) {
        self.extensions.reach(time);
    }

    /// Sets all extensions to saved states of the current position.
    pub(super) fn restore(&mut self, states: &[Saved]) {
        self.extensions.restore(states);
        self.note_current();
    }

    /// Notes that all extensions have the state of the current position.
    pub(super) fn note_current(&mut self) {
        (self.is_current, self.events) = (true, 0);
    }

    /// Sets all extensions to the states that they had at a position to which the context has
    /// returned. `is_current` tells whether these were the states of that position.
    pub(super) fn return_to(&mut self, states: Option<&Checkpoint>, is_current: bool) {
        if let Some(checkpoint) = states {
            self.extensions.restore(checkpoint.states());
        }
        self.is_current = is_current;
    }

    /// Checks that saved states fit the extensions.
    pub(super) fn check(&self, states: &[Saved]) -> Result<(), CheckpointMismatch> {
        self.extensions.check(states)
    }

    pub(super) fn set_policy(&mut self, policy: CheckpointPolicy) {
        self.policy = policy;
        self.keep_within_memory();
    }

    pub(super) fn set_checkpoints(&mut self, checkpoints: Checkpoints) {
        self.checkpoints = checkpoints;
        self.keep_within_memory();
    }

    /// Adds a checkpoint of the current position.
    pub(super) fn keep(&mut self, checkpoint: Checkpoint) {
        let number = self.checkpoints.insert(checkpoint);
        let every = self.policy.every;
        let times = self.keep_within_memory();
        // The new checkpoint may have been removed. Count the events since the last one that was
        // kept.
        let dropped = number as u64 & !u64::MAX.checked_shl(times).unwrap_or(0);
        self.events = dropped.saturating_mul(every);
    }

    /// Removes checkpoints until the remaining ones fit into the memory limit. Returns how often
    /// every other checkpoint was removed.
    fn keep_within_memory(&mut self) -> u32 {
        let policy = &mut self.policy;
        let times = self.checkpoints.fit(policy.memory);
        policy.every = policy.every.saturating_mul(1u64.checked_shl(times).unwrap_or(u64::MAX));
        times
    }
}
