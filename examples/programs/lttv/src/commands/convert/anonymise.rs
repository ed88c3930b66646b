//! Replacement of names, texts and addresses by others, each by the same one everywhere.

mod names;
mod replacing;
mod schema;
mod values;

use std::collections::HashMap;
use std::hash::RandomState;
use std::sync::{Mutex, PoisonError};

use ltt_read::Event;
use ltt_read::schema::{EventType, EventTypeId, FieldClass, FieldKind, Roles, Schema, Scope};
use ltt_read::writer::{FieldEncoder, FieldValue};
use replacing::Replacing;

/// The fields with addresses of the network.
const ADDRESSES: [&str; 6] = ["saddr", "daddr", "v4addr", "v6addr", "saddr_v6", "daddr_v6"];
/// The highest byte of the addresses of the network 10.
const NETWORK: u64 = 10;

/// The replacements of a conversion.
#[derive(Debug, Default)]
pub(super) struct Anonymiser {
    names: [Mutex<HashMap<Vec<u8>, u64>>; KINDS],
    /// The keys of the UUIDs, so that those of two conversions differ.
    uuids: [RandomState; 2],
}

/// A kind of names. Each is numbered by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Process,
    File,
    Host,
    Text,
    Address,
    /// Blobs and arrays of bytes, which become zeros.
    Bytes,
    Folder,
    Stream,
    Label,
    Clock,
}

const KINDS: usize = 10;

impl Kind {
    /// Returns the kind of the text or the address in a field; `None` if it has neither, or parts
    /// of their own.
    fn of(field: &str, class: &FieldClass) -> Option<Kind> {
        let is_address = ADDRESSES.contains(&field);
        match &class.kind {
            FieldKind::Integer(..) | FieldKind::VarInteger(_) | FieldKind::Array(_)
                if is_address =>
            {
                Some(Kind::Address)
            }
            FieldKind::String(_) => Some(Kind::of_text(field)),
            FieldKind::Blob(blob) if blob.roles == Roles::NONE => Some(Kind::Bytes),
            _ => None,
        }
    }

    fn of_text(field: &str) -> Kind {
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
            Kind::Folder => "folder",
            Kind::Stream => "stream",
            Kind::Label => "label",
            Kind::Clock => "clock",
            Kind::Address | Kind::Bytes => "",
        }
    }
}

/// The fields of an event type to replace: their kinds by the number of the field.
pub(super) type Concerned = Box<[Option<Kind>]>;

/// Returns the fields to replace of each event type of a schema.
pub(super) fn concerned(schema: &Schema) -> Vec<Concerned> {
    let of = |event: &EventType| {
        let stream = schema.stream_classes.get(event.stream.index());
        let common = stream.and_then(|stream| stream.common_context.as_deref());
        let scopes = [common, event.specific_context.as_deref(), event.payload.as_deref()];
        let mut kinds = Vec::new();
        scopes.into_iter().flatten().for_each(|scope| add_kinds("", scope, &mut kinds));
        kinds.into()
    };
    schema.event_types.iter().map(of).collect()
}

/// Adds the kinds of a field and of the fields within it, in the order of their numbers. `field` is
/// the name of the field, or of the array or option that it is in.
fn add_kinds(field: &str, class: &FieldClass, kinds: &mut Vec<Option<Kind>>) {
    kinds.push(Kind::of(field, class));
    match &class.kind {
        FieldKind::Struct(s) => {
            s.members.iter().for_each(|member| add_kinds(&member.name, &member.class, kinds));
        }
        FieldKind::Array(a) if is_of_bytes(&a.element) && !ADDRESSES.contains(&field) => {
            kinds.push(Some(Kind::Bytes));
        }
        FieldKind::Array(a) => add_kinds(field, &a.element, kinds),
        FieldKind::Option(o) => add_kinds(field, &o.class, kinds),
        FieldKind::Variant(v) => {
            v.options.iter().for_each(|option| add_kinds(field, &option.class, kinds));
        }
        _ => {}
    }
}

/// Returns `true` if the elements of an array are bytes, in which there may be text.
fn is_of_bytes(element: &FieldClass) -> bool {
    matches!(&element.kind, FieldKind::Integer(fixed, _) if fixed.bits <= 8)
}

impl Anonymiser {
    fn name(&self, kind: Kind, text: &[u8]) -> String {
        format!("{}-{}", kind.word(), self.number(kind, text))
    }

    /// Returns the number of a name, from 1.
    fn number(&self, kind: Kind, key: &[u8]) -> u64 {
        let mut names = self.names[kind as usize].lock().unwrap_or_else(PoisonError::into_inner);
        let next = names.len() as u64 + 1;
        *names.entry(key.to_owned()).or_insert(next)
    }
}

/// The replacements that one stream has met, so that its thread asks for each of them once.
#[derive(Debug)]
pub(super) struct Known<'a> {
    anonymiser: &'a Anonymiser,
    /// By kind.
    texts: [Texts; KINDS],
    addresses: HashMap<Vec<u8>, u64>,
}

/// Texts, and those in their place.
#[derive(Debug, Default)]
struct Texts {
    numbers: HashMap<Vec<u8>, usize>,
    replacements: Vec<String>,
}

/// The greatest number of replacements that a stream keeps for each kind.
const KEPT: usize = 1 << 14;

impl<'a> Known<'a> {
    pub(super) fn new(anonymiser: &'a Anonymiser) -> Self {
        Known { anonymiser, texts: Default::default(), addresses: HashMap::new() }
    }

    /// Encodes the fields of an event, with other names and addresses.
    pub(super) fn encode(
        &mut self,
        event: &Event<'_>,
        concerned: &Concerned,
        encoder: &mut FieldEncoder<'_>,
    ) {
        event.visit_body(&mut Replacing::new(self, concerned, encoder));
    }

    /// Replaces texts and addresses in a packet header, packet context or event header of an event.
    pub(super) fn header(&mut self, event: &Event<'_>, scope: Scope, value: &mut FieldValue) {
        if let Some(class) = event.trace().schema().root(event.type_id(), scope) {
            values::replace(self, "", class, value);
        }
    }

    /// Replaces texts and addresses in the payload of a record of a type of a schema.
    pub(super) fn payload(&mut self, schema: &Schema, id: EventTypeId, value: &mut FieldValue) {
        if let Some(class) = schema.root(id, Scope::Payload) {
            values::replace(self, "", class, value);
        }
    }

    fn text(&mut self, kind: Kind, text: &[u8]) -> &str {
        let Texts { numbers, replacements } = &mut self.texts[kind as usize];
        if let Some(number) = numbers.get(text) {
            return &replacements[*number];
        }
        if replacements.len() >= KEPT {
            numbers.clear();
            replacements.clear();
        }
        let number = replacements.len();
        numbers.insert(text.to_owned(), number);
        replacements.push(self.anonymiser.name(kind, text));
        &replacements[number]
    }

    /// Returns the lower 24 bits of the address in place of another.
    fn address(&mut self, address: &[u8]) -> u64 {
        if let Some(number) = self.addresses.get(address) {
            return *number;
        }
        if self.addresses.len() >= KEPT {
            self.addresses.clear();
        }
        let number = self.anonymiser.number(Kind::Address, address) & 0xff_ffff;
        self.addresses.insert(address.to_owned(), number);
        number
    }

    /// Returns an address of the network 10 in place of an integer; 0 stays.
    fn integer(&mut self, value: u64) -> u64 {
        match value {
            0 => 0,
            _ => NETWORK << 24 | self.address(&value.to_be_bytes()),
        }
    }

    /// Returns the parts of an address of the network 10 in place of those of another one: the
    /// first part has the number of the network, the last ones that of the address.
    fn parts(&mut self, parts: &[u64]) -> Vec<u64> {
        let key: Vec<u8> = parts.iter().flat_map(|part| part.to_be_bytes()).collect();
        let number = self.address(&key);
        let part = |at| match (at, parts.len() - 1 - at) {
            (0, _) => NETWORK,
            (_, from_end @ 0..3) => number >> (8 * from_end) & 0xff,
            _ => 0,
        };
        (0..parts.len()).map(part).collect()
    }
}
