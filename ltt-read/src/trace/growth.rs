//! Ends of tracefiles that are being recorded.

use crate::base::time::Timestamp;

/// The end of a tracefile that is being recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Growth {
    /// `true` once no more data follows.
    pub(crate) is_complete: bool,
    /// A time before which no event follows the data that is there.
    pub(crate) floor: Timestamp,
    /// The number of its first files that are no longer kept.
    pub(crate) released: u32,
}

impl Growth {
    /// The growth of a tracefile of which nothing is known yet.
    pub(crate) const NEW: Growth =
        Growth { is_complete: false, floor: Timestamp::MIN, released: 0 };
}
