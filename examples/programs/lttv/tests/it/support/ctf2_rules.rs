//! The rules of CTF2-SPEC-2.0 for metadata streams, written from the specification and without the
//! reader of this repository: which properties each object has, their types and ranges, and what
//! must come before what.

mod classes;
mod object;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use classes::{Root, Scopes};
use object::{Checked, Object};

/// The declarations of the fragments before.
#[derive(Default)]
pub(crate) struct Rules {
    aliases: BTreeMap<String, Value>,
    has_trace_class: bool,
    clocks: BTreeSet<String>,
    streams: BTreeMap<u64, Scopes>,
    events: BTreeSet<(u64, u64)>,
    packet_header: Option<Root>,
}

/// Checks a metadata stream.
///
/// # Errors
///
/// The first rule that it breaks, with the place.
pub(crate) fn check(metadata: &[u8]) -> Checked<()> {
    let metadata = unpacked(metadata)?;
    let text = std::str::from_utf8(&metadata).map_err(|error| error.to_string())?;
    let rest = text.strip_prefix('\u{1e}').ok_or("a fragment starts with a record separator")?;
    let mut rules = Rules::default();
    for (number, fragment) in rest.split('\u{1e}').enumerate() {
        let value: Value = serde_json::from_str(fragment).map_err(|error| error.to_string())?;
        let object = Object::new(&value)?;
        let kind = object.text("type")?;
        let is_preamble = kind == "preamble";
        if is_preamble != (number == 0) {
            return Err(format!("fragment {number}: the preamble is the first one and no other"));
        }
        rules
            .fragment(&object, kind)
            .map_err(|what| format!("fragment {number}, {kind}: {what}"))?;
    }
    match rules.streams.is_empty() {
        true => Err("there is no data stream class".to_owned()),
        false => Ok(()),
    }
}

/// Returns the text of a metadata stream, which may be divided into packets as CTF2-PMETA-1.0 defines
/// them. The header of a packet has the magic number, the sizes in bits at 24 and 28, the version at
/// 35, and its own size at 40.
fn unpacked(metadata: &[u8]) -> Checked<Vec<u8>> {
    const MAGIC: u32 = 0x75d1_1d57;
    let first: Option<[u8; 4]> = metadata.get(..4).and_then(|bytes| bytes.try_into().ok());
    let number: fn([u8; 4]) -> u32 = match first {
        Some(bytes) if u32::from_le_bytes(bytes) == MAGIC => u32::from_le_bytes,
        Some(bytes) if u32::from_be_bytes(bytes) == MAGIC => u32::from_be_bytes,
        _ => return Ok(metadata.to_owned()),
    };
    let word = |bytes: &[u8], at: usize| {
        let word = bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        word.map(number).ok_or("a packet of metadata is too short")
    };
    let (mut rest, mut text) = (metadata, Vec::new());
    while !rest.is_empty() {
        let size = |at| word(rest, at).map(|bits| bits as usize / 8);
        let (header, content, total) = (size(40)?, size(24)?, size(28)?);
        let is_sound = word(rest, 0)? == MAGIC && 44 <= header && header <= content;
        if !is_sound || content > total || total > rest.len() || rest[32..37] != [0, 0, 0, 2, 0] {
            return Err("a packet of metadata has a wrong header".to_owned());
        }
        text.extend(&rest[header..content]);
        rest = &rest[total..];
    }
    Ok(text)
}

impl Rules {
    fn fragment(&mut self, object: &Object<'_>, kind: &str) -> Checked<()> {
        object.common()?;
        match kind {
            "preamble" => preamble(object),
            "field-class-alias" => self.alias(object),
            "trace-class" => self.trace_class(object),
            "clock-class" => self.clock_class(object),
            "data-stream-class" => self.stream_class(object),
            "event-record-class" => self.event_class(object),
            _ => Err("unknown type".to_owned()),
        }
    }

    fn alias(&mut self, object: &Object<'_>) -> Checked<()> {
        object.only(&["type", "name", "field-class"])?;
        let (name, class) = (object.text("name")?, object.required("field-class")?);
        self.root(Some(class), None)?;
        match self.aliases.insert(name.to_owned(), class.clone()) {
            Some(_) => Err(format!("the alias {name} is there twice")),
            None => Ok(()),
        }
    }

    fn trace_class(&mut self, object: &Object<'_>) -> Checked<()> {
        let header = "packet-header-field-class";
        object.only(&["type", "namespace", "name", "uid", "environment", header])?;
        object.identity()?;
        if std::mem::replace(&mut self.has_trace_class, true) || !self.streams.is_empty() {
            return Err("there is one at most, before all data stream classes".to_owned());
        }
        if let Some(entries) = object.get("environment") {
            let entries = entries.as_object().ok_or("environment: no object")?;
            if !entries.values().all(|value| value.is_string() || value.is_i64() || value.is_u64())
            {
                return Err("environment: neither text nor integer".to_owned());
            }
        }
        self.packet_header = self.root(object.get(header), Some(&PACKET_HEADER))?;
        Ok(())
    }

    fn clock_class(&mut self, object: &Object<'_>) -> Checked<()> {
        object.only(&[
            "type",
            "id",
            "namespace",
            "name",
            "uid",
            "description",
            "frequency",
            "origin",
            "offset-from-origin",
            "precision",
            "accuracy",
        ])?;
        object.identity()?;
        object.optional_text("description")?;
        let frequency = object.unsigned("frequency")?.filter(|hz| *hz > 0);
        let frequency = frequency.ok_or("frequency: an integer above 0")?;
        object.unsigned("precision")?;
        object.unsigned("accuracy")?;
        match object.get("origin") {
            None => {}
            Some(Value::String(name)) if name == "unix-epoch" => {}
            Some(origin) => {
                let origin = Object::new(origin)?;
                origin.only(&["namespace", "name", "uid"])?;
                origin.identity()?;
                origin.text("name")?;
                origin.text("uid")?;
            }
        }
        if let Some(offset) = object.get("offset-from-origin") {
            let offset = Object::new(offset)?;
            offset.only(&["seconds", "cycles"])?;
            offset.signed("seconds")?;
            if offset.unsigned("cycles")?.is_some_and(|cycles| cycles >= frequency) {
                return Err("offset-from-origin: at least one second of cycles".to_owned());
            }
        }
        let id = object.text("id")?;
        match self.clocks.insert(id.to_owned()) {
            true => Ok(()),
            false => Err(format!("the id {id} is there twice")),
        }
    }

    fn stream_class(&mut self, object: &Object<'_>) -> Checked<()> {
        const SCOPES: [&str; 3] = [
            "packet-context-field-class",
            "event-record-header-field-class",
            "event-record-common-context-field-class",
        ];
        let own = ["type", "id", "namespace", "name", "uid", "default-clock-class-id"];
        object.only(&[&own[..], &SCOPES].concat())?;
        object.identity()?;
        let clock = object.optional_text("default-clock-class-id")?;
        if let Some(clock) = clock
            && !self.clocks.contains(clock)
        {
            return Err(format!("no clock class {clock} before"));
        }
        let mut scopes = Scopes::default();
        scopes.0[0] = self.packet_header.clone();
        for (number, (property, rule)) in SCOPES.iter().zip([&CONTEXT, &HEADER, &OTHER]).enumerate()
        {
            let root = self.root(object.get(property), Some(rule))?;
            if clock.is_none() && root.as_ref().is_some_and(Root::has_timestamp) {
                return Err(format!("{property}: timestamps without a clock"));
            }
            scopes.0[number + 1] = root;
        }
        scopes.check()?;
        let id = object.unsigned("id")?.unwrap_or(0);
        match self.streams.insert(id, scopes) {
            Some(_) => Err(format!("the id {id} is there twice")),
            None => Ok(()),
        }
    }

    fn event_class(&mut self, object: &Object<'_>) -> Checked<()> {
        let scopes = ["specific-context-field-class", "payload-field-class"];
        let own = ["type", "id", "data-stream-class-id", "namespace", "name", "uid"];
        object.only(&[&own[..], &scopes].concat())?;
        object.identity()?;
        let stream = object.unsigned("data-stream-class-id")?.unwrap_or(0);
        let Some(outer) = self.streams.get(&stream) else {
            return Err(format!("no data stream class {stream} before"));
        };
        let mut all = outer.clone();
        all.0[4] = self.root(object.get(scopes[0]), Some(&OTHER))?;
        all.0[5] = self.root(object.get(scopes[1]), Some(&OTHER))?;
        all.check()?;
        let id = object.unsigned("id")?.unwrap_or(0);
        match self.events.insert((stream, id)) {
            true => Ok(()),
            false => Err(format!("the id {id} is there twice")),
        }
    }

    /// Checks a field class; that of a scope is a structure and may have roles.
    fn root(&self, class: Option<&Value>, roles: Option<&ScopeRoles>) -> Checked<Option<Root>> {
        let Some(class) = class else { return Ok(None) };
        Root::new(class, &self.aliases, roles).map(Some)
    }
}

/// The roles that the fields of a scope may have.
pub(crate) struct ScopeRoles(pub(crate) &'static [&'static str]);

const PACKET_HEADER: ScopeRoles = ScopeRoles(&[
    "packet-magic-number",
    "metadata-stream-uuid",
    "data-stream-class-id",
    "data-stream-id",
]);
const CONTEXT: ScopeRoles = ScopeRoles(&[
    "packet-total-length",
    "packet-content-length",
    "default-clock-timestamp",
    "packet-end-default-clock-timestamp",
    "discarded-event-record-counter-snapshot",
    "packet-sequence-number",
]);
const HEADER: ScopeRoles = ScopeRoles(&["event-record-class-id", "default-clock-timestamp"]);
const OTHER: ScopeRoles = ScopeRoles(&[]);

fn preamble(object: &Object<'_>) -> Checked<()> {
    object.only(&["type", "version", "uuid"])?;
    if object.unsigned("version")? != Some(2) {
        return Err("version: not 2".to_owned());
    }
    let Some(uuid) = object.get("uuid") else { return Ok(()) };
    let bytes = uuid.as_array().filter(|bytes| bytes.len() == 16);
    let is_byte = |byte: &Value| byte.as_u64().is_some_and(|byte| byte < 256);
    match bytes.is_some_and(|bytes| bytes.iter().all(is_byte)) {
        true => Ok(()),
        false => Err("uuid: not 16 bytes".to_owned()),
    }
}
