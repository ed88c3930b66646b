//! Replacement of the names and texts in metadata, except the names of events and fields.

use std::collections::HashSet;
use std::sync::Arc;

use ltt_read::schema::{
    ClockOrigin, EnvValue, FieldClass, FieldKind, Flag, Identity, Integer, Mapping, Schema,
};

use super::{Anonymiser, Kind};

/// The entries of the environment that stay: they say which programs understand the trace.
const ENVIRONMENT: [&str; 9] = [
    "domain",
    "tracer_name",
    "tracer_major",
    "tracer_minor",
    "tracer_patch",
    "tracer_patchlevel",
    "tracer_buffering_scheme",
    "architecture_bit_width",
    "vpid",
];
/// The entries with the release of the kernel, of which the version number stays: the meaning of
/// some fields follows from it.
const RELEASES: [&str; 2] = ["kernel_release", "release"];
/// The names of clocks that tracers give.
const CLOCKS: [&str; 3] = ["monotonic", "default", "clock"];

impl Anonymiser {
    /// Replaces the names and texts of a schema.
    pub(in super::super) fn schema(&self, schema: &mut Schema) {
        self.environment(schema);
        schema.identity = self.identity(Kind::Text, &schema.identity);
        schema.uuid = schema.uuid.map(|uuid| self.uuid(uuid));
        schema.attributes = None;
        for clock in &mut schema.clocks {
            if !CLOCKS.contains(&&*clock.name) {
                let number = self.number(Kind::Clock, clock.name.as_bytes());
                clock.name = format!("clock{number}").into();
            }
            clock.identity = match clock.uuid {
                Some(_) => Identity::default(),
                None => self.identity(Kind::Clock, &clock.identity),
            };
            clock.uuid = clock.uuid.map(|uuid| self.uuid(uuid));
            (clock.description, clock.attributes) = (None, None);
            if let ClockOrigin::Custom(origin) = &mut clock.origin {
                *origin = self.identity(Kind::Clock, origin);
            }
        }
        let classes = Classes::of(self, schema);
        classes.replace(&mut schema.packet_header);
        for stream in &mut schema.stream_classes {
            stream.identity = self.identity(Kind::Stream, &stream.identity);
            stream.attributes = None;
            classes.replace(&mut stream.packet_context);
            classes.replace(&mut stream.event_header);
            classes.replace(&mut stream.common_context);
        }
        for event in &mut schema.event_types {
            (event.identity.uid, event.emf_uri, event.attributes) = (None, None, None);
            event.format = None;
            classes.replace(&mut event.specific_context);
            classes.replace(&mut event.payload);
        }
    }

    /// Replaces the texts of the environment, and removes numbers of unknown meaning.
    fn environment(&self, schema: &mut Schema) {
        schema.env.retain_mut(|(key, value)| match value {
            _ if ENVIRONMENT.contains(&&**key) => true,
            EnvValue::Int(_) => false,
            EnvValue::Str(text) if RELEASES.contains(&&**key) => {
                let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
                text.truncate(end.unwrap_or(text.len()));
                true
            }
            EnvValue::Str(text) => {
                let kind = match &**key {
                    "hostname" => Kind::Host,
                    "procname" => Kind::Process,
                    _ => Kind::Text,
                };
                *text = self.name(kind, text.as_bytes());
                true
            }
        });
    }
}

/// The replacement of texts in field classes.
struct Classes<'a> {
    names: &'a Anonymiser,
    /// The labels that stay: those that are names of fields, since they select options of
    /// variants. `None` if all stay.
    kept: Option<HashSet<Arc<str>>>,
}

impl<'a> Classes<'a> {
    fn of(names: &'a Anonymiser, schema: &Schema) -> Self {
        // The kernel tracer's labels are in its source text.
        if schema.env_str("tracer_name") == Some("lttng-modules") {
            return Classes { names, kept: None };
        }
        let streams = schema.stream_classes.iter().flat_map(|stream| {
            [&stream.packet_context, &stream.event_header, &stream.common_context]
        });
        let events =
            schema.event_types.iter().flat_map(|event| [&event.specific_context, &event.payload]);
        let mut kept = HashSet::new();
        let all = streams.chain(events).chain([&schema.packet_header]).flatten();
        all.for_each(|class| add_options(class, &mut kept));
        Classes { names, kept: Some(kept) }
    }

    fn replace(&self, class: &mut Option<Arc<FieldClass>>) {
        if let Some(class) = class {
            *class = self.class(class);
        }
    }

    fn class(&self, class: &FieldClass) -> Arc<FieldClass> {
        let mut class = class.clone();
        class.attributes = None;
        match &mut class.kind {
            FieldKind::BitMap(_, flags) => {
                let flag = |flag: &Flag| Flag { name: self.label(&flag.name), ..flag.clone() };
                *flags = flags.iter().map(flag).collect();
            }
            FieldKind::Integer(_, integer) | FieldKind::VarInteger(integer) => {
                self.mappings(integer);
            }
            FieldKind::Blob(blob) => blob.media_type = None,
            FieldKind::Array(array) => array.element = self.class(&array.element),
            FieldKind::Struct(of) => {
                for member in &mut of.members {
                    (member.class, member.attributes) = (self.class(&member.class), None);
                }
            }
            FieldKind::Option(option) => option.class = self.class(&option.class),
            FieldKind::Variant(variant) => {
                for option in &mut variant.options {
                    (option.class, option.attributes) = (self.class(&option.class), None);
                }
            }
            _ => {}
        }
        Arc::new(class)
    }

    fn mappings(&self, integer: &mut Integer) {
        if let Some(mappings) = &mut integer.mappings {
            let mapping = |mapping: &Mapping| Mapping {
                label: self.label(&mapping.label),
                ranges: mapping.ranges.clone(),
            };
            *mappings = mappings.iter().map(mapping).collect();
        }
    }

    fn label(&self, label: &Arc<str>) -> Arc<str> {
        match &self.kept {
            Some(kept) if !kept.contains(label) => {
                self.names.name(Kind::Label, label.as_bytes()).into()
            }
            _ => label.clone(),
        }
    }
}

/// Adds the names of the options of variants in a class, and the labels that select them.
fn add_options(class: &FieldClass, names: &mut HashSet<Arc<str>>) {
    match &class.kind {
        FieldKind::Struct(of) => {
            of.members.iter().for_each(|member| add_options(&member.class, names));
        }
        FieldKind::Array(array) => add_options(&array.element, names),
        FieldKind::Option(option) => add_options(&option.class, names),
        FieldKind::Variant(variant) => {
            for option in &variant.options {
                names.extend(option.name.iter().chain(&option.label).cloned());
                add_options(&option.class, names);
            }
        }
        _ => {}
    }
}
