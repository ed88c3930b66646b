//! When checkpoints are saved.

/// When checkpoints are saved, and how much memory they may take.
///
/// ```
/// use lttv_context::Saving;
///
/// let dense = Saving::every(10_000).memory(16 << 20);
/// assert_eq!(Saving::default(), Saving::every(50_000).memory(128 << 20));
/// assert_ne!(dense, Saving::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Saving {
    pub(crate) every: u64,
    pub(crate) memory: usize,
}

impl Saving {
    /// One checkpoint every so many events (at least 1), in 128 MiB at most.
    ///
    /// The distance is how much has to be read again to get to the state of a
    /// time. It grows where memory does not suffice: see [`memory`](Self::memory).
    #[must_use]
    pub const fn every(events: u64) -> Self {
        Saving { every: if events == 0 { 1 } else { events }, memory: 128 << 20 }
    }

    /// No checkpoints are saved; those that are there stay.
    #[must_use]
    pub const fn never() -> Self {
        Saving::every(u64::MAX)
    }

    /// So many bytes at most, of what [`Checkpoints::bytes`] counts. When
    /// checkpoints take more, every other one is dropped and the distance doubled.
    /// So they stay evenly spread.
    ///
    /// [`Checkpoints::bytes`]: crate::Checkpoints::bytes
    #[must_use]
    pub const fn memory(self, bytes: usize) -> Self {
        Saving { memory: bytes, ..self }
    }
}

impl Default for Saving {
    fn default() -> Self {
        Saving::every(50_000)
    }
}
