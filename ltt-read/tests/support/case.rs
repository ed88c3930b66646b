//! Random traces: several stream classes, streams, packets and event types.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use ltt_read::schema::*;
use ltt_read::uuid::Uuid;
use ltt_read::writer::{Record, StreamWriter, TraceWriter, Value, WriteError, metadata_text};
use proptest::prelude::*;

use super::shape::{members, root};
use super::values::{same, value_of};

/// A trace to be written.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) schema: Arc<Schema>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) packetized_metadata: bool,
}

/// As metadata text, which shows more at a glance than a tree of structures.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match metadata_text(&self.schema) {
            Ok(text) => writeln!(f, "{text}")?,
            Err(error) => writeln!(f, "{error}: {:?}", self.schema)?,
        }
        for stream in &self.streams {
            writeln!(f, "stream of class {}:", stream.class.0)?;
            for event in &stream.events {
                writeln!(f, "    {event:?}")?;
            }
        }
        Ok(())
    }
}

/// A data stream to be written.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    pub(crate) class: StreamClassId,
    pub(crate) events: Vec<Event>,
}

/// An event to be written, and perhaps a packet begun with it.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) record: Record,
    pub(crate) new_packet: bool,
}

/// What a reader has to find, in the order of writing. In the values,
/// `Value::Auto` stands for a length or selector, which needs no comparison:
/// what depends on it is compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expected {
    pub(crate) name: String,
    /// In cycles; `None` without a clock.
    pub(crate) timestamp: Option<u64>,
    pub(crate) common_context: Value,
    pub(crate) specific_context: Value,
    pub(crate) payload: Value,
}

impl Expected {
    /// Whether an event that was read is this one.
    pub(crate) fn is(&self, read: &Expected) -> bool {
        (&self.name, self.timestamp) == (&read.name, read.timestamp)
            && same(&self.common_context, &read.common_context)
            && same(&self.specific_context, &read.specific_context)
            && same(&self.payload, &read.payload)
    }
}

impl Case {
    /// The events of each stream.
    pub(crate) fn expected(&self) -> Vec<Vec<Expected>> {
        let event = |event: &Event| {
            let record = event.record.clone();
            Expected {
                name: self.schema.event_types[record.event_type.index()].name().to_owned(),
                timestamp: Some(record.timestamp),
                common_context: record.common_context,
                specific_context: record.specific_context,
                payload: record.payload,
            }
        };
        self.streams.iter().map(|s| s.events.iter().map(event).collect()).collect()
    }

    /// The name of the file of a stream.
    pub(crate) fn file_name(stream: usize) -> String {
        format!("stream_{stream}")
    }

    /// Writes the whole trace to a directory.
    pub(crate) fn write(&self, dir: &Path) -> Result<(), WriteError> {
        let trace = match self.packetized_metadata {
            true => TraceWriter::create_packetized(dir, self.schema.clone())?,
            false => TraceWriter::create(dir, self.schema.clone())?,
        };
        for (i, stream) in self.streams.iter().enumerate() {
            let writer = trace.stream(stream.class, &Case::file_name(i))?;
            fill(writer.with_stream_id(i as u64), &stream.events)?;
        }
        Ok(())
    }

    /// The bytes of one stream.
    pub(crate) fn bytes(&self, stream: usize) -> Result<Vec<u8>, WriteError> {
        let Stream { class, events } = &self.streams[stream];
        let name = Case::file_name(stream);
        let writer = StreamWriter::new(self.schema.clone(), *class, &name, Vec::new())?;
        fill(writer.with_stream_id(stream as u64), events)
    }
}

fn fill<W: std::io::Write>(mut writer: StreamWriter<W>, events: &[Event]) -> Result<W, WriteError> {
    for event in events {
        if event.new_packet {
            writer.begin_packet(event.record.timestamp)?;
        }
        writer.record(event.record.clone())?;
    }
    writer.finish()
}

/// Any trace of a format.
pub(crate) fn case(format: Format) -> BoxedStrategy<Case> {
    let native = prop_oneof![Just(ByteOrder::Little), Just(ByteOrder::Big)];
    native
        .prop_flat_map(move |native| schema(format, native))
        .prop_flat_map(|schema| {
            let schema = Arc::new(schema);
            let streams = prop::collection::vec(stream(schema.clone()), 1..4);
            (streams, any::<bool>()).prop_map(move |(streams, packetized_metadata)| Case {
                schema: schema.clone(),
                streams,
                packetized_metadata,
            })
        })
        .boxed()
}

fn stream(schema: Arc<Schema>) -> impl Strategy<Value = Stream> {
    let count = schema.stream_classes.len() as u32;
    (0..count, 0..1u64 << 40).prop_flat_map(move |(class, start)| {
        let class = StreamClassId(class);
        let types = (0..schema.event_types.len() as u32).map(EventTypeId);
        let types = types.filter(|t| schema.event_types[t.index()].stream == class);
        let events = types.map(|event_type| event(&schema, event_type).boxed());
        let events = proptest::strategy::Union::new(events.collect::<Vec<_>>());
        prop::collection::vec(events, 0..20).prop_map(move |mut events| {
            // So far the timestamps are distances.
            events.iter_mut().fold(start, |now, event| {
                event.record.timestamp += now;
                event.record.timestamp
            });
            Stream { class, events }
        })
    })
}

fn event(schema: &Schema, event_type: EventTypeId) -> impl Strategy<Value = Event> + use<> {
    let class = &schema.event_types[event_type.index()];
    let stream = &schema.stream_classes[class.stream.index()];
    let scope = |class: &Option<Arc<FieldClass>>| {
        class.as_deref().map_or(Just(Value::Auto).boxed(), value_of)
    };
    let values =
        (scope(&stream.common_context), scope(&class.specific_context), scope(&class.payload));
    // Narrow timestamps have 27 bits.
    let distance = prop_oneof![0..100u64, 0..1u64 << 27];
    (distance, values, prop::bool::weighted(0.2)).prop_map(
        move |(timestamp, (common_context, specific_context, payload), new_packet)| {
            let record = Record {
                common_context,
                specific_context,
                payload,
                ..Record::new(event_type, timestamp)
            };
            Event { record, new_packet }
        },
    )
}

fn schema(format: Format, native: ByteOrder) -> BoxedStrategy<Schema> {
    let fields = move || members(format, native);
    let optional = move || prop::option::of(fields());
    let event = (optional(), optional(), 0..3u64);
    let events = prop::collection::vec(event, 1..4);
    let class = (0..header_styles(format), optional(), events, 0..50u64);
    prop::collection::vec(class, 1..3)
        .prop_map(move |classes| {
            let mut schema = Schema::new(format);
            schema.native_byte_order = native;
            schema.uuid = Some(Uuid([0xa5; 16]));
            schema.env = vec![
                ("text".into(), EnvValue::Str("a \"b\" \\ \n é".into())),
                ("number".into(), EnvValue::Int(-3)),
            ];
            schema.clocks.push(ClockClass {
                frequency: 1_000_000_000,
                offset_seconds: 1000,
                offset_cycles: 5,
                ..ClockClass::new("tick")
            });
            schema.packet_header = Some(Arc::new(packet_header(format, native)));
            for (i, (header, common, events, first_id)) in classes.into_iter().enumerate() {
                let stream = StreamClassId(i as u32);
                let part = |scope, shapes: Option<Vec<_>>| shapes.map(|s| root(scope, &s));
                schema.stream_classes.push(StreamClass {
                    default_clock: Some(0),
                    packet_context: Some(Arc::new(packet_context(native))),
                    event_header: Some(Arc::new(event_header(header, native))),
                    common_context: part(Scope::CommonContext, common),
                    ..StreamClass::new(i as u64 * 3)
                });
                let mut id = first_id;
                for (specific, payload, gap) in events {
                    schema.event_types.push(EventType {
                        specific_context: part(Scope::SpecificContext, specific),
                        payload: part(Scope::Payload, payload),
                        ..EventType::new(stream, id, &format!("provider:event {id}"))
                    });
                    id += gap + 1;
                }
            }
            schema
        })
        .boxed()
}

fn with_role(bits: u32, native: ByteOrder, align: u32, role: Role) -> FieldClass {
    let integer = Integer { roles: Roles::only(role), ..Integer::default() };
    FieldClass { align, ..FieldClass::integer(bits, native, integer) }
}

fn packet_header(format: Format, native: ByteOrder) -> FieldClass {
    let (length, roles) = (Length::Static(16), Roles::only(Role::Uuid));
    let uuid = match format {
        Format::Ctf2 => FieldKind::Blob(Blob { length, media_type: None, roles }),
        _ => {
            let element = Arc::new(FieldClass::uint(8, native));
            FieldKind::Array(Array { element, length, roles })
        }
    };
    FieldClass::structure([
        ("magic", with_role(32, native, 32, Role::PacketMagic)),
        ("uuid", FieldClass::new(uuid, 8)),
        ("stream_id", with_role(7, native, 1, Role::StreamClassId)),
        ("stream_instance_id", with_role(17, native, 1, Role::StreamId)),
    ])
}

fn packet_context(native: ByteOrder) -> FieldClass {
    FieldClass::structure([
        ("timestamp_begin", with_role(64, native, 64, Role::ClockTimestamp)),
        ("timestamp_end", with_role(64, native, 8, Role::PacketEndTimestamp)),
        ("content_size", with_role(29, native, 1, Role::PacketContentLength)),
        ("packet_size", with_role(35, native, 1, Role::PacketTotalLength)),
        ("packet_seq_num", with_role(16, native, 8, Role::PacketSequence)),
        ("events_discarded", with_role(12, native, 4, Role::DiscardedEvents)),
    ])
}

fn header_styles(format: Format) -> u32 {
    if format == Format::Ctf2 { 5 } else { 4 }
}

/// Event headers as tracers write them, and unusual ones.
fn event_header(style: u32, native: ByteOrder) -> FieldClass {
    let id = |bits, align| with_role(bits, native, align, Role::EventTypeId);
    let time = |bits, align| with_role(bits, native, align, Role::ClockTimestamp);
    match style {
        0 => either_form(5, 27, 1, native),
        1 => either_form(16, 32, 8, native),
        2 => FieldClass::structure([("id", id(16, 8)), ("timestamp", time(64, 64))]),
        3 => FieldClass::structure([("timestamp", time(29, 1)), ("id", id(8, 1))]),
        _ => {
            let variable = |role| {
                let integer = Integer { roles: Roles::only(role), ..Integer::default() };
                FieldClass::new(FieldKind::VarInteger(integer), 8)
            };
            let (id, time) = (variable(Role::EventTypeId), variable(Role::ClockTimestamp));
            FieldClass::structure([("id", id), ("timestamp", time)])
        }
    }
}

/// LTTng's way: a short form, and a long one for great ids and distances.
fn either_form(id_bits: u32, time_bits: u32, align: u32, native: ByteOrder) -> FieldClass {
    let last = (1 << id_bits) - 2;
    let ranges = [("compact", vec![(0, last)]), ("extended", vec![(last + 1, last + 1)])];
    let mappings = ranges.clone().map(|(l, ranges)| Mapping { label: l.into(), ranges });
    let mut id = with_role(id_bits, native, align, Role::EventTypeId);
    if let FieldKind::Integer(_, integer) = &mut id.kind {
        integer.mappings = Some(mappings.into());
    }
    let time = |bits, align| with_role(bits, native, align, Role::ClockTimestamp);
    let compact = FieldClass::structure([("timestamp", time(time_bits, align))]);
    let long_id = with_role(32, native, 8, Role::EventTypeId);
    let extended = FieldClass::structure([("id", long_id), ("timestamp", time(64, 8))]);
    let options = ranges.into_iter().zip([compact, extended]);
    let options = options.map(|((name, ranges), class)| VariantOption {
        name: Some(name.into()),
        label: Some(name.into()),
        ranges,
        class: Arc::new(class),
        attributes: None,
    });
    let variant = Variant { selector: Dependency::sibling("id"), options: options.collect() };
    let variant = FieldClass::new(FieldKind::Variant(variant), 1);
    let header = FieldClass::structure([("id", id), ("v", variant)]);
    FieldClass::new(header.kind, 8)
}
