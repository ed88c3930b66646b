//! Who asks, and for what: identities of owners and requests.

use std::sync::atomic::{AtomicU64, Ordering};

/// Who asks for events: a viewer, say. All that an owner has asked for can be
/// cancelled at once.
///
/// ```
/// use lttv_requests::Owner;
///
/// let (list, histogram) = (Owner::fresh(), Owner::fresh());
/// assert_ne!(list, histogram);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(u64);

impl Owner {
    /// One that differs from all others of this process.
    pub fn fresh() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Owner(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// A submitted request. Later ones are greater; of requests that can be served
/// together, hooks before and after reading are called in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub(crate) u64);

impl RequestId {
    /// Before all others, and after all others.
    pub(crate) const FIRST: RequestId = RequestId(0);
    pub(crate) const LAST: RequestId = RequestId(u64::MAX);
}
