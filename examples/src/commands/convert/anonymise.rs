//! Replacement of names and addresses by others, each by the same one everywhere.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ltt_read::Event;
use ltt_read::schema::{EnvValue, FieldClass, FieldKind, Schema};
use ltt_read::writer::{FieldValue, Record};

/// The fields with addresses of the network.
const ADDRESSES: [&str; 6] = ["saddr", "daddr", "v4addr", "v6addr", "saddr_v6", "daddr_v6"];
/// The entries of the environment that name the host, the user or the place.
const ENVIRONMENT: [&str; 6] =
    ["hostname", "trace_name", "procname", "product_uuid", "machine_id", "node"];

/// The replacements of a conversion.
#[derive(Debug, Default)]
pub(super) struct Anonymiser {
    names: Mutex<HashMap<Kind, HashMap<Vec<u8>, u64>>>,
}

/// A kind of names. Each is numbered by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Process,
    File,
    Host,
    Text,
    Address,
}

impl Kind {
    /// Returns the kind of the text in a field.
    fn of(field: &str) -> Kind {
        match field {
            "name" | "procname" | "thread_name" => Kind::Process,
            "hostname" | "nodename" => Kind::Host,
            _ if field.ends_with("comm") => Kind::Process,
            _ if field.ends_with("filename") || field.contains("path") => Kind::File,
            _ => Kind::Text,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Kind::Process => "process",
            Kind::File => "/file",
            Kind::Host => "host",
            Kind::Text => "text",
            Kind::Address => "",
        }
    }
}

/// Returns for each event type of a schema, `true` if events of the type have fields to replace.
pub(super) fn concerned(schema: &Schema) -> Vec<bool> {
    let of = |event: &ltt_read::schema::EventType| {
        let stream = schema.stream_classes.get(event.stream.index());
        let common = stream.and_then(|stream| stream.common_context.as_deref());
        let classes = [common, event.specific_context.as_deref(), event.payload.as_deref()];
        classes.into_iter().flatten().any(is_concerned)
    };
    schema.event_types.iter().map(of).collect()
}

fn is_concerned(class: &FieldClass) -> bool {
    match &class.kind {
        FieldKind::String(_) => true,
        FieldKind::Struct(s) => s
            .members
            .iter()
            .any(|member| ADDRESSES.contains(&&*member.name) || is_concerned(&member.class)),
        FieldKind::Array(a) => is_concerned(&a.element),
        FieldKind::Option(o) => is_concerned(&o.class),
        FieldKind::Variant(v) => v.options.iter().any(|option| is_concerned(&option.class)),
        _ => false,
    }
}

impl Anonymiser {
    /// Replaces the names in the environment of a schema.
    pub(super) fn environment(&self, schema: &mut Schema) {
        for (key, value) in &mut schema.env {
            if let EnvValue::Str(text) = value
                && ENVIRONMENT.contains(&&**key)
            {
                let kind = if &**key == "hostname" { Kind::Host } else { Kind::Text };
                *text = self.name(kind, text.as_bytes());
            }
        }
    }

    /// Returns the record of an event with other names and addresses.
    pub(super) fn record(&self, event: &Event<'_>, schema: &Schema) -> Record {
        let mut record = Record::of(event);
        let of = &schema.event_types[event.type_id().index()];
        let stream = &schema.stream_classes[of.stream.index()];
        let scopes = [
            (&stream.common_context, &mut record.common_context),
            (&of.specific_context, &mut record.specific_context),
            (&of.payload, &mut record.payload),
        ];
        for (class, value) in scopes {
            if let Some(class) = class {
                self.replace("", class, value);
            }
        }
        record
    }

    fn replace(&self, field: &str, class: &FieldClass, value: &mut FieldValue) {
        if ADDRESSES.contains(&field) {
            return self.address(value);
        }
        match (&class.kind, value) {
            (FieldKind::String(_), FieldValue::Bytes(bytes)) => self.text(field, bytes),
            (FieldKind::Struct(s), FieldValue::Struct(values)) => {
                for (member, value) in s.members.iter().zip(values) {
                    self.replace(&member.name, &member.class, value);
                }
            }
            (FieldKind::Array(a), FieldValue::Array(values)) => {
                values.iter_mut().for_each(|value| self.replace(field, &a.element, value));
            }
            (FieldKind::Option(o), FieldValue::Option(Some(value))) => {
                self.replace(field, &o.class, value);
            }
            (FieldKind::Variant(v), FieldValue::Variant { option, value }) => {
                if let Some(option) = v.options.get(*option) {
                    self.replace(field, &option.class, value);
                }
            }
            _ => {}
        }
    }

    /// Replaces a text. One that has a length keeps it.
    fn text(&self, field: &str, bytes: &mut Vec<u8>) {
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        if end == 0 {
            return;
        }
        let size = bytes.len();
        let has_length = end < size;
        let name = self.name(Kind::of(field), &bytes[..end]);
        *bytes = name.into_bytes();
        if has_length {
            bytes.resize(size, 0);
        }
    }

    fn address(&self, value: &mut FieldValue) {
        match value {
            FieldValue::Uint(number) if *number != 0 => {
                *number =
                    0x0a00_0000 | self.number(Kind::Address, &number.to_be_bytes()) & 0xff_ffff;
            }
            FieldValue::Sint(number) if *number != 0 => {
                let key = number.to_be_bytes();
                *number = 0x0a00_0000 | (self.number(Kind::Address, &key) & 0xff_ffff) as i64;
            }
            FieldValue::Array(parts) => {
                let byte = |part: &FieldValue| match part {
                    FieldValue::Uint(byte) => *byte as u8,
                    _ => 0,
                };
                let key: Vec<u8> = parts.iter().map(byte).collect();
                let number = self.number(Kind::Address, &key).to_be_bytes();
                let zeros = parts.len().saturating_sub(3);
                for (at, part) in parts.iter_mut().enumerate() {
                    // The last three bytes are those of the number.
                    let low = at.checked_sub(zeros).and_then(|at| number.get(5 + at));
                    let value = if at == 0 { 10 } else { low.copied().unwrap_or(0) };
                    *part = FieldValue::Uint(value.into());
                }
            }
            _ => {}
        }
    }

    fn name(&self, kind: Kind, text: &[u8]) -> String {
        format!("{}-{}", kind.word(), self.number(kind, text))
    }

    /// Returns the number of a name, from 1.
    fn number(&self, kind: Kind, key: &[u8]) -> u64 {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let names = names.entry(kind).or_default();
        let next = names.len() as u64 + 1;
        *names.entry(key.to_owned()).or_insert(next)
    }
}
