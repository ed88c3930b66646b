//! Walks over the fields of a region, calling a visitor.

use super::visit::{StrValue, Visitor};
use crate::base::bits;
use crate::base::zeros::zero_in_half;
use crate::layout::FieldInfo;
use crate::layout::cue::{Base, Cue, CueKind};
use crate::layout::node::{Elements, Node, NodeKind};
use crate::layout::program::{Scratch, Slot, Window, run_element, var_int};
use crate::layout::region::{Region, RootVisit};
use crate::layout::shape::{Shape, for_each_shape};
use crate::schema::Encoding;

/// Visits root structures of a region, given their shapes, and all fields in them.
#[inline(always)]
pub(crate) fn visit<V: Visitor>(
    region: &Region,
    roots: &[RootVisit],
    shapes: &[Shape],
    window: Window<'_>,
    slots: &[u64],
    v: &mut V,
) {
    if region.moves_anchors {
        return visit_moving(region, roots, window, slots, v);
    }
    let nodes = &*region.nodes;
    let calls = Cues { nodes, window, slots };
    let mut place = None;
    for (root, shape) in roots.iter().zip(shapes) {
        let RootVisit { info, base, cues, .. } = root;
        if place.is_none() || !root.keeps_base {
            place = calls.base(*base);
        }
        // The calls for the root are no branches of the loop over cues. (A function for this loop and
        // that of `visit_moving` takes eight instructions more for each event.)
        v.begin_struct(info);
        if let Err(rest) = calls.call_shape(*shape, place, cues, v) {
            visit_rest(rest, cues, nodes, window.data, window.end, slots, v);
        }
        v.end_struct(info);
    }
}

/// Visits the last members of a root structure, given their cues and those of all members. Most
/// parameters are those of [`Cues`], so that these need not be in memory for this call.
#[inline(never)] // it needs more registers than the straight-line code of shapes
fn visit_rest<V: Visitor>(
    rest: &[Cue],
    cues: &[Cue],
    nodes: &[Node],
    data: &[u8],
    end: u64,
    slots: &[u64],
    v: &mut V,
) {
    let window = Window { data, end };
    if let Some(pause) = (Cues { nodes, window, slots }).call::<_, true>(rest, v) {
        Walk { nodes, cues, window, slots }.resume(pause, cues.len(), v);
    }
}

/// Visits the root structures of a region with arrays whose elements have anchors of their own.
#[inline(never)]
fn visit_moving<V: Visitor>(
    region: &Region,
    roots: &[RootVisit],
    window: Window<'_>,
    slots: &[u64],
    v: &mut V,
) {
    let nodes = &*region.nodes;
    let mut slots = slots.to_vec();
    slots.resize(slots.len().max(region.slots as usize), 0);
    let mut slots = Scratch { slots: slots.into(), ..Scratch::default() };
    for RootVisit { info, cues, .. } in roots {
        v.begin_struct(info);
        let mut walk = Walk { nodes, cues, window, slots };
        walk.nested((0, cues.len() as u32), v);
        slots = walk.slots;
        v.end_struct(info);
    }
}

/// A node whose visitor calls depend on data, and the end of its cues.
type Dynamic = (u32, u32);

/// The bytes after a base in which numbers are read without further bounds checks.
type BaseBytes = [u8; Base::REACH + 16];

/// All data for the visitor calls of cues.
#[derive(Clone, Copy)]
struct Cues<'a> {
    nodes: &'a [Node],
    window: Window<'a>,
    slots: &'a [u64],
}

impl<'d> Cues<'d> {
    /// Makes the visitor calls for the members of a structure of a known shape, given the position of
    /// their base and the bytes after it. Returns the cues of the remaining members if there is no
    /// shape, or close to the end of the data.
    #[inline(always)]
    fn call_shape<'c, V: Visitor>(
        self,
        shape: Shape,
        place: Option<(u64, &'d BaseBytes)>,
        members: &'c [Cue],
        v: &mut V,
    ) -> Result<(), &'c [Cue]> {
        let (data, slots) = (self.window.data, self.slots);
        let mut rest = members;
        let Some((mut begin, mut near)) = place else { return Err(rest) };
        macro_rules! word {
            ($cue:ident) => {
                u64::from_le_bytes(*array_at(near, $cue.at))
            };
        }
        macro_rules! field {
            (u $cue:ident) => {
                v.uint(&$cue.info, $cue.word.unsigned(word!($cue)))
            };
            (i $cue:ident) => {
                v.sint(&$cue.info, word!($cue) as i32 as i64)
            };
            (s $cue:ident) => {
                v.sint(&$cue.info, $cue.word.value(word!($cue)) as i64)
            };
            (f $cue:ident) => {
                v.float(&$cue.info, f64::from_bits(word!($cue)))
            };
            (t $cue:ident) => {
                v.string(&$cue.info, text16(array_at(near, $cue.at)))
            };
            (z $cue:ident) => {
                if let CueKind::Utf8 { end } = $cue.kind {
                    v.string(
                        &$cue.info,
                        terminated(data, begin.wrapping_add($cue.offset), slots[end as usize]),
                    );
                }
            };
            (x $cue:ident) => {
                if let CueKind::TextOf { len } = $cue.kind {
                    let bytes = bytes(data, begin.wrapping_add($cue.offset), slots[len as usize]);
                    v.string(&$cue.info, text(bytes, Encoding::Utf8));
                }
            };
            (n $cue:ident) => {
                if let CueKind::Numbers { len, size } = $cue.kind
                    && let Some((element, after)) = rest.split_first()
                {
                    let (pos, len) = (begin.wrapping_add($cue.offset), slots[len as usize]);
                    numbers(
                        element,
                        &$cue.info,
                        bytes(data, pos, len.saturating_mul(size.into())),
                        len,
                        v,
                    );
                    rest = after;
                }
            };
            (b $cue:ident) => {
                match self.base($cue.base_of()) {
                    Some(base) => (begin, near) = base,
                    None => return Err(rest),
                }
            };
        }
        macro_rules! call {
            ($($name:ident [$($kind:ident)*],)*) => {
                match shape {
                    Shape::Other => return Err(rest),
                    $(Shape::$name => {
                        const LEN: usize = [$(stringify!($kind)),*].len();
                        if rest.len() < LEN {
                            return Err(rest);
                        }
                        $(
                            let Some((cue, after)) = rest.split_first() else { return Err(rest) };
                            rest = after;
                            field!($kind cue);
                        )*
                    })*
                }
            };
        }
        for_each_shape!(call);
        _ = (begin, near, rest); // not used after the last field
        Ok(())
    }

    /// Returns the position of a base and the bytes after it; `None` close to the end of the data.
    #[inline(always)]
    fn base(self, base: Base) -> Option<(u64, &'d BaseBytes)> {
        let begin = self.slots[base.anchor as usize].wrapping_add(base.offset);
        Some((begin, self.window.data.get((begin / 8) as usize..)?.first_chunk()?))
    }

    /// Makes the visitor calls of cues up to the first that depends on data, which is
    /// returned. With `FAR`, numbers are read without bounds checks. Near
    /// the end of the data, [`call_at_end`](Self::call_at_end) then makes the remaining
    /// calls.
    #[inline(always)]
    fn call<V: Visitor, const FAR: bool>(self, mut rest: &[Cue], v: &mut V) -> Option<Dynamic> {
        let Cues { nodes, window, slots } = self;
        let data = window.data;
        'bases: loop {
            let base = rest.first()?;
            let begin = slots[base.anchor as usize].wrapping_add(base.base);
            let bytes_at_base = data.get((begin / 8) as usize..).and_then(|b| b.first_chunk());
            let bytes_at_base: &BaseBytes = match bytes_at_base {
                Some(bytes) => bytes,
                None if FAR => return call_at_end(rest, nodes, data, window.end, slots, v),
                None => &[0; _],
            };
            while let Some((cue, after)) = rest.split_first() {
                let Cue { kind, at, offset, info, .. } = cue;
                macro_rules! word {
                    ($at:expr) => {
                        match FAR {
                            true => u64::from_le_bytes(*array_at(bytes_at_base, $at)),
                            false => bits::word(data, (begin / 8) as usize + usize::from($at)),
                        }
                    };
                }
                // Straight-line code for a run, whose cues follow each other.
                macro_rules! each {
                    ($count:literal, $at:ident, $word:ident, $info:ident, $call:expr) => {{
                        let (run, after) = rest.split_first_chunk::<$count>()?;
                        for Cue { at: $at, word: $word, info: $info, .. } in run {
                            $call;
                        }
                        rest = after;
                        continue;
                    }};
                }
                macro_rules! uints {
                    ($count:literal) => {
                        each!($count, at, word, info, v.uint(info, word.unsigned(word!(*at))))
                    };
                }
                macro_rules! ints {
                    ($count:literal) => {
                        each!($count, at, _word, info, v.sint(info, word!(*at) as i32 as i64))
                    };
                }
                match *kind {
                    CueKind::Uint => uints!(1),
                    CueKind::Uint2 => uints!(2),
                    CueKind::Uint3 => uints!(3),
                    CueKind::Uint4 => uints!(4),
                    CueKind::Int => ints!(1),
                    CueKind::Int2 => ints!(2),
                    CueKind::Int3 => ints!(3),
                    CueKind::Int4 => ints!(4),
                    CueKind::Sint => v.sint(info, cue.word.value(word!(*at)) as i64),
                    CueKind::F64 => v.float(info, f64::from_bits(word!(*at))),
                    CueKind::Text16 if FAR => {
                        v.string(info, text16(array_at(bytes_at_base, *at)));
                    }
                    CueKind::Text16 => {
                        let bytes = bytes(data, begin.wrapping_add(*offset), 16);
                        v.string(info, text(bytes, Encoding::Utf8));
                    }
                    CueKind::Utf8 { end } => {
                        let pos = begin.wrapping_add(*offset);
                        v.string(info, terminated(data, pos, slots[end as usize]));
                    }
                    CueKind::TextOf { len } => {
                        let bytes = bytes(data, begin.wrapping_add(*offset), slots[len as usize]);
                        v.string(info, text(bytes, Encoding::Utf8));
                    }
                    CueKind::Numbers { len, size } => {
                        let (element, after) = after.split_first()?;
                        let (pos, len) = (begin.wrapping_add(*offset), slots[len as usize]);
                        numbers(
                            element,
                            info,
                            bytes(data, pos, len.saturating_mul(size.into())),
                            len,
                            v,
                        );
                        rest = after;
                        continue;
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
                    CueKind::Base => {
                        rest = after;
                        continue 'bases;
                    }
                    CueKind::Dynamic { node, next } => return Some((node, next)),
                }
                rest = after;
            }
            return None;
        }
    }
}

/// Makes the visitor calls of some cues close to the end of the data, with a bounds check for each
/// number. Most parameters are those of [`Cues`], so that these need not be in memory for this call.
#[cold]
#[inline(never)]
fn call_at_end<V: Visitor>(
    cues: &[Cue],
    nodes: &[Node],
    data: &[u8],
    end: u64,
    slots: &[u64],
    v: &mut V,
) -> Option<Dynamic> {
    let window = Window { data, end };
    Cues { nodes, window, slots }.call::<_, false>(cues, v)
}

/// Returns the bytes at a distance from the base. No bounds check is needed, because the array is
/// long enough for every distance.
#[inline(always)]
fn array_at<const N: usize>(bytes: &BaseBytes, at: u8) -> &[u8; N] {
    const { assert!(N <= 16) };
    bytes[at as usize..].first_chunk().unwrap_or(&[0; N])
}

/// The slots of a walk. Most regions only read them; regions with arrays of compound
/// elements change the anchors of elements.
trait Slots {
    fn all(&self) -> &[u64];
    /// Returns the scratch for element programs; `None` if the slots are only read.
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
    /// Makes the visitor calls of the cues `first..end`.
    #[inline(never)]
    fn nested<V: Visitor>(&mut self, (first, end): (u32, u32), v: &mut V) {
        let (first, end) = (first as usize, end as usize);
        let cues = self.cues.get(first..end).unwrap_or(&[]);
        if let Some(pause) = self.data().call::<_, true>(cues, v) {
            self.resume(pause, end, v);
        }
    }

    /// Makes the visitor calls from one that depends on data up to the cue `end`.
    #[inline(never)]
    fn resume<V: Visitor>(&mut self, mut pause: Dynamic, end: usize, v: &mut V) {
        loop {
            let (node, next) = pause;
            self.dynamic(&self.nodes[node as usize], v);
            let cues = self.cues.get(next as usize..end).unwrap_or(&[]);
            match self.data().call::<_, true>(cues, v) {
                Some(next) => pause = next,
                None => return,
            }
        }
    }

    #[inline(always)]
    fn data(&self) -> Cues<'_> {
        let Walk { nodes, window, .. } = *self;
        Cues { nodes, window, slots: self.slots.all() }
    }

    /// Visits an array, a variant or an option.
    #[inline(never)]
    fn dynamic<V: Visitor>(&mut self, node: &'a Node, v: &mut V) {
        let nodes = self.nodes;
        let (info, slots) = (&node.info, self.slots.all());
        // The field's own cue is followed by those of the fields in it.
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
                let is_present = slots[*chosen as usize] != 0;
                v.begin_option(info, is_present);
                if is_present {
                    self.nested((first as u32, node.cues.1), v);
                }
                v.end_option(info);
            }
            _ => {}
        }
    }

    /// Visits the `len` elements of an array, the first of which starts at `begin`. `cue`
    /// is the first of the elements' `cues`, and `layout` is their layout.
    fn elements<V: Visitor>(
        &mut self,
        cue: &Cue,
        cues: (u32, u32),
        len: u64,
        layout: &Elements,
        begin: u64,
        v: &mut V,
    ) {
        match layout {
            Elements::Fixed { stride, .. } if cue.is_number_of(*stride) => {
                let bytes = bytes(self.window.data, begin, len.saturating_mul(stride / 8));
                each_number(cue, bytes, v);
            }
            Elements::Fixed { stride, .. } if cue.is_scalar() => {
                let (window, slots) = (self.window, self.slots.all());
                let node = &self.nodes[cue.info.index()];
                (0..len).for_each(|i| visit_scalar(node, begin + i * stride, window, slots, v));
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
                        Err(_) => return, // ran without error when the event was read
                    }
                    self.nested(cues, v);
                }
            }
        }
    }
}

/// Visits a scalar field.
#[inline(never)] // keeps the loop over the frequent kinds small
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

/// Visits an array of numbers, given its bytes and the cue of its elements.
#[inline(never)] // keeps the code of fields other than arrays small
fn numbers<V: Visitor>(cue: &Cue, array: &FieldInfo, bytes: &[u8], len: u64, v: &mut V) {
    v.begin_array(array, len);
    each_number(cue, bytes, v);
    v.end_array(array);
}

/// Visits the elements of an array of numbers, given their bytes and their cue.
#[inline(always)]
fn each_number<V: Visitor>(cue: &Cue, bytes: &[u8], v: &mut V) {
    let info = &cue.info;
    match (cue.kind, cue.word.bits()) {
        (CueKind::Uint, 8) => bytes.iter().for_each(|b| v.uint(info, (*b).into())),
        (CueKind::Uint, 16) => each(bytes, |b| v.uint(info, u16::from_le_bytes(b).into())),
        (CueKind::Uint, 32) => each(bytes, |b| v.uint(info, u32::from_le_bytes(b).into())),
        (CueKind::Uint, 64) => each(bytes, |b| v.uint(info, u64::from_le_bytes(b))),
        (CueKind::Int, _) => each(bytes, |b| v.sint(info, i32::from_le_bytes(b).into())),
        (CueKind::Sint, 8) => bytes.iter().for_each(|b| v.sint(info, (*b as i8).into())),
        (CueKind::Sint, 16) => each(bytes, |b| v.sint(info, i16::from_le_bytes(b).into())),
        (CueKind::Sint, 64) => each(bytes, |b| v.sint(info, i64::from_le_bytes(b))),
        (CueKind::F64, _) => each(bytes, |b| v.float(info, f64::from_le_bytes(b))),
        _ => {} // no other kind passes `Cue::is_number_of`
    }
}

/// Calls a function with each field of `N` bytes.
#[inline(always)]
fn each<const N: usize>(bytes: &[u8], mut call: impl FnMut([u8; N])) {
    bytes.as_chunks().0.iter().for_each(|field| call(*field));
}

/// Returns the node of the `n`th of the siblings `first..end`.
pub(crate) fn sibling(nodes: &[Node], first: usize, end: usize, n: usize) -> Option<usize> {
    let mut i = first;
    for _ in 0..n {
        i = nodes.get(i)?.next as usize;
    }
    (i < end).then_some(i)
}

/// Finds the child of a structure or variant by name. Returns its node and its number.
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

/// The value of a scalar field.
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

/// Reads the value of a scalar field at a position.
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
        // A variable-length integer was decoded without error when the event was read.
        NodeKind::VarUint => Scalar::Uint(var_int(window, pos, false).map_or(0, |v| v.0)),
        NodeKind::VarSint => Scalar::Sint(var_int(window, pos, true).map_or(0, |v| v.0) as i64),
        NodeKind::Terminated { encoding, end } => {
            let end = slots[*end as usize] / 8;
            let len = end.saturating_sub(pos / 8 + u64::from(encoding.unit_size()));
            let bytes = bytes(data, pos, len);
            Scalar::Str(StrValue { bytes, encoding: *encoding, padding: 0 })
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

/// Returns `len` bytes from the bit position `pos` on; none if they are not all within the
/// data.
#[inline(always)]
pub(crate) fn bytes(data: &[u8], pos: u64, len: u64) -> &[u8] {
    let first = (pos / 8) as usize;
    let end = first.saturating_add(usize::try_from(len).unwrap_or(usize::MAX));
    data.get(first..end).unwrap_or(&[])
}

fn set(scratch: &mut Scratch, slot: Slot, value: u64) {
    scratch.slots[slot as usize] = value;
}

/// Returns the text of a field of 16 bytes in UTF-8, up to the first null byte.
#[inline(always)]
fn text16(field: &[u8; 16]) -> StrValue<'_> {
    let (bytes, rest) = field.split_at(zero_in_half(field).min(16) as usize);
    StrValue { bytes, encoding: Encoding::Utf8, padding: rest.len() as u64 }
}

/// Returns the text from a position up to the terminator before another one.
#[inline(always)]
fn terminated(data: &[u8], pos: u64, end: u64) -> StrValue<'_> {
    let len = (end.wrapping_sub(pos) / 8).wrapping_sub(1);
    StrValue { bytes: bytes(data, pos, len), encoding: Encoding::Utf8, padding: 0 }
}

/// Returns the text of a field of given length, up to the first null code unit.
#[inline(always)]
fn text(bytes: &[u8], encoding: Encoding) -> StrValue<'_> {
    let unit = encoding.unit_size() as usize;
    let len = match unit {
        1 => first_zero(bytes),
        _ => bytes.chunks_exact(unit).position(|u| u.iter().all(|b| *b == 0)).map(|i| i * unit),
    };
    let len = len.unwrap_or(bytes.len());
    StrValue { bytes: &bytes[..len], encoding, padding: (bytes.len() - len) as u64 }
}

/// Returns the index of the first null byte. Texts of fixed length are too short for a
/// vectorised search to be worth its start.
#[inline(always)]
pub(crate) fn first_zero(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 0xff;
    let (words, rest) = bytes.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The lowest set bit is in the first byte that is 0.
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
            if read.is_big() {
                bits::quad_to_f64(first, second)
            } else {
                bits::quad_to_f64(second, first)
            }
        }
        _ => f64::NAN,
    }
}
