//! Fragments: the preamble and the classes of a trace.

use hashbrown::{HashMap, HashSet};

use super::attributes::{emf_uri, log_level};
use super::class::{Built, Classes};
use super::common::{attributes, identity, refuse_extensions};
use super::json::{IntKind, Node, Result};
use crate::base::uuid::Uuid;
use crate::metadata::{Diagnostic, Span};
use crate::schema::{
    ClockClass, ClockOrigin, EnvValue, EventType, Format, Role, Roles, Schema, StreamClass,
    StreamClassId,
};

/// The kinds of fragments, by the value of their `type` property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Preamble,
    FieldClassAlias,
    TraceClass,
    ClockClass,
    DataStreamClass,
    EventRecordClass,
}

const KINDS: &[(&str, Kind)] = &[
    ("preamble", Kind::Preamble),
    ("field-class-alias", Kind::FieldClassAlias),
    ("trace-class", Kind::TraceClass),
    ("clock-class", Kind::ClockClass),
    ("data-stream-class", Kind::DataStreamClass),
    ("event-record-class", Kind::EventRecordClass),
];

/// A reader of fragments, which builds the schema one by one.
pub(super) struct Reader {
    schema: Schema,
    classes: Classes,
    /// The kind of the last fragment.
    kind: Option<Kind>,
    has_trace_class: bool,
    clocks: HashMap<String, u32>,
    streams: HashMap<u64, Stream>,
    events: HashSet<(u64, u64)>,
    packet_header_roles: Roles,
}

/// The properties of a data stream class that later fragments use.
struct Stream {
    index: StreamClassId,
    span: Span,
    header_roles: Roles,
    event_types: usize,
}

impl Default for Reader {
    fn default() -> Self {
        Reader {
            schema: Schema::new(Format::Ctf2),
            classes: Classes::default(),
            kind: None,
            has_trace_class: false,
            clocks: HashMap::new(),
            streams: HashMap::new(),
            events: HashSet::new(),
            packet_header_roles: Roles::NONE,
        }
    }
}

impl Reader {
    /// Returns `true` if the last fragment was an event record class, on which no other
    /// fragment depends.
    pub(super) fn is_event_record_class(&self) -> bool {
        self.kind == Some(Kind::EventRecordClass)
    }

    /// Reads a fragment.
    pub(super) fn fragment(&mut self, node: Node<'_>) -> Result<()> {
        let is_first = self.kind.is_none();
        // Until the kind is known, treat the fragment as one on which others depend.
        self.kind = Some(Kind::Preamble);
        if !node.is_object() {
            return Err(node.unexpected("a fragment: an object"));
        }
        let type_name =
            node.peek("type").ok_or_else(|| node.error("a fragment needs a property `type`"))?;
        let kind = type_name.word(KINDS)?;
        match kind {
            Kind::Preamble if !is_first => {
                return Err(node.error("duplicate preamble: only the first fragment is a preamble"));
            }
            Kind::Preamble => {}
            _ if is_first => {
                return Err(node.error("the first fragment must be the preamble"));
            }
            _ => {}
        }
        self.kind = Some(kind);
        let read = match kind {
            Kind::Preamble => self.preamble(node),
            Kind::FieldClassAlias => self.classes.define_alias(node),
            Kind::TraceClass => self.trace_class(node),
            Kind::ClockClass => self.clock_class(node),
            Kind::DataStreamClass => self.data_stream_class(node),
            Kind::EventRecordClass => self.event_record_class(node),
        };
        read.map_err(|d| {
            let name = node.peek("name").and_then(Node::as_str);
            let kind = type_name.as_str().unwrap_or_default();
            let what = match name {
                Some(name) => format!("in `{kind}` fragment `{name}`"),
                None => format!("in `{kind}` fragment"),
            };
            d.within(node.span(), what)
        })
    }

    fn preamble(&mut self, node: Node<'_>) -> Result<()> {
        let known = &["type", "version", "uuid", "attributes", "extensions"];
        let object = node.object("the preamble", known)?;
        object.read_required("version", |n| match n.uint()? {
            2 => Ok(()),
            _ => Err(n.unexpected("version 2")),
        })?;
        refuse_extensions(&object)?;
        object.read("attributes", attributes)?;
        self.schema.uuid = object.read("uuid", uuid)?;
        Ok(())
    }

    fn trace_class(&mut self, node: Node<'_>) -> Result<()> {
        let known = &[
            "type",
            "namespace",
            "name",
            "uid",
            "environment",
            "packet-header-field-class",
            "uuid", // of drafts
            "attributes",
            "extensions",
        ];
        let object = node.object("a trace class", known)?;
        refuse_extensions(&object)?;
        if std::mem::replace(&mut self.has_trace_class, true) {
            return Err(node.error("duplicate trace class"));
        }
        self.schema.identity = identity(&object)?;
        self.schema.uuid = self.schema.uuid.or(object.read("uuid", uuid)?);
        self.schema.attributes = object.read("attributes", attributes)?;
        if let Some(env) = object.read("environment", environment)? {
            self.schema.env = env;
        }
        if let Some(built) = self.classes.root(&object, "packet-header-field-class")? {
            self.packet_header_roles = built.roles;
            self.schema.packet_header = Some(built.class);
        }
        Ok(())
    }

    fn clock_class(&mut self, node: Node<'_>) -> Result<()> {
        let known = &[
            "type",
            "id",
            "namespace",
            "name",
            "uid",
            "frequency",
            "origin",
            "offset-from-origin",
            "precision",
            "accuracy",
            "description",
            "uuid", // of drafts
            "attributes",
            "extensions",
        ];
        let object = node.object("a clock class", known)?;
        refuse_extensions(&object)?;
        // Drafts refer to clock classes by name.
        let is_draft = object.get("id").is_none() && object.get("name").is_some();
        let id = object.read_required(if is_draft { "name" } else { "id" }, Node::str)?;
        let index = self.schema.clocks.len() as u32;
        if self.clocks.insert(id.into(), index).is_some() {
            let message = format!("duplicate clock class id `{id}`");
            return Err(object.get("id").unwrap_or(node).error(message));
        }
        let mut clock = ClockClass::new(id);
        clock.identity = identity(&object)?;
        clock.uuid = clock.identity.uid.as_deref().and_then(|uid| uid.parse().ok());
        clock.uuid = clock.uuid.or(object.read("uuid", uuid)?);
        clock.frequency = object.read_required("frequency", |n| match n.uint()? {
            0 => Err(n.unexpected("a frequency above 0")),
            hertz => Ok(hertz),
        })?;
        clock.description = object.read("description", Node::str)?.map(Into::into);
        clock.precision = object.read("precision", Node::uint)?;
        clock.accuracy = object.read("accuracy", Node::uint)?;
        clock.origin = object.read("origin", clock_origin)?.unwrap_or(ClockOrigin::Unknown);
        let frequency = clock.frequency;
        if let Some(offset) = object.read("offset-from-origin", |n| clock_offset(n, frequency))? {
            (clock.offset_seconds, clock.offset_cycles) = offset;
        }
        clock.attributes = object.read("attributes", attributes)?;
        self.schema.clocks.push(clock);
        Ok(())
    }

    fn data_stream_class(&mut self, node: Node<'_>) -> Result<()> {
        let known = &[
            "type",
            "id",
            "namespace",
            "name",
            "uid",
            "default-clock-class-id",
            "packet-context-field-class",
            "event-record-header-field-class",
            "event-record-common-context-field-class",
            "attributes",
            "extensions",
        ];
        let object = node.object("a data stream class", known)?;
        refuse_extensions(&object)?;
        let mut class = StreamClass::new(object.read("id", Node::uint)?.unwrap_or(0));
        if self.streams.contains_key(&class.id) {
            let message = format!("duplicate data stream class id {}", class.id);
            return Err(object.get("id").unwrap_or(node).error(message));
        }
        class.identity = identity(&object)?;
        class.attributes = object.read("attributes", attributes)?;
        class.default_clock = object
            .read("default-clock-class-id", |n| {
                let id = n.str()?;
                let clock = self.clocks.get(id).copied();
                clock.map(Some).ok_or_else(|| {
                    let ids: Vec<&str> =
                        self.schema.clocks.iter().map(|c| &*c.name).take(8).collect();
                    let error = n.error(format!("no earlier clock class has the id `{id}`"));
                    match ids.is_empty() {
                        true => error,
                        false => error.with_help(format!("known ids: {}", ids.join(", "))),
                    }
                })
            })?
            .flatten();
        let classes = &mut self.classes;
        let header = classes.root(&object, "event-record-header-field-class")?;
        let header_roles = header.as_ref().map_or(Roles::NONE, |b| b.roles);
        let class_of = |built: Option<Built>| built.map(|b| b.class);
        class.event_header = class_of(header);
        class.packet_context = class_of(classes.root(&object, "packet-context-field-class")?);
        class.common_context =
            class_of(classes.root(&object, "event-record-common-context-field-class")?);
        let index = StreamClassId(self.schema.stream_classes.len() as u32);
        let stream = Stream { index, span: node.span(), header_roles, event_types: 0 };
        self.streams.insert(class.id, stream);
        self.schema.stream_classes.push(class);
        Ok(())
    }

    fn event_record_class(&mut self, node: Node<'_>) -> Result<()> {
        let known = &[
            "type",
            "id",
            "data-stream-class-id",
            "namespace",
            "name",
            "uid",
            "specific-context-field-class",
            "payload-field-class",
            "attributes",
            "extensions",
        ];
        let object = node.object("an event record class", known)?;
        refuse_extensions(&object)?;
        let id = object.read("id", Node::uint)?.unwrap_or(0);
        let stream_id = object.read("data-stream-class-id", Node::uint)?.unwrap_or(0);
        let Some(stream) = self.streams.get_mut(&stream_id) else {
            let place = object.get("data-stream-class-id").unwrap_or(node);
            let message = format!("no earlier data stream class has the id {stream_id}");
            return Err(place.error(message));
        };
        if !self.events.insert((stream_id, id)) {
            let message =
                format!("duplicate event record class id {id} in data stream class {stream_id}");
            return Err(object.get("id").unwrap_or(node).error(message));
        }
        stream.event_types += 1;
        let mut event =
            EventType { identity: identity(&object)?, ..EventType::new(stream.index, id, "") };
        if let Some(node) = object.get("attributes") {
            event.attributes = object.read("attributes", attributes)?;
            event.log_level = log_level(node, &mut self.classes.warnings);
            event.emf_uri = emf_uri(node);
        }
        let class_of = |built: Option<Built>| built.map(|b| b.class);
        let context = self.classes.root(&object, "specific-context-field-class")?;
        event.specific_context = class_of(context);
        event.payload = class_of(self.classes.root(&object, "payload-field-class")?);
        self.schema.event_types.push(event);
        Ok(())
    }

    /// Returns the schema after all fragments have been read.
    pub(super) fn finish(
        mut self,
        end: Span,
        warnings: &mut Vec<Diagnostic>,
    ) -> std::result::Result<Schema, Vec<Diagnostic>> {
        let mut errors = Vec::new();
        if self.kind.is_none() {
            errors.push(Diagnostic::error(end, "missing preamble fragment"));
        }
        if self.streams.is_empty() {
            errors.push(Diagnostic::error(end, "missing `data-stream-class` fragment"));
        }
        if self.streams.len() > 1 && !self.packet_header_roles.has(Role::StreamClassId) {
            let message = "there are several data stream classes, but no packet header field \
                           with the role `data-stream-class-id`";
            errors.push(Diagnostic::error(end, message));
        }
        for stream in self.streams.values() {
            if stream.event_types > 1 && !stream.header_roles.has(Role::EventTypeId) {
                let message = "this data stream class has several event record classes, but no \
                               event record header field with the role `event-record-class-id`";
                errors.push(Diagnostic::error(stream.span, message));
            }
        }
        if !errors.is_empty() {
            errors.sort_by_key(|e: &Diagnostic| e.span.start);
            errors.truncate(super::MAX_ERRORS);
            return Err(errors);
        }
        if let Some(order) = self.classes.byte_order {
            self.schema.native_byte_order = order;
        }
        warnings.append(&mut self.classes.warnings);
        Ok(self.schema)
    }
}

fn uuid(node: Node<'_>) -> Result<Uuid> {
    let array = node.array()?;
    if array.len() != 16 {
        return Err(node.unexpected("an array of 16 bytes"));
    }
    let mut uuid = [0; 16];
    for (byte, n) in uuid.iter_mut().zip(array.iter()) {
        *byte = u8::try_from(n.uint()?).map_err(|_| n.unexpected("a byte, 0 to 255"))?;
    }
    Ok(Uuid(uuid))
}

fn environment(node: Node<'_>) -> Result<Vec<(std::sync::Arc<str>, EnvValue)>> {
    let entry = |entry: super::json::Entry<'_>| {
        let value = match entry.value.as_str() {
            Some(text) => EnvValue::Str(text.into()),
            None => entry
                .value
                .int(IntKind::Either)
                .map(EnvValue::Int)
                .map_err(|_| entry.value.unexpected("a string or a 64-bit integer"))?,
        };
        Ok((entry.name.into(), value))
    };
    node.entries()?.map(entry).collect()
}

fn clock_origin(node: Node<'_>) -> Result<ClockOrigin> {
    if node.as_str().is_some() {
        return node.word(&[("unix-epoch", ())]).map(|()| ClockOrigin::UnixEpoch);
    }
    let object = node.object("a clock origin", &["namespace", "name", "uid"])?;
    object.required("name")?;
    object.required("uid")?;
    identity(&object).map(ClockOrigin::Custom)
}

/// Reads the offset of a clock from its origin, in seconds and cycles.
fn clock_offset(node: Node<'_>, frequency: u64) -> Result<(i64, i64)> {
    let object = node.object("a clock offset", &["seconds", "cycles"])?;
    let seconds = object.read("seconds", |n| n.int(IntKind::Signed))?.unwrap_or(0);
    let cycles = object.read("cycles", |n| match n.uint()? {
        cycles if cycles < frequency => {
            i64::try_from(cycles).map_err(|_| n.unexpected("fewer than 2^63 cycles"))
        }
        _ => Err(n.unexpected(&format!("less than the frequency, {frequency}"))),
    })?;
    // `int` has checked the range.
    Ok((seconds as i64, cycles.unwrap_or(0)))
}
