//! Field handles, found once and used to read the field of every event.

use smallvec::SmallVec;

use super::field_path::{FieldStep, parse};
use super::walk::{child, sibling};
use crate::format::{Decoder, SchemaId};
use crate::layout::FieldInfo;
use crate::layout::node::{Elements, Node, NodeKind};
use crate::layout::program::{Len, Slot};
use crate::layout::region::Region;
use crate::layout::{FixedRead, WordRead};
use crate::schema::{Encoding, EventTypeId, FieldKind, Scope};
use crate::trace::Trace;

/// A handle of a field of one event type. It is found by
/// [`Trace::field`](crate::Trace::field), and used by [`Event::get`](crate::Event::get)
/// and [`Event::integer`](crate::Event::integer).
///
/// Reading through a handle takes a comparison, a table lookup and a load. A handle is
/// valid for its trace, also with [other times](crate::Trace::with_clock_transforms) and after the trace
/// has [grown](crate::GrowingTrace). Events of other traces have no such field, also if
/// these are the same files opened again.
#[derive(Debug, Clone)]
pub struct Field {
    pub(crate) schema: SchemaId,
    pub(crate) event_type: EventTypeId,
    pub(crate) scope: Scope,
    pub(crate) node: u32,
    pub(crate) place: FieldPlace,
    /// The word load for an integer that every event has.
    pub(crate) plain: Option<WordRead>,
    /// The length in bytes of a text or blob that every event has with the same length.
    pub(crate) bytes: Option<u64>,
    /// `true` if these bytes are a UTF-8 text.
    pub(crate) is_text: bool,
    /// `true` if it is a signed integer.
    pub(crate) is_signed: bool,
    /// The conditions under which an event has the field.
    pub(crate) conditions: SmallVec<[Condition; 1]>,
    /// The remaining steps of the path, which have to be resolved in each event.
    pub(crate) rest: Vec<FieldStep>,
    info: FieldInfo,
}

/// The place and the encoding of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FieldPlace {
    pub(crate) anchor: Slot,
    pub(crate) offset: u64,
    /// The encoding; `None` unless the field is a fixed-length integer.
    pub(crate) integer: Option<FixedRead>,
}

/// A condition for an event to have a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    /// The slot of a variant or option has this value.
    Chosen { slot: Slot, value: u64 },
    /// The array has more than `index` elements.
    Longer { len: Len, index: u64 },
}

impl Condition {
    #[inline]
    pub(crate) fn holds(self, slots: &[u64]) -> bool {
        match self {
            Condition::Chosen { slot, value } => slots[slot as usize] == value,
            Condition::Longer { len, index } => len.get(slots) > index,
        }
    }
}

impl Field {
    /// Returns the event type that the field belongs to.
    pub fn event_type(&self) -> EventTypeId {
        self.event_type
    }

    /// Returns the scope that contains the field.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Returns the name and class of the field. If a path can be resolved only in each
    /// event, these are the name and class of the first field on it with a dynamic
    /// layout: the array of elements of dynamic size, or the variant.
    pub fn info(&self) -> &FieldInfo {
        &self.info
    }

    /// Returns `true` if each event has the field, at a place that is known without a
    /// search. This is never so in the event header, of which reading in order decodes
    /// only a part.
    pub(crate) fn is_always_there(&self) -> bool {
        self.rest.is_empty() && self.conditions.is_empty() && self.scope != Scope::EventHeader
    }

    /// Returns `true` if each event has the field, at a constant distance from an anchor.
    pub(crate) fn is_at(&self, anchor: Slot) -> bool {
        let always = |condition: &Condition| matches!(condition, Condition::Longer { len: Len::Const(len), index } if index < len);
        self.place.anchor == anchor && self.rest.is_empty() && self.conditions.iter().all(always)
    }

    /// Returns `true` if [`Event::integer`](crate::Event::integer) can read the field: if
    /// it is an integer of fixed length whose place is known without a search in the
    /// event.
    pub fn is_plain_integer(&self) -> bool {
        self.place.integer.is_some() && self.rest.is_empty()
    }

    /// Returns `true` if [`Event::text`](crate::Event::text) can read the field: if it is
    /// a UTF-8 text of constant length that is in each event.
    pub fn is_plain_text(&self) -> bool {
        self.is_text
    }
}

impl Trace {
    /// Finds a field of an event type by its path from the root of a scope: `name`,
    /// `outer.inner`, `array[2]`, `array[2].inner`. The selected field of a variant is
    /// found by the name of its option, or by a path without the variant. Returns `None`
    /// if there is no such field.
    ///
    /// Names are those of [`schema`](crate::schema), which in CTF 1.8 lack the underscore
    /// that keeps them apart from keywords. If a format before CTF has two fields of one
    /// name, the first one is found.
    ///
    /// ```
    /// use ltt_read::schema::Scope;
    ///
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// let switch = trace.event_types_named("sched_switch").next().expect("a kernel trace");
    /// assert!(trace.field(switch, Scope::Payload, "prev_tid").is_some());
    /// assert!(trace.field(switch, Scope::CommonContext, "procname").is_none());
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn field(&self, event_type: EventTypeId, scope: Scope, path: &str) -> Option<Field> {
        self.field_at(event_type, scope, &parse(path)?)
    }

    /// Finds a field of an event type by the steps of its path, like
    /// [`field`](Self::field). This supports names that contain a dot or a bracket, and
    /// options of variants without a name.
    ///
    /// ```
    /// use ltt_read::{FieldStep, schema::Scope};
    ///
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// let switch = trace.event_types_named("sched_switch").next().expect("a kernel trace");
    /// let path = [FieldStep::Name("prev_tid".to_owned())];
    /// assert!(trace.field_at(switch, Scope::Payload, &path).is_some());
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn field_at(
        &self,
        event_type: EventTypeId,
        scope: Scope,
        path: &[FieldStep],
    ) -> Option<Field> {
        find(self.decoder(), event_type, scope, path)
    }
}

/// Finds a field of an event type; `None` if it does not exist.
pub(crate) fn find(
    decoder: &Decoder,
    event_type: EventTypeId,
    scope: Scope,
    steps: &[FieldStep],
) -> Option<Field> {
    let Decoder { schema, tables, .. } = decoder;
    let stream = schema.event_types.get(event_type.index())?.stream;
    // The layout of a body is compiled only for a field that it may have: many types are asked for
    // fields of a few.
    let root = schema.root(event_type, scope).map(|root| &root.kind);
    if let (Some(FieldStep::Name(name)), Some(FieldKind::Struct(root))) = (steps.first(), root)
        && !root.members.iter().any(|member| *member.name == **name)
    {
        return None;
    }
    let (region, root) = tables.scope(schema, stream, Some(event_type), scope)?;
    let mut at = PathResolver { region, node: root, base: None, conditions: SmallVec::new() };
    let mut rest = steps;
    while let Some((step, after)) = rest.split_first() {
        if matches!(at.enter_options(step), Progress::Dynamic) {
            break;
        }
        match at.step(step)? {
            Progress::Static => rest = after,
            Progress::Dynamic => break,
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
        schema: decoder.id,
        event_type,
        scope,
        node: at.node as u32,
        place: FieldPlace { anchor, offset: base + node.offset, integer },
        plain: None,
        bytes: None,
        is_text: false,
        is_signed: matches!(node.kind, NodeKind::Sint(_)),
        conditions: at.conditions,
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

/// Returns `true` if the steps from a node may lead to a field.
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

/// The outcome of resolving a step of a path.
enum Progress {
    /// The step was resolved.
    Static,
    /// The step has to be resolved in each event.
    Dynamic,
}

/// A state of the resolution of a path in the node table.
struct PathResolver<'a> {
    region: &'a Region,
    node: usize,
    /// Within an array element, the array's anchor and the distance of the element from
    /// it, in bits.
    base: Option<(Slot, u64)>,
    conditions: SmallVec<[Condition; 1]>,
}

impl PathResolver<'_> {
    /// Enters options, whose content is what a path refers to.
    fn enter_options(&mut self, step: &FieldStep) -> Progress {
        loop {
            match self.region.nodes[self.node].kind {
                NodeKind::Option { chosen } => {
                    self.conditions.push(Condition::Chosen { slot: chosen, value: 1 });
                    self.node += 1;
                }
                // Unless the step names the option, it depends on the event.
                NodeKind::Variant { .. } if !self.names_option(step) => return Progress::Dynamic,
                _ => return Progress::Static,
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

    fn step(&mut self, step: &FieldStep) -> Option<Progress> {
        let node = &self.region.nodes[self.node];
        match (step, &node.kind) {
            (FieldStep::Name(name), NodeKind::Struct) => self.node = self.child(name)?.0,
            (FieldStep::Name(name), NodeKind::Variant { chosen }) => {
                let (option, number) = self.child(name)?;
                self.conditions.push(Condition::Chosen { slot: *chosen, value: number });
                self.node = option;
            }
            (FieldStep::Option(number), NodeKind::Variant { chosen }) => {
                self.conditions.push(Condition::Chosen { slot: *chosen, value: *number });
                let option = usize::try_from(*number).ok()?;
                self.node = children(&self.region.nodes, self.node).nth(option)?;
            }
            (FieldStep::Index(_), NodeKind::Array { elements: Elements::Dynamic(_), .. }) => {
                return Some(Progress::Dynamic);
            }
            (
                FieldStep::Index(index),
                NodeKind::Array { len, elements: Elements::Fixed { stride, .. } },
            ) => {
                self.conditions.push(Condition::Longer { len: *len, index: *index });
                let (anchor, base) = self.base.unwrap_or((node.anchor, 0));
                let element =
                    base.checked_add(node.offset)?.checked_add(index.checked_mul(*stride)?)?;
                self.base = Some((anchor, element));
                self.node = sibling(&self.region.nodes, self.node + 1, node.next as usize, 0)?;
            }
            _ => return None,
        }
        Some(Progress::Static)
    }
}
