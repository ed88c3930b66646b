//! Handles of the extensions and data attached to a context.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;

/// A handle of an extension or of data attached to a context. It is valid only in that context.
pub struct Handle<T> {
    pub(super) index: usize,
    of: PhantomData<fn() -> T>,
}

impl<T> Handle<T> {
    pub(super) fn new(index: usize) -> Self {
        Handle { index, of: PhantomData }
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
        write!(f, "Handle<{}>({})", type_name::<T>(), self.index)
    }
}
