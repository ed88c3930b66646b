//! The schema of a trace: the content of its metadata, in one model for all formats.
//!
//! Both metadata languages (TSDL of CTF 1.8 and the JSON fragments of CTF 2) are
//! translated to a [`Schema`]. It contains clock classes, stream classes and event types,
//! each with trees of [`FieldClass`]es. A schema is plain data: the decoder compiles it
//! to flat layouts, the trace writer prints it as metadata.
//!
//! Most types of this module are exhaustive, since schemas are written as literals and their readers
//! have to know each part. [`FieldKind`], [`Role`] and [`Format`] may grow.

mod clock;
mod field_class;
mod location;
mod log_level;
mod scope;
pub(crate) mod span;

pub use clock::{ClockClass, ClockOrigin};
pub use field_class::{
    Array, BitOrder, Blob, ByteOrder, DisplayBase, Encoding, FieldClass, FieldKind, FixedLen, Flag,
    Integer, Length, Mapping, Member, OptionField, RangeSet, Role, Roles, Selector, Str, Struct,
    Variant, VariantOption,
};
pub use location::{Dependency, LocationOrigin, PathStep, SlotId, Slots};
pub use log_level::LogLevel;
pub use scope::Scope;

use std::sync::Arc;

use crate::base::uuid::Uuid;

/// An index of an event type in [`Schema::event_types`]. Dense per trace, so a table with
/// an entry for each event type can be a plain array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventTypeId(pub u32);

impl EventTypeId {
    /// Returns the id as an index into a table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An index of a stream class in [`Schema::stream_classes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamClassId(pub u32);

impl StreamClassId {
    /// Returns the id as an index into a table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The trace format from which a schema was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Common Trace Format 1.8 (metadata in TSDL).
    Ctf1,
    /// Common Trace Format 2 (metadata as a JSON text sequence).
    Ctf2,
    /// The formats of LTTng 0.x and LTT, from before CTF; see [`legacy`](crate::legacy).
    Legacy,
    /// The files of ftrace that `trace-cmd record` writes (`trace.dat`); see
    /// [`ftrace`](crate::ftrace).
    Ftrace,
    /// The files of perf that `perf record` writes (`perf.data`); see [`perf`](crate::perf).
    Perf,
}

impl Format {
    /// Returns `true` for the versions of the Common Trace Format.
    pub fn is_ctf(self) -> bool {
        matches!(self, Format::Ctf1 | Format::Ctf2)
    }
}

/// A value of the trace environment (`env` block of TSDL, `environment` property of CTF
/// 2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvValue {
    /// An integer; `i128` holds every `i64` and `u64`.
    Int(i128),
    /// A string of any length.
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

/// The identity of a class beyond one trace: name, namespace and unique id (CTF 2). CTF
/// 1.8 has only names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The namespace in which name and uid are meaningful.
    pub namespace: Option<Arc<str>>,
    /// The name, for people.
    pub name: Option<Arc<str>>,
    /// The unique id within the namespace.
    pub uid: Option<Arc<str>>,
}

/// The user attributes of CTF 2 classes, as the JSON text of the object. `None` if there
/// are none.
///
/// The reader interprets only the attributes for log level and model URI that Babeltrace
/// and LTTng define; applications can parse the others.
pub type Attributes = Option<Arc<str>>;

/// The declarations of the metadata of a trace.
///
/// [`Trace::schema`](crate::Trace::schema) returns the schema of a trace,
/// [`metadata::parse`](crate::metadata::parse) creates one from a text alone. The trace
/// writer (feature `writer`) also accepts schemas that the program builds itself; all
/// fields are public for that purpose.
#[derive(Debug, Clone)]
pub struct Schema {
    /// The format from which the schema was read.
    pub format: Format,
    /// The declared version of the format: `(1, 8)`, `(2, 0)`. The legacy format of 2003
    /// declares none and has `(0, 0)`.
    pub version: (u32, u32),
    /// The identity of the trace (CTF 2). CTF 1.8 has only the UUID.
    pub identity: Identity,
    /// The UUID of the trace. In CTF 2, the metadata stream UUID of the preamble.
    pub uuid: Option<Uuid>,
    /// The byte order of fields that declare none.
    pub native_byte_order: ByteOrder,
    /// The environment entries, in the order of declaration.
    pub env: Vec<(Arc<str>, EnvValue)>,
    /// The clock classes.
    pub clocks: Vec<ClockClass>,
    /// The packet header, common to all streams of the trace.
    pub packet_header: Option<Arc<FieldClass>>,
    /// The data stream classes.
    pub stream_classes: Vec<StreamClass>,
    /// The event types of all streams, indexed by [`EventTypeId`].
    pub event_types: Vec<EventType>,
    /// The user attributes of the trace class.
    pub attributes: Attributes,
    /// The slots for the dependencies of the packet header, set when locations are resolved.
    pub slots: Slots,
}

impl Schema {
    /// Creates an empty schema of a format.
    pub fn new(format: Format) -> Self {
        Schema {
            format,
            version: match format {
                Format::Ctf1 => (1, 8),
                Format::Ctf2 => (2, 0),
                Format::Legacy => (2, 6),
                Format::Ftrace => (7, 0),
                Format::Perf => (2, 0),
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
            slots: Slots::default(),
        }
    }

    /// Returns the environment entry of this name.
    pub fn env(&self, name: &str) -> Option<&EnvValue> {
        self.env.iter().find(|(k, _)| &**k == name).map(|(_, v)| v)
    }

    /// Returns the environment entry of this name if it is a string.
    pub fn env_str(&self, name: &str) -> Option<&str> {
        match self.env(name) {
            Some(EnvValue::Str(s)) => Some(s),
            _ => None,
        }
    }

    /// Returns the environment entry of this name if it is an integer in the range of
    /// `i64`.
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

    /// Returns the stream class of an event type.
    ///
    /// # Panics
    ///
    /// Panics if the id is not an index of this schema's event types.
    pub fn stream_of(&self, id: EventTypeId) -> &StreamClass {
        &self.stream_classes[self.event_types[id.index()].stream.index()]
    }

    /// Returns the class of the structure of a scope in the events of a type; `None` if they have no
    /// such scope.
    ///
    /// # Panics
    ///
    /// Panics if the id is not an index of this schema's event types.
    ///
    /// ```
    /// use ltt_read::schema::Scope;
    ///
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// let switch = trace.event_types_named("sched_switch").next().expect("a kernel trace");
    /// let payload = trace.schema().root(switch, Scope::Payload).expect("a payload");
    /// assert!(payload.members().iter().any(|member| &*member.name == "prev_tid"));
    /// assert!(trace.schema().root(switch, Scope::SpecificContext).is_none());
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn root(&self, id: EventTypeId, scope: Scope) -> Option<&FieldClass> {
        let (event_type, stream) = (&self.event_types[id.index()], self.stream_of(id));
        match scope {
            Scope::PacketHeader => self.packet_header.as_deref(),
            Scope::PacketContext => stream.packet_context.as_deref(),
            Scope::EventHeader => stream.event_header.as_deref(),
            Scope::CommonContext => stream.common_context.as_deref(),
            Scope::SpecificContext => event_type.specific_context.as_deref(),
            Scope::Payload => event_type.payload.as_deref(),
        }
    }
}

/// A data stream class: the common properties of the tracefiles of a channel.
#[derive(Debug, Clone)]
pub struct StreamClass {
    /// The numeric id to which packet headers refer.
    pub id: u64,
    /// The name, namespace and uid (CTF 2).
    pub identity: Identity,
    /// The index of the default clock class in [`Schema::clocks`].
    pub default_clock: Option<u32>,
    /// The structure of the packet context.
    pub packet_context: Option<Arc<FieldClass>>,
    /// The structure of the event record header.
    pub event_header: Option<Arc<FieldClass>>,
    /// The structure of the event record common context.
    pub common_context: Option<Arc<FieldClass>>,
    /// The user attributes.
    pub attributes: Attributes,
    /// The slots for the dependencies of packet context, event header and common context, set
    /// when locations are resolved.
    pub slots: Slots,
}

impl StreamClass {
    /// Creates a stream class with an id and no fields.
    pub fn new(id: u64) -> Self {
        StreamClass {
            id,
            identity: Identity::default(),
            default_clock: None,
            packet_context: None,
            event_header: None,
            common_context: None,
            attributes: None,
            slots: Slots::default(),
        }
    }
}

/// An event type (CTF: event record class).
#[derive(Debug, Clone)]
pub struct EventType {
    /// The numeric id to which event headers refer, unique in the stream class.
    pub id: u64,
    /// The stream class of the event type.
    pub stream: StreamClassId,
    /// The name, namespace and uid.
    pub identity: Identity,
    /// The number of the LTTng log level: see [`LogLevel::of`].
    pub log_level: Option<i64>,
    /// The Eclipse Modeling Framework URI.
    pub emf_uri: Option<Arc<str>>,
    /// The structure of the event record specific context.
    pub specific_context: Option<Arc<FieldClass>>,
    /// The structure of the payload.
    pub payload: Option<Arc<FieldClass>>,
    /// The user attributes.
    pub attributes: Attributes,
    /// The format string of a marker (LTTng 0.x), from which the payload's class was
    /// built and by which the payload is printed; see
    /// [`MarkerFormat`](crate::legacy::MarkerFormat).
    pub format: Option<Arc<str>>,
    /// The slots for the dependencies of specific context and payload, set when locations are
    /// resolved.
    pub slots: Slots,
}

impl EventType {
    /// Creates an event type with an id and a name, without fields.
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
            slots: Slots::default(),
        }
    }

    /// Returns the name, or an empty string for an event type without a name.
    pub fn name(&self) -> &str {
        self.identity.name.as_deref().unwrap_or("")
    }
}
