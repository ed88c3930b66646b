//! Owned copies of events and values.

use std::fmt;
use std::sync::Arc;

use super::Event;
use super::value::{StructView, Value};
use super::value_text;
use crate::base::time::Timestamp;
use crate::schema::{EventTypeId, Scope};
use crate::trace::{TraceIndex, TracefileIndex};

/// A copy of an [`Event`] with all its fields, independent of its cursor and its trace.
///
/// [`Event::to_owned_event`] creates it. It can be kept, compared and sent to another
/// thread. Copying allocates memory for each string, blob, structure and array: where few
/// fields are needed, copying these alone is several times faster.
///
/// Two owned events are equal if all of their parts are. An event with a field that is not
/// a number (NaN) equals no event.
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// use ltt_read::{Merge, OwnedEvent};
///
/// let mut events = Merge::new(&[trace]);
/// let mut switches: Vec<OwnedEvent> = Vec::new();
/// while let Some(event) = events.next() {
///     if event.event_type().name() == "sched_switch" {
///         switches.push(event.to_owned_event());
///     }
/// }
/// let longest = switches.iter().filter_map(|e| e.field("next_comm")?.as_str());
/// println!("{:?}", longest.max_by_key(|name| name.len()));
/// # assert!(switches.len() > 100);
/// # Ok::<(), ltt_read::Error>(())
/// ```
///
/// With the feature `serde`, an owned event is serialized as a map with these entries:
///
/// | key | value |
/// |---|---|
/// | `time` | the timestamp in ns, or none |
/// | `name` | the name of the event type |
/// | `type` | the index of the event type |
/// | `trace` | the index of the trace |
/// | `tracefile` | the name of the tracefile |
/// | `cpu` | the number of the CPU, or none |
/// | `packet_header`, `packet_context`, `event_header`, `common_context`, `specific_context`, `payload` | the fields of the scope as a map, if the event has the scope |
#[derive(Debug, Clone, PartialEq)]
pub struct OwnedEvent {
    timestamp: Option<Timestamp>,
    type_id: EventTypeId,
    name: Option<Arc<str>>,
    trace_index: TraceIndex,
    tracefile_index: TracefileIndex,
    tracefile_name: String,
    cpu: Option<u32>,
    /// The root structures, in the order of [`Scope::ALL`].
    scopes: [Option<OwnedStruct>; Scope::ALL.len()],
}

impl Event<'_> {
    /// Copies the event with the fields of all its scopes.
    pub fn to_owned_event(&self) -> OwnedEvent {
        let tracefile = self.tracefile();
        OwnedEvent {
            timestamp: self.timestamp(),
            type_id: self.type_id(),
            name: self.event_type().identity.name.clone(),
            trace_index: self.trace_index(),
            tracefile_index: self.tracefile_index(),
            tracefile_name: tracefile.name().to_owned(),
            cpu: tracefile.cpu(),
            scopes: Scope::ALL.map(|scope| self.scope(scope).map(|root| (&root).into())),
        }
    }
}

impl OwnedEvent {
    /// Returns the timestamp; `None` if the stream of the event has no clock.
    pub fn timestamp(&self) -> Option<Timestamp> {
        self.timestamp
    }

    /// Returns the id of the event type in the schema of its trace.
    pub fn type_id(&self) -> EventTypeId {
        self.type_id
    }

    /// Returns the name of the event type, or an empty string for a type without a name.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("")
    }

    /// Returns the index of the trace among those that a [`Merge`](crate::Merge) reads; 0
    /// for an event from a cursor that belongs to no merge.
    pub fn trace_index(&self) -> TraceIndex {
        self.trace_index
    }

    /// Returns the index of the tracefile in [`Trace::tracefiles`](crate::Trace::tracefiles).
    pub fn tracefile_index(&self) -> TracefileIndex {
        self.tracefile_index
    }

    /// Returns the name of the tracefile, e.g. `channel0_3`.
    pub fn tracefile_name(&self) -> &str {
        &self.tracefile_name
    }

    /// Returns the CPU number of the tracefile; `None` if it has none.
    pub fn cpu(&self) -> Option<u32> {
        self.cpu
    }

    /// Returns the fields of a scope; `None` if the event has no such scope.
    pub fn scope(&self, scope: Scope) -> Option<&OwnedStruct> {
        self.scopes[scope as usize].as_ref()
    }

    /// Returns the value of the first field with a name among the members of the payload,
    /// the specific context, the common context and the packet context, in this order.
    pub fn field(&self, name: &str) -> Option<&OwnedValue> {
        let scopes =
            [Scope::Payload, Scope::SpecificContext, Scope::CommonContext, Scope::PacketContext];
        scopes.into_iter().find_map(|scope| self.scope(scope)?.get(name))
    }
}

/// An owned copy of a [`Value`], with all values nested in it.
///
/// `Display` writes the text of [`Value`]. With the feature `serde`, numbers and bit
/// fields are serialized as numbers, structures as maps and arrays as sequences.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum OwnedValue {
    /// An unsigned integer.
    Uint(u64),
    /// A signed integer.
    Sint(i64),
    /// A boolean.
    Bool(bool),
    /// A bit array or bit map, least significant bit first.
    Bits(u64),
    /// A floating-point number of any recorded size.
    Float(f64),
    /// A string in UTF-8, with U+FFFD in place of invalid bytes.
    Str(String),
    /// A blob: bytes without further structure.
    Blob(Vec<u8>),
    /// A structure.
    Struct(OwnedStruct),
    /// An array, without absent elements.
    Array(Vec<OwnedValue>),
}

impl OwnedValue {
    /// Returns the value as a `u64`, if it is an integer, a boolean or a bit field and
    /// not negative.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            OwnedValue::Uint(v) | OwnedValue::Bits(v) => Some(v),
            OwnedValue::Sint(v) => v.try_into().ok(),
            OwnedValue::Bool(v) => Some(v.into()),
            _ => None,
        }
    }

    /// Returns the value as an `i64`, if it is an integer, a boolean or a bit field and
    /// in range.
    pub fn as_i64(&self) -> Option<i64> {
        match *self {
            OwnedValue::Sint(v) => Some(v),
            _ => self.as_u64()?.try_into().ok(),
        }
    }

    /// Returns the value, if it is a floating-point number.
    pub fn as_f64(&self) -> Option<f64> {
        if let OwnedValue::Float(v) = *self { Some(v) } else { None }
    }

    /// Returns the value, if it is a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if let OwnedValue::Bool(v) = *self { Some(v) } else { None }
    }

    /// Returns the value, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        if let OwnedValue::Str(v) = self { Some(v) } else { None }
    }
}

impl From<&Value<'_>> for OwnedValue {
    fn from(value: &Value<'_>) -> Self {
        match value {
            Value::Uint(v) => OwnedValue::Uint(*v),
            Value::Sint(v) => OwnedValue::Sint(*v),
            Value::Bool(v) => OwnedValue::Bool(*v),
            Value::Bits(v) => OwnedValue::Bits(*v),
            Value::Float(v) => OwnedValue::Float(*v),
            Value::Str(v) => OwnedValue::Str(v.to_str_lossy().into_owned()),
            Value::Blob(v) => OwnedValue::Blob(v.to_vec()),
            Value::Struct(v) => OwnedValue::Struct(v.into()),
            Value::Array(v) => OwnedValue::Array(v.iter().map(|v| (&v).into()).collect()),
        }
    }
}

impl fmt::Display for OwnedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OwnedValue::Uint(v) => Value::Uint(*v).fmt(f),
            OwnedValue::Sint(v) => Value::Sint(*v).fmt(f),
            OwnedValue::Bool(v) => Value::Bool(*v).fmt(f),
            OwnedValue::Bits(v) => Value::Bits(*v).fmt(f),
            OwnedValue::Float(v) => Value::Float(*v).fmt(f),
            OwnedValue::Str(v) => value_text::text(f, v.as_bytes()),
            OwnedValue::Blob(v) => Value::Blob(v).fmt(f),
            OwnedValue::Struct(v) => v.fmt(f),
            OwnedValue::Array(v) => value_text::array(f, v.iter()),
        }
    }
}

/// An owned copy of a [`StructView`], with all values nested in it.
///
/// Members are in decoding order, without absent options. In formats before CTF, several
/// members may have one name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OwnedStruct(Vec<(Arc<str>, OwnedValue)>);

impl OwnedStruct {
    /// Iterates over the names and values of the members in decoding order.
    pub fn members(&self) -> impl ExactSizeIterator<Item = (&str, &OwnedValue)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// Returns the value of the first member with a name; `None` if there is none. Takes
    /// time proportional to the number of members.
    pub fn get(&self, name: &str) -> Option<&OwnedValue> {
        self.members().find(|(of, _)| *of == name).map(|(_, value)| value)
    }

    /// Returns the number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if the structure has no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&StructView<'_>> for OwnedStruct {
    fn from(view: &StructView<'_>) -> Self {
        let member = |(info, value): (&crate::FieldInfo, Value<'_>)| {
            (info.shared_name().cloned().unwrap_or_default(), (&value).into())
        };
        OwnedStruct(view.members().map(member).collect())
    }
}

impl fmt::Display for OwnedStruct {
    /// Writes the members in the form of [`Value`], e.g. `{ a: 1, b: "text" }`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        value_text::structure(f, self.members())
    }
}

#[cfg(feature = "serde")]
mod serialize {
    use serde::ser::{Serialize, SerializeMap, Serializer};

    use super::{OwnedEvent, OwnedStruct, OwnedValue, Scope};

    /// Returns the key of a scope in the map of an event.
    fn key(scope: Scope) -> &'static str {
        match scope {
            Scope::PacketHeader => "packet_header",
            Scope::PacketContext => "packet_context",
            Scope::EventHeader => "event_header",
            Scope::CommonContext => "common_context",
            Scope::SpecificContext => "specific_context",
            Scope::Payload => "payload",
        }
    }

    impl Serialize for OwnedEvent {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let roots = self.scopes.iter().flatten().count();
            let mut map = serializer.serialize_map(Some(6 + roots))?;
            map.serialize_entry("time", &self.timestamp)?;
            map.serialize_entry("name", self.name())?;
            map.serialize_entry("type", &self.type_id.0)?;
            map.serialize_entry("trace", &self.trace_index.0)?;
            map.serialize_entry("tracefile", &self.tracefile_name)?;
            map.serialize_entry("cpu", &self.cpu)?;
            for scope in Scope::ALL {
                if let Some(root) = self.scope(scope) {
                    map.serialize_entry(key(scope), root)?;
                }
            }
            map.end()
        }
    }

    impl Serialize for OwnedValue {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self {
                OwnedValue::Uint(v) | OwnedValue::Bits(v) => serializer.serialize_u64(*v),
                OwnedValue::Sint(v) => serializer.serialize_i64(*v),
                OwnedValue::Bool(v) => serializer.serialize_bool(*v),
                OwnedValue::Float(v) => serializer.serialize_f64(*v),
                OwnedValue::Str(v) => serializer.serialize_str(v),
                OwnedValue::Blob(v) => serializer.serialize_bytes(v),
                OwnedValue::Struct(v) => v.serialize(serializer),
                OwnedValue::Array(v) => serializer.collect_seq(v),
            }
        }
    }

    impl Serialize for OwnedStruct {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.members())
        }
    }
}
