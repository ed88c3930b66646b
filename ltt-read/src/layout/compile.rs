//! The compiler from trees of field classes to a region's program and nodes.

mod record;

use std::sync::Arc;

use smallvec::SmallVec;

use super::cue::{Base, Cue, CueKind, join};
use super::node::{Elements, Node, NodeKind};
use super::phase::Phase;
use super::program::{Element, Len, MAX_EMPTY_FIELDS, Op, Present, Slot, VariantOption};
use super::region::{Region, RootVisit, Start};
use super::skip::{ByteAlignedSkip, DynamicSkip};
use super::{FieldInfo, FixedRead};
use crate::metadata::limits;
use crate::report::{DecodeError, LayoutError};
use crate::schema::{
    Array, ByteOrder, Dependency, FieldClass, FieldKind, FixedLen, Integer, Length, OptionField,
    Roles, Selector, Str, Variant,
};

pub(crate) use record::compile_record;

/// The greatest number of nodes in a region.
const MAX_NODES: usize = 1 << 20;

/// Compiles the roots of one region, in decoding order.
///
/// With `roles`, the program also notes the values of fields that the reader itself
/// needs.
///
/// # Errors
///
/// [`LayoutError::TooComplex`], [`LayoutError::UnsupportedLength`],
/// [`LayoutError::Unresolved`], [`LayoutError::ArrayTooLong`] if no layout can be
/// compiled.
pub(crate) fn compile(
    roots: &[Option<&Arc<FieldClass>>],
    start: Start,
    roles: bool,
) -> Result<Region, LayoutError> {
    let mut c = Compiler::new(start, roles);
    let mut first_nodes = SmallVec::<[Option<u32>; 3]>::new();
    for root in roots {
        first_nodes.push(root.map(|_| c.nodes.len() as u32));
        if let Some(class) = root {
            c.field(None, class)?;
        }
    }
    let fixed = (c.ops.is_empty() && c.at.anchor == start.anchor).then_some(c.at.offset);
    c.flush();
    let skip = if roles { None } else { DynamicSkip::new(&c.ops) };
    let region = c.region(first_nodes, start, fixed);
    Ok(Region {
        byte_aligned_skip: skip.as_ref().and_then(|skip| ByteAlignedSkip::new(skip, start.phase)),
        dynamic_skip: skip,
        ..region
    })
}

/// The static knowledge about the current position.
#[derive(Debug, Clone, Copy)]
struct StaticPosition {
    anchor: Slot,
    /// The offset from the anchor, in bits.
    offset: u64,
    phase: Phase,
    /// The byte order of the previous field, if known.
    order: Option<ByteOrder>,
}

/// The element of an array, compiled for any position.
struct CompiledElement {
    /// The slot for its start.
    anchor: Slot,
    /// The number of visitor calls.
    visits: u64,
    end: StaticPosition,
    /// `true` if its size is constant.
    fixed: bool,
    ops: Vec<Op>,
}

struct Compiler {
    nodes: Vec<Node>,
    /// The cues; `None` for a field that is still being compiled.
    cues: Vec<Option<Cue>>,
    /// The base of a walk after the cues so far; `None` if it has to compute a base at
    /// the next cue in any case.
    cue_base: Option<Base>,
    free_slot: Slot,
    moves_anchors: bool,
    roles: bool,
    depth: usize,
    at: StaticPosition,
    ops: Vec<Op>,
    /// The number of bits before `at` that no op has skipped yet.
    pending: u64,
    /// The number of visitor calls for arrays of static length in excess of their bits.
    excess_visits: u64,
}

impl Compiler {
    fn new(start: Start, roles: bool) -> Self {
        Compiler {
            nodes: Vec::new(),
            cues: Vec::new(),
            cue_base: None,
            free_slot: start.free_slot.max(start.anchor + 1),
            moves_anchors: false,
            roles,
            depth: 0,
            at: StaticPosition {
                anchor: start.anchor,
                offset: 0,
                phase: start.phase,
                order: start.order,
            },
            ops: Vec::new(),
            pending: 0,
            excess_visits: 0,
        }
    }

    /// Creates the region of the compiled roots, without skips.
    fn region(
        mut self,
        roots: SmallVec<[Option<u32>; 3]>,
        start: Start,
        fixed: Option<u64>,
    ) -> Region {
        let mut cues: Vec<Cue> = self.cues.into_iter().flatten().collect();
        join(&self.nodes, &mut cues);
        let mut visits = Vec::new();
        for node in roots.iter().flatten().rev() {
            visits.push(RootVisit::new(*node as usize, &mut self.nodes, &mut cues));
        }
        visits.reverse();
        for at in 1..visits.len() {
            visits[at].keeps_base = visits[at].base == visits[at - 1].base;
        }
        Region {
            byte_aligned_skip: None,
            dynamic_skip: None,
            ops: self.ops.into(),
            nodes: self.nodes.into(),
            visits: visits.into(),
            roots,
            fixed,
            slots: self.free_slot,
            moves_anchors: self.moves_anchors,
            start,
            end_phase: self.at.phase,
            end_order: self.at.order,
        }
    }

    /// Compiles a field and the fields in it. Returns the number of visitor calls for it.
    fn field(
        &mut self,
        name: Option<Arc<str>>,
        class: &Arc<FieldClass>,
    ) -> Result<u64, LayoutError> {
        if self.depth > limits::DEPTH || self.nodes.len() >= MAX_NODES {
            return Err(LayoutError::TooComplex);
        }
        self.depth += 1;
        self.align(u64::from(class.align.max(1)));
        let index = self.nodes.len();
        self.nodes.push(Node {
            offset: self.at.offset,
            anchor: self.at.anchor,
            next: 0,
            kind: NodeKind::Struct,
            cues: (0, 0),
            info: FieldInfo::new(index as u32, name, class.clone()),
        });
        // A walk begins and ends roots without cues.
        let is_root = self.depth == 1 && matches!(class.kind, FieldKind::Struct(_));
        let at_byte = self.at.phase.is_byte();
        let own_cue = if is_root { None } else { Some(self.open_cue(index)) };
        let first_cue = self.cues.len() as u32;
        let visits = self.contents(index, class)?;
        self.nodes[index].next = self.nodes.len() as u32;
        match own_cue {
            Some(own_cue) => self.close_cue(index, own_cue, at_byte),
            None => self.nodes[index].cues = (first_cue, self.cues.len() as u32),
        }
        self.depth -= 1;
        Ok(visits)
    }

    /// Reserves the cue of a node, after a cue that changes the base if necessary.
    /// Returns its index and its base.
    fn open_cue(&mut self, index: usize) -> (usize, Base) {
        let node = &self.nodes[index];
        let base = match self.cue_base {
            Some(base) if base.reaches(node) => base,
            previous => {
                let base = Base::of(node);
                self.cues.extend(previous.map(|_| Some(Cue::base(node, base))));
                base
            }
        };
        self.cue_base = Some(base);
        self.cues.push(None);
        (self.cues.len() - 1, base)
    }

    /// Fills in the cue of a node whose contents are compiled.
    fn close_cue(&mut self, index: usize, (cue, base): (usize, Base), at_byte: bool) {
        let node = &mut self.nodes[index];
        if let NodeKind::Struct = node.kind {
            let base = *self.cue_base.get_or_insert(base);
            self.cues.push(Some(Cue::end(node, base)));
        }
        node.cues = (cue as u32, self.cues.len() as u32);
        let mut own = Cue::new(index as u32, node, base, at_byte);
        // The cue of an element that contains no fields is the only one after that of the array.
        if let NodeKind::Array { len: Len::Slot(len), elements: Elements::Fixed { stride, .. } } =
            node.kind
            && let [Some(element)] = &self.cues[cue + 1..]
            && element.is_number_of(stride)
        {
            own.kind = CueKind::Numbers { len, size: (stride / 8) as u8 };
            self.cue_base = Some(base); // the elements have another one
        } else if own.is_dynamic() {
            self.cue_base = None;
        }
        self.cues[cue] = Some(own);
    }

    /// Compiles the kind of a field and the fields in it. Returns the number of visitor
    /// calls.
    fn contents(&mut self, index: usize, class: &Arc<FieldClass>) -> Result<u64, LayoutError> {
        match &class.kind {
            FieldKind::BitArray(f) | FieldKind::BitMap(f, _) => {
                self.nodes[index].kind = NodeKind::Bits(self.fixed(f, false)?.0);
            }
            FieldKind::Bool(f, slot) => {
                let (read, delta) = self.fixed(f, false)?;
                self.nodes[index].kind = NodeKind::Bool(read);
                if let Some(slot) = slot {
                    self.ops.push(Op::Save { delta, read, slot: slot.0.into() });
                }
            }
            FieldKind::Integer(f, int) => self.integer(index, f, int)?,
            FieldKind::VarInteger(int) => {
                self.nodes[index].kind =
                    if int.signed { NodeKind::VarSint } else { NodeKind::VarUint };
                let roles = if self.roles { int.roles } else { Roles::NONE };
                let slot = int.slot.map(|s| s.0.into());
                let signed = int.signed;
                self.dynamic(Phase::aligned(8), |anchor| Op::VarInt {
                    signed,
                    slot,
                    roles,
                    anchor,
                });
            }
            FieldKind::Float(f) => self.float(index, f)?,
            FieldKind::String(s) => self.string(index, s)?,
            FieldKind::Blob(b) => {
                let len = self.bytes(&b.length)?;
                self.nodes[index].kind = NodeKind::Blob { len };
            }
            FieldKind::Array(a) => return self.array(index, a),
            FieldKind::Struct(s) => {
                let mut visits = 2;
                for member in &s.members {
                    visits = u64::saturating_add(
                        visits,
                        self.field(Some(member.name.clone()), &member.class)?,
                    );
                }
                return Ok(visits);
            }
            FieldKind::Option(o) => return self.option(index, o),
            FieldKind::Variant(v) => return self.variant(index, v),
        }
        Ok(1)
    }

    /// Skips a fixed-length field of up to 64 bits. Returns its encoding and its distance
    /// in bits from the end of the ops so far.
    fn fixed(&mut self, fixed: &FixedLen, signed: bool) -> Result<(FixedRead, u64), LayoutError> {
        if !(1..=64).contains(&fixed.bits) {
            return Err(LayoutError::UnsupportedLength { bits: fixed.bits });
        }
        self.enter_byte_order(fixed.byte_order);
        let delta = self.pending;
        self.skip(fixed.bits.into());
        Ok((FixedRead::new(fixed, signed), delta))
    }

    fn integer(
        &mut self,
        index: usize,
        fixed: &FixedLen,
        int: &Integer,
    ) -> Result<(), LayoutError> {
        let (read, delta) = self.fixed(fixed, int.signed)?;
        self.nodes[index].kind =
            if int.signed { NodeKind::Sint(read) } else { NodeKind::Uint(read) };
        if self.roles && !int.roles.is_empty() {
            self.ops.push(Op::Role { delta, read, roles: int.roles });
        }
        if let Some(slot) = int.slot {
            self.ops.push(Op::Save { delta, read, slot: slot.0.into() });
        }
        Ok(())
    }

    fn float(&mut self, index: usize, fixed: &FixedLen) -> Result<(), LayoutError> {
        let read = FixedRead::new(fixed, false);
        self.nodes[index].kind = match fixed.bits {
            32 => NodeKind::Float32(read),
            64 => NodeKind::Float64(read),
            16 | 128 => NodeKind::FloatOther(read),
            bits => return Err(LayoutError::UnsupportedLength { bits }),
        };
        self.enter_byte_order(fixed.byte_order);
        self.skip(fixed.bits.into());
        Ok(())
    }

    fn string(&mut self, index: usize, string: &Str) -> Result<(), LayoutError> {
        let encoding = string.encoding;
        self.nodes[index].kind = match &string.length {
            None => {
                let unit = encoding.unit_size() as u8;
                let end = self.dynamic(Phase::aligned(8), |anchor| Op::Terminated { unit, anchor });
                NodeKind::Terminated { encoding, end }
            }
            Some(length) => NodeKind::Text { encoding, len: self.bytes(length)? },
        };
        Ok(())
    }

    /// Skips a string or blob of `length` bytes.
    fn bytes(&mut self, length: &Length) -> Result<Len, LayoutError> {
        match length {
            Length::Static(n) => {
                self.skip(n.saturating_mul(8));
                Ok(Len::Const(*n))
            }
            Length::Dynamic(dependency) => {
                let len = slot_of(dependency)?;
                let phase = self.at.phase.weaken(8);
                self.dynamic(phase, |anchor| Op::Bytes { len, anchor });
                Ok(Len::Slot(len))
            }
        }
    }

    fn array(&mut self, index: usize, array: &Array) -> Result<u64, LayoutError> {
        let len = match &array.length {
            Length::Static(n) => Len::Const(*n),
            Length::Dynamic(dependency) => Len::Slot(slot_of(dependency)?),
        };
        self.flush_unless_static(len);
        let align = u64::from(array.element.align.max(1));
        let CompiledElement { anchor, visits, end: element_end, fixed, ops } =
            self.element(index, array)?;
        if !fixed {
            let (align_mask, ops) = (align - 1, ops.into());
            let element = Arc::new(Element { align_mask, anchor, visits, ops });
            self.nodes[index].kind =
                NodeKind::Array { len, elements: Elements::Dynamic(element.clone()) };
            let phase = self.at.phase.common(element_end.phase);
            self.flush();
            self.dynamic(phase, |anchor| Op::Elements { len, element, anchor });
            return Ok(2);
        }
        let size = element_end.offset;
        let stride = size.checked_next_multiple_of(align).ok_or(LayoutError::TooComplex)?;
        self.nodes[index].kind =
            NodeKind::Array { len, elements: Elements::Fixed { stride, anchor } };
        match len {
            Len::Const(0) => Ok(2),
            Len::Const(n) => {
                let all_visits = n.saturating_mul(visits);
                let bits = (n - 1).saturating_mul(stride).saturating_add(size);
                self.excess_visits =
                    self.excess_visits.saturating_add(all_visits.saturating_sub(bits));
                if self.excess_visits > MAX_EMPTY_FIELDS {
                    return Err(LayoutError::ArrayTooLong { len: n });
                }
                self.skip(bits);
                self.at.order = element_end.order;
                Ok(all_visits.saturating_add(2))
            }
            Len::Slot(len) => {
                let same =
                    1u64.checked_shl((stride | size | 1 << 63).trailing_zeros()).unwrap_or(1);
                let phase = self.at.phase.weaken(same);
                self.dynamic(phase, |anchor| Op::Array { len, size, stride, visits, anchor });
                self.at.order = element_end.order;
                Ok(2)
            }
        }
    }

    /// Compiles the element of an array separately, at an aligned position.
    fn element(&mut self, index: usize, array: &Array) -> Result<CompiledElement, LayoutError> {
        let align = u64::from(array.element.align.max(1));
        let anchor = self.new_slot();
        let outer = (self.at, std::mem::take(&mut self.ops), std::mem::take(&mut self.pending));
        self.at = StaticPosition { anchor, offset: 0, phase: Phase::aligned(align), order: None };
        self.cue_base = None;
        let visits = self.field(None, &array.element)?;
        let end = self.at;
        let fixed = self.ops.is_empty() && end.anchor == anchor;
        self.flush();
        let ops = std::mem::take(&mut self.ops);
        (self.at, self.ops, self.pending) = outer;
        let scalar = fixed && self.nodes.len() == index + 2 && !self.nodes[index + 1].is_compound();
        self.moves_anchors |= !scalar;
        Ok(CompiledElement { anchor, visits, end, fixed, ops })
    }

    fn option(&mut self, index: usize, option: &OptionField) -> Result<u64, LayoutError> {
        let selector = slot_of(&option.selector)?;
        let present = match &option.present {
            Selector::Bool => Present::NonZero,
            Selector::Ranges(ranges) => Present::Ranges(ranges.as_slice().into()),
        };
        let signed = is_signed(&option.present);
        let chosen = self.new_slot();
        self.nodes[index].kind = NodeKind::Option { chosen };
        self.flush();
        let (ops, visits, end) = self.branch(None, &option.class)?;
        let phase = self.at.phase.common(end.phase);
        let ops = ops.into();
        self.dynamic(phase, |anchor| Op::Option {
            selector,
            signed,
            present,
            chosen,
            visits,
            ops,
            anchor,
        });
        Ok(2)
    }

    fn variant(&mut self, index: usize, variant: &Variant) -> Result<u64, LayoutError> {
        let selector = slot_of(&variant.selector)?;
        let signed = variant.options.iter().flat_map(|o| &o.ranges).any(|(low, _)| *low < 0);
        let chosen = self.new_slot();
        self.nodes[index].kind = NodeKind::Variant { chosen };
        self.flush();
        let mut options = Vec::with_capacity(variant.options.len());
        let mut end: Option<Phase> = None;
        for option in &variant.options {
            let (ops, visits, after) = self.branch(option.name.clone(), &option.class)?;
            end = Some(end.map_or(after.phase, |e| e.common(after.phase)));
            let ranges = option.ranges.clone();
            options.push(VariantOption { ranges, visits, ops: ops.into() });
        }
        let phase = end.unwrap_or(self.at.phase);
        let options = options.into();
        self.dynamic(phase, |anchor| Op::Variant { selector, signed, options, chosen, anchor });
        Ok(2)
    }

    /// Compiles a field that may follow here as a separate program. Returns the program,
    /// its number of visitor calls and the position after it, and restores the current
    /// position.
    fn branch(
        &mut self,
        name: Option<Arc<str>>,
        class: &Arc<FieldClass>,
    ) -> Result<(Vec<Op>, u64, StaticPosition), LayoutError> {
        let outer = (self.at, std::mem::take(&mut self.ops), self.pending);
        self.pending = 0;
        self.cue_base = None;
        let visits = self.field(name, class)?;
        self.flush();
        let end = self.at;
        let ops = std::mem::take(&mut self.ops);
        (self.at, self.ops, self.pending) = outer;
        Ok((ops, visits, end))
    }

    /// Allocates a slot.
    fn new_slot(&mut self) -> Slot {
        self.free_slot += 1;
        self.free_slot - 1
    }

    /// Advances the current position by a constant.
    fn skip(&mut self, bits: u64) {
        self.at.offset = self.at.offset.saturating_add(bits);
        self.at.phase = self.at.phase.plus(bits);
        self.pending = self.pending.saturating_add(bits);
    }

    /// Emits an op for the pending bits.
    fn flush(&mut self) {
        if self.pending > 0 {
            self.ops.push(Op::Skip(std::mem::take(&mut self.pending)));
        }
    }

    fn flush_unless_static(&mut self, len: Len) {
        if matches!(len, Len::Slot(_)) {
            self.flush();
        }
    }

    /// Aligns the current position, by a constant if its phase is known.
    fn align(&mut self, align: u64) {
        if self.at.phase.modulus >= align {
            self.skip(self.at.phase.rest.wrapping_neg() & (align - 1));
        } else {
            self.dynamic(Phase::aligned(align), |anchor| Op::Align { mask: align - 1, anchor });
        }
    }

    /// Emits an op after which the position is known only as a new anchor. Returns that
    /// anchor.
    fn dynamic(&mut self, phase: Phase, op: impl FnOnce(Slot) -> Op) -> Slot {
        self.flush();
        let anchor = self.new_slot();
        self.ops.push(op(anchor));
        self.at = StaticPosition { anchor, offset: 0, phase, order: None };
        anchor
    }

    /// Checks the rule of CTF that successive fields of different byte orders do not
    /// share a byte.
    fn enter_byte_order(&mut self, order: ByteOrder) {
        let phase = self.at.phase;
        if self.at.order.is_some_and(|before| before != order) {
            if phase.modulus < 8 {
                self.flush();
                self.ops.push(Op::ByteBoundary);
            } else if !phase.rest.is_multiple_of(8) {
                self.flush();
                self.ops.push(Op::Fail(DecodeError::ByteOrderChange));
            }
        }
        self.at.order = Some(order);
    }
}

fn slot_of(dependency: &Dependency) -> Result<Slot, LayoutError> {
    dependency.slot.map(|s| s.0.into()).ok_or(LayoutError::Unresolved)
}

fn is_signed(selector: &Selector) -> bool {
    matches!(selector, Selector::Ranges(ranges) if ranges.iter().any(|(low, _)| *low < 0))
}
