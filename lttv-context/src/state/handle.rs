//! Handles of the extensions and data attached to a context.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};

/// A handle of an extension or of data attached to a context. It is valid only in that context:
/// others refuse it.
pub struct Handle<T> {
    /// The number of the first cell of the context, plus the index of the cell.
    number: u64,
    of: PhantomData<fn() -> T>,
}

/// The numbers of the cells of one context.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    /// The number of the first cell.
    first: u64,
}

impl Numbers {
    /// Creates numbers that no other context of the process has. (They repeat after 2^32 contexts.)
    pub(super) fn unique() -> Self {
        static CONTEXTS: AtomicU64 = AtomicU64::new(0);
        Numbers { first: CONTEXTS.fetch_add(1, Ordering::Relaxed) << 32 }
    }

    /// Returns the handle of the cell at an index.
    pub(super) fn handle<T>(self, index: usize) -> Handle<T> {
        Handle { number: self.first + index as u64, of: PhantomData }
    }

    /// Returns the index of the cell of a handle. For a handle of another context, it is greater
    /// than that of any cell.
    #[inline(always)]
    pub(super) fn index<T>(self, handle: Handle<T>) -> usize {
        usize::try_from(handle.number.wrapping_sub(self.first)).unwrap_or(usize::MAX)
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle<{}>({})", type_name::<T>(), self.number as u32)
    }
}
