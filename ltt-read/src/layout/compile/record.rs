//! The bodies of records, whose fields have given places.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Compiler, StaticPosition};
use crate::layout::FieldInfo;
use crate::layout::node::{Elements, Node, NodeKind};
use crate::layout::phase::Phase;
use crate::layout::program::{Len, Op};
use crate::layout::record::{FieldPlace, Locator};
use crate::layout::region::{Region, Start};
use crate::report::LayoutError;
use crate::schema::{ByteOrder, FieldClass, FieldKind, Member};

/// Compiles the roots of the body of a record, structures whose members have the places `places`.
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
) -> Result<Region, LayoutError> {
    let mut fields = RecordFields { c: Compiler::new(start, false), start, order, size: 0 };
    let mut places = places.iter().copied();
    let mut first_nodes = SmallVec::new();
    for root in roots {
        first_nodes.push(root.map(|_| fields.c.nodes.len() as u32));
        if let Some(class) = root {
            fields.root(class, &mut places)?;
        }
    }
    let RecordFields { mut c, size, .. } = fields;
    let located = std::mem::take(&mut c.ops);
    let fixed = located.is_empty().then_some(size);
    c.ops.push(Op::Skip(size));
    c.ops.extend(located);
    Ok(c.region(first_nodes, start, fixed))
}

struct RecordFields {
    c: Compiler,
    start: Start,
    order: ByteOrder,
    /// The end of the fields with a constant place, in bits.
    size: u64,
}

impl RecordFields {
    /// Compiles a structure.
    fn root(
        &mut self,
        class: &Arc<FieldClass>,
        places: &mut impl Iterator<Item = FieldPlace>,
    ) -> Result<(), LayoutError> {
        self.move_to(0);
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
                FieldPlace::At(at) => {
                    self.move_to(at);
                    self.c.field(Some(member.name.clone()), &member.class)?;
                    self.size = self.size.max(self.c.at.offset);
                    self.c.pending = 0;
                }
                place => self.located(member, place)?,
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

    /// Continues at an offset in bytes.
    fn move_to(&mut self, offset: u32) {
        let (anchor, offset) = (self.start.anchor, 8 * u64::from(offset));
        let phase = self.start.phase.plus(offset);
        self.c.at = StaticPosition { anchor, offset, phase, order: None };
    }

    /// Compiles a member whose place or length is in the record.
    fn located(&mut self, member: &Member, place: FieldPlace) -> Result<(), LayoutError> {
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
        let record = self.start.anchor;
        self.c.ops.push(Op::Locate { record, locator, len, anchor });
        self.size = self.size.max(match place {
            FieldPlace::At(at) | FieldPlace::ToEnd(at) => 8 * u64::from(at),
            FieldPlace::Located { word, .. } => 8 * (u64::from(word) + 4),
            FieldPlace::Counted { at, count } => 8 * u64::from(at.max(count.saturating_add(4))),
        });
        Ok(())
    }
}
