//! Printing of a schema as the JSON text sequence of CTF 2.

use super::clock::clock_offset;
use super::error::WriteError;
use super::fit::shallow;
use super::json::{Object, array, string};
use crate::schema::{
    BitOrder, ByteOrder, ClockClass, ClockOrigin, Dependency, DisplayBase, Encoding, EnvValue,
    EventType, FieldClass, FieldKind, FixedLen, Identity, Integer, Length, LocationOrigin,
    LogLevel, Mapping, PathStep, RangeSet, Role, Roles, Schema, Scope, Selector, StreamClass,
    Struct,
};

type Printed<T> = Result<T, WriteError>;

/// The namespace of LTTng's user attributes.
const LTTNG: &str = "lttng.org,2009";

/// Prints the CTF 2 metadata of a schema: one fragment per line, each after a record
/// separator.
pub(super) fn print(schema: &Schema) -> Printed<String> {
    let mut fragments = vec![preamble(schema), trace_class(schema)?];
    fragments.extend(schema.clocks.iter().map(clock_class));
    for stream in &schema.stream_classes {
        fragments.push(stream_class(schema, stream)?);
    }
    for event in &schema.event_types {
        fragments.push(event_class(schema, event)?);
    }
    Ok(fragments.into_iter().map(|fragment| format!("\u{1e}{fragment}\n")).collect())
}

fn inexpressible(place: &str, what: impl Into<String>) -> WriteError {
    WriteError::Inexpressible { place: place.to_owned(), format: "CTF 2", what: what.into() }
}

fn preamble(schema: &Schema) -> String {
    let mut fragment = Object::of_type("preamble");
    fragment.raw("version", 2).maybe_raw("uuid", schema.uuid.map(|uuid| array(uuid.0)));
    fragment.end()
}

fn identity(fragment: &mut Object, identity: &Identity) {
    fragment
        .maybe_text("namespace", identity.namespace.as_deref())
        .maybe_text("name", identity.name.as_deref())
        .maybe_text("uid", identity.uid.as_deref());
}

fn trace_class(schema: &Schema) -> Printed<String> {
    let mut fragment = Object::of_type("trace-class");
    identity(&mut fragment, &schema.identity);
    if !schema.env.is_empty() {
        let mut env = Object::new();
        for (key, value) in &schema.env {
            match value {
                EnvValue::Int(n) => env.raw(key, n),
                EnvValue::Str(s) => env.text(key, s),
            };
        }
        fragment.raw("environment", env.end());
    }
    scope(&mut fragment, "packet-header", Scope::PacketHeader, schema.packet_header.as_deref())?;
    fragment.maybe_raw("attributes", schema.attributes.as_deref());
    Ok(fragment.end())
}

fn clock_class(clock: &ClockClass) -> String {
    let mut fragment = Object::of_type("clock-class");
    fragment.text("id", &clock.name);
    let mut names = clock.identity.clone();
    names.uid = names.uid.or_else(|| clock.uuid.map(|uuid| uuid.to_string().into()));
    identity(&mut fragment, &names);
    fragment
        .maybe_text("description", clock.description.as_deref())
        .raw("frequency", clock.frequency)
        .maybe_raw("precision", clock.precision)
        .maybe_raw("accuracy", clock.accuracy);
    match &clock.origin {
        ClockOrigin::UnixEpoch => {
            fragment.text("origin", "unix-epoch");
        }
        ClockOrigin::Custom(names) => {
            let mut origin = Object::new();
            identity(&mut origin, names);
            fragment.raw("origin", origin.end());
        }
        ClockOrigin::Unknown => {}
    }
    let (seconds, cycles) = clock_offset(clock);
    let mut offset = Object::new();
    offset.raw("seconds", seconds).raw("cycles", cycles);
    fragment.raw("offset-from-origin", offset.end());
    fragment.maybe_raw("attributes", clock.attributes.as_deref());
    fragment.end()
}

fn stream_class(schema: &Schema, stream: &StreamClass) -> Printed<String> {
    let mut fragment = Object::of_type("data-stream-class");
    fragment.raw("id", stream.id);
    identity(&mut fragment, &stream.identity);
    let clock = stream.default_clock.and_then(|i| schema.clocks.get(i as usize));
    fragment.maybe_text("default-clock-class-id", clock.map(|c| &*c.name));
    for (key, kind, class) in [
        ("packet-context", Scope::PacketContext, &stream.packet_context),
        ("event-record-header", Scope::EventHeader, &stream.event_header),
        ("event-record-common-context", Scope::CommonContext, &stream.common_context),
    ] {
        scope(&mut fragment, key, kind, class.as_deref())?;
    }
    fragment.maybe_raw("attributes", stream.attributes.as_deref());
    Ok(fragment.end())
}

fn event_class(schema: &Schema, event: &EventType) -> Printed<String> {
    let stream = schema.stream_classes.get(event.stream.index());
    let stream =
        stream.ok_or(WriteError::NotInStream { what: "stream class", index: event.stream.0 })?;
    let mut fragment = Object::of_type("event-record-class");
    fragment.raw("id", event.id).raw("data-stream-class-id", stream.id);
    identity(&mut fragment, &event.identity);
    for (key, kind, class) in [
        ("specific-context", Scope::SpecificContext, &event.specific_context),
        ("payload", Scope::Payload, &event.payload),
    ] {
        scope(&mut fragment, key, kind, class.as_deref()).map_err(|e| e.under(event.name()))?;
    }
    fragment.maybe_raw("attributes", event_attributes(event)?);
    Ok(fragment.end())
}

/// Returns the user attributes, or else attributes for log level and model URI.
fn event_attributes(event: &EventType) -> Printed<Option<String>> {
    if let Some(attributes) = &event.attributes {
        return Ok(Some(attributes.to_string()));
    }
    let mut known = Object::new();
    if let Some(level) = event.log_level {
        let name = LogLevel::of(level).map(|level| level.name);
        let unknown = || inexpressible(event.name(), format!("log level {level}"));
        known.text("log-level", name.ok_or_else(unknown)?);
    }
    known.maybe_text("emf-uri", event.emf_uri.as_deref());
    let known = known.end();
    let mut attributes = Object::new();
    attributes.raw(LTTNG, &known);
    Ok((known != "{}").then(|| attributes.end()))
}

/// Adds the property `KEY-field-class`.
fn scope(
    fragment: &mut Object,
    key: &str,
    scope: Scope,
    class: Option<&FieldClass>,
) -> Printed<()> {
    let Some(class) = class else { return Ok(()) };
    if !shallow(class) {
        return Err(inexpressible(scope.ctf2_name(), "nesting this deep"));
    }
    if !matches!(class.kind, FieldKind::Struct(_)) {
        return Err(inexpressible(scope.ctf2_name(), "a scope that is not a structure"));
    }
    fragment.raw(
        &format!("{key}-field-class"),
        Printer::default().field_class(scope.ctf2_name(), class)?,
    );
    Ok(())
}

/// A printer of the field classes of one scope.
#[derive(Default)]
struct Printer<'a> {
    /// The structures around the current field, each with the index of the member that
    /// contains the field.
    frames: Vec<(&'a Struct, usize)>,
}

impl<'a> Printer<'a> {
    fn field_class(&mut self, place: &str, class: &'a FieldClass) -> Printed<String> {
        let unusual = |natural: u32| match class.align == natural {
            true => Ok(()),
            false => {
                Err(inexpressible(place, format!("an alignment of {} bits here", class.align)))
            }
        };
        let mut json;
        match &class.kind {
            FieldKind::BitArray(f) => json = fixed("bit-array", class.align, *f),
            FieldKind::BitMap(f, flags) => {
                json = fixed("bit-map", class.align, *f);
                let flags = flags.iter().map(|flag| (&*flag.name, &flag.ranges));
                json.raw("flags", labelled_ranges(flags));
            }
            FieldKind::Bool(f, _) => json = fixed("boolean", class.align, *f),
            FieldKind::Float(f) => json = fixed("floating-point-number", class.align, *f),
            FieldKind::Integer(f, i) => {
                let kind = if i.signed { "signed-integer" } else { "unsigned-integer" };
                json = fixed(kind, class.align, *f);
                integer(&mut json, i);
            }
            FieldKind::VarInteger(i) => {
                unusual(8)?;
                let sign = if i.signed { "signed" } else { "unsigned" };
                json = Object::of_type(&format!("variable-length-{sign}-integer"));
                integer(&mut json, i);
            }
            FieldKind::String(s) => {
                unusual(8)?;
                json = match &s.length {
                    None => Object::of_type("null-terminated-string"),
                    Some(length) => self.sized(place, "string", length)?,
                };
                json.text("encoding", encoding_name(s.encoding));
            }
            FieldKind::Blob(b) => {
                unusual(8)?;
                json = self.sized(place, "blob", &b.length)?;
                json.maybe_text("media-type", b.media_type.as_deref());
                roles(&mut json, b.roles);
            }
            FieldKind::Array(a) => {
                if !a.roles.is_empty() {
                    return Err(inexpressible(place, "an array as UUID"));
                }
                json = self.sized(place, "array", &a.length)?;
                json.raw("element-field-class", self.field_class(place, &a.element)?);
                if class.align > a.element.align {
                    json.raw("minimum-alignment", class.align);
                }
            }
            FieldKind::Struct(s) => {
                let mut members = Vec::new();
                for (i, member) in s.members.iter().enumerate() {
                    let place = format!("{place}.{}", member.name);
                    self.frames.push((s, i));
                    let class = self.field_class(&place, &member.class)?;
                    self.frames.pop();
                    let mut json = Object::new();
                    json.text("name", &member.name)
                        .raw("field-class", class)
                        .maybe_raw("attributes", member.attributes.as_deref());
                    members.push(json.end());
                }
                json = Object::of_type("structure");
                json.raw("member-classes", array(members));
                if class.align > s.members.iter().map(|m| m.class.align).max().unwrap_or(1) {
                    json.raw("minimum-alignment", class.align);
                }
            }
            FieldKind::Option(o) => {
                unusual(1)?;
                json = Object::of_type("optional");
                json.raw("selector-field-location", self.location(place, &o.selector)?);
                if let Selector::Ranges(set) = &o.present {
                    json.raw("selector-field-ranges", ranges(set));
                }
                json.raw("field-class", self.field_class(place, &o.class)?);
            }
            FieldKind::Variant(v) => {
                unusual(1)?;
                let mut options = Vec::new();
                for option in &v.options {
                    let name = option.name.as_deref();
                    let place = format!("{place}.{}", name.unwrap_or("?"));
                    if option.ranges.is_empty() {
                        return Err(inexpressible(&place, "an option without selector ranges"));
                    }
                    let mut json = Object::new();
                    json.maybe_text("name", name)
                        .raw("selector-field-ranges", ranges(&option.ranges))
                        .raw("field-class", self.field_class(&place, &option.class)?)
                        .maybe_raw("attributes", option.attributes.as_deref());
                    options.push(json.end());
                }
                json = Object::of_type("variant");
                json.raw("selector-field-location", self.location(place, &v.selector)?)
                    .raw("options", array(options));
            }
        }
        json.maybe_raw("attributes", class.attributes.as_deref());
        Ok(json.end())
    }

    /// Creates the object of a class of static or dynamic length.
    fn sized(&self, place: &str, kind: &str, length: &Length) -> Printed<Object> {
        let mut json;
        match length {
            Length::Static(n) => {
                json = Object::of_type(&format!("static-length-{kind}"));
                json.raw("length", n);
            }
            Length::Dynamic(at) => {
                json = Object::of_type(&format!("dynamic-length-{kind}"));
                json.raw("length-field-location", self.location(place, at)?);
            }
        }
        Ok(json)
    }

    /// Prints a location. A location in any enclosing structure becomes a path relative
    /// to the immediately enclosing one.
    fn location(&self, place: &str, location: &Dependency) -> Printed<String> {
        let mut json = Object::new();
        let mut ups = 0;
        match location.origin {
            LocationOrigin::Scope(scope) => {
                json.text("origin", scope.ctf2_name());
            }
            LocationOrigin::Parent => {}
            LocationOrigin::Enclosing => {
                let has = |(class, until): &(&Struct, usize)| {
                    let mut before = class.members[..*until].iter();
                    before.any(|m| location.path.first() == Some(&PathStep::Name(m.name.clone())))
                };
                let found = self.frames.iter().rev().position(has);
                ups = found.ok_or_else(|| inexpressible(place, "a location that leads nowhere"))?;
            }
        }
        let steps = location.path.iter().map(|step| match step {
            PathStep::Name(name) => string(name),
            PathStep::Parent => "null".to_owned(),
        });
        json.raw("path", array(std::iter::repeat_n("null".to_owned(), ups).chain(steps)));
        Ok(json.end())
    }
}

fn fixed(kind: &str, align: u32, fixed: FixedLen) -> Object {
    let mut json = Object::of_type(&format!("fixed-length-{kind}"));
    let little = fixed.byte_order == ByteOrder::Little;
    json.raw("length", fixed.bits)
        .text("byte-order", if little { "little-endian" } else { "big-endian" });
    if fixed.bit_order == BitOrder::Reversed {
        json.text("bit-order", if little { "last-to-first" } else { "first-to-last" });
    }
    if align != 1 {
        json.raw("alignment", align);
    }
    json
}

fn integer(json: &mut Object, integer: &Integer) {
    let base = match integer.base {
        DisplayBase::Binary => 2,
        DisplayBase::Octal => 8,
        DisplayBase::Decimal => 10,
        DisplayBase::Hexadecimal => 16,
    };
    if base != 10 {
        json.raw("preferred-display-base", base);
    }
    if let Some(mappings) = &integer.mappings {
        let mappings = mappings.iter().map(|Mapping { label, ranges }| (&**label, ranges));
        json.raw("mappings", labelled_ranges(mappings));
    }
    roles(json, integer.roles);
}

fn roles(json: &mut Object, roles: Roles) {
    let names = [
        (Role::PacketMagic, "packet-magic-number"),
        (Role::StreamClassId, "data-stream-class-id"),
        (Role::StreamId, "data-stream-id"),
        (Role::PacketTotalLength, "packet-total-length"),
        (Role::PacketContentLength, "packet-content-length"),
        (Role::ClockTimestamp, "default-clock-timestamp"),
        (Role::PacketEndTimestamp, "packet-end-default-clock-timestamp"),
        (Role::DiscardedEvents, "discarded-event-record-counter-snapshot"),
        (Role::PacketSequence, "packet-sequence-number"),
        (Role::EventTypeId, "event-record-class-id"),
        (Role::Uuid, "metadata-stream-uuid"),
    ];
    let names = names.into_iter().filter(|(role, _)| roles.has(*role)).map(|(_, n)| string(n));
    if !roles.is_empty() {
        json.raw("roles", array(names));
    }
}

fn ranges(set: &RangeSet) -> String {
    array(set.iter().map(|(first, last)| format!("[{first},{last}]")))
}

/// Prints labels with their ranges. Ranges of equal labels are joined, since property
/// names are unique.
fn labelled_ranges<'a>(all: impl Iterator<Item = (&'a str, &'a RangeSet)>) -> String {
    let mut joined: Vec<(&str, RangeSet)> = Vec::new();
    let mut places = hashbrown::HashMap::new();
    for (label, ranges) in all {
        let at = *places.entry(label).or_insert(joined.len());
        if at == joined.len() {
            joined.push((label, Vec::new()));
        }
        joined[at].1.extend(ranges);
    }
    let mut json = Object::new();
    for (label, set) in joined {
        json.raw(label, ranges(&set));
    }
    json.end()
}

fn encoding_name(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Utf8 => "utf-8",
        Encoding::Utf16Be => "utf-16be",
        Encoding::Utf16Le => "utf-16le",
        Encoding::Utf32Be => "utf-32be",
        Encoding::Utf32Le => "utf-32le",
    }
}
