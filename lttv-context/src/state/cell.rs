//! Cells: extensions and data of any type.

use std::any::{Any, type_name};
use std::fmt;
use std::sync::Arc;

use ltt_read::Timestamp;

use super::identity::ExtensionIdentity;
use super::saved::{NoState, Saved};

/// An extension or data attached to a context.
pub(crate) enum Cell {
    Extension(Box<dyn AnyExtension>),
    Data(Box<dyn Any>, &'static str),
}

/// An extension of any type: the object-safe form of [`Extension`](crate::Extension).
pub(crate) trait AnyExtension: Any {
    /// Returns the name of the type.
    fn type_name(&self) -> &'static str;

    fn identity(&self) -> ExtensionIdentity;

    fn needs_earlier_state(&self) -> bool;

    /// Sets the state to that before the first event.
    fn reset(&mut self);

    /// Brings the state to a time before the next event.
    fn reach(&mut self, time: Timestamp);

    /// Returns the current state.
    fn save(&self) -> Saved;

    /// Returns `true` if a state belongs to an extension of this type.
    fn matches(&self, saved: &Saved) -> bool;

    /// Sets the state to a saved one, if it belongs to an extension of this type.
    fn restore(&mut self, saved: &Saved);

    #[cfg_attr(not(feature = "checkpoint-files"), allow(dead_code))]
    fn codec(&self) -> Option<AnyCodec>;
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
        f.write_str(match self {
            Cell::Extension(extension) => extension.type_name(),
            Cell::Data(_, type_name) => type_name,
        })
    }
}

impl Cell {
    /// Creates the cell of plain data.
    pub(super) fn of_data<T: 'static>(value: T) -> Self {
        Cell::Data(Box::new(value), type_name::<T>())
    }

    #[inline]
    pub(super) fn value<T: 'static>(&self) -> Option<&T> {
        let value: &dyn Any = match self {
            Cell::Extension(extension) => &**extension,
            Cell::Data(data, _) => &**data,
        };
        value.downcast_ref()
    }

    #[inline]
    pub(super) fn value_mut<T: 'static>(&mut self) -> Option<&mut T> {
        let value: &mut dyn Any = match self {
            Cell::Extension(extension) => &mut **extension,
            Cell::Data(data, _) => &mut **data,
        };
        value.downcast_mut()
    }

    /// Returns the extension, unless the cell is one of plain data.
    pub(super) fn extension(&self) -> Option<&dyn AnyExtension> {
        match self {
            Cell::Extension(extension) => Some(&**extension),
            Cell::Data(..) => None,
        }
    }

    pub(super) fn extension_mut(&mut self) -> Option<&mut dyn AnyExtension> {
        match self {
            Cell::Extension(extension) => Some(&mut **extension),
            Cell::Data(..) => None,
        }
    }

    /// Returns the current state, or a placeholder for plain data.
    pub(super) fn save(&self) -> Saved {
        self.extension().map_or_else(|| Arc::new(NoState) as Saved, AnyExtension::save)
    }
}
