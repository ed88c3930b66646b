//! The layouts of a trace, and the tables that map ids to them.

use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::compile::{compile, compile_record};
use super::header::{Header, Quick};
use super::ids::{IdEntry, IdTable};
use super::node::NodeKind;
use super::phase::Phase;
use super::program::{Scratch, Slot, slots_read, slots_saved};
use super::record::{RecordLayouts, Records};
use super::region::{Region, Start};
use super::shape::Shape;

use crate::base::clock_transform::ClockTransform;
use crate::layout::clock::ClockConverter;
use crate::report::{DecodeError, LayoutError};
use crate::schema::{EventTypeId, FieldKind, Role, Schema, Scope, StreamClass, StreamClassId};

/// The compiled layouts of one schema.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) packet_header: Option<Region>,
    /// The node of the UUID in the packet header.
    pub(crate) uuid_node: Option<u32>,
    pub(crate) streams: Box<[Arc<StreamTable>]>,
    stream_ids: HashMap<u64, StreamClassId>,
    /// For each event type, the layout of its body. It is compiled at the first event,
    /// because a recording has events of about a tenth of the declared types.
    bodies: Box<[OnceLock<CompiledBody>]>,
    body_start: BodyStart,
}

/// The place at which the body of an event starts.
#[derive(Debug, Clone)]
pub(crate) enum BodyStart {
    /// The end of the header.
    AfterHeader,
    /// The start of the payload, which is aligned to 8 bits and to its own alignment. The
    /// decoder skips the padding before it, and there are no contexts.
    AlignedPayload,
    /// The end of the header of a record of a ring buffer. The places of the fields are given.
    Record(Arc<RecordLayouts>),
}

type CompiledBody = Result<EventLayout, LayoutError>;

/// The layout of one event type.
#[derive(Debug)]
struct EventLayout {
    /// The shapes of the root structures of `body`. They are kept here because a visit begins with a
    /// branch on them, which is often mispredicted: the fewer loads it has to wait for, the better.
    shapes: RootShapes,
    body: Box<Body>,
}

/// The shapes of the root structures of a body.
pub(crate) type RootShapes = [Shape; 3];

/// The compiled layout of one event type's contexts and payload.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) region: Region,
    /// `true` if a length or selector is in the event header. The header's program then
    /// has to run, because its plan does not save them.
    pub(crate) needs_header: bool,
}

/// The compiled layouts of one stream class.
#[derive(Debug)]
pub(crate) struct StreamTable {
    pub(crate) packet_context: Option<Region>,
    /// The node of the field `cpu_id` in the packet context, if it has one.
    cpu_node: Option<u32>,
    pub(crate) header: Header,
    /// The header's quick form, if it has one.
    pub(crate) quick: Option<Quick>,
    /// The form of the records, if they are those of a ring buffer.
    pub(crate) records: Option<Records>,
    pub(crate) clock: Option<ClockConverter>,
    pub(crate) event_ids: IdTable,
    /// The slot for the start of an event's body.
    pub(crate) body_anchor: Slot,
}

impl Tables {
    /// Compiles the layouts of a schema. `transforms` are those of its clocks. At least `slots`
    /// value slots are reserved.
    pub(crate) fn new(
        schema: &Schema,
        body_start: BodyStart,
        transforms: &[ClockTransform],
        slots: Slot,
    ) -> Result<Tables, LayoutError> {
        let first = slots.max(value_slots(schema));
        let start = Start {
            anchor: first,
            free_slot: first + 1,
            phase: Phase::aligned(1 << 31),
            order: None,
        };
        let packet_header =
            schema.packet_header.as_ref().map(|c| compile(&[Some(c)], start, true)).transpose()?;
        let uuid_node = packet_header.as_ref().and_then(uuid_node);
        let after_header = packet_header.as_ref().map_or(start, following);
        let mut ids: Vec<Vec<(u64, EventTypeId)>> = vec![Vec::new(); schema.stream_classes.len()];
        for (event, index) in schema.event_types.iter().zip(0..) {
            if let Some(ids) = ids.get_mut(event.stream.index()) {
                ids.push((event.id, EventTypeId(index)));
            }
        }
        let streams = (schema.stream_classes.iter().zip(ids))
            .map(|(class, ids)| {
                StreamTable::new(schema, class, ids, after_header, transforms, &body_start)
            })
            .map(|table| table.map(Arc::new))
            .collect::<Result<_, _>>()?;
        let ids = schema.stream_classes.iter().zip(0..).map(|(s, i)| (s.id, StreamClassId(i)));
        Ok(Tables {
            packet_header,
            uuid_node,
            streams,
            stream_ids: ids.collect(),
            bodies: schema.event_types.iter().map(|_| OnceLock::new()).collect(),
            body_start,
        })
    }

    /// Finds the stream class with the id in a packet header. Without an id, this is the
    /// only class or the one with the id 0.
    pub(crate) fn stream(&self, id: Option<u64>) -> Result<StreamClassId, DecodeError> {
        if id.is_none() && self.streams.len() == 1 {
            return Ok(StreamClassId(0));
        }
        let id = id.unwrap_or(0);
        self.stream_ids.get(&id).copied().ok_or(DecodeError::UnknownStreamClass { id })
    }

    /// Returns the layout of an event type's body, compiling it if necessary.
    pub(crate) fn body(&self, schema: &Schema, id: EventTypeId) -> Result<&Body, DecodeError> {
        let body = self.bodies[id.index()].get_or_init(|| {
            let event = &schema.event_types[id.index()];
            let class = &schema.stream_classes[event.stream.index()];
            let table = &self.streams[event.stream.index()];
            let roots = [&class.common_context, &event.specific_context, &event.payload];
            let header = &table.header.region;
            let start = Start {
                anchor: table.body_anchor,
                free_slot: table.body_anchor + 1,
                phase: match (&self.body_start, &event.payload) {
                    (BodyStart::AlignedPayload, Some(payload)) => {
                        Phase::aligned(u64::from(payload.align).max(8))
                    }
                    (BodyStart::Record(_), _) => Phase::aligned(32),
                    _ => header.end_phase,
                },
                order: header.end_order,
            };
            let roots = roots.map(Option::as_ref);
            let region = match &self.body_start {
                BodyStart::Record(layouts) => {
                    let sections = layouts.sections_of(id);
                    compile_record(&roots, start, layouts.order, layouts.of(id), &sections)?
                }
                _ => compile(&roots, start, false)?,
            };
            let mut saved = SmallVec::<[Slot; 4]>::new();
            slots_saved(&header.ops, &mut |slot| saved.push(slot));
            let mut needs_header = false;
            slots_read(&region.ops, &mut |slot| needs_header |= saved.contains(&slot));
            let mut shapes = [Shape::Other; 3];
            shapes.iter_mut().zip(&region.visits).for_each(|(shape, root)| *shape = root.shape);
            Ok(EventLayout { shapes, body: Box::new(Body { region, needs_header }) })
        });
        body.as_ref().map(|layout| &*layout.body).map_err(|e| DecodeError::Layout(*e))
    }

    /// Returns the layout of the body of an event that has been read; `None` if it is not
    /// compiled.
    #[inline(always)]
    pub(crate) fn compiled_body(&self, id: EventTypeId) -> Option<&Body> {
        Some(&*self.compiled(id)?.body)
    }

    /// Returns the region of the body of an event that has been read, and the shapes of its root
    /// structures; `None` if its layout is not compiled.
    #[inline(always)]
    pub(crate) fn visits(&self, id: EventTypeId) -> Option<(&Region, &RootShapes)> {
        let layout = self.compiled(id)?;
        Some((&layout.body.region, &layout.shapes))
    }

    #[inline(always)]
    fn compiled(&self, id: EventTypeId) -> Option<&EventLayout> {
        self.bodies.get(id.index())?.get()?.as_ref().ok()
    }

    /// Returns the layout of a body of dynamic size, if it is compiled and does not need
    /// the header.
    #[inline(always)]
    pub(crate) fn ready_body(&self, entry: IdEntry) -> Option<&Body> {
        let body = entry.is_dynamic().then(|| self.compiled_body(entry.event()))??;
        (!body.needs_header).then_some(body)
    }

    /// Finds the region and root node of a scope for an event of a stream.
    pub(crate) fn scope(
        &self,
        schema: &Schema,
        stream: StreamClassId,
        event: Option<EventTypeId>,
        scope: Scope,
    ) -> Option<(&Region, usize)> {
        let table = &self.streams[stream.index()];
        let body = || Some(&self.body(schema, event?).ok()?.region);
        let (region, number) = match scope {
            Scope::PacketHeader => (self.packet_header.as_ref()?, 0),
            Scope::PacketContext => (table.packet_context.as_ref()?, 0),
            Scope::EventHeader => (&table.header.region, 0),
            Scope::CommonContext => (body()?, 0),
            Scope::SpecificContext => (body()?, 1),
            Scope::Payload => (body()?, 2),
        };
        let root = region.roots.get(number).copied().flatten()?;
        Some((region, root as usize))
    }
}

impl StreamTable {
    fn new(
        schema: &Schema,
        class: &StreamClass,
        event_ids: Vec<(u64, EventTypeId)>,
        start: Start,
        transforms: &[ClockTransform],
        body_start: &BodyStart,
    ) -> Result<Self, LayoutError> {
        let packet_context =
            class.packet_context.as_ref().map(|c| compile(&[Some(c)], start, true)).transpose()?;
        let after = packet_context.as_ref().map_or(start, following);
        // The end of the previous record is unknown, so only the header's own alignment
        // is known.
        let align = class.event_header.as_ref().map_or(1, |h| h.align);
        let start = Start { phase: Phase::aligned(align.into()), order: None, ..after };
        let region = compile(&[class.event_header.as_ref()], start, true)?;
        let body_anchor = region.slots;
        let clock = class.default_clock.map(|number| number as usize).and_then(|number| {
            let transform = transforms.get(number).copied().unwrap_or_default();
            Some(ClockConverter::new(schema.clocks.get(number)?, &transform))
        });
        let header = Header::new(region, align);
        let (records, dense) = match body_start {
            BodyStart::Record(layouts) if layouts.have_headers => {
                (clock.map(|clock| layouts.records(clock)), IDS)
            }
            _ => (None, 0),
        };
        // The headers of samples, which have the types in other ways, are no part of the schema.
        let has_header = !matches!(body_start, BodyStart::Record(_));
        Ok(StreamTable {
            cpu_node: packet_context.as_ref().and_then(cpu_node),
            packet_context,
            quick: clock.filter(|_| has_header).and_then(|clock| header.quick(clock)),
            header,
            records,
            clock,
            event_ids: IdTable::new(event_ids, dense),
            body_anchor,
        })
    }

    /// Returns the CPU number in the context of a packet that has been decoded; `None` if there is none.
    pub(crate) fn cpu(&self, packet: &[u8], scratch: &Scratch) -> Option<u32> {
        let node = self.packet_context.as_ref()?.nodes.get(self.cpu_node? as usize)?;
        let (NodeKind::Uint(read) | NodeKind::Sint(read)) = node.kind else { return None };
        let start = scratch.slots.get(node.anchor as usize)?;
        u32::try_from(read.value(packet, start + node.offset)).ok()
    }

    /// Returns `true` if its packets declare a CPU.
    pub(crate) fn declares_cpu(&self) -> bool {
        self.cpu_node.is_some()
    }

    /// Finds the event type with the id in an event header. Without an id, this is the
    /// only type or the one with the id 0.
    pub(crate) fn event(&self, id: Option<u64>) -> Result<EventTypeId, DecodeError> {
        self.event_ids.get(id)
    }
}

/// The number of ids of records, which have 16 bits.
const IDS: u64 = 1 << 16;

/// Returns the number of value slots of a schema. They come first, then anchors.
pub(crate) fn value_slots(schema: &Schema) -> Slot {
    let streams = schema.stream_classes.iter().map(|class| class.slots.0);
    let events = schema.event_types.iter().map(|event| event.slots.0);
    streams.chain(events).max().unwrap_or(0).max(schema.slots.0).into()
}

/// Returns the start of a region that directly follows another one.
fn following(region: &Region) -> Start {
    Start {
        anchor: region.slots,
        free_slot: region.slots + 1,
        phase: region.end_phase,
        order: region.end_order,
    }
}

/// Finds the node of the CPU number among the members of a packet context.
fn cpu_node(region: &Region) -> Option<u32> {
    // The root is the first node; its members follow.
    let end = region.nodes.first()?.next as usize;
    let after = |at: &usize| Some(region.nodes.get(*at)?.next as usize);
    let members = std::iter::successors(Some(1), after).take_while(|at| *at < end);
    let is_cpu =
        |at: &usize| region.nodes.get(*at).is_some_and(|n| n.info.name() == Some("cpu_id"));
    members.into_iter().find(is_cpu).map(|at| at as u32)
}

/// Finds the node of the UUID in a packet header.
fn uuid_node(region: &Region) -> Option<u32> {
    let has = |kind: &FieldKind| match kind {
        FieldKind::Array(a) => a.roles.has(Role::Uuid),
        FieldKind::Blob(b) => b.roles.has(Role::Uuid),
        _ => false,
    };
    let index = region.nodes.iter().position(|n| has(&n.info.class().kind))?;
    Some(index as u32)
}
