//! Parts of a dump that are printed apart from each other and then put together.

use std::ops::Range;

/// The way in which a part's lines relate to those before and after it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartEnds {
    /// The time since the previous event, in the line of the first event that has a time.
    pub(super) gap: Option<Gap>,
    /// The time of the last event that has one, in ns or cycles.
    pub(super) last: Option<u64>,
}

/// A time since the previous event that was unknown when it was printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gap {
    /// The bytes of the part that stand for it.
    pub(super) place: Range<usize>,
    /// The time of the event, in ns or cycles.
    pub(super) time: u64,
}
