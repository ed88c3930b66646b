//! Lines of LTTV's `textDump` for legacy traces:
//! `channel.event: seconds.nanoseconds (trace/tracefile), pid, tgid, name, brand,
//! ppid, function, mode { field = value }`.
//!
//! The columns of the process state are those of the process that runs after the event, or
//! those of an idle process if it is unknown.

use ltt_read::schema::Format;
use ltt_read::{Event, Trace, Tracefile};

use super::StateAt;
use super::legacy_fields::{FieldPlan, LegacyFields};
use super::legacy_symbols::{Source, Symbols};
use super::options::LineOptions;
use super::process_columns::ProcessColumns;
use crate::escape;
use crate::text::clock_text::{ClockRange, ClockStyle, ClockText};
use crate::text::number;
use crate::text::palette::Palette;
use crate::text::{Chunk, Text};

/// The parts that the lines of one legacy trace share.
#[derive(Debug)]
pub(super) struct LegacyText {
    palette: Palette,
    options: LineOptions,
    /// The trace and name of each tracefile, as printed.
    places: Vec<Chunk>,
    columns: ProcessColumns,
    /// The parts by event type, created at the first event of the type.
    types: Vec<Option<Box<TypeText>>>,
    symbols: Symbols,
}

/// The parts that the lines of one event type share.
#[derive(Debug)]
struct TypeText {
    name: Chunk,
    fields: FieldPlan,
    source: Option<Source>,
}

impl LegacyText {
    /// Creates the parts for a trace; `None` if it is not a legacy one.
    pub(super) fn new(trace: &Trace, palette: Palette, options: LineOptions) -> Option<Self> {
        let schema = trace.schema();
        // Marker formats print empty names as they are.
        let is_old = schema.version < (1, 0);
        let nameless = if is_old { ("UNNAMED", "UNBRANDED") } else { ("", "") };
        let (path, reset) = (trace.path().display().to_string(), palette.reset);
        let path = escape::name(&path);
        let name = |t: &Tracefile| match t.cpu() {
            // LTTV omitted the prefix of flight recorder files.
            Some(cpu) if schema.version >= (2, 3) => format!("{}_{cpu}", t.channel()),
            _ => t.name().to_owned(),
        };
        let place =
            |t: &Tracefile| Chunk::new(format!("{reset} ({path}/{})", escape::name(&name(t))));
        (schema.format == Format::Legacy).then(|| LegacyText {
            palette,
            options,
            columns: ProcessColumns::as_lttv(nameless, options.process_state),
            places: trace.tracefiles().iter().map(place).collect(),
            types: schema.event_types.iter().map(|_| None).collect(),
            symbols: Symbols::default(),
        })
    }

    /// Appends the line of an event, with its line break.
    pub(super) fn event(
        &mut self,
        event: &Event<'_>,
        state: Option<StateAt<'_>>,
        clock: &mut ClockText,
        out: &mut Text,
    ) {
        let LegacyText { palette, options, places, columns, types, symbols } = self;
        let Some(text) = types.get_mut(event.type_id().index()) else { return };
        let text = text.get_or_insert_with(|| TypeText::new(event, palette, *options));
        let Some(place) = places.get(event.tracefile_index().0) else { return };
        if let Some(source) = &text.source {
            symbols.add(source, event);
        }
        text.name.append(out);
        match (clock.style(), event.timestamp()) {
            (ClockStyle::Cycles, _) => number::padded(out, event.cycles().unwrap_or(0), 20),
            (_, Some(time)) => clock.time(out, time, ClockRange::Signed),
            (_, None) => out.push(b'-'),
        }
        place.append(out);
        columns.append(state, out);
        event.visit_body(&mut LegacyFields::new(out, &text.fields, symbols));
        out.push(b'\n');
    }
}

impl LegacyText {
    /// Appends the part of an event's line that contains its fields.
    pub(super) fn fields(&mut self, event: &Event<'_>, out: &mut Text) {
        let LegacyText { palette, options, types, symbols, .. } = self;
        let Some(text) = types.get_mut(event.type_id().index()) else { return };
        let text = text.get_or_insert_with(|| TypeText::new(event, palette, *options));
        event.visit_body(&mut LegacyFields::new(out, &text.fields, symbols));
    }
}

impl TypeText {
    #[cold]
    #[inline(never)]
    fn new(event: &Event<'_>, palette: &Palette, options: LineOptions) -> Box<Self> {
        let (trace, event_type) = (event.trace(), event.event_type());
        let stream = &trace.schema().stream_classes[event_type.stream.index()];
        // The prefix is the channel, or else the facility.
        let channel = stream.identity.name.as_deref();
        let prefix = channel.or(event_type.identity.namespace.as_deref());
        let Palette { event_name, timestamp, reset, .. } = *palette;
        let dot = if prefix.is_some() { "." } else { "" };
        let name = event_type.name();
        let channel = channel.unwrap_or_default();
        Box::new(TypeText {
            name: Chunk::new(format!(
                "{}{dot}{event_name}{}{reset}: {timestamp}",
                escape::name(prefix.unwrap_or_default()),
                escape::name(name)
            )),
            fields: FieldPlan::new(channel, event_type, palette, options.field_names),
            source: Source::of(trace, channel, name, event.type_id()),
        })
    }
}
