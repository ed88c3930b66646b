//! Random traces with several stream classes, streams, packets and event types.

use std::fmt;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use ltt_read::schema::*;
use ltt_read::uuid::Uuid;
use ltt_read::writer::{FieldValue, Record, StreamWriter, TraceWriter, WriteError, metadata_text};
use proptest::prelude::*;

use super::keys::{Keys, event_keys, key_classes, packet_keys, with_key};
use super::layout::{Layout, is_divided, layout, packet_header};
use super::shape::{At, Shape, members, structure};
use super::values::{same, value_of};

/// A trace to be written.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) schema: Arc<Schema>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) packetized_metadata: bool,
}

/// Writes the case as metadata text, which is easier to read than a tree of structures.
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
    /// The keys of packet header and packet context.
    pub(crate) keys: Keys,
    pub(crate) events: Vec<Event>,
}

/// An event to be written, which may start a new packet.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) record: Record,
    pub(crate) new_packet: bool,
}

/// An event that a reader has to find. In the values, `Value::Auto` stands for a length
/// or selector. It is not compared, because the fields that depend on it are.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expected {
    pub(crate) event_type: EventTypeId,
    /// The clock value in cycles; `None` without a clock.
    pub(crate) timestamp: Option<u64>,
    pub(crate) common_context: FieldValue,
    pub(crate) specific_context: FieldValue,
    pub(crate) payload: FieldValue,
}

impl Expected {
    /// Returns the time in ns from the clock's origin, as the specifications define it.
    pub(crate) fn time(&self, schema: &Schema) -> Option<i128> {
        let clock = schema.stream_of(self.event_type).default_clock?;
        let clock = &schema.clocks[clock as usize];
        let frequency = i128::from(clock.frequency);
        let offset = i128::from(clock.offset_seconds) * frequency;
        let cycles = offset + i128::from(clock.offset_cycles) + i128::from(self.timestamp?);
        Some((cycles * 1_000_000_000).div_euclid(frequency))
    }

    /// Returns `true` if an event that was read is this one.
    pub(crate) fn is(&self, read: &Expected) -> bool {
        (self.event_type, self.timestamp) == (read.event_type, read.timestamp)
            && same(&self.common_context, &read.common_context)
            && same(&self.specific_context, &read.specific_context)
            && same(&self.payload, &read.payload)
    }
}

impl Case {
    /// Returns the events of each stream, in the order of writing.
    pub(crate) fn expected(&self) -> Vec<Vec<Expected>> {
        let event = |event: &Event| {
            let record = event.record.clone();
            let clock = self.schema.stream_of(record.event_type).default_clock;
            Expected {
                event_type: record.event_type,
                timestamp: clock.map(|_| record.timestamp),
                common_context: record.common_context,
                specific_context: record.specific_context,
                payload: record.payload,
            }
        };
        self.streams.iter().map(|s| s.events.iter().map(event).collect()).collect()
    }

    /// Returns the name of the file of a stream.
    pub(crate) fn file_name(stream: usize) -> String {
        format!("stream_{stream}")
    }

    /// Writes the whole trace to a directory.
    pub(crate) fn write(&self, dir: &Path) -> Result<(), WriteError> {
        let trace = match self.packetized_metadata {
            true => TraceWriter::create_packetized(dir, self.schema.clone())?,
            false => TraceWriter::create(dir, self.schema.clone())?,
        };
        let trace = trace.with_index();
        for (i, stream) in self.streams.iter().enumerate() {
            let writer = trace.stream(stream.class, &Case::file_name(i))?;
            self.fill(writer, i)?;
        }
        Ok(())
    }

    /// Returns the bytes of one stream.
    pub(crate) fn bytes(&self, stream: usize) -> Result<Vec<u8>, WriteError> {
        let (class, name) = (self.streams[stream].class, Case::file_name(stream));
        self.fill(StreamWriter::new(self.schema.clone(), class, &name, Vec::new())?, stream)
    }

    fn fill<W: Write>(&self, writer: StreamWriter<W>, stream: usize) -> Result<W, WriteError> {
        let Stream { class, keys, events } = &self.streams[stream];
        let class = &self.schema.stream_classes[class.index()];
        let keys = |root: &Option<Arc<FieldClass>>| {
            let members = root.as_deref().map_or(&[][..], |root| root.members());
            let values = members.iter().map(|m| (m.name.to_string(), keys.value(&m.name)));
            FieldValue::fields(values.filter_map(|(name, value)| Some((name, value?))))
        };
        let mut writer = writer
            .with_stream_id(stream as u64)
            .with_packet_header(keys(&self.schema.packet_header))
            .with_packet_context(keys(&class.packet_context));
        for event in events {
            if event.new_packet {
                writer.begin_packet(event.record.timestamp)?;
            }
            writer.record(event.record.clone())?;
        }
        writer.finish()
    }
}

/// Generates traces of a format.
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
    (0..count, 0..1u64 << 40, packet_keys()).prop_flat_map(move |(class, start, keys)| {
        let class = StreamClassId(class);
        let divided = is_divided(&schema.stream_classes[class.index()]);
        let types = (0..schema.event_types.len() as u32).map(EventTypeId);
        let types = types.filter(|t| schema.event_types[t.index()].stream == class);
        let events = types.map(|event_type| event(&schema, event_type, keys).boxed());
        let events = proptest::strategy::Union::new(events.collect::<Vec<_>>());
        prop::collection::vec(events, 0..20).prop_map(move |mut events| {
            // The generated timestamps are distances, and become times here.
            events.iter_mut().fold(start, |now, event| {
                event.record.timestamp += now;
                event.new_packet &= divided;
                event.record.timestamp
            });
            Stream { class, keys, events }
        })
    })
}

fn event(
    schema: &Arc<Schema>,
    event_type: EventTypeId,
    packet: Keys,
) -> impl Strategy<Value = Event> + use<> {
    let schema = schema.clone();
    // The narrowest timestamps have 27 bits.
    let distance = prop_oneof![Just(0), 0..100u64, 0..1u64 << 27];
    (event_keys(packet), distance, prop::bool::weighted(0.2)).prop_flat_map(
        move |(keys, timestamp, new_packet)| {
            let class = &schema.event_types[event_type.index()];
            let stream = &schema.stream_classes[class.stream.index()];
            let scope = |class: &Option<Arc<FieldClass>>| {
                class
                    .as_deref()
                    .map_or(Just(FieldValue::Auto).boxed(), |class| value_of(class, &keys))
            };
            let scopes = [&stream.common_context, &class.specific_context, &class.payload];
            scopes.map(scope).prop_map(move |[common_context, specific_context, payload]| {
                let record = Record {
                    common_context,
                    specific_context,
                    payload,
                    ..Record::new(event_type, timestamp)
                };
                Event { record, new_packet }
            })
        },
    )
}

/// The members of the root of a scope, if there is one.
type Members = Option<Vec<Shape>>;

/// The parts of a stream class and its event types.

#[derive(Debug, Clone)]
struct Class {
    layout: Layout,
    clock: u32,
    /// `true` if other scopes than the packet header have keys.
    keyed: bool,
    common: Members,
    /// The specific context, the payload and the distance to the next id.
    events: Vec<(Members, Members, u64)>,
    first_id: u64,
}

fn class(format: Format, native: ByteOrder) -> impl Strategy<Value = Class> {
    let optional = move || prop::option::of(members(format, native));
    let events = prop::collection::vec((optional(), optional(), 0..3u64), 1..4);
    let class = (layout(format), 0..2u32, any::<bool>(), optional(), events, 0..50u64);
    class.prop_map(|(layout, clock, keyed, common, mut events, first_id)| {
        if !layout.has_header() {
            events.truncate(1);
        }
        if !layout.has_header() || !layout.is_padded() {
            // Records must have bits and end at a byte boundary.
            let byte = FieldClass::uint(8, ByteOrder::Little);
            for (_, payload, _) in &mut events {
                payload.get_or_insert_default().push(Shape::Leaf(byte.clone()));
            }
        }
        Class { layout, clock, keyed, common, events, first_id }
    })
}

fn clock() -> impl Strategy<Value = ClockClass> {
    let frequency = prop_oneof![
        Just(1_000_000_000),
        prop::sample::select(vec![1000, 32_768, 1_000_000, 2_400_000_003u64]),
        1000..1u64 << 40,
    ];
    let seconds = -1_000_000_000..2_000_000_000i64;
    (frequency, seconds, -10_000..1_000_000i64, any::<bool>()).prop_map(
        |(frequency, offset_seconds, offset_cycles, absolute)| ClockClass {
            frequency,
            offset_seconds,
            offset_cycles,
            origin: if absolute { ClockOrigin::UnixEpoch } else { ClockOrigin::Unknown },
            ..ClockClass::new("tick")
        },
    )
}

fn schema(format: Format, native: ByteOrder) -> BoxedStrategy<Schema> {
    let keys = prop::array::uniform6(key_classes(format, native));
    let clocks = prop::collection::vec(clock(), 2);
    let classes = prop::collection::vec(class(format, native), 1..3);
    (classes, keys, clocks, any::<u8>())
        .prop_map(move |(classes, keys, clocks, parts)| {
            let mut schema = Schema::new(format);
            schema.native_byte_order = native;
            schema.uuid = Some(Uuid([0xa5; 16]));
            schema.env = vec![
                ("text".into(), EnvValue::Str("a \"b\" \\ \n é".into())),
                ("number".into(), EnvValue::Int(-3)),
            ];
            for (i, clock) in clocks.into_iter().enumerate() {
                schema.clocks.push(ClockClass { name: format!("tick{i}").into(), ..clock });
            }
            let keyed =
                |scope: Scope, class: &FieldClass| with_key(class, scope, &keys[scope as usize]);
            let header = packet_header(format, native, parts);
            schema.packet_header = Some(Arc::new(keyed(Scope::PacketHeader, &header)));
            for class in classes {
                add(&mut schema, class, &keyed);
            }
            schema
        })
        .boxed()
}

/// Adds a stream class with its event types.
fn add(schema: &mut Schema, class: Class, keyed: &dyn Fn(Scope, &FieldClass) -> FieldClass) {
    let (format, native) = (schema.format, schema.native_byte_order);
    let id = schema.stream_classes.len() as u64 * 3;
    let stream = StreamClassId(schema.stream_classes.len() as u32);
    let mut scopes = vec![Scope::PacketHeader];
    let with_key = |scopes: &mut Vec<Scope>, scope, root: FieldClass| {
        if !class.keyed {
            return Some(Arc::new(root));
        }
        scopes.push(scope);
        Some(Arc::new(keyed(scope, &root)))
    };
    let part = |scopes: &mut Vec<Scope>, scope, shapes: &Members| {
        let shapes = shapes.as_deref()?;
        let own = class.keyed.then_some(scope);
        let there: Vec<Scope> = scopes.iter().copied().chain(own).collect();
        let root = structure(shapes, 1, At { format, scope, keyed: &there, names: &[] });
        with_key(scopes, scope, root)
    };
    let packet_context =
        with_key(&mut scopes, Scope::PacketContext, class.layout.packet_context(native));
    let header = class.layout.event_header(native);
    let event_header = header.and_then(|h| with_key(&mut scopes, Scope::EventHeader, h));
    let common_context = part(&mut scopes, Scope::CommonContext, &class.common);
    schema.stream_classes.push(StreamClass {
        default_clock: class.layout.has_header().then_some(class.clock),
        packet_context,
        event_header,
        common_context,
        ..StreamClass::new(id)
    });
    let mut id = class.first_id;
    for (specific, payload, gap) in &class.events {
        let mut scopes = scopes.clone();
        schema.event_types.push(EventType {
            specific_context: part(&mut scopes, Scope::SpecificContext, specific),
            payload: part(&mut scopes, Scope::Payload, payload),
            ..EventType::new(stream, id, &format!("provider:event {id}"))
        });
        id += gap + 1;
    }
}
