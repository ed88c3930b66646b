//! Replacement of names and addresses by others, each by the same one everywhere.

mod replacing;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use ltt_read::Event;
use ltt_read::schema::{EnvValue, EventType, FieldClass, FieldKind, Schema};
use ltt_read::writer::FieldEncoder;
use replacing::Replacing;

/// The fields with addresses of the network.
const ADDRESSES: [&str; 6] = ["saddr", "daddr", "v4addr", "v6addr", "saddr_v6", "daddr_v6"];
/// The entries of the environment that name the host, the user or the place.
const ENVIRONMENT: [&str; 6] =
    ["hostname", "trace_name", "procname", "product_uuid", "machine_id", "node"];

/// The replacements of a conversion.
#[derive(Debug, Default)]
pub(super) struct Anonymiser {
    names: [Mutex<HashMap<Vec<u8>, u64>>; KINDS],
}

/// A kind of names. Each is numbered by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Process,
    File,
    Host,
    Text,
    Address,
}

const KINDS: usize = 5;

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
            Kind::Address => "",
        }
    }
}

/// The fields of an event type to replace: their kinds by the number of the field. Empty if there
/// are none.
pub(super) type Concerned = Box<[Option<Kind>]>;

/// Returns the fields to replace of each event type of a schema.
pub(super) fn concerned(schema: &Schema) -> Vec<Concerned> {
    let of = |event: &EventType| {
        let stream = schema.stream_classes.get(event.stream.index());
        let common = stream.and_then(|stream| stream.common_context.as_deref());
        let scopes = [common, event.specific_context.as_deref(), event.payload.as_deref()];
        let mut kinds = Vec::new();
        scopes.into_iter().flatten().for_each(|scope| add_kinds("", scope, &mut kinds));
        match kinds.iter().any(Option::is_some) {
            true => kinds.into(),
            false => Concerned::default(),
        }
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
        FieldKind::Array(a) => add_kinds(field, &a.element, kinds),
        FieldKind::Option(o) => add_kinds(field, &o.class, kinds),
        FieldKind::Variant(v) => {
            v.options.iter().for_each(|option| add_kinds(field, &option.class, kinds));
        }
        _ => {}
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
}
