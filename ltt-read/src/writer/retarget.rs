//! Schemas for another format.

mod classes;
mod names;
mod selectors;

use std::collections::BTreeSet;
use std::sync::Arc;

use classes::{Classes, Scopes};
use names::identifier_like;
use selectors::Labels;

use super::presets;
use crate::ftrace::lengths::add_lengths;
use crate::legacy::with_headers;
use crate::schema::{
    ClockClass, ClockOrigin, EventType, FieldClass, Format, Identity, Schema, Scope, StreamClass,
};

/// A schema of another format, and what that format cannot express.
///
/// ```
/// use ltt_read::schema::Format;
/// use ltt_read::writer::{Retargeted, metadata_text};
///
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// let ctf2 = Retargeted::new(trace.schema(), Format::Ctf2);
/// assert!(ctf2.changes.is_empty());
/// assert!(metadata_text(&ctf2.schema)?.starts_with('\u{1e}'));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Retargeted {
    /// The schema. Stream classes and event types have the indexes of the source, as
    /// [`Transfer`](crate::writer::Transfer) needs it.
    pub schema: Schema,
    /// The differences from the source, one line each, with the name of the place.
    pub changes: Vec<String>,
}

impl Retargeted {
    /// Creates the schema of a trace of another format with the same contents.
    ///
    /// Classes that the format lacks are replaced by the closest ones, names that it does
    /// not allow are changed; [`changes`](Self::changes) has a line for each. An event
    /// type that cannot be expressed at all loses the fields in question.
    ///
    /// A schema of the formats before CTF gets the headers of LTTng's traces: its clock
    /// then counts nanoseconds, since those formats convert cycles in their own ways.
    pub fn new(source: &Schema, format: Format) -> Self {
        let mut schema = match source.format {
            Format::Legacy => with_headers(source, &presets::lttng_kernel(Format::Ctf1)),
            Format::Ftrace | Format::Perf => {
                let mut schema = with_headers(source, &presets::lttng_kernel(Format::Ctf1));
                add_lengths(&mut schema);
                schema
            }
            _ => source.clone(),
        };
        if source.format == format {
            return Retargeted { schema, changes: Vec::new() };
        }
        schema.format = format;
        schema.version = Schema::new(format).version;
        let mut changes = Changes::default();
        if format == Format::Ctf1 {
            if !source.format.is_ctf() {
                // The names of channels are in those of the files.
                schema.stream_classes.iter_mut().for_each(|class| class.identity.name = None);
                name_facilities(&mut schema, &mut changes);
            }
            drop_for_ctf1(&mut schema, &mut changes);
        }
        if format == Format::Ctf2 && schema.stream_classes.is_empty() {
            // CTF 2 has no trace without a data stream class.
            schema.stream_classes.push(StreamClass::new(0));
        }
        convert_classes(&mut schema, format, &mut changes);
        Retargeted { schema, changes: changes.lines }
    }
}

/// The changes, each of which is noted once.
#[derive(Debug, Default)]
struct Changes {
    lines: Vec<String>,
    known: BTreeSet<String>,
}

impl Changes {
    fn note(&mut self, line: String) {
        if self.known.insert(line.clone()) {
            self.lines.push(line);
        }
    }
}

/// Puts the names of facilities into those of events, as LTTV shows them: CTF 1.8 has no
/// namespaces, and several facilities can have events of one name.
fn name_facilities(schema: &mut Schema, changes: &mut Changes) {
    for event in &mut schema.event_types {
        let Some(facility) = event.identity.namespace.take() else { continue };
        let name = format!("{facility}.{}", event.name());
        changes.note(format!("{}: name becomes {name:?}", event.name()));
        event.identity.name = Some(name.into());
    }
}

/// Drops what only CTF 2 has beside field classes.
fn drop_for_ctf1(schema: &mut Schema, changes: &mut Changes) {
    drop_identity("trace", &mut schema.identity, true, changes);
    drop_attributes("trace", &mut schema.attributes, changes);
    for (key, _) in &mut schema.env {
        *key = name_for_ctf1("environment", key, changes);
    }
    for clock in &mut schema.clocks {
        clock_for_ctf1(clock, changes);
    }
    for stream in &mut schema.stream_classes {
        let place = format!("stream class {}", stream.id);
        drop_identity(&place, &mut stream.identity, true, changes);
        drop_attributes(&place, &mut stream.attributes, changes);
    }
    for event in &mut schema.event_types {
        if event.identity.name.is_none() {
            let name = format!("event_{}", event.id);
            changes.note(format!("event type {}: has no name, and gets {name:?}", event.id));
            event.identity.name = Some(name.into());
        }
        let place = event.name().to_owned();
        drop_identity(&place, &mut event.identity, false, changes);
        // Log level and model URI are attributes in CTF 2, and properties in CTF 1.8.
        let known = event.log_level.is_some() || event.emf_uri.is_some();
        if known {
            event.attributes = None;
        }
        drop_attributes(&place, &mut event.attributes, changes);
    }
}

fn drop_identity(place: &str, identity: &mut Identity, with_name: bool, changes: &mut Changes) {
    if identity.namespace.take().is_some() {
        changes.note(format!("{place}: namespace dropped"));
    }
    if identity.uid.take().is_some() {
        changes.note(format!("{place}: unique id dropped"));
    }
    if with_name && identity.name.take().is_some() {
        changes.note(format!("{place}: name dropped"));
    }
}

fn drop_attributes(place: &str, attributes: &mut Option<Arc<str>>, changes: &mut Changes) {
    if attributes.take().is_some() {
        changes.note(format!("{place}: user attributes dropped"));
    }
}

fn clock_for_ctf1(clock: &mut ClockClass, changes: &mut Changes) {
    clock.name = name_for_ctf1("clock", &clock.name, changes);
    let place = format!("clock {}", clock.name);
    drop_attributes(&place, &mut clock.attributes, changes);
    // A unique id that is a UUID stays as one.
    if clock.uuid.is_some() {
        clock.identity.uid = None;
    }
    clock.identity.name = clock.identity.name.take().filter(|name| *name != clock.name);
    drop_identity(&place, &mut clock.identity, true, changes);
    if clock.accuracy.take().is_some() {
        changes.note(format!("{place}: accuracy dropped"));
    }
    if matches!(clock.origin, ClockOrigin::Custom(_)) {
        clock.origin = ClockOrigin::Unknown;
        changes.note(format!("{place}: custom origin dropped"));
    }
}

fn name_for_ctf1(place: &str, name: &Arc<str>, changes: &mut Changes) -> Arc<str> {
    let changed = identifier_like(name);
    if *changed != **name {
        changes.note(format!("{place}: name {name:?} becomes {changed:?}"));
    }
    changed.into()
}

fn convert_classes(schema: &mut Schema, format: Format, changes: &mut Changes) {
    let order = schema.native_byte_order;
    let mut convert = |place: &str, scope, class: &mut Option<Arc<FieldClass>>, scopes: &mut _| {
        let Some(root) = class.clone() else { return };
        let changes = &mut *changes;
        let labels = Labels::default();
        let mut classes = Classes { format, scope, order, depth: 0, scopes, labels, changes };
        *class = classes.root(place, &root);
    };
    let mut of_trace = Scopes::default();
    convert("packet header", Scope::PacketHeader, &mut schema.packet_header, &mut of_trace);
    let mut of_streams = Vec::with_capacity(schema.stream_classes.len());
    for stream in &mut schema.stream_classes {
        let StreamClass { id, packet_context, event_header, common_context, .. } = stream;
        let mut scopes = of_trace.clone();
        for (what, scope, class) in [
            ("packet context", Scope::PacketContext, packet_context),
            ("event header", Scope::EventHeader, event_header),
            ("event context", Scope::CommonContext, common_context),
        ] {
            convert(&format!("stream class {id}: {what}"), scope, class, &mut scopes);
        }
        of_streams.push(scopes);
    }
    for event in &mut schema.event_types {
        let name = event.name().to_owned();
        let EventType { specific_context, payload, stream, .. } = event;
        let Some(scopes) = of_streams.get_mut(stream.index()) else { continue };
        convert(&format!("{name}: context"), Scope::SpecificContext, specific_context, scopes);
        convert(&name, Scope::Payload, payload, scopes);
    }
}
