//! Lines in the format of LTTV's `textDump`:
//! `channel.event: seconds.nanoseconds (trace/tracefile), context = value { field = value }`.
//!
//! After the place come LTTV's columns of the process that runs after the event, for kernel
//! traces and [on request](LineOptions::process), and the contexts recorded with the event. The
//! packet context is omitted: its CPU is in the name of the tracefile. Legacy traces are
//! printed exactly as LTTV did (in the module `legacy`).

use std::sync::Arc;

use ltt_read::schema::{Format, Member, Scope};
use ltt_read::{Event, Trace, Tracefile};
use lttv_state::kernel::KernelState;

use super::fields::{EnumStyle, Fields, Style};
use super::legacy::LegacyText;
use super::options::{Contexts, LineOptions};
use super::per_trace::PerTrace;
use super::plan::{How, Plan};
use super::process_columns::ProcessColumns;
use super::scopes;
use super::{EventText, StateAt};
use crate::escape;
use crate::text::clock_text::{ClockRange, ClockStyle, ClockText};
use crate::text::number::{self, HexCase};
use crate::text::palette::Palette;
use crate::text::{Chunk, Text};

/// A format that prints events as LTTV did.
#[derive(Debug)]
pub struct Lttv {
    clock: ClockText,
    palette: Palette,
    style: Style,
    traces: PerTrace<TraceText>,
    has_columns: bool,
    options: LineOptions,
}

/// The parts that the lines of one trace share.
#[derive(Debug)]
struct TraceText {
    /// The channel of each tracefile, and its trace and name, as printed.
    tracefiles: Vec<(Chunk, Chunk)>,
    /// The parts by event type, created at the first event of the type.
    types: Vec<Option<Box<TypeText>>>,
    /// The columns of the process, if they are printed.
    columns: Option<ProcessColumns>,
    /// The parts of a legacy trace, used in place of the other ones.
    legacy: Option<Box<LegacyText>>,
}

impl TraceText {
    fn new(trace: &Trace, palette: Palette, options: LineOptions) -> TraceText {
        let (reset, path) = (palette.reset, trace.path().display().to_string());
        let path = escape::name(&path);
        let place =
            |t: &Tracefile| Chunk::new(format!("{reset} ({path}/{})", escape::name(t.name())));
        let channel = |t: &Tracefile| Chunk::new(format!("{}.", escape::name(t.channel())));
        TraceText {
            tracefiles: trace.tracefiles().iter().map(|t| (channel(t), place(t))).collect(),
            types: trace.schema().event_types.iter().map(|_| None).collect(),
            columns: (options.process && KernelState::follows(trace))
                .then(|| ProcessColumns::new(options.process_state)),
            legacy: LegacyText::new(trace, palette, options).map(Box::new),
        }
    }
}

/// The parts that the lines of one event type share.
#[derive(Debug)]
struct TypeText {
    clock: ClockRange,
    name: Chunk,
    body: Plan,
}

impl Lttv {
    /// Creates a format for the events of these traces, with default options.
    pub fn new(known: &[Arc<Trace>], clock: ClockText, colored: bool) -> Self {
        Self::with(known, clock, colored, LineOptions::default())
    }

    /// Creates a format for the events of these traces.
    pub fn with(
        known: &[Arc<Trace>],
        clock: ClockText,
        colored: bool,
        options: LineOptions,
    ) -> Self {
        let palette = if colored { Palette::COLORED } else { Palette::PLAIN };
        let style = Style {
            names: options.field_names,
            indices: false,
            hex: HexCase::Lower,
            enums: EnumStyle::Bracketed,
            palette: colored.then_some(palette),
            is_safe: true,
        };
        let traces = PerTrace::new(known, |_, trace| TraceText::new(trace, palette, options));
        let has_columns =
            options.process || known.iter().any(|trace| trace.schema().format == Format::Legacy);
        Lttv { clock, palette, style, traces, has_columns, options }
    }

    /// Appends the part of an event's line that contains its fields.
    pub fn fields(&mut self, event: &Event<'_>, out: &mut Text) {
        let Lttv { palette, style, traces, options, .. } = self;
        let contexts = options.contexts;
        let Some(trace) = traces.of(event.trace()) else { return };
        if let Some(legacy) = &mut trace.legacy {
            return legacy.fields(event, out);
        }
        let Some(text) = trace.types.get_mut(event.type_id().index()) else { return };
        let text = text.get_or_insert_with(|| TypeText::new(event, style, palette, contexts));
        event.visit_body(&mut Fields::new(out, &mut text.body, style));
    }
}

impl EventText for Lttv {
    fn continue_with(&mut self, traces: &[Arc<Trace>], _: &[String]) {
        let (palette, options) = (self.palette, self.options);
        let make = |_, trace: &Trace| TraceText::new(trace, palette, options);
        self.traces.continue_with(traces, make);
    }

    fn wants_state(&self) -> bool {
        self.has_columns
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn event(&mut self, event: &Event<'_>, state: Option<StateAt<'_>>, out: &mut Text) {
        let Lttv { clock, palette, style, traces, options, .. } = self;
        let contexts = options.contexts;
        let Some(trace) = traces.of(event.trace()) else { return };
        if let Some(legacy) = &mut trace.legacy {
            return legacy.event(event, state, clock, out);
        }
        let TraceText { tracefiles, types, columns, .. } = trace;
        let Some(text) = types.get_mut(event.type_id().index()) else { return };
        let text = text.get_or_insert_with(|| TypeText::new(event, style, palette, contexts));
        let Some((channel, place)) = tracefiles.get(event.tracefile_index().0) else { return };
        channel.append(out);
        text.name.append(out);
        match (clock.style(), event.timestamp()) {
            (ClockStyle::Cycles, _) => number::padded(out, event.cycles().unwrap_or(0), 20),
            (_, Some(time)) => clock.time(out, time, text.clock),
            (_, None) => out.push(b'-'),
        }
        place.append(out);
        if let Some(columns) = columns {
            columns.append(state, out);
        }
        event.visit_body(&mut Fields::new(out, &mut text.body, style));
        out.push(b'\n');
    }
}

impl TypeText {
    /// Creates the parts from the first event of a type.
    #[cold]
    #[inline(never)]
    fn new(event: &Event<'_>, style: &Style, palette: &Palette, contexts: Contexts) -> Box<Self> {
        let (schema, event_type) = (event.trace().schema(), event.event_type());
        let Palette { event_name, timestamp, reset, .. } = *palette;
        let name = escape::name(event_type.name());
        let name = format!("{event_name}{name}{reset}: {timestamp}");
        let mut body = Plan::default();
        for (scope, class) in scopes::body(schema, event_type) {
            let is_payload = scope == Scope::Payload;
            let is_hidden = |member: &Member| match is_payload {
                true => !contexts.has_in_payload(&member.name),
                false => !contexts.has(&member.name),
            };
            let is_empty = class.members().iter().all(is_hidden);
            match scope {
                _ if is_empty => body.root(style, class, "", How::Hidden, &is_hidden),
                Scope::Payload => body.root(style, class, " {", How::Class, &is_hidden),
                _ => body.root(style, class, "", How::Bare, &is_hidden),
            }
        }
        let clock = ClockRange::of(schema, event_type);
        Box::new(TypeText { clock, name: Chunk::new(name), body })
    }
}
