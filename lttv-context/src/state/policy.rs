//! The policy for saving checkpoints.

/// A policy that determines how often checkpoints are saved, and how much memory they may take.
///
/// ```
/// use lttv_context::CheckpointPolicy;
///
/// let dense = CheckpointPolicy::every(10_000).memory(16 << 20);
/// assert_eq!(CheckpointPolicy::default(), CheckpointPolicy::every(50_000).memory(128 << 20));
/// assert_ne!(dense, CheckpointPolicy::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckpointPolicy {
    pub(crate) every: u64,
    pub(crate) memory: usize,
}

impl CheckpointPolicy {
    /// Creates a policy with one checkpoint every `events` events (at least 1), in at most 128 MiB.
    ///
    /// The distance is the number of events to read again to compute the state at a time. It grows
    /// if the memory does not suffice: see [`memory`](Self::memory).
    #[must_use]
    pub const fn every(events: u64) -> Self {
        CheckpointPolicy { every: if events == 0 { 1 } else { events }, memory: 128 << 20 }
    }

    /// Creates a policy that saves no checkpoints. Existing ones stay.
    #[must_use]
    pub const fn never() -> Self {
        CheckpointPolicy::every(u64::MAX)
    }

    /// Sets the memory limit in bytes, as counted by [`Checkpoints::bytes`]. If checkpoints
    /// exceed it, every other one is removed and the distance is doubled, so they stay evenly
    /// spread.
    ///
    /// [`Checkpoints::bytes`]: crate::Checkpoints::bytes
    #[must_use]
    pub const fn memory(self, bytes: usize) -> Self {
        CheckpointPolicy { memory: bytes, ..self }
    }
}

impl Default for CheckpointPolicy {
    fn default() -> Self {
        CheckpointPolicy::every(50_000)
    }
}
