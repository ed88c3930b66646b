//! The static information about fields.

use std::sync::Arc;

use crate::schema::FieldClass;

/// The static information about a field: its name and class.
///
/// A [`Visitor`](crate::Visitor) receives it with each value, [`StructView::members`]
/// returns it with each member, and [`labels`](crate::labels) uses it to name the values
/// of enumerations.
///
/// [`StructView::members`]: crate::StructView::members
#[derive(Debug, Clone)]
pub struct FieldInfo {
    name: Option<Arc<str>>,
    class: Arc<FieldClass>,
    index: u32,
}

impl FieldInfo {
    /// Creates the information about a field. The name is `None` for array elements and
    /// root structures.
    pub(crate) fn new(index: u32, name: Option<Arc<str>>, class: Arc<FieldClass>) -> Self {
        FieldInfo { name, class, index }
    }

    /// Returns the member or option name; `None` for array elements and root structures.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the name, shared by reference counting.
    pub(crate) fn shared_name(&self) -> Option<&Arc<str>> {
        self.name.as_ref()
    }

    /// Returns the field class.
    pub fn class(&self) -> &Arc<FieldClass> {
        &self.class
    }

    /// Returns the number of the field, which can be used as an index into tables of
    /// fields.
    ///
    /// The fields of an event type's body (common context, specific context and payload
    /// together) are numbered from 0 in the order of their declarations: the root
    /// structure of a scope before its members, an array before its element, a variant
    /// before its options. The fields of the packet header, the packet context and the
    /// event header are each numbered from 0.
    #[inline(always)]
    pub fn index(&self) -> usize {
        self.index as usize
    }
}
