//! The identities of requests, their owners and background computations.

use std::sync::atomic::{AtomicU64, Ordering};

/// The owner of requests, typically a viewer. All requests of an owner can be cancelled
/// at once.
///
/// ```
/// use lttv_requests::Owner;
///
/// let (list, histogram) = (Owner::unique(), Owner::unique());
/// assert_ne!(list, histogram);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(u64);

impl Owner {
    /// Creates an owner that differs from all others of this process.
    pub fn unique() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Owner(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// The id of a submitted request. Ids grow in the order of submission; hooks before and
/// after of requests that are served together are called in this order. No two requests of the
/// process have the same id, so that a scheduler does not find those of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(u64);

impl RequestId {
    /// The lowest and the highest id.
    pub(crate) const FIRST: RequestId = RequestId(0);
    pub(crate) const LAST: RequestId = RequestId(u64::MAX);

    /// Creates an id that is greater than all before.
    pub(crate) fn unique() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        RequestId(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// The id of a computation, valid only for the [`Background`](crate::Background) that returned it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ComputationId(pub(crate) usize);
