//! Cells: extensions and data of any type, with the operations on their state.

use std::any::{Any, type_name};
use std::fmt;
use std::sync::Arc;

use super::identity::ExtensionIdentity;
use super::saved::{NoState, Saved};

/// An extension or data attached to a context.
pub(crate) struct Cell {
    value: Box<dyn Any>,
    type_name: &'static str,
    /// The operations of an extension, or `None` for plain data.
    operations: Option<&'static Operations>,
}

/// The operations on the state of an extension of one type. The first argument of each is the
/// extension.
pub(crate) struct Operations {
    pub(crate) reset: fn(&mut dyn Any),
    pub(crate) identity: fn(&dyn Any) -> Option<ExtensionIdentity>,
    pub(crate) needs_earlier_state: fn(&dyn Any) -> bool,
    /// Returns the current state, or `None` if the extension has another type.
    pub(crate) save: fn(&dyn Any) -> Option<Saved>,
    /// Returns `true` if a state belongs to an extension of this type.
    pub(crate) matches: fn(&Saved) -> bool,
    pub(crate) restore: fn(&mut dyn Any, &Saved),
    #[cfg_attr(not(feature = "checkpoint-files"), allow(dead_code))]
    pub(crate) codec: fn(&dyn Any) -> Option<AnyCodec>,
}

/// A [`Codec`](crate::Codec) of an extension of any type.
#[cfg_attr(not(feature = "checkpoint-files"), allow(dead_code))]
pub(crate) struct AnyCodec {
    pub(crate) name: &'static str,
    pub(crate) version: u32,
    pub(crate) options: u64,
    pub(crate) write: Box<WriteAny>,
    pub(crate) read: Box<ReadAny>,
}

type WriteAny = dyn Fn(&Saved, Option<&Saved>, &mut Vec<u8>);
type ReadAny = dyn Fn(&dyn Any, &[u8], Option<&Saved>) -> Option<Saved>;

impl fmt::Debug for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.type_name)
    }
}

impl Cell {
    /// Creates the cell of an extension.
    pub(crate) fn of_extension<T: 'static>(value: T, operations: &'static Operations) -> Self {
        let operations = Some(operations);
        Cell { value: Box::new(value), type_name: type_name::<T>(), operations }
    }

    /// Creates the cell of plain data.
    pub(super) fn of_data<T: 'static>(value: T) -> Self {
        Cell { value: Box::new(value), type_name: type_name::<T>(), operations: None }
    }

    #[inline]
    pub(super) fn value<T: 'static>(&self) -> Option<&T> {
        self.value.downcast_ref()
    }

    #[inline]
    pub(super) fn value_mut<T: 'static>(&mut self) -> Option<&mut T> {
        self.value.downcast_mut()
    }

    pub(super) fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Returns `true` for an extension, and `false` for plain data.
    pub(super) fn keeps_state(&self) -> bool {
        self.operations.is_some()
    }

    pub(super) fn identity(&self) -> Option<ExtensionIdentity> {
        (self.operations?.identity)(&*self.value)
    }

    pub(super) fn needs_earlier_state(&self) -> bool {
        self.operations.is_some_and(|of| (of.needs_earlier_state)(&*self.value))
    }

    pub(super) fn reset(&mut self) {
        if let Some(of) = self.operations {
            (of.reset)(&mut *self.value);
        }
    }

    /// Returns the current state, or a placeholder for plain data.
    pub(super) fn save(&self) -> Saved {
        let saved = self.operations.and_then(|of| (of.save)(&*self.value));
        saved.unwrap_or_else(|| Arc::new(NoState))
    }

    /// Returns `true` if a state has the type of the extension's states. Any state fits plain data.
    pub(super) fn matches(&self, saved: &Saved) -> bool {
        self.operations.is_none_or(|of| (of.matches)(saved))
    }

    pub(super) fn restore(&mut self, saved: &Saved) {
        if let Some(of) = self.operations {
            (of.restore)(&mut *self.value, saved);
        }
    }

    #[cfg(feature = "checkpoint-files")]
    pub(super) fn codec(&self) -> Option<AnyCodec> {
        (self.operations?.codec)(&*self.value)
    }

    /// Decodes a state with the codec of the extension.
    #[cfg(feature = "checkpoint-files")]
    pub(super) fn read_state(
        &self,
        codec: &AnyCodec,
        bytes: &[u8],
        before: Option<&Saved>,
    ) -> Option<Saved> {
        (codec.read)(&*self.value, bytes, before)
    }
}
