//! The bodies of records, whose fields have given places.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Compiler, StaticPosition};
use crate::layout::FieldInfo;
use crate::layout::node::{Elements, Node, NodeKind};
use crate::layout::phase::Phase;
use crate::layout::program::{Len, Op, SectionOp, Slot};
use crate::layout::record::{FieldPlace, Locator, Origin, Sections};
use crate::layout::region::{Region, Start};
use crate::report::LayoutError;
use crate::schema::{ByteOrder, FieldClass, FieldKind, Member};

/// Compiles the roots of the body of a record, structures whose members have the places `places`,
/// which may be counted from the sections of the record.
///
/// The size of the region is that of the fields with a constant place. Its program can be run with
/// the end of the record as the end of the window.
///
/// # Errors
///
/// Those of [`compile`](super::compile).
pub(crate) fn compile_record(
    roots: &[Option<&Arc<FieldClass>>],
    start: Start,
    order: ByteOrder,
    places: &[FieldPlace],
    sections: &Sections,
) -> Result<Region, LayoutError> {
    let mut c = Compiler::new(start, false);
    let slots = sections.sections.iter().map(|_| [c.new_slot(), c.new_slot(), c.new_slot()]);
    let slots = slots.collect();
    let least = vec![(0, 0); sections.sections.len()];
    let mut fields = RecordFields { c, start, order, size: 0, slots, least };
    let origins = sections.origins.iter().copied().chain(std::iter::repeat(Origin::Record));
    let mut places = places.iter().copied().zip(origins);
    let mut first_nodes = SmallVec::new();
    for root in roots {
        first_nodes.push(root.map(|_| fields.c.nodes.len() as u32));
        if let Some(class) = root {
            fields.root(class, &mut places)?;
        }
    }
    let mut found = Vec::new();
    for (at, section) in sections.sections.iter().enumerate() {
        let bits = 8 * u64::from(section.at);
        let (from, _) = fields.origin(section.from)?;
        let slots = *fields.slots.get(at).ok_or(LayoutError::Unresolved)?;
        let (least, least_after) = fields.least.get(at).copied().unwrap_or_default();
        let form = section.form;
        let op = SectionOp { from, at: bits, form, order, least, least_after, slots };
        found.push(Op::Section(Arc::new(op)));
    }
    let RecordFields { mut c, size, .. } = fields;
    let located = std::mem::take(&mut c.ops);
    let fixed = (located.is_empty() && found.is_empty()).then_some(size);
    c.ops.push(Op::Skip(size));
    c.ops.extend(found);
    c.ops.extend(located);
    Ok(c.region(first_nodes, start, fixed))
}

struct RecordFields {
    c: Compiler,
    start: Start,
    order: ByteOrder,
    /// The end of the fields with a constant place, in bits.
    size: u64,
    /// For each section, the slots of its start, of its end and of what follows it.
    slots: Vec<[Slot; 3]>,
    /// For each section, the number of bits that it has to have, and that have to follow it.
    least: Vec<(u64, u64)>,
}

impl RecordFields {
    /// Compiles a structure.
    fn root(
        &mut self,
        class: &Arc<FieldClass>,
        places: &mut impl Iterator<Item = (FieldPlace, Origin)>,
    ) -> Result<(), LayoutError> {
        self.move_to(self.start.anchor, 0);
        let (index, first_cue) = (self.c.nodes.len(), self.c.cues.len() as u32);
        self.c.nodes.push(Node {
            offset: 0,
            anchor: self.start.anchor,
            next: 0,
            kind: NodeKind::Struct,
            cues: (0, 0),
            info: FieldInfo::new(index as u32, None, class.clone()),
        });
        self.c.depth += 1;
        for member in class.members() {
            match places.next().ok_or(LayoutError::Unresolved)? {
                (FieldPlace::At(at), origin) => {
                    let (anchor, _) = self.origin(origin)?;
                    self.move_to(anchor, at);
                    self.c.field(Some(member.name.clone()), &member.class)?;
                    self.note_size(origin, self.c.at.offset);
                    self.c.pending = 0;
                }
                (place, origin) => self.located(member, place, origin)?,
            }
        }
        self.c.depth -= 1;
        let node = &mut self.c.nodes;
        let next = node.len() as u32;
        let cues = (first_cue, self.c.cues.len() as u32);
        if let Some(node) = node.get_mut(index) {
            (node.next, node.cues) = (next, cues);
        }
        Ok(())
    }

    /// Returns the slots of an origin and of the end of what begins there, which is that of the
    /// record without a slot.
    fn origin(&self, origin: Origin) -> Result<(Slot, Option<Slot>), LayoutError> {
        let of = |at: u8| self.slots.get(usize::from(at)).ok_or(LayoutError::Unresolved);
        Ok(match origin {
            Origin::Record => (self.start.anchor, None),
            Origin::StartOf(at) => of(at).map(|[start, end, _]| (*start, Some(*end)))?,
            Origin::After(at) => of(at).map(|[_, _, after]| (*after, None))?,
        })
    }

    /// Notes that there are some bits after an origin.
    fn note_size(&mut self, origin: Origin, bits: u64) {
        let size = match origin {
            Origin::Record => Some(&mut self.size),
            Origin::StartOf(at) => self.least.get_mut(usize::from(at)).map(|(least, _)| least),
            Origin::After(at) => self.least.get_mut(usize::from(at)).map(|(_, after)| after),
        };
        if let Some(size) = size {
            *size = bits.max(*size);
        }
    }

    /// Continues at an offset in bytes from the place in a slot.
    fn move_to(&mut self, anchor: Slot, offset: u32) {
        let offset = 8 * u64::from(offset);
        let phase = match anchor == self.start.anchor {
            true => self.start.phase.plus(offset),
            false => Phase::aligned(8),
        };
        self.c.at = StaticPosition { anchor, offset, phase, order: None };
    }

    /// Compiles a member whose place or length is in the record.
    fn located(
        &mut self,
        member: &Member,
        place: FieldPlace,
        origin: Origin,
    ) -> Result<(), LayoutError> {
        let class = &member.class;
        let (anchor, len) = (self.c.new_slot(), self.c.new_slot());
        self.c.at = StaticPosition { anchor, offset: 0, phase: Phase::aligned(8), order: None };
        let index = self.c.nodes.len();
        self.c.nodes.push(Node {
            offset: 0,
            anchor,
            next: 0,
            kind: NodeKind::Struct,
            cues: (0, 0),
            info: FieldInfo::new(index as u32, Some(member.name.clone()), class.clone()),
        });
        let own_cue = self.c.open_cue(index);
        let (kind, unit) = match &class.kind {
            FieldKind::String(text) => {
                (NodeKind::Text { encoding: text.encoding, len: Len::Slot(len) }, 1)
            }
            FieldKind::Array(array) => {
                let element = self.c.element(index, array)?;
                let stride = element.end.offset;
                if !element.fixed || !stride.is_multiple_of(8) || stride == 0 {
                    return Err(LayoutError::TooComplex);
                }
                let elements = Elements::Fixed { stride, anchor: element.anchor };
                (NodeKind::Array { len: Len::Slot(len), elements }, stride / 8)
            }
            _ => (NodeKind::Blob { len: Len::Slot(len) }, 1),
        };
        let next = self.c.nodes.len() as u32;
        if let Some(node) = self.c.nodes.get_mut(index) {
            (node.kind, node.next) = (kind, next);
        }
        self.c.close_cue(index, own_cue, true);
        let unit = u32::try_from(unit).map_err(|_| LayoutError::TooComplex)?;
        let locator = Locator { place, unit, order: self.order };
        let (record, end) = self.origin(origin)?;
        self.c.ops.push(Op::Locate { record, end, locator, len, anchor });
        let size = match place {
            FieldPlace::At(at) | FieldPlace::ToEnd(at) => 8 * u64::from(at),
            FieldPlace::Located { word, .. } => 8 * (u64::from(word) + 4),
            FieldPlace::Counted { at, count } => 8 * u64::from(at.max(count.saturating_add(4))),
        };
        self.note_size(origin, size);
        Ok(())
    }
}
