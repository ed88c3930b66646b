//! Walks the fields of a region and tells a visitor what is there.

use super::cue::{Base, Cue, CueKind};
use super::node::{Elements, Node, NodeKind};
use super::program::{Scratch, Slot, Window, run_element, var_int};
use super::region::Region;
use crate::bits;
use crate::schema::Encoding;
use crate::value::Value;
use crate::visit::{StrValue, Visitor};

/// Visits the fields of the cues `first..end`.
#[inline(always)]
pub(crate) fn visit<V: Visitor>(
    region: &Region,
    (first, end): (usize, usize),
    window: Window<'_>,
    slots: &[u64],
    v: &mut V,
) {
    let (nodes, cues) = (&*region.nodes, &*region.cues);
    if region.moves_anchors {
        let mut slots = slots.to_vec();
        slots.resize(slots.len().max(region.slots as usize), 0);
        let slots = Scratch { slots, ..Scratch::default() };
        Walk { nodes, cues, window, slots }.nested((first as u32, end as u32), v);
    } else if let Some(pause) = until_dynamic(cues, (first, end), nodes, window, slots, v) {
        // Apart: most regions end here, and need not have all of this at hand.
        Walk { nodes, cues, window, slots }.go_on(pause, end, v);
    }
}

/// A node that depends on data, and where its cues end.
type Dynamic = (u32, u32);

/// Makes the visitor calls of the cues `first..end` up to one that depends on data.
#[inline(always)]
fn until_dynamic<V: Visitor>(
    cues: &[Cue],
    range: (usize, usize),
    nodes: &[Node],
    window: Window<'_>,
    slots: &[u64],
    v: &mut V,
) -> Option<Dynamic> {
    call::<_, true>(cues, range, nodes, window, slots, v)
}

/// The bytes behind a base in which numbers are found without looking where the data
/// ends.
type Near = [u8; Base::NEAR + 8];

/// The same. Where `NEAR` is false, near the end of the data.
#[inline(always)]
fn call<V: Visitor, const NEAR: bool>(
    cues: &[Cue],
    (mut first, end): (usize, usize),
    nodes: &[Node],
    window: Window<'_>,
    slots: &[u64],
    v: &mut V,
) -> Option<Dynamic> {
    let data = window.data;
    'bases: loop {
        let with_base = cues.get(first..end)?;
        let base = with_base.first()?;
        let begin = slots[base.anchor as usize].wrapping_add(base.base);
        let near = data.get((begin / 8) as usize..).and_then(|bytes| bytes.first_chunk());
        let near: &Near = match near {
            Some(near) => near,
            None if NEAR => return call_at_end(cues, (first, end), nodes, window, slots, v),
            None => &[0; _],
        };
        for Cue { kind, offset, info, .. } in with_base {
            macro_rules! number {
                ($number:ident, $at:expr) => {
                    $number::from_le_bytes(match NEAR {
                        true => near_bytes(near, $at),
                        false => load(data, begin.wrapping_add(8 * u64::from($at))),
                    })
                };
            }
            match *kind {
                CueKind::U8 { at } => v.uint(info, number!(u8, at).into()),
                CueKind::U16 { at } => v.uint(info, number!(u16, at).into()),
                CueKind::U32 { at } => v.uint(info, number!(u32, at).into()),
                CueKind::U64 { at } => v.uint(info, number!(u64, at)),
                CueKind::I32 { at } => v.sint(info, number!(i32, at).into()),
                CueKind::I64 { at } => v.sint(info, number!(i64, at)),
                CueKind::F64 { at } => v.float(info, number!(f64, at)),
                CueKind::Utf8 { end } => {
                    let pos = begin.wrapping_add(*offset);
                    let len = (slots[end as usize].wrapping_sub(pos) / 8).wrapping_sub(1);
                    let bytes = bytes(data, pos, len);
                    v.string(info, StrValue { bytes, encoding: Encoding::Utf8 });
                }
                CueKind::Text { len } => {
                    let bytes = bytes(data, begin.wrapping_add(*offset), len.into());
                    v.string(info, text(bytes, Encoding::Utf8));
                }
                CueKind::Scalar { node } => {
                    let pos = begin.wrapping_add(*offset);
                    visit_scalar(&nodes[node as usize], pos, window, slots, v);
                }
                CueKind::BeginStruct => v.begin_struct(info),
                CueKind::EndStruct => v.end_struct(info),
                CueKind::Base { next } => {
                    first = next as usize;
                    continue 'bases;
                }
                CueKind::Dynamic { node, next } => return Some((node, next)),
            }
        }
        return None;
    }
}

/// [`call`] near the end of the data, where it has to be looked at for each number.
#[cold]
#[inline(never)]
fn call_at_end<V: Visitor>(
    cues: &[Cue],
    range: (usize, usize),
    nodes: &[Node],
    window: Window<'_>,
    slots: &[u64],
    v: &mut V,
) -> Option<Dynamic> {
    call::<_, false>(cues, range, nodes, window, slots, v)
}

/// A number's bytes. No `at` leads out of those that are near: nothing is checked.
#[inline(always)]
fn near_bytes<const N: usize>(near: &Near, at: u8) -> [u8; N] {
    near[at as usize..].first_chunk().copied().unwrap_or([0; N])
}

/// Where a walk finds slots. Most regions only read them; those with arrays
/// of compound elements move the elements' anchors.
trait Slots {
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

/// A walk over the fields of one region of one packet.
struct Walk<'a, S> {
    nodes: &'a [Node],
    cues: &'a [Cue],
    window: Window<'a>,
    slots: S,
}

impl<'a, S: Slots> Walk<'a, S> {
    /// Makes the visitor calls of some cues.
    #[inline(never)]
    fn nested<V: Visitor>(&mut self, (first, end): (u32, u32), v: &mut V) {
        let cues = (first as usize, end as usize);
        let Walk { nodes, window, .. } = *self;
        let pause = until_dynamic(self.cues, cues, nodes, window, self.slots.all(), v);
        if let Some(pause) = pause {
            self.go_on(pause, cues.1, v);
        }
    }

    /// Makes those from one on that depends on data.
    #[inline(never)]
    fn go_on<V: Visitor>(&mut self, mut pause: Dynamic, end: usize, v: &mut V) {
        let Walk { nodes, window, .. } = *self;
        loop {
            let (node, next) = pause;
            self.dynamic(&nodes[node as usize], v);
            let cues = (next as usize, end);
            match until_dynamic(self.cues, cues, nodes, window, self.slots.all(), v) {
                Some(next) => pause = next,
                None => return,
            }
        }
    }

    /// Visits an array, a variant or an option.
    #[inline(never)]
    fn dynamic<V: Visitor>(&mut self, node: &'a Node, v: &mut V) {
        let nodes = self.nodes;
        let (info, slots) = (&node.info, self.slots.all());
        // Below the field's own cue are those of what it holds.
        let (first, end) = (node.cues.0 as usize + 1, node.next as usize);
        match &node.kind {
            NodeKind::Array { len, elements } => {
                let len = len.get(slots);
                let begin = slots[node.anchor as usize].wrapping_add(node.offset);
                v.begin_array(info, len);
                if let Some(element) = self.cues.get(first) {
                    self.elements(element, (first as u32, node.cues.1), len, elements, begin, v);
                }
                v.end_array(info);
            }
            NodeKind::Variant { chosen } => {
                let chosen = slots[*chosen as usize] as usize;
                v.begin_variant(info, chosen);
                let options = node.info.index() + 1;
                if let Some(option) = sibling(nodes, options, end, chosen) {
                    self.nested(nodes[option].cues, v);
                }
                v.end_variant(info);
            }
            NodeKind::Option { chosen } => {
                let there = slots[*chosen as usize] != 0;
                v.begin_option(info, there);
                if there {
                    self.nested((first as u32, node.cues.1), v);
                }
                v.end_option(info);
            }
            _ => {}
        }
    }

    /// Visits the elements of an array: what their cues are, how many they
    /// are, how to get from one to the next, and where the first begins.
    fn elements<V: Visitor>(
        &mut self,
        cue: &Cue,
        cues: (u32, u32),
        len: u64,
        how: &Elements,
        begin: u64,
        v: &mut V,
    ) {
        match how {
            Elements::Fixed { stride, .. } if cue.is_scalar() => {
                self.scalars(cue, begin, len, *stride, v);
            }
            Elements::Fixed { stride, anchor } => {
                for i in 0..len {
                    let Some(scratch) = self.slots.scratch() else { return };
                    set(scratch, *anchor, begin + i * stride);
                    self.nested(cues, v);
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
                    self.nested(cues, v);
                }
            }
        }
    }

    /// Visits the elements of an array that hold no others.
    fn scalars<V: Visitor>(&self, cue: &Cue, begin: u64, len: u64, stride: u64, v: &mut V) {
        let (data, info) = (self.window.data, &cue.info);
        match cue.kind {
            CueKind::U8 { .. } if stride == 8 => {
                load_each(data, begin, len, |b| v.uint(info, u8::from_le_bytes(b).into()));
            }
            CueKind::U16 { .. } if stride == 16 => {
                load_each(data, begin, len, |b| v.uint(info, u16::from_le_bytes(b).into()));
            }
            CueKind::U32 { .. } if stride == 32 => {
                load_each(data, begin, len, |b| v.uint(info, u32::from_le_bytes(b).into()));
            }
            CueKind::U64 { .. } if stride == 64 => {
                load_each(data, begin, len, |b| v.uint(info, u64::from_le_bytes(b)));
            }
            CueKind::I32 { .. } if stride == 32 => {
                load_each(data, begin, len, |b| v.sint(info, i32::from_le_bytes(b).into()));
            }
            CueKind::I64 { .. } if stride == 64 => {
                load_each(data, begin, len, |b| v.sint(info, i64::from_le_bytes(b)));
            }
            _ => {
                let (window, slots) = (self.window, self.slots.all());
                let node = &self.nodes[info.index()];
                (0..len).for_each(|i| visit_scalar(node, begin + i * stride, window, slots, v));
            }
        }
    }
}

/// Visits a field that holds no others.
#[inline(never)] // the loop over what is common stays small
fn visit_scalar<V: Visitor>(node: &Node, pos: u64, window: Window<'_>, slots: &[u64], v: &mut V) {
    let info = &node.info;
    match scalar(node, pos, window, slots) {
        Scalar::Uint(value) => v.uint(info, value),
        Scalar::Sint(value) => v.sint(info, value),
        Scalar::Bool(value) => v.boolean(info, value),
        Scalar::Bits(value) => v.bits(info, value),
        Scalar::Float(value) => v.float(info, value),
        Scalar::Str(value) => v.string(info, value),
        Scalar::Blob(value) => v.blob(info, value),
    }
}

/// The whole bytes of a field that begins and ends at byte boundaries; zeros
/// past the end of the data.
#[inline(always)]
fn load<const N: usize>(data: &[u8], pos: u64) -> [u8; N] {
    let byte = (pos / 8) as usize;
    match data.get(byte..byte + N).and_then(|bytes| bytes.as_array()) {
        Some(bytes) => *bytes,
        None => [0; N],
    }
}

/// Calls `each` with `len` fields of `N` bytes that follow each other.
#[inline(always)]
fn load_each<const N: usize>(data: &[u8], pos: u64, len: u64, mut each: impl FnMut([u8; N])) {
    let fields = bytes(data, pos, len.saturating_mul(N as u64)).as_chunks().0;
    fields.iter().for_each(|field| each(*field));
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
pub(crate) fn bytes(data: &[u8], pos: u64, len: u64) -> &[u8] {
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
pub(crate) fn first_zero(bytes: &[u8]) -> Option<usize> {
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
