//! The schema of a trace: what its metadata says, in one model for all formats.
//!
//! Both metadata languages (TSDL of CTF 1.8 and the JSON fragments of CTF 2)
//! are translated to a [`Schema`]. It holds clock classes, stream classes and
//! event types, each with trees of [`FieldClass`]es. A schema is plain data:
//! the decoder compiles it to flat layouts, the trace writer prints it back.

mod clock;
mod field_class;
mod location;
mod scope;

pub use clock::{ClockClass, ClockOrigin};
pub use field_class::{
    Array, BitOrder, Blob, ByteOrder, DisplayBase, Encoding, FieldClass, FieldKind, FixedLen, Flag,
    Integer, Length, Mapping, Member, OptionField, RangeSet, Role, Roles, Selector, Str, Struct,
    Variant, VariantOption,
};
pub use location::{Dependency, LocationOrigin, PathStep, SlotId};
pub use scope::Scope;

use std::sync::Arc;

use crate::uuid::Uuid;

/// Index of an event type in [`Schema::event_types`]: dense, per trace.
///
/// Tables that hold something for each event type can be plain arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventTypeId(pub u32);

impl EventTypeId {
    /// The id as an index into a table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index of a stream class in [`Schema::stream_classes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamClassId(pub u32);

impl StreamClassId {
    /// The id as an index into a table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which trace format a schema was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Common Trace Format 1.8 (metadata in TSDL).
    Ctf1,
    /// Common Trace Format 2 (metadata as a JSON text sequence).
    Ctf2,
    /// What LTTng 0.x recorded and LTTV read before there was CTF; see
    /// [`legacy`](crate::legacy).
    Legacy,
}

/// A value of the trace environment (`env` block, `environment` property).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvValue {
    /// An integer. Wide enough for every `i64` and `u64`.
    Int(i128),
    /// A string.
    Str(String),
}

impl std::fmt::Display for EnvValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EnvValue::Int(i) => i.fmt(f),
            EnvValue::Str(s) => s.fmt(f),
        }
    }
}

/// Name, namespace and unique id: what identifies a class beyond one trace
/// (CTF 2, "identity"). CTF 1.8 only has names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// Namespace in which name and uid are meaningful.
    pub namespace: Option<Arc<str>>,
    /// Name, for people.
    pub name: Option<Arc<str>>,
    /// Unique id within the namespace.
    pub uid: Option<Arc<str>>,
}

/// User attributes of CTF 2 classes, kept as the JSON text of the object.
///
/// The reader itself only looks at the attributes that Babeltrace and LTTng
/// define for log level and model URI; applications can parse the rest.
pub type Attributes = Option<Arc<str>>;

/// Everything that the metadata of one trace declares.
///
/// [`Trace::schema`](crate::Trace::schema) has the one of a trace,
/// [`metadata::parse`](crate::metadata::parse) makes one of a text alone. Schemas
/// made by hand are for the trace writer (feature `writer`): there, too, all
/// fields are public.
#[derive(Debug, Clone)]
pub struct Schema {
    /// The format that it came from.
    pub format: Format,
    /// Version of the format, as declared (`(1, 8)`, `(2, 0)`). Of the legacy
    /// formats, that of 2003 has none and gets `(0, 0)`.
    pub version: (u32, u32),
    /// Trace identity (CTF 2; CTF 1.8 has only the UUID).
    pub identity: Identity,
    /// Trace UUID. In CTF 2 this is the metadata stream UUID of the preamble.
    pub uuid: Option<Uuid>,
    /// Byte order of fields that do not say otherwise.
    pub native_byte_order: ByteOrder,
    /// Environment entries in the order of their declaration.
    pub env: Vec<(Arc<str>, EnvValue)>,
    /// Clock classes.
    pub clocks: Vec<ClockClass>,
    /// Packet header, common to all streams of the trace.
    pub packet_header: Option<Arc<FieldClass>>,
    /// Data stream classes.
    pub stream_classes: Vec<StreamClass>,
    /// Event types of all streams; [`EventTypeId`] is the index here.
    pub event_types: Vec<EventType>,
    /// User attributes of the trace class.
    pub attributes: Attributes,
    /// How many value slots the dependencies of the packet header use:
    /// slots `0..trace_slots`. Set by [`crate::metadata`] when it resolves
    /// locations.
    pub trace_slots: u16,
}

impl Schema {
    /// An empty schema of a format, to be filled by hand (see the writer) or
    /// by a metadata parser.
    pub fn new(format: Format) -> Self {
        Schema {
            format,
            version: match format {
                Format::Ctf1 => (1, 8),
                Format::Ctf2 => (2, 0),
                Format::Legacy => (2, 6),
            },
            identity: Identity::default(),
            uuid: None,
            native_byte_order: ByteOrder::Little,
            env: Vec::new(),
            clocks: Vec::new(),
            packet_header: None,
            stream_classes: Vec::new(),
            event_types: Vec::new(),
            attributes: None,
            trace_slots: 0,
        }
    }

    /// The environment entry of this name.
    pub fn env(&self, name: &str) -> Option<&EnvValue> {
        self.env.iter().find(|(k, _)| &**k == name).map(|(_, v)| v)
    }

    /// The environment entry of this name, if it is a string.
    pub fn env_str(&self, name: &str) -> Option<&str> {
        match self.env(name) {
            Some(EnvValue::Str(s)) => Some(s),
            _ => None,
        }
    }

    /// The environment entry of this name, if it is an integer.
    pub fn env_int(&self, name: &str) -> Option<i64> {
        match self.env(name) {
            Some(EnvValue::Int(i)) => i64::try_from(*i).ok(),
            _ => None,
        }
    }

    /// Adds an event type with the next free id of its stream class.
    pub fn add_event_type(
        &mut self,
        stream: StreamClassId,
        name: &str,
        payload: FieldClass,
    ) -> EventTypeId {
        let ids = self.event_types.iter().filter(|e| e.stream == stream).map(|e| e.id);
        let id = ids.max().map_or(0, |last| last + 1);
        let index = EventTypeId(self.event_types.len() as u32);
        let payload = Some(Arc::new(payload));
        self.event_types.push(EventType { payload, ..EventType::new(stream, id, name) });
        index
    }

    /// The stream class of an event type.
    ///
    /// # Panics
    ///
    /// If the id is not of this schema.
    pub fn stream_of(&self, id: EventTypeId) -> &StreamClass {
        &self.stream_classes[self.event_types[id.index()].stream.index()]
    }
}

/// A data stream class: what the tracefiles of one channel have in common.
#[derive(Debug, Clone)]
pub struct StreamClass {
    /// Numeric id that packet headers refer to.
    pub id: u64,
    /// Name, namespace, uid (CTF 2).
    pub identity: Identity,
    /// Index of the default clock class in [`Schema::clocks`].
    pub default_clock: Option<u32>,
    /// Packet context structure.
    pub packet_context: Option<Arc<FieldClass>>,
    /// Event record header structure.
    pub event_header: Option<Arc<FieldClass>>,
    /// Event record common context structure.
    pub common_context: Option<Arc<FieldClass>>,
    /// User attributes.
    pub attributes: Attributes,
    /// Value slots used by packet context, event header and common context:
    /// `trace_slots..stream_slots`. Set when locations are resolved.
    pub stream_slots: u16,
}

impl StreamClass {
    /// A stream class with this id and nothing else.
    pub fn new(id: u64) -> Self {
        StreamClass {
            id,
            identity: Identity::default(),
            default_clock: None,
            packet_context: None,
            event_header: None,
            common_context: None,
            attributes: None,
            stream_slots: 0,
        }
    }
}

/// An event type (CTF: event record class).
#[derive(Debug, Clone)]
pub struct EventType {
    /// Numeric id that event headers refer to, unique in its stream class.
    pub id: u64,
    /// The stream class that it belongs to.
    pub stream: StreamClassId,
    /// Name, namespace, uid.
    pub identity: Identity,
    /// LTTng log level number (0 = emergency … 14 = debug).
    pub log_level: Option<i64>,
    /// Eclipse Modeling Framework URI.
    pub emf_uri: Option<Arc<str>>,
    /// Event record specific context structure.
    pub specific_context: Option<Arc<FieldClass>>,
    /// Payload structure.
    pub payload: Option<Arc<FieldClass>>,
    /// User attributes.
    pub attributes: Attributes,
    /// The format string of a marker (LTTng 0.x): what its payload was made
    /// from, and how to print it (see
    /// [`MarkerFormat`](crate::legacy::MarkerFormat)).
    pub format: Option<Arc<str>>,
    /// Value slots used by specific context and payload:
    /// `stream_slots..event_slots`. Set when locations are resolved.
    pub event_slots: u16,
}

impl EventType {
    /// An event type with an id and a name, without fields.
    pub fn new(stream: StreamClassId, id: u64, name: &str) -> Self {
        EventType {
            id,
            stream,
            identity: Identity { name: Some(name.into()), ..Identity::default() },
            log_level: None,
            emf_uri: None,
            specific_context: None,
            payload: None,
            attributes: None,
            format: None,
            event_slots: 0,
        }
    }

    /// The name, or an empty string for an event type without one.
    pub fn name(&self) -> &str {
        self.identity.name.as_deref().unwrap_or("")
    }
}
