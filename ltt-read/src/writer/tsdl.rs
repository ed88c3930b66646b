//! Printing of a schema as TSDL, the metadata language of CTF 1.8.

use std::fmt::Write;

use super::clock::clock_offset;
use super::error::WriteError;
use super::fit::shallow;
use super::tsdl_names::{check_roles, escaped, identifier, inexpressible, quoted};
use crate::schema::{
    ByteOrder, ClockClass, ClockOrigin, Dependency, DisplayBase, Encoding, EnvValue, EventType,
    FieldClass, FieldKind, FixedLen, Identity, Integer, Length, LocationOrigin, Mapping, Member,
    PathStep, Role, Schema, Scope, StreamClass, Struct, Variant,
};

type Printed<T> = Result<T, WriteError>;

/// Prints the TSDL text of a schema.
///
/// Member names that are TSDL keywords or start with an underscore get an additional
/// underscore, which readers remove.
pub(super) fn print(schema: &Schema) -> Printed<String> {
    let mut text = String::from("/* CTF 1.8 */\n\n");
    trace(&mut text, schema)?;
    env(&mut text, schema)?;
    for clock in &schema.clocks {
        print_clock(&mut text, clock)?;
    }
    for stream in &schema.stream_classes {
        print_stream(&mut text, schema, stream)?;
    }
    for event in &schema.event_types {
        print_event(&mut text, schema, event)?;
    }
    Ok(text)
}

fn refuse(place: &str, present: bool, what: &str) -> Printed<()> {
    if present { Err(inexpressible(place, what)) } else { Ok(()) }
}

/// Refuses identities with a namespace or uid: CTF 1.8 has only names.
fn refuse_identity(place: &str, identity: &Identity) -> Printed<()> {
    refuse(place, identity.namespace.is_some() || identity.uid.is_some(), "namespaces and uids")
}

/// Prints an attribute: `key = value;`.
macro_rules! attribute {
    ($text:expr, $key:literal, $($value:tt)*) => {{
        $text.push_str(concat!("\t", $key, " = "));
        // Writing to a string cannot fail.
        let _ = write!($text, $($value)*);
        $text.push_str(";\n");
    }};
}

fn trace(text: &mut String, schema: &Schema) -> Printed<()> {
    refuse("trace", schema.attributes.is_some(), "user attributes")?;
    let identity = &schema.identity;
    refuse("trace", identity.name.is_some(), "trace names")?;
    refuse_identity("trace", identity)?;
    text.push_str("trace {\n");
    attribute!(text, "major", "1");
    attribute!(text, "minor", "8");
    if let Some(uuid) = schema.uuid {
        attribute!(text, "uuid", "\"{uuid}\"");
    }
    attribute!(text, "byte_order", "{}", byte_order(schema.native_byte_order));
    scope(
        text,
        schema,
        None,
        Scope::PacketHeader,
        "packet.header",
        schema.packet_header.as_deref(),
    )?;
    text.push_str("};\n\n");
    Ok(())
}

fn env(text: &mut String, schema: &Schema) -> Printed<()> {
    if schema.env.is_empty() {
        return Ok(());
    }
    text.push_str("env {\n");
    for (key, value) in &schema.env {
        let key = identifier("env", key)?;
        let _ = match value {
            EnvValue::Int(n) => writeln!(text, "\t{key} = {n};"),
            EnvValue::Str(s) => writeln!(text, "\t{key} = {};", quoted(s)),
        };
    }
    text.push_str("};\n\n");
    Ok(())
}

fn print_clock(text: &mut String, clock: &ClockClass) -> Printed<()> {
    let name = identifier("clock", &clock.name)?;
    refuse(name, clock.attributes.is_some(), "user attributes")?;
    refuse(name, clock.accuracy.is_some(), "clock accuracies")?;
    refuse(name, matches!(clock.origin, ClockOrigin::Custom(_)), "custom clock origins")?;
    refuse_identity(name, &clock.identity)?;
    text.push_str("clock {\n");
    attribute!(text, "name", "{}", quoted(name));
    if let Some(uuid) = clock.uuid {
        attribute!(text, "uuid", "\"{uuid}\"");
    }
    if let Some(description) = &clock.description {
        attribute!(text, "description", "{}", quoted(description));
    }
    attribute!(text, "freq", "{}", clock.frequency);
    if let Some(precision) = clock.precision {
        attribute!(text, "precision", "{precision}");
    }
    let (seconds, cycles) = clock_offset(clock);
    attribute!(text, "offset_s", "{seconds}");
    attribute!(text, "offset", "{cycles}");
    attribute!(text, "absolute", "{}", clock.origin == ClockOrigin::UnixEpoch);
    text.push_str("};\n\n");
    Ok(())
}

fn print_stream(text: &mut String, schema: &Schema, stream: &StreamClass) -> Printed<()> {
    let place = format!("stream {}", stream.id);
    refuse(&place, stream.attributes.is_some(), "user attributes")?;
    refuse(&place, stream.identity.name.is_some(), "stream class names")?;
    refuse_identity(&place, &stream.identity)?;
    let clock = stream.default_clock.and_then(|i| schema.clocks.get(i as usize));
    text.push_str("stream {\n");
    if has_stream_ids(schema) {
        attribute!(text, "id", "{}", stream.id);
    }
    for (kind, name, class) in [
        (Scope::PacketContext, "packet.context", &stream.packet_context),
        (Scope::EventHeader, "event.header", &stream.event_header),
        (Scope::CommonContext, "event.context", &stream.common_context),
    ] {
        scope(text, schema, clock, kind, name, class.as_deref())?;
    }
    text.push_str("};\n\n");
    Ok(())
}

/// Returns `true` if packets name their stream class. The only class of other traces has no
/// number: babeltrace 2 refuses one that no packet can contain.
fn has_stream_ids(schema: &Schema) -> bool {
    let members = schema.packet_header.as_deref().map_or(&[][..], |header| header.members());
    let is_id = |kind: &FieldKind| match kind {
        FieldKind::Integer(_, integer) => integer.roles.has(Role::StreamClassId),
        _ => false,
    };
    schema.stream_classes.len() > 1 || members.iter().any(|member| is_id(&member.class.kind))
}

fn print_event(text: &mut String, schema: &Schema, event: &EventType) -> Printed<()> {
    let place = event.name();
    refuse(place, event.attributes.is_some(), "user attributes")?;
    refuse(place, event.identity.name.is_none(), "event types without a name")?;
    refuse_identity(place, &event.identity)?;
    let stream = schema.stream_classes.get(event.stream.index());
    let stream =
        stream.ok_or(WriteError::NotInStream { what: "stream class", index: event.stream.0 })?;
    let clock = stream.default_clock.and_then(|i| schema.clocks.get(i as usize));
    text.push_str("event {\n");
    attribute!(text, "name", "{}", quoted(place));
    attribute!(text, "id", "{}", event.id);
    if has_stream_ids(schema) {
        attribute!(text, "stream_id", "{}", stream.id);
    }
    if let Some(level) = event.log_level {
        attribute!(text, "loglevel", "{level}");
    }
    if let Some(uri) = &event.emf_uri {
        attribute!(text, "model.emf.uri", "{}", quoted(uri));
    }
    for (kind, name, class) in [
        (Scope::SpecificContext, "context", &event.specific_context),
        (Scope::Payload, "fields", &event.payload),
    ] {
        scope(text, schema, clock, kind, name, class.as_deref()).map_err(|e| e.under(place))?;
    }
    text.push_str("};\n\n");
    Ok(())
}

/// Prints the root structure of a scope: `name := struct { … };`.
fn scope(
    text: &mut String,
    schema: &Schema,
    clock: Option<&ClockClass>,
    scope: Scope,
    name: &str,
    class: Option<&FieldClass>,
) -> Printed<()> {
    let Some(class) = class else { return Ok(()) };
    if !matches!(class.kind, FieldKind::Struct(_)) {
        return Err(inexpressible(scope.tsdl_name(), "a scope that is not a structure"));
    }
    refuse(scope.tsdl_name(), !shallow(class), "nesting this deep")?;
    let mut printer = Printer { schema, clock, scope, open: Vec::new() };
    let declared = printer.class(scope.tsdl_name(), "", class, 1)?;
    let _ = writeln!(text, "\t{name} := {};", declared.class);
    Ok(())
}

/// A printer of the field classes of one scope.
struct Printer<'a> {
    schema: &'a Schema,
    /// The clock of the timestamps.
    clock: Option<&'a ClockClass>,
    scope: Scope,
    /// The structures around the current field, outermost first.
    open: Vec<Open<'a>>,
}

/// A structure whose members are being printed.
struct Open<'a> {
    /// The members up to the current one, inclusive.
    members: &'a [Member],
}

/// The text of a declaration before and after the member's name.
struct Declared {
    class: String,
    lengths: String,
}

impl From<String> for Declared {
    fn from(class: String) -> Self {
        Declared { class, lengths: String::new() }
    }
}

impl<'a> Printer<'a> {
    /// Prints a field class. `place` is the path for error messages, `name` the member's
    /// name, `depth` the indentation.
    fn class(
        &mut self,
        place: &str,
        name: &str,
        class: &'a FieldClass,
        depth: usize,
    ) -> Printed<Declared> {
        refuse(place, class.attributes.is_some(), "user attributes")?;
        let unusual = |natural: u32| {
            refuse(
                place,
                class.align != natural,
                &format!("an alignment of {} bits here", class.align),
            )
        };
        Ok(match &class.kind {
            FieldKind::Integer(fixed, integer) => {
                self.integer(place, name, class.align, *fixed, integer, depth)?.into()
            }
            FieldKind::Float(fixed) => self.float(place, class.align, *fixed)?.into(),
            FieldKind::String(string) => {
                refuse(place, string.encoding != Encoding::Utf8, "UTF-16 and UTF-32")?;
                unusual(8)?;
                match &string.length {
                    None => "string".to_owned().into(),
                    Some(length) => Declared {
                        class: "integer { size = 8; align = 8; signed = false; encoding = UTF8; }"
                            .to_owned(),
                        lengths: self.length(place, length)?,
                    },
                }
            }
            FieldKind::Array(array) => {
                unusual(array.element.align)?;
                let uuid = array.roles.has(Role::Uuid);
                let named = self.scope == Scope::PacketHeader && name == "uuid";
                refuse(place, uuid != named, "a UUID of another name, or none of this name")?;
                let element = self.class(place, "", &array.element, depth)?;
                // The outermost length comes first, as in C.
                let lengths = self.length(place, &array.length)? + &element.lengths;
                Declared { lengths, ..element }
            }
            FieldKind::Struct(s) => self.structure(place, class.align, s, depth)?.into(),
            FieldKind::Variant(v) => {
                unusual(1)?;
                self.variant(place, v, depth)?.into()
            }
            FieldKind::BitArray(_) => return Err(inexpressible(place, "bit arrays")),
            FieldKind::BitMap(..) => return Err(inexpressible(place, "bit maps")),
            FieldKind::Bool(..) => return Err(inexpressible(place, "booleans")),
            FieldKind::VarInteger(_) => {
                return Err(inexpressible(place, "variable-length integers"));
            }
            FieldKind::Blob(_) => return Err(inexpressible(place, "blobs")),
            FieldKind::Option(_) => return Err(inexpressible(place, "options")),
        })
    }

    fn fixed(&self, place: &str, align: u32, fixed: FixedLen) -> Printed<String> {
        refuse(place, fixed.bit_order != Default::default(), "reversed bit order")?;
        let mut text = format!(" align = {align};");
        if fixed.byte_order != self.schema.native_byte_order {
            let _ = write!(text, " byte_order = {};", byte_order(fixed.byte_order));
        }
        Ok(text)
    }

    fn integer(
        &mut self,
        place: &str,
        name: &str,
        align: u32,
        fixed: FixedLen,
        integer: &Integer,
        depth: usize,
    ) -> Printed<String> {
        // Of packets, only direct members have roles.
        let is_of_packet = matches!(self.scope, Scope::PacketHeader | Scope::PacketContext);
        let name = if is_of_packet && self.open.len() > 1 { "" } else { name };
        check_roles(place, self.scope, name, integer.roles)?;
        let mut text = format!("integer {{ size = {}; signed = {};", fixed.bits, integer.signed);
        text.push_str(&self.fixed(place, align, fixed)?);
        match integer.base {
            DisplayBase::Decimal => {}
            DisplayBase::Binary => text.push_str(" base = 2;"),
            DisplayBase::Octal => text.push_str(" base = 8;"),
            DisplayBase::Hexadecimal => text.push_str(" base = 16;"),
        }
        let timed = [Role::ClockTimestamp, Role::PacketEndTimestamp];
        if timed.into_iter().any(|role| integer.roles.has(role)) {
            let no_clock = || inexpressible(place, "timestamps without a clock");
            let clock = identifier(place, &self.clock.ok_or_else(no_clock)?.name)?;
            let _ = write!(text, " map = clock.{clock}.value;");
        }
        text.push_str(" }");
        match &integer.mappings {
            Some(mappings) => self.enumeration(place, &text, mappings, depth),
            None => Ok(text),
        }
    }

    fn enumeration(
        &self,
        place: &str,
        integer: &str,
        mappings: &[Mapping],
        depth: usize,
    ) -> Printed<String> {
        let mut text = format!("enum : {integer} {{\n");
        for Mapping { label, ranges } in mappings {
            refuse(place, ranges.is_empty(), "an enumeration label without values")?;
            for (first, last) in ranges {
                indent(&mut text, depth + 1);
                let _ = write!(text, "{} = {first}", quoted(label));
                if first != last {
                    let _ = write!(text, " ... {last}");
                }
                text.push_str(",\n");
            }
        }
        indent(&mut text, depth);
        text.push('}');
        refuse(place, mappings.is_empty(), "an enumeration without labels")?;
        Ok(text)
    }

    fn float(&self, place: &str, align: u32, fixed: FixedLen) -> Printed<String> {
        let (exponent, mantissa) = match fixed.bits {
            16 => (5, 11),
            32 => (8, 24),
            64 => (11, 53),
            128 => (15, 113),
            bits => return Err(inexpressible(place, format!("floating point of {bits} bits"))),
        };
        let fixed = self.fixed(place, align, fixed)?;
        Ok(format!("floating_point {{ exp_dig = {exponent}; mant_dig = {mantissa};{fixed} }}"))
    }

    fn length(&self, place: &str, length: &Length) -> Printed<String> {
        Ok(match length {
            Length::Static(n) => format!("[{n}]"),
            Length::Dynamic(location) => format!("[{}]", self.path(place, location)?),
        })
    }

    fn structure(
        &mut self,
        place: &str,
        align: u32,
        class: &'a Struct,
        depth: usize,
    ) -> Printed<String> {
        let mut text = String::from("struct {\n");
        for (number, member) in class.members.iter().enumerate() {
            self.open.push(Open { members: &class.members[..=number] });
            let place = format!("{place}.{}", member.name);
            refuse(&place, member.attributes.is_some(), "user attributes")?;
            let declared = self.class(&place, &member.name, &member.class, depth + 1)?;
            self.member(&mut text, &escaped(&place, &member.name)?, &declared, depth);
            self.open.pop();
        }
        indent(&mut text, depth);
        text.push('}');
        let natural = class.members.iter().map(|m| m.class.align).max().unwrap_or(1);
        if align > natural {
            let _ = write!(text, " align({align})");
        }
        Ok(text)
    }

    fn variant(&mut self, place: &str, class: &'a Variant, depth: usize) -> Printed<String> {
        let mut text = format!("variant <{}> {{\n", self.path(place, &class.selector)?);
        for option in &class.options {
            let name = option.name.as_deref().unwrap_or_default();
            let place = format!("{place}.{name}");
            refuse(&place, option.attributes.is_some(), "user attributes")?;
            // Readers take this name as the label in the selector's enumeration, and
            // drop a leading underscore from it as the name of the option.
            let label = identifier(&place, option.label.as_deref().unwrap_or(name))?;
            let same = label.strip_prefix('_').unwrap_or(label) == name;
            refuse(&place, !same, &format!("the name {name:?} for label {label:?}"))?;
            let declared = self.class(&place, name, &option.class, depth + 1)?;
            self.member(&mut text, label, &declared, depth);
        }
        indent(&mut text, depth);
        text.push('}');
        Ok(text)
    }

    fn member(&self, text: &mut String, name: &str, declared: &Declared, depth: usize) {
        indent(text, depth + 1);
        let _ = writeln!(text, "{} {name}{};", declared.class, declared.lengths);
    }

    /// Prints the path of a length or selector: relative if the field is in the same scope, since
    /// babeltrace 2 reads no other selectors of variants.
    fn path(&self, place: &str, location: &Dependency) -> Printed<String> {
        let ups = location.path.iter().take_while(|step| **step == PathStep::Parent).count();
        let mut names: Vec<&str> = Vec::new();
        for step in &location.path[ups..] {
            match step {
                PathStep::Name(name) => names.push(name),
                PathStep::Parent => {
                    return Err(inexpressible(place, "a path that goes down and up"));
                }
            }
        }
        let around = |count: usize| self.open[..count].iter().filter_map(Open::name);
        let mut prefix = None;
        match location.origin {
            LocationOrigin::Enclosing => {}
            LocationOrigin::Scope(scope) => prefix = Some(scope),
            LocationOrigin::Parent => {
                let Some(count) = self.open.len().checked_sub(ups + 1) else {
                    return Err(inexpressible(place, "a path that leads out of its scope"));
                };
                names.splice(..0, around(count));
                prefix = Some(self.scope);
            }
        }
        if prefix == Some(self.scope)
            && let Some(start) = self.relative_start(&names)
        {
            names.drain(..start);
            prefix = None;
        }
        let names = names.into_iter().map(|name| escaped(place, name));
        let names = prefix.map(|scope| Ok(scope.tsdl_name().to_owned())).into_iter().chain(names);
        Ok(names.collect::<Printed<Vec<_>>>()?.join("."))
    }

    /// Returns the number of names at the start of a path from the root of the scope that can be
    /// left out, as they lead to a structure around the current field.
    fn relative_start(&self, names: &[&str]) -> Option<usize> {
        let around: Vec<&str> = self.open.iter().filter_map(Open::name).collect();
        let same = around.iter().zip(names).take_while(|(a, b)| a == b).count();
        let start = same.min(names.len().checked_sub(1)?).min(self.open.len().checked_sub(1)?);
        let (name, mut inner) = (names[start], self.open[start..].iter());
        let is_found = inner.next()?.has_earlier(name);
        (is_found && !inner.any(|open| open.has_earlier(name))).then_some(start)
    }
}

impl<'a> Open<'a> {
    /// Returns the name of the current member.
    fn name(&self) -> Option<&'a str> {
        self.members.last().map(|member| &*member.name)
    }

    /// Returns `true` if a member before the current one has a name.
    fn has_earlier(&self, name: &str) -> bool {
        let earlier = self.members.split_last().map_or(&[][..], |(_, earlier)| earlier);
        earlier.iter().any(|member| &*member.name == name)
    }
}

fn byte_order(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::Little => "le",
        ByteOrder::Big => "be",
    }
}

fn indent(text: &mut String, depth: usize) {
    text.extend(std::iter::repeat_n('\t', depth));
}
