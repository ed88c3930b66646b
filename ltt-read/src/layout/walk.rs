//! Walks the nodes of a region and tells a visitor what is there.

use super::node::{Elements, Node, NodeKind};
use super::program::{Scratch, Slot, Window, run_element, var_int};
use crate::bits;
use crate::schema::Encoding;
use crate::value::Value;
use crate::visit::{StrValue, Visitor};

/// Where a walk finds slots. Most regions only read them; those with arrays
/// of compound elements move the elements' anchors.
pub(crate) trait Slots {
    fn all(&self) -> &[u64];
    /// The scratch to run element programs with.
    fn scratch(&mut self) -> Option<&mut Scratch>;
}

impl Slots for &[u64] {
    #[inline(always)]
    fn all(&self) -> &[u64] {
        self
    }
    fn scratch(&mut self) -> Option<&mut Scratch> {
        None
    }
}

impl Slots for Scratch {
    #[inline(always)]
    fn all(&self) -> &[u64] {
        &self.slots
    }
    fn scratch(&mut self) -> Option<&mut Scratch> {
        Some(self)
    }
}

/// A walk over the nodes of one region of one packet.
pub(crate) struct Walk<'a, S> {
    pub(crate) nodes: &'a [Node],
    pub(crate) window: Window<'a>,
    pub(crate) slots: S,
}

impl<'a, S: Slots> Walk<'a, S> {
    #[inline(always)]
    fn place(&self, node: &Node) -> u64 {
        self.slots.all()[node.anchor as usize].wrapping_add(node.offset)
    }

    /// Visits the nodes `first..end`, which are root structures.
    pub(crate) fn roots<V: Visitor>(&mut self, first: usize, end: usize, v: &mut V) {
        let nodes = self.nodes;
        let mut i = first;
        while i < end {
            let node = &nodes[i];
            let next = node.next as usize;
            if matches!(node.kind, NodeKind::Struct) {
                v.begin_struct(&node.info);
                self.siblings(i + 1, next, v);
                v.end_struct(&node.info);
            } else {
                self.compound(i, v);
            }
            i = next;
        }
    }

    /// Visits the nodes `first..end`, which are siblings with their subtrees.
    fn siblings<V: Visitor>(&mut self, first: usize, end: usize, v: &mut V) {
        let nodes = self.nodes;
        let data = self.window.data;
        let mut i = first;
        while i < end {
            let node = &nodes[i];
            match &node.kind {
                NodeKind::Uint(read) => v.uint(&node.info, read.raw(data, self.place(node))),
                NodeKind::Sint(read) => {
                    v.sint(&node.info, read.value(data, self.place(node)) as i64);
                }
                _ if node.is_compound() => self.compound(i, v),
                _ => self.scalar(node, self.place(node), v),
            }
            i = node.next as usize;
        }
    }

    /// Visits a node that holds others.
    #[inline(never)]
    fn compound<V: Visitor>(&mut self, index: usize, v: &mut V) {
        let nodes = self.nodes;
        let node = &nodes[index];
        let (info, first, end) = (&node.info, index + 1, node.next as usize);
        match &node.kind {
            NodeKind::Struct => {
                v.begin_struct(info);
                self.siblings(first, end, v);
                v.end_struct(info);
            }
            NodeKind::Array { len, elements } => {
                let len = len.get(self.slots.all());
                v.begin_array(info, len);
                self.elements(first, len, elements, self.place(node), v);
                v.end_array(info);
            }
            NodeKind::Variant { chosen } => {
                let chosen = self.slots.all()[*chosen as usize] as usize;
                v.begin_variant(info, chosen);
                if let Some(option) = sibling(nodes, first, end, chosen) {
                    self.siblings(option, nodes[option].next as usize, v);
                }
                v.end_variant(info);
            }
            NodeKind::Option { chosen } => {
                let there = self.slots.all()[*chosen as usize] != 0;
                v.begin_option(info, there);
                if there {
                    self.siblings(first, end, v);
                }
                v.end_option(info);
            }
            _ => self.scalar(node, self.place(node), v),
        }
    }

    #[inline(always)]
    fn scalar<V: Visitor>(&self, node: &Node, pos: u64, v: &mut V) {
        let info = &node.info;
        match scalar(node, pos, self.window, self.slots.all()) {
            Scalar::Uint(value) => v.uint(info, value),
            Scalar::Sint(value) => v.sint(info, value),
            Scalar::Bool(value) => v.boolean(info, value),
            Scalar::Bits(value) => v.bits(info, value),
            Scalar::Float(value) => v.float(info, value),
            Scalar::Str(value) => v.string(info, value),
            Scalar::Blob(value) => v.blob(info, value),
        }
    }

    fn elements<V: Visitor>(
        &mut self,
        element: usize,
        len: u64,
        how: &Elements,
        begin: u64,
        v: &mut V,
    ) {
        let nodes = self.nodes;
        let node = &nodes[element];
        match how {
            Elements::Fixed { stride, .. } if !node.is_compound() => {
                for i in 0..len {
                    self.scalar(node, begin + i * stride, v);
                }
            }
            Elements::Fixed { stride, anchor } => {
                for i in 0..len {
                    let Some(scratch) = self.slots.scratch() else { return };
                    set(scratch, *anchor, begin + i * stride);
                    self.siblings(element, node.next as usize, v);
                }
            }
            Elements::Dynamic(program) => {
                let mut pos = begin;
                for _ in 0..len {
                    let Some(scratch) = self.slots.scratch() else { return };
                    match run_element(program, self.window, pos, scratch) {
                        Ok(end) => pos = end,
                        Err(_) => return, // ran without error when the event was found
                    }
                    self.siblings(element, node.next as usize, v);
                }
            }
        }
    }
}

/// The `n`th of the siblings `first..end`.
pub(crate) fn sibling(nodes: &[Node], first: usize, end: usize, n: usize) -> Option<usize> {
    let mut i = first;
    for _ in 0..n {
        i = nodes.get(i)?.next as usize;
    }
    (i < end).then_some(i)
}

/// The value of a field that holds no others.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scalar<'a> {
    Uint(u64),
    Sint(i64),
    Bool(bool),
    Bits(u64),
    Float(f64),
    Str(StrValue<'a>),
    Blob(&'a [u8]),
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

/// The value of a field that holds no others, at a place.
#[inline(always)]
pub(crate) fn scalar<'a>(node: &Node, pos: u64, window: Window<'a>, slots: &[u64]) -> Scalar<'a> {
    let data = window.data;
    match &node.kind {
        NodeKind::Uint(read) => Scalar::Uint(read.raw(data, pos)),
        NodeKind::Sint(read) => Scalar::Sint(read.value(data, pos) as i64),
        NodeKind::Bool(read) => Scalar::Bool(read.raw(data, pos) != 0),
        NodeKind::Bits(read) => Scalar::Bits(read.raw(data, pos)),
        NodeKind::Float32(_) | NodeKind::Float64(_) | NodeKind::FloatOther(_) => {
            Scalar::Float(float(node, data, pos))
        }
        // A variable-length integer was read without error when the event was found.
        NodeKind::VarUint => Scalar::Uint(var_int(window, pos, false).map_or(0, |v| v.0)),
        NodeKind::VarSint => Scalar::Sint(var_int(window, pos, true).map_or(0, |v| v.0) as i64),
        NodeKind::Terminated { encoding, end } => {
            let end = slots[*end as usize] / 8;
            let len = end.saturating_sub(pos / 8 + u64::from(encoding.unit()));
            Scalar::Str(StrValue { bytes: bytes(data, pos, len), encoding: *encoding })
        }
        NodeKind::Text { encoding, len } => {
            Scalar::Str(text(bytes(data, pos, len.get(slots)), *encoding))
        }
        NodeKind::Blob { len } => Scalar::Blob(bytes(data, pos, len.get(slots))),
        NodeKind::Struct
        | NodeKind::Array { .. }
        | NodeKind::Variant { .. }
        | NodeKind::Option { .. } => Scalar::Blob(&[]),
    }
}

#[inline(always)]
fn bytes(data: &[u8], pos: u64, len: u64) -> &[u8] {
    let first = (pos / 8) as usize;
    let end = first.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
    data.get(first..end).unwrap_or(&[])
}

fn set(scratch: &mut Scratch, slot: Slot, value: u64) {
    scratch.slots[slot as usize] = value;
}

/// The text of a field of given length: up to the first null code unit.
#[inline(always)]
fn text(bytes: &[u8], encoding: Encoding) -> StrValue<'_> {
    let unit = encoding.unit() as usize;
    let len = match unit {
        1 => first_zero(bytes),
        _ => bytes.chunks_exact(unit).position(|u| u.iter().all(|b| *b == 0)).map(|i| i * unit),
    };
    StrValue { bytes: &bytes[..len.unwrap_or(bytes.len())], encoding }
}

/// The first null byte. Texts of fixed length are short: less than what it
/// takes to get a vectorised search going.
#[inline(always)]
fn first_zero(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 0xff;
    let (words, rest) = bytes.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The lowest bit set is in the first byte that is 0.
        let zeros = word.wrapping_sub(ONES) & !word & (ONES << 7);
        if zeros != 0 {
            return Some(8 * i + zeros.trailing_zeros() as usize / 8);
        }
    }
    Some(8 * words.len() + rest.iter().position(|byte| *byte == 0)?)
}

#[inline(never)] // rare, and long
fn float(node: &Node, data: &[u8], pos: u64) -> f64 {
    match &node.kind {
        NodeKind::Float32(read) => f64::from(f32::from_bits(read.raw(data, pos) as u32)),
        NodeKind::Float64(read) => f64::from_bits(read.raw(data, pos)),
        NodeKind::FloatOther(read) if read.bits() == 16 => {
            bits::half_to_f64(read.raw(data, pos) as u16)
        }
        NodeKind::FloatOther(read) => {
            let (first, second) = (read.raw(data, pos), read.raw(data, pos + 64));
            if read.big {
                bits::quad_to_f64(first, second)
            } else {
                bits::quad_to_f64(second, first)
            }
        }
        _ => f64::NAN,
    }
}
