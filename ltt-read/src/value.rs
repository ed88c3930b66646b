//! Values: fields read one at a time, nested ones through views.

use std::borrow::Cow;

use crate::field::FieldStep;
use crate::layout::FieldInfo;
use crate::layout::node::{Elements, Node, NodeKind};
use crate::layout::program::{Scratch, Window, run_element};
use crate::layout::region::Region;
use crate::layout::walk::{scalar, sibling};
use crate::visit::StrValue;

/// The value of a field.
///
/// Options and variants are transparent: their value is that of the field
/// that is there. Enumerations are integers; [`labels`] names them. Floats of
/// any size are `f64`.
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// # let switch = trace.event_types_named("sched_switch").next().expect("a kernel trace");
/// # let mut cursor = trace.cursor(0);
/// # while cursor.advance()? && cursor.event().type_id() != switch {}
/// # let event = cursor.event();
/// use ltt_read::Value;
///
/// match event.field("prev_comm") {
///     Some(Value::Str(text)) => println!("{}", text.to_str_lossy()),
///     Some(Value::Uint(number)) => println!("{number}"),
///     other => println!("{other:?}"),
/// }
/// # assert!(event.field("prev_comm").is_some_and(|v| v.as_str().is_some()));
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Value<'a> {
    /// An unsigned integer.
    Uint(u64),
    /// A signed integer.
    Sint(i64),
    /// A boolean.
    Bool(bool),
    /// A bit array or bit map, least significant bit first.
    Bits(u64),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Str(StrValue<'a>),
    /// Bytes.
    Blob(&'a [u8]),
    /// A structure.
    Struct(StructView<'a>),
    /// An array.
    Array(ArrayView<'a>),
}

impl<'a> Value<'a> {
    /// The number, if it is an integer, boolean or set of bits that is not
    /// negative.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Value::Uint(v) | Value::Bits(v) => Some(v),
            Value::Sint(v) => v.try_into().ok(),
            Value::Bool(v) => Some(v.into()),
            _ => None,
        }
    }

    /// The number, if it is an integer, boolean or set of bits that fits.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Value::Sint(v) => Some(v),
            _ => self.as_u64()?.try_into().ok(),
        }
    }

    /// The number, if it is a floating-point number.
    pub fn as_f64(&self) -> Option<f64> {
        if let Value::Float(v) = *self { Some(v) } else { None }
    }

    /// The text, if it is a string.
    pub fn as_str(&self) -> Option<StrValue<'a>> {
        if let Value::Str(v) = *self { Some(v) } else { None }
    }
}

/// The labels that an enumeration gives a value, in declaration order.
///
/// None if the field is no enumeration; several where ranges overlap.
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// use ltt_read::{labels, schema::Scope};
///
/// let softirq = trace.event_types_named("irq_softirq_entry").next().expect("a kernel trace");
/// let name = trace.field(softirq, Scope::Payload, "name").expect("an enumeration");
/// assert!(labels(name.info(), 9).eq(["RCU"]));
/// # Ok::<(), ltt_read::Error>(())
/// ```
pub fn labels(field: &FieldInfo, value: i128) -> impl Iterator<Item = &str> {
    let mappings = field.class().mappings().unwrap_or(&[]);
    let has = move |ranges: &[(i128, i128)]| ranges.iter().any(|(l, h)| *l <= value && value <= *h);
    mappings.iter().filter(move |m| has(&m.ranges)).map(|m| &*m.label)
}

/// A field within a region whose program has been run.
#[derive(Debug, Clone)]
pub(crate) struct View<'a> {
    pub(crate) region: &'a Region,
    pub(crate) window: Window<'a>,
    /// Slots; copied only within arrays whose elements need their own.
    pub(crate) slots: Cow<'a, [u64]>,
}

impl<'a> View<'a> {
    fn node(&self, index: usize) -> &'a Node {
        &self.region.nodes[index]
    }

    fn place(&self, node: &Node) -> u64 {
        self.slots[node.anchor as usize].wrapping_add(node.offset)
    }

    /// The value of a field below a node, found by the rest of its path.
    /// Options are passed, and the chosen option of a variant unless a step
    /// names an option.
    pub(crate) fn follow(self, index: usize, steps: &[FieldStep]) -> Option<Value<'a>> {
        let Some((step, rest)) = steps.split_first() else { return self.value(index) };
        let node = self.node(index);
        match (&node.kind, step) {
            (NodeKind::Option { chosen }, _) => {
                let there = self.slots[*chosen as usize] != 0;
                there.then(|| self.follow(index + 1, steps))?
            }
            (NodeKind::Variant { chosen }, step) => {
                let number = self.slots[*chosen as usize];
                if let FieldStep::Option(wanted) = step {
                    let (first, end) = (index + 1, node.next as usize);
                    let option = sibling(&self.region.nodes, first, end, number as usize)?;
                    return (*wanted == number).then(|| self.follow(option, rest))?;
                }
                let named = step.name().and_then(|name| child(&self.region.nodes, index, name));
                match named {
                    Some((option, n)) if n == number => self.follow(option, rest),
                    Some(_) => None,
                    None => {
                        let (first, end) = (index + 1, node.next as usize);
                        let option = sibling(&self.region.nodes, first, end, number as usize)?;
                        self.follow(option, steps)
                    }
                }
            }
            (NodeKind::Struct, FieldStep::Name(name)) => {
                let (member, _) = child(&self.region.nodes, index, name)?;
                self.follow(member, rest)
            }
            (NodeKind::Array { .. }, FieldStep::Index(n)) => {
                self.array(index)?.element(*n)?.follow(index + 1, rest)
            }
            _ => None,
        }
    }

    fn array(self, index: usize) -> Option<ArrayView<'a>> {
        let node = self.node(index);
        let NodeKind::Array { len, .. } = &node.kind else { return None };
        let (len, begin) = (len.get(&self.slots), self.place(node));
        Some(ArrayView { view: self, index, len, begin })
    }

    /// The value of a node; `None` for an absent option.
    pub(crate) fn value(self, index: usize) -> Option<Value<'a>> {
        let node = self.node(index);
        match &node.kind {
            NodeKind::Struct => Some(Value::Struct(StructView { view: self, index })),
            NodeKind::Array { .. } => self.array(index).map(Value::Array),
            NodeKind::Option { chosen } => {
                let there = self.slots[*chosen as usize] != 0;
                there.then(|| self.value(index + 1))?
            }
            NodeKind::Variant { chosen } => {
                let chosen = self.slots[*chosen as usize] as usize;
                let option = sibling(&self.region.nodes, index + 1, node.next as usize, chosen)?;
                self.value(option)
            }
            _ => {
                let pos = self.place(node);
                Some(scalar(node, pos, self.window, &self.slots).into())
            }
        }
    }
}

/// The child of this name of a structure or variant, and its number there.
pub(crate) fn child(nodes: &[Node], parent: usize, name: &str) -> Option<(usize, u64)> {
    let (mut i, mut number) = (parent + 1, 0);
    while i < nodes[parent].next as usize {
        if nodes[i].info.name() == Some(name) {
            return Some((i, number));
        }
        (i, number) = (nodes[i].next as usize, number + 1);
    }
    None
}

/// A structure field of an event: nothing of it is decoded before it is asked
/// for.
#[derive(Debug, Clone)]
pub struct StructView<'a> {
    view: View<'a>,
    index: usize,
}

impl<'a> StructView<'a> {
    /// Its members that are there, with their values, in decoding order.
    pub fn members(&self) -> impl Iterator<Item = (&'a FieldInfo, Value<'a>)> + '_ {
        let nodes = &self.view.region.nodes;
        let end = nodes[self.index].next as usize;
        let next = |i: &usize| nodes.get(*i).map(|n| n.next as usize);
        std::iter::successors(Some(self.index + 1), next)
            .take_while(move |i| *i < end)
            .filter_map(|i| Some((&nodes[i].info, self.view.clone().value(i)?)))
    }

    /// The value of a member; `None` if there is none of this name, or it is
    /// an absent option.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        let (member, _) = child(&self.view.region.nodes, self.index, name)?;
        self.view.clone().value(member)
    }
}

/// An array field of an event: nothing of it is decoded before it is asked
/// for.
#[derive(Debug, Clone)]
pub struct ArrayView<'a> {
    view: View<'a>,
    index: usize,
    len: u64,
    begin: u64,
}

impl<'a> ArrayView<'a> {
    /// Number of elements.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// An element. Those of fixed size are found at once, others by passing
    /// all before them.
    pub fn get(&self, index: u64) -> Option<Value<'a>> {
        self.scalar(index).or_else(|| self.element(index)?.value(self.index + 1))
    }

    /// All elements in order. Absent options are left out.
    pub fn iter(&self) -> impl Iterator<Item = Value<'a>> + '_ {
        let (mut pos, mut scratch) = (self.begin, None);
        (0..self.len).filter_map(move |index| {
            let Elements::Dynamic(element) = self.how() else { return self.get(index) };
            let scratch = scratch.get_or_insert_with(|| self.scratch());
            pos = run_element(element, self.view.window, pos, scratch).ok()?;
            self.with_slots(scratch.slots.clone()).value(self.index + 1)
        })
    }

    /// An element that holds no others and is of fixed size.
    fn scalar(&self, index: u64) -> Option<Value<'a>> {
        let node = self.view.node(self.index + 1);
        match self.how() {
            Elements::Fixed { stride, .. } if index < self.len && !node.is_compound() => {
                let at = self.begin + index * stride;
                Some(scalar(node, at, self.view.window, &self.view.slots).into())
            }
            _ => None,
        }
    }

    /// The view in which the element's node stands for this element.
    fn element(&self, index: u64) -> Option<View<'a>> {
        if index >= self.len {
            return None;
        }
        let mut scratch = self.scratch();
        match self.how() {
            Elements::Fixed { stride, anchor } => {
                scratch.slots[*anchor as usize] = self.begin + index * stride;
            }
            Elements::Dynamic(element) => {
                let mut pos = self.begin;
                for _ in 0..=index {
                    pos = run_element(element, self.view.window, pos, &mut scratch).ok()?;
                }
            }
        }
        Some(self.with_slots(scratch.slots))
    }

    fn how(&self) -> &'a Elements {
        match &self.view.node(self.index).kind {
            NodeKind::Array { elements, .. } => elements,
            _ => &Elements::Fixed { stride: 0, anchor: 0 },
        }
    }

    /// Slots of its own for the elements.
    fn scratch(&self) -> Scratch {
        let mut slots = self.view.slots.to_vec();
        slots.resize(slots.len().max(self.view.region.slots as usize), 0);
        Scratch { slots, ..Scratch::default() }
    }

    fn with_slots(&self, slots: Vec<u64>) -> View<'a> {
        View { slots: Cow::Owned(slots), ..self.view.clone() }
    }
}
