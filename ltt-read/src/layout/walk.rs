//! Walks the nodes of a region and tells a visitor what is there.

use super::FixedRead;
use super::node::{Elements, Node, NodeKind};
use super::program::{Scratch, Slot, Window, run_element, var_int};
use crate::bits;
use crate::schema::Encoding;
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

    /// Visits the nodes `first..end`, which are siblings with their subtrees.
    pub(crate) fn siblings<V: Visitor>(&mut self, first: usize, end: usize, v: &mut V) {
        let nodes = self.nodes;
        let data = self.window.data;
        let mut i = first;
        while i < end {
            let node = &nodes[i];
            let info = &node.info;
            let pos = self.place(node);
            match &node.kind {
                NodeKind::Uint(read) => v.uint(info, read.raw(data, pos)),
                NodeKind::Sint(read) => v.sint(info, read.value(data, pos) as i64),
                NodeKind::Struct => {
                    v.begin_struct(info);
                    self.siblings(i + 1, node.next as usize, v);
                    v.end_struct(info);
                }
                NodeKind::Array { len, elements } => {
                    let len = len.get(self.slots.all());
                    v.begin_array(info, len);
                    self.elements(i + 1, len, elements, pos, v);
                    v.end_array(info);
                }
                NodeKind::Variant { chosen } => {
                    let chosen = self.slots.all()[*chosen as usize] as usize;
                    v.begin_variant(info, chosen);
                    if let Some(option) = self.nth_sibling(i + 1, node.next as usize, chosen) {
                        self.siblings(option, nodes[option].next as usize, v);
                    }
                    v.end_variant(info);
                }
                NodeKind::Option { chosen } => {
                    let there = self.slots.all()[*chosen as usize] != 0;
                    v.begin_option(info, there);
                    if there {
                        self.siblings(i + 1, node.next as usize, v);
                    }
                    v.end_option(info);
                }
                _ => self.scalar(node, pos, v),
            }
            i = node.next as usize;
        }
    }

    fn scalar<V: Visitor>(&self, node: &Node, pos: u64, v: &mut V) {
        let (data, info) = (self.window.data, &node.info);
        match &node.kind {
            NodeKind::Uint(read) => v.uint(info, read.raw(data, pos)),
            NodeKind::Sint(read) => v.sint(info, read.value(data, pos) as i64),
            NodeKind::Bool(read) => v.boolean(info, read.raw(data, pos) != 0),
            NodeKind::Bits(read) => v.bits(info, read.raw(data, pos)),
            NodeKind::Float32(_) | NodeKind::Float64(_) | NodeKind::FloatOther(_) => {
                v.float(info, float(node, data, pos));
            }
            NodeKind::VarUint => v.uint(info, var_int(self.window, pos, false).map_or(0, |v| v.0)),
            NodeKind::VarSint => {
                v.sint(info, var_int(self.window, pos, true).map_or(0, |v| v.0) as i64)
            }
            NodeKind::Terminated { encoding, end } => {
                v.string(info, self.terminated(pos, *end, *encoding));
            }
            NodeKind::Text { encoding, len } => {
                let bytes = self.bytes(pos, len.get(self.slots.all()));
                v.string(info, text(bytes, *encoding));
            }
            NodeKind::Blob { len } => v.blob(info, self.bytes(pos, len.get(self.slots.all()))),
            NodeKind::Struct
            | NodeKind::Array { .. }
            | NodeKind::Variant { .. }
            | NodeKind::Option { .. } => {}
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
            Elements::Fixed { stride, .. } if !is_compound(node) => {
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

    /// The `n`th of the siblings `first..end`.
    pub(crate) fn nth_sibling(&self, first: usize, end: usize, n: usize) -> Option<usize> {
        let mut i = first;
        for _ in 0..n {
            i = self.nodes.get(i)?.next as usize;
        }
        (i < end).then_some(i)
    }

    fn bytes(&self, pos: u64, len: u64) -> &'a [u8] {
        let first = (pos / 8) as usize;
        let end = first.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
        self.window.data.get(first..end).unwrap_or(&[])
    }

    fn terminated(&self, pos: u64, end: Slot, encoding: Encoding) -> StrValue<'a> {
        let end = self.slots.all()[end as usize] / 8;
        let len = end.saturating_sub(pos / 8 + u64::from(encoding.unit()));
        StrValue { bytes: self.bytes(pos, len), encoding }
    }
}

fn set(scratch: &mut Scratch, slot: Slot, value: u64) {
    scratch.slots[slot as usize] = value;
}

fn is_compound(node: &Node) -> bool {
    use NodeKind::{Array, Option, Struct, Variant};
    matches!(node.kind, Struct | Array { .. } | Variant { .. } | Option { .. })
}

/// The text of a field of given length: up to the first null code unit.
fn text(bytes: &[u8], encoding: Encoding) -> StrValue<'_> {
    let unit = encoding.unit() as usize;
    let len = match unit {
        1 => memchr::memchr(0, bytes),
        _ => bytes.chunks_exact(unit).position(|u| u.iter().all(|b| *b == 0)).map(|i| i * unit),
    };
    StrValue { bytes: &bytes[..len.unwrap_or(bytes.len())], encoding }
}

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
