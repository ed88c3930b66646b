//! The static information about fields.

use std::sync::Arc;

use crate::schema::FieldClass;

/// The static information about a field: its name and class.
///
/// A [`Visitor`](crate::Visitor) receives it with each value, [`StructView::members`]
/// returns it with each member, and [`labels`](Self::labels) names the values
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

    /// Iterates over the labels of a value in the field's enumeration, in declaration
    /// order.
    ///
    /// There are none if the field is not an enumeration, and several if ranges overlap.
    ///
    /// ```
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// use ltt_read::schema::Scope;
    ///
    /// let softirq = trace.event_types_named("irq_softirq_entry").next().expect("a kernel trace");
    /// let name = trace.field(softirq, Scope::Payload, "name").expect("an enumeration");
    /// assert!(name.info().labels(9).eq(["RCU"]));
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn labels(&self, value: i128) -> impl Iterator<Item = &str> {
        let mappings = self.class.mappings().unwrap_or(&[]);
        let has =
            move |ranges: &[(i128, i128)]| ranges.iter().any(|(l, h)| *l <= value && value <= *h);
        mappings.iter().filter(move |m| has(&m.ranges)).map(|m| &*m.label)
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
