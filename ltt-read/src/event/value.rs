//! Values of single fields, with views of nested fields.

use std::borrow::Cow;
use std::fmt;

use super::field_path::FieldStep;
use super::value_text;
use super::visit::StrValue;
use super::walk::{Scalar, child, scalar, sibling};
use crate::layout::FieldInfo;
use crate::layout::node::{Elements, Node, NodeKind};
use crate::layout::program::{Scratch, Window, run_element};
use crate::layout::region::Region;
use crate::schema::Encoding;

/// The value of a field.
///
/// Options and variants are transparent: their value is that of the contained field.
/// Enumerations are integers; [`FieldInfo::labels`] returns their labels. Floating-point numbers of
/// any size are converted to `f64`.
///
/// `Display` writes one line, such as `{ a: 1, b: "text", c: [1, 2] }`: bit fields in
/// hexadecimal (`0x1f`), blobs as `hex"00ff"`. Control characters, quotation marks and
/// backslashes are escaped (`\n`, `\x1b`, `\u{202e}`, `\"`), and so are bytes that are
/// not UTF-8 (`\xff`). Absent options are left out.
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// # let switch = trace.event_types_named("sched_switch").next().expect("a kernel trace");
/// # let mut cursor = trace.cursor(ltt_read::TracefileIndex(0));
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
    /// A floating-point number of any recorded size.
    Float(f64),
    /// A string, with its encoding.
    Str(StrValue<'a>),
    /// A blob: bytes without further structure.
    Blob(&'a [u8]),
    /// A structure, with a view of its members.
    Struct(StructView<'a>),
    /// An array, with a view of its elements.
    Array(ArrayView<'a>),
}

impl<'a> Value<'a> {
    /// Returns the value as a `u64`, if it is an integer, a boolean or a bit field and
    /// not negative.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Value::Uint(v) | Value::Bits(v) => Some(v),
            Value::Sint(v) => v.try_into().ok(),
            Value::Bool(v) => Some(v.into()),
            _ => None,
        }
    }

    /// Returns the value as an `i64`, if it is an integer, a boolean or a bit field and
    /// in range.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            Value::Sint(v) => Some(v),
            _ => self.as_u64()?.try_into().ok(),
        }
    }

    /// Returns the value, if it is a floating-point number.
    pub fn as_f64(&self) -> Option<f64> {
        if let Value::Float(v) = *self { Some(v) } else { None }
    }

    /// Returns the value, if it is a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(v) = *self { Some(v) } else { None }
    }

    /// Returns the value, if it is a string.
    pub fn as_str(&self) -> Option<StrValue<'a>> {
        if let Value::Str(v) = *self { Some(v) } else { None }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Uint(v) => write!(f, "{v}"),
            Value::Sint(v) => write!(f, "{v}"),
            Value::Bool(v) => write!(f, "{v}"),
            Value::Bits(v) => write!(f, "{v:#x}"),
            // With a decimal point or an exponent, unlike `Display`.
            Value::Float(v) => write!(f, "{v:?}"),
            Value::Str(v) => match v.encoding {
                Encoding::Utf8 => value_text::text(f, v.bytes),
                _ => value_text::text(f, v.to_str_lossy().as_bytes()),
            },
            Value::Blob(v) => value_text::blob(f, v),
            Value::Struct(v) => write!(f, "{v}"),
            Value::Array(v) => write!(f, "{v}"),
        }
    }
}

impl<'a> From<Scalar<'a>> for Value<'a> {
    fn from(scalar: Scalar<'a>) -> Self {
        match scalar {
            Scalar::Uint(value) => Value::Uint(value),
            Scalar::Sint(value) => Value::Sint(value),
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Bits(value) => Value::Bits(value),
            Scalar::Float(value) => Value::Float(value),
            Scalar::Str(value) => Value::Str(value),
            Scalar::Blob(value) => Value::Blob(value),
        }
    }
}

/// A view of the fields of a region whose program has been run.
#[derive(Debug, Clone)]
pub(crate) struct View<'a> {
    pub(crate) region: &'a Region,
    pub(crate) window: Window<'a>,
    /// The slots; copied only within arrays whose elements need slots of their own.
    pub(crate) slots: Cow<'a, [u64]>,
}

impl<'a> View<'a> {
    fn node(&self, index: usize) -> &'a Node {
        &self.region.nodes[index]
    }

    fn place(&self, node: &Node) -> u64 {
        self.slots[node.anchor as usize].wrapping_add(node.offset)
    }

    /// Returns the value of a field below a node, given the remaining steps of its path.
    /// Steps into options, and into the selected option of a variant, are implicit unless
    /// a step names the option.
    pub(crate) fn resolve(self, index: usize, steps: &[FieldStep]) -> Option<Value<'a>> {
        let Some((step, rest)) = steps.split_first() else { return self.value(index) };
        let node = self.node(index);
        match (&node.kind, step) {
            (NodeKind::Option { chosen }, _) => {
                let is_present = self.slots[*chosen as usize] != 0;
                is_present.then(|| self.resolve(index + 1, steps))?
            }
            (NodeKind::Variant { chosen }, step) => {
                let number = self.slots[*chosen as usize];
                if let FieldStep::Option(wanted) = step {
                    let (first, end) = (index + 1, node.next as usize);
                    let option = sibling(&self.region.nodes, first, end, number as usize)?;
                    return (*wanted == number).then(|| self.resolve(option, rest))?;
                }
                let named = step.name().and_then(|name| child(&self.region.nodes, index, name));
                match named {
                    Some((option, n)) if n == number => self.resolve(option, rest),
                    Some(_) => None,
                    None => {
                        let (first, end) = (index + 1, node.next as usize);
                        let option = sibling(&self.region.nodes, first, end, number as usize)?;
                        self.resolve(option, steps)
                    }
                }
            }
            (NodeKind::Struct, FieldStep::Name(name)) => {
                let (member, _) = child(&self.region.nodes, index, name)?;
                self.resolve(member, rest)
            }
            (NodeKind::Array { .. }, FieldStep::Index(n)) => {
                self.array(index)?.element(*n)?.resolve(index + 1, rest)
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

    /// Returns the value of a node; `None` for an absent option.
    pub(crate) fn value(self, index: usize) -> Option<Value<'a>> {
        let node = self.node(index);
        match &node.kind {
            NodeKind::Struct => Some(Value::Struct(StructView { view: self, index })),
            NodeKind::Array { .. } => self.array(index).map(Value::Array),
            NodeKind::Option { chosen } => {
                let is_present = self.slots[*chosen as usize] != 0;
                is_present.then(|| self.value(index + 1))?
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

/// A view of a structure field, which decodes members when they are read.
#[derive(Debug, Clone)]
pub struct StructView<'a> {
    view: View<'a>,
    index: usize,
}

impl<'a> StructView<'a> {
    /// Iterates over the members and their values in decoding order, without absent
    /// options.
    pub fn members(&self) -> impl Iterator<Item = (&'a FieldInfo, Value<'a>)> + '_ {
        let nodes = &self.view.region.nodes;
        let end = nodes[self.index].next as usize;
        let next = |i: &usize| nodes.get(*i).map(|n| n.next as usize);
        std::iter::successors(Some(self.index + 1), next)
            .take_while(move |i| *i < end)
            .filter_map(|i| Some((&nodes[i].info, self.view.clone().value(i)?)))
    }

    /// Returns the value of a member; `None` if there is no member of this name, or if it
    /// is an absent option.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        let (member, _) = child(&self.view.region.nodes, self.index, name)?;
        self.view.clone().value(member)
    }
}

impl fmt::Display for StructView<'_> {
    /// Writes the members in the form of [`Value`], e.g. `{ a: 1, b: "text" }`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = self.members().map(|(info, value)| (info.name().unwrap_or(""), value));
        value_text::structure(f, members)
    }
}

/// A view of an array field, which decodes elements when they are read.
#[derive(Debug, Clone)]
pub struct ArrayView<'a> {
    view: View<'a>,
    index: usize,
    len: u64,
    begin: u64,
}

impl<'a> ArrayView<'a> {
    /// Returns the number of elements.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns `true` if the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns an element; `None` if `index` is out of range or the element is an absent
    /// option. This takes constant time for elements of fixed size, and time proportional
    /// to `index` for others.
    pub fn get(&self, index: u64) -> Option<Value<'a>> {
        self.scalar(index).or_else(|| self.element(index)?.value(self.index + 1))
    }

    /// Iterates over the elements in order, without absent options.
    pub fn iter(&self) -> impl Iterator<Item = Value<'a>> + '_ {
        let (mut pos, mut scratch) = (self.begin, None);
        (0..self.len).filter_map(move |index| {
            let Elements::Dynamic(element) = self.elements() else { return self.get(index) };
            let scratch = scratch.get_or_insert_with(|| self.scratch());
            pos = run_element(element, self.view.window, pos, scratch).ok()?;
            self.with_slots(scratch.slots.to_vec()).value(self.index + 1)
        })
    }

    /// Returns a scalar element of fixed size.
    fn scalar(&self, index: u64) -> Option<Value<'a>> {
        let node = self.view.node(self.index + 1);
        match self.elements() {
            Elements::Fixed { stride, .. } if index < self.len && !node.is_compound() => {
                let at = self.begin + index * stride;
                Some(scalar(node, at, self.view.window, &self.view.slots).into())
            }
            _ => None,
        }
    }

    /// Returns a view in which the anchors of the element's node are those of this
    /// element.
    fn element(&self, index: u64) -> Option<View<'a>> {
        if index >= self.len {
            return None;
        }
        let mut scratch = self.scratch();
        match self.elements() {
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
        Some(self.with_slots(scratch.slots.into_vec()))
    }

    /// Returns the layout of the elements.
    fn elements(&self) -> &'a Elements {
        match &self.view.node(self.index).kind {
            NodeKind::Array { elements, .. } => elements,
            _ => &Elements::Fixed { stride: 0, anchor: 0 },
        }
    }

    /// Returns a scratch with a copy of the slots, for the elements.
    fn scratch(&self) -> Scratch {
        let mut slots = self.view.slots.to_vec();
        slots.resize(slots.len().max(self.view.region.slots as usize), 0);
        Scratch { slots: slots.into(), ..Scratch::default() }
    }

    fn with_slots(&self, slots: Vec<u64>) -> View<'a> {
        View { slots: Cow::Owned(slots), ..self.view.clone() }
    }
}

impl fmt::Display for ArrayView<'_> {
    /// Writes the elements in the form of [`Value`], e.g. `[1, 2]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        value_text::array(f, self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trace;

    #[test]
    fn values_have_a_compact_text() {
        let metadata = br#"/* CTF 1.8 */
            trace { major = 1; minor = 8; byte_order = le; };
            event { name = "e"; fields := struct {
                integer { size = 8; signed = true; } a;
                string { encoding = UTF8; } b;
                integer { size = 8; } c[2];
                struct { integer { size = 8; } len; integer { size = 8; } d[len]; } s;
                struct { } none;
                struct { string t; } e[2];
            }; };"#;
        let mut bytes = b"\xfea\"\\\n\x1b\xffz\xe2\x80\xae\0".to_vec();
        bytes.extend_from_slice(&[1, 2, 0]);
        bytes.extend_from_slice(b"x\0yz\0");
        let trace = Trace::from_memory(metadata, [("s".to_owned(), bytes)]).unwrap();
        let mut cursor = trace.cursor(crate::TracefileIndex(0));
        let event = cursor.next().unwrap().unwrap();
        let payload = event.scope(crate::schema::Scope::Payload).unwrap();
        let text = r#"a: -2, b: "a\"\\\n\x1b\xffz\u{202e}", c: [1, 2], s: { len: 0, d: [] }"#;
        let rest = r#"none: {}, e: [{ t: "x" }, { t: "yz" }]"#;
        assert_eq!(payload.to_string(), format!("{{ {text}, {rest} }}"));
        assert_eq!(Value::Struct(payload.clone()).to_string(), payload.to_string());
    }

    #[test]
    fn scalars_have_a_text() {
        let text = |value: Value<'_>| value.to_string();
        assert_eq!(text(Value::Uint(u64::MAX)), "18446744073709551615");
        assert_eq!(text(Value::Bool(true)), "true");
        assert_eq!(text(Value::Bits(31)), "0x1f");
        assert_eq!(text(Value::Float(1.0)), "1.0");
        assert_eq!(text(Value::Float(f64::NEG_INFINITY)), "-inf");
        assert_eq!(text(Value::Blob(&[0, 255])), "hex\"00ff\"");
        let utf16 = StrValue { bytes: b"a\0\x07\0", encoding: Encoding::Utf16Le, padding: 0 };
        assert_eq!(text(Value::Str(utf16)), r#""a\x07""#);
        assert_eq!((Value::Bool(true).as_bool(), Value::Uint(1).as_bool()), (Some(true), None));
    }
}
