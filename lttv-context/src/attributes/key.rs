//! Handles of attributes, untyped and typed.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use ltt_read::Timestamp;

use super::value::{AttributeValue, Kind, Text};

/// An untyped handle of an attribute, valid until the attribute is removed.
///
/// The handle of a removed attribute finds nothing, even if its number is used again. Handles
/// are also valid in clones of the tree. They do not identify the tree: in another tree, a
/// handle finds nothing or an unrelated attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttributeId {
    pub(super) index: u32,
    pub(super) generation: u32,
}

impl AttributeId {
    /// The root of every tree.
    pub const ROOT: AttributeId = AttributeId { index: 0, generation: 0 };

    /// Returns the number of the attribute. Numbers are dense from 0, and those of removed
    /// attributes are used again, so they can index tables parallel to the tree.
    pub const fn index(self) -> usize {
        self.index as usize
    }
}

/// A type of attribute values: `bool`, `i64`, `u64`, `f64`, [`Timestamp`], [`Duration`] or [`Text`].
pub trait AttributeType: Default + sealed::Conversion {
    /// The kind of the values.
    const KIND: Kind;
}

mod sealed {
    use super::AttributeValue;

    /// Conversions from and to values of any type.
    pub trait Conversion: Sized {
        fn from_value<'a>(value: &'a AttributeValue<'static>) -> Option<&'a Self>;
        fn from_value_mut<'a>(value: &'a mut AttributeValue<'static>) -> Option<&'a mut Self>;
        fn into_value(self) -> AttributeValue<'static>;
    }
}

macro_rules! attribute_type {
    ($($type:ty => $variant:ident,)*) => {$(
        impl AttributeType for $type {
            const KIND: Kind = Kind::$variant;
        }

        impl sealed::Conversion for $type {
            #[inline]
            fn from_value<'a>(value: &'a AttributeValue<'static>) -> Option<&'a Self> {
                if let AttributeValue::$variant(value) = value { Some(value) } else { None }
            }

            #[inline]
            fn from_value_mut<'a>(value: &'a mut AttributeValue<'static>) -> Option<&'a mut Self> {
                if let AttributeValue::$variant(value) = value { Some(value) } else { None }
            }

            fn into_value(self) -> AttributeValue<'static> {
                AttributeValue::$variant(self)
            }
        }
    )*};
}

attribute_type! {
    bool => Bool,
    i64 => Int,
    u64 => UInt,
    f64 => Float,
    Timestamp => Time,
    Duration => Duration,
    Text => Text,
}

/// A typed handle of an attribute. It finds the value by a single array access.
///
/// See [`Attributes::entry`](super::Attributes::entry).
pub struct Key<T> {
    pub(super) id: AttributeId,
    // A key neither owns nor borrows a value.
    marker: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    pub(super) const fn new(id: AttributeId) -> Self {
        Key { id, marker: PhantomData }
    }

    /// Returns the untyped handle.
    pub const fn id(self) -> AttributeId {
        self.id
    }
}

// Derived implementations would require the traits of `T`.
impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Key<T> {}

impl<T> PartialEq for Key<T> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<T> Eq for Key<T> {}

impl<T> fmt::Debug for Key<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Key").field(&self.id).finish()
    }
}
