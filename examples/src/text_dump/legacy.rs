//! Lines of LTTV's `textDump` for the traces that it was made for:
//! `channel.event: seconds.nanoseconds (trace/tracefile), pid, tgid, name, brand,
//! ppid, function, mode { field = value }`.
//!
//! The columns of the process state are those of a process of which nothing is
//! known, as LTTV printed them until it had learnt more.

use ltt_read::schema::Format;
use ltt_read::{Event, Trace, Tracefile};

use super::clock_text::{ClockRange, ClockStyle, ClockText};
use super::legacy_fields::{FieldPlan, LegacyFields};
use super::legacy_symbols::{Source, Symbols};
use super::number;
use super::palette::Palette;
use super::text::{Chunk, Text};

/// The columns of an unknown process, since markers and before.
const UNKNOWN: &str = "), 0, 0, , , 0, 0x0, MODE_UNKNOWN";
const UNKNOWN_BEFORE: &str = "), 0, 0, UNNAMED, UNBRANDED, 0, 0x0, MODE_UNKNOWN";

/// What the lines of one legacy trace are made of.
#[derive(Debug)]
pub(super) struct LegacyText {
    palette: Palette,
    /// Place of each tracefile, with the columns that follow it.
    places: Vec<Chunk>,
    /// Made when the first event of the type comes.
    types: Vec<Option<Box<TypeText>>>,
    symbols: Symbols,
}

/// The part of a line that its event type decides.
#[derive(Debug)]
struct TypeText {
    name: Chunk,
    fields: FieldPlan,
    source: Option<Source>,
}

impl LegacyText {
    /// For a trace, if it is a legacy one.
    pub(super) fn new(trace: &Trace, palette: Palette) -> Option<Self> {
        let schema = trace.schema();
        let columns = if schema.version < (1, 0) { UNKNOWN_BEFORE } else { UNKNOWN };
        let (path, reset) = (trace.path().display(), palette.reset);
        let name = |t: &Tracefile| match t.cpu() {
            // LTTV left out what marks a flight recorder.
            Some(cpu) if schema.version >= (2, 3) => format!("{}_{cpu}", t.channel()),
            _ => t.name().to_owned(),
        };
        let place = |t: &Tracefile| Chunk::new(format!("{reset} ({path}/{}{columns}", name(t)));
        (schema.format == Format::Legacy).then(|| LegacyText {
            palette,
            places: trace.tracefiles().iter().map(place).collect(),
            types: schema.event_types.iter().map(|_| None).collect(),
            symbols: Symbols::default(),
        })
    }

    /// Appends the line of an event, with its line break.
    pub(super) fn event(&mut self, event: &Event<'_>, clock: &mut ClockText, out: &mut Text) {
        let LegacyText { palette, places, types, symbols } = self;
        let Some(text) = types.get_mut(event.type_id().index()) else { return };
        let text = text.get_or_insert_with(|| TypeText::new(event, palette));
        let Some(place) = places.get(event.tracefile_index()) else { return };
        if let Some(source) = &text.source {
            symbols.learn(source, event);
        }
        text.name.append(out);
        match (clock.style(), event.timestamp()) {
            (ClockStyle::Cycles, _) => number::padded(out, event.cycles().unwrap_or(0), 20),
            (_, Some(time)) => clock.time(out, time, ClockRange::Signed),
            (_, None) => out.push(b'-'),
        }
        place.append(out);
        event.visit_body(&mut LegacyFields::new(out, &text.fields, symbols));
        out.push(b'\n');
    }
}

impl LegacyText {
    /// Appends the part of an event's line that tells its fields.
    pub(super) fn fields(&mut self, event: &Event<'_>, out: &mut Text) {
        let LegacyText { palette, types, symbols, .. } = self;
        let Some(text) = types.get_mut(event.type_id().index()) else { return };
        let text = text.get_or_insert_with(|| TypeText::new(event, palette));
        event.visit_body(&mut LegacyFields::new(out, &text.fields, symbols));
    }
}

impl TypeText {
    #[cold]
    #[inline(never)]
    fn new(event: &Event<'_>, palette: &Palette) -> Box<Self> {
        let (trace, event_type) = (event.trace(), event.event_type());
        let stream = &trace.schema().stream_classes[event_type.stream.index()];
        // Of the channel where there are any, or of the facility.
        let channel = stream.identity.name.as_deref();
        let prefix = channel.or(event_type.identity.namespace.as_deref());
        let Palette { event_name, timestamp, reset, .. } = *palette;
        let dot = if prefix.is_some() { "." } else { "" };
        let name = event_type.name();
        let channel = channel.unwrap_or_default();
        Box::new(TypeText {
            name: Chunk::new(format!(
                "{}{dot}{event_name}{name}{reset}: {timestamp}",
                prefix.unwrap_or_default()
            )),
            fields: FieldPlan::new(channel, event_type, palette),
            source: Source::of(trace, channel, name, event.type_id()),
        })
    }
}
