//! Field handles: look a field up once, read it in every event.

use smallvec::SmallVec;

use crate::layout::FieldInfo;
use crate::layout::node::{Elements, Node, NodeKind};
use crate::layout::program::{Len, Slot};
use crate::layout::region::Region;
use crate::layout::tables::Tables;
use crate::layout::walk::sibling;
use crate::layout::{FixedRead, WordRead};
use crate::schema::{Encoding, EventTypeId, Schema, Scope};
use crate::value::child;

/// A field of one event type, found by [`Trace::field`](crate::Trace::field)
/// and read by [`Event::get`](crate::Event::get) and
/// [`Event::integer`](crate::Event::integer).
///
/// Reading through it is a comparison, a table look-up and a load. It stays
/// valid as long as its trace; events of another trace must not be read with it.
#[derive(Debug, Clone)]
pub struct Field {
    pub(crate) event_type: EventTypeId,
    pub(crate) scope: Scope,
    pub(crate) node: u32,
    pub(crate) place: FieldPlace,
    /// How to read an integer that is always there, by a word's load.
    pub(crate) plain: Option<WordRead>,
    /// Length in bytes of a text or blob that is always there and always as long.
    pub(crate) bytes: Option<u64>,
    /// Whether these are a text in UTF-8.
    pub(crate) is_text: bool,
    /// Conditions under which the event has it.
    pub(crate) gates: SmallVec<[Gate; 1]>,
    /// Steps that have to be taken in each event anew.
    pub(crate) rest: Vec<FieldStep>,
    info: FieldInfo,
}

/// Where and how its bits are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldPlace {
    pub(crate) anchor: Slot,
    pub(crate) offset: u64,
    /// `Some` for fixed-length integers.
    pub(crate) integer: Option<FixedRead>,
}

/// What must hold for a field to be there.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Gate {
    /// The variant's or option's slot has this value.
    Chosen { slot: Slot, value: u64 },
    /// The array is longer than this.
    Longer { len: Len, index: u64 },
}

impl Gate {
    #[inline]
    pub(crate) fn is_open(self, slots: &[u64]) -> bool {
        match self {
            Gate::Chosen { slot, value } => slots[slot as usize] == value,
            Gate::Longer { len, index } => len.get(slots) > index,
        }
    }
}

/// A step of a path to a field: see [`Trace::field_at`](crate::Trace::field_at).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FieldStep {
    /// Into the member of a structure, or the option of a variant, of this name.
    Name(String),
    /// Into the element of an array of this number, from 0.
    Index(u64),
    /// Into the option of a variant of this number, from 0: in CTF 2 an option
    /// need not have a name.
    Option(u64),
}

impl FieldStep {
    pub(crate) fn name(&self) -> Option<&str> {
        if let FieldStep::Name(name) = self { Some(name) } else { None }
    }
}

impl Field {
    /// The event type that has it.
    pub fn event_type(&self) -> EventTypeId {
        self.event_type
    }

    /// The scope that it is in.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Its name and class. (For a path that only each event can follow to its
    /// end, those of the array of elements of dynamic size, or of the variant,
    /// where it has to begin with that.)
    pub fn info(&self) -> &FieldInfo {
        &self.info
    }

    /// Whether each event has it, at a place that needs no searching. (The header
    /// has been read only as far as reading in order takes it.)
    pub(crate) fn is_always_there(&self) -> bool {
        self.rest.is_empty() && self.gates.is_empty() && self.scope != Scope::EventHeader
    }

    /// Whether [`Event::integer`](crate::Event::integer) can read it: it is an
    /// integer of fixed length, and its place needs no searching in the event.
    pub fn is_plain_integer(&self) -> bool {
        self.place.integer.is_some() && self.rest.is_empty()
    }

    /// Whether [`Event::text`](crate::Event::text) can read it: it is a text in
    /// UTF-8 of constant length, and always there.
    pub fn is_plain_text(&self) -> bool {
        self.is_text
    }
}

/// Splits `a.b[2].c`.
pub(crate) fn parse(path: &str) -> Option<Vec<FieldStep>> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (name, mut indices) = part.split_at(part.find('[').unwrap_or(part.len()));
        if name.is_empty() && (indices.is_empty() || !steps.is_empty()) {
            return None;
        }
        if !name.is_empty() {
            steps.push(FieldStep::Name(name.to_owned()));
        }
        while let Some(rest) = indices.strip_prefix('[') {
            let (index, rest) = rest.split_once(']')?;
            steps.push(FieldStep::Index(index.parse().ok()?));
            indices = rest;
        }
        if !indices.is_empty() {
            return None;
        }
    }
    Some(steps)
}

/// The handle of a field, if the event type has it.
pub(crate) fn find(
    schema: &Schema,
    tables: &Tables,
    event_type: EventTypeId,
    scope: Scope,
    steps: &[FieldStep],
) -> Option<Field> {
    let stream = schema.event_types.get(event_type.index())?.stream;
    let (region, root) = tables.scope(schema, stream, Some(event_type), scope)?;
    let mut at = Walker { region, node: root, base: None, gates: SmallVec::new() };
    let mut rest = steps;
    while let Some((step, after)) = rest.split_first() {
        if matches!(at.pass_transparent(step), Pass::Dynamic) {
            break;
        }
        match at.step(step)? {
            Pass::Through => rest = after,
            Pass::Dynamic => break,
        }
    }
    if !leads_to_field(&region.nodes, at.node, rest) {
        return None;
    }
    let node = &region.nodes[at.node];
    let (anchor, base) = at.base.unwrap_or((node.anchor, 0));
    let integer = match node.kind {
        NodeKind::Uint(read) | NodeKind::Sint(read) => Some(read),
        _ => None,
    };
    let length = match node.kind {
        NodeKind::Text { len, .. } | NodeKind::Blob { len } => len.constant(),
        _ => None,
    };
    let field = Field {
        event_type,
        scope,
        node: at.node as u32,
        place: FieldPlace { anchor, offset: base + node.offset, integer },
        plain: None,
        bytes: None,
        is_text: false,
        gates: at.gates,
        rest: rest.to_vec(),
        info: node.info.clone(),
    };
    if !field.is_always_there() {
        return Some(field);
    }
    let align = node.info.class().align;
    let plain = integer.and_then(|read| WordRead::new(read, align));
    let is_text = matches!(node.kind, NodeKind::Text { encoding: Encoding::Utf8, .. });
    Some(Field { plain, bytes: length, is_text: is_text && length.is_some(), ..field })
}

/// Whether there may be a field at the end of the steps from a node.
fn leads_to_field(nodes: &[Node], index: usize, steps: &[FieldStep]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return true };
    let node = &nodes[index];
    if let (FieldStep::Option(number), NodeKind::Variant { .. }) = (step, &node.kind) {
        let option = children(nodes, index).nth(*number as usize);
        return option.is_some_and(|option| leads_to_field(nodes, option, rest));
    }
    let named = step.name().and_then(|name| child(nodes, index, name));
    match (&node.kind, named) {
        (NodeKind::Struct | NodeKind::Variant { .. }, Some((child, _))) => {
            leads_to_field(nodes, child, rest)
        }
        (NodeKind::Option { .. } | NodeKind::Variant { .. }, None) => {
            let mut options = children(nodes, index);
            options.any(|option| leads_to_field(nodes, option, steps))
        }
        (NodeKind::Array { .. }, None) if matches!(step, FieldStep::Index(_)) => {
            leads_to_field(nodes, index + 1, rest)
        }
        _ => false,
    }
}

fn children(nodes: &[Node], index: usize) -> impl Iterator<Item = usize> {
    let next = |i: &usize| Some(nodes.get(*i)?.next as usize);
    let end = nodes[index].next as usize;
    std::iter::successors(Some(index + 1), next).take_while(move |i| *i < end)
}

/// Whether a step could be taken when the handle was made.
enum Pass {
    Through,
    Dynamic,
}

/// A place in the node table on the way along a path.
struct Walker<'a> {
    region: &'a Region,
    node: usize,
    /// Within an array element: the array's anchor, and the element's place
    /// from there.
    base: Option<(Slot, u64)>,
    gates: SmallVec<[Gate; 1]>,
}

impl Walker<'_> {
    /// Enters options on the way: their content is what a path means.
    fn pass_transparent(&mut self, step: &FieldStep) -> Pass {
        loop {
            match self.region.nodes[self.node].kind {
                NodeKind::Option { chosen } => {
                    self.gates.push(Gate::Chosen { slot: chosen, value: 1 });
                    self.node += 1;
                }
                // Which option a step on is in, only the event tells, unless
                // the step names it.
                NodeKind::Variant { .. } if !self.names_option(step) => return Pass::Dynamic,
                _ => return Pass::Through,
            }
        }
    }

    fn names_option(&self, step: &FieldStep) -> bool {
        matches!(step, FieldStep::Option(_))
            || step.name().is_some_and(|name| self.child(name).is_some())
    }

    fn child(&self, name: &str) -> Option<(usize, u64)> {
        child(&self.region.nodes, self.node, name)
    }

    fn step(&mut self, step: &FieldStep) -> Option<Pass> {
        let node = &self.region.nodes[self.node];
        match (step, &node.kind) {
            (FieldStep::Name(name), NodeKind::Struct) => self.node = self.child(name)?.0,
            (FieldStep::Name(name), NodeKind::Variant { chosen }) => {
                let (option, number) = self.child(name)?;
                self.gates.push(Gate::Chosen { slot: *chosen, value: number });
                self.node = option;
            }
            (FieldStep::Option(number), NodeKind::Variant { chosen }) => {
                self.gates.push(Gate::Chosen { slot: *chosen, value: *number });
                let option = usize::try_from(*number).ok()?;
                self.node = children(&self.region.nodes, self.node).nth(option)?;
            }
            (FieldStep::Index(_), NodeKind::Array { elements: Elements::Dynamic(_), .. }) => {
                return Some(Pass::Dynamic);
            }
            (
                FieldStep::Index(index),
                NodeKind::Array { len, elements: Elements::Fixed { stride, .. } },
            ) => {
                self.gates.push(Gate::Longer { len: *len, index: *index });
                let (anchor, base) = self.base.unwrap_or((node.anchor, 0));
                let element =
                    base.checked_add(node.offset)?.checked_add(index.checked_mul(*stride)?)?;
                self.base = Some((anchor, element));
                self.node = sibling(&self.region.nodes, self.node + 1, node.next as usize, 0)?;
            }
            _ => return None,
        }
        Some(Pass::Through)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let name = |s: &str| FieldStep::Name(s.to_owned());
        assert_eq!(parse("a"), Some(vec![name("a")]));
        assert_eq!(
            parse("a.b[2][3].c"),
            Some(vec![name("a"), name("b"), FieldStep::Index(2), FieldStep::Index(3), name("c")])
        );
        for bad in ["", "a.", ".a", "a[", "a[x]", "a[1]b", "a..b"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
