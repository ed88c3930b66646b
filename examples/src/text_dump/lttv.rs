//! The look of LTTV's `textDump`:
//! `channel.event: seconds.nanoseconds (trace/tracefile), context = value { field = value }`.
//!
//! Where LTTV had the columns of the process state there are the contexts that
//! were recorded with the event. The packet context is left out: its CPU is in
//! the name of the tracefile.

use std::sync::Arc;

use ltt_read::schema::{EventType, Schema, Scope};
use ltt_read::{Event, Trace};

use super::EventText;
use super::clock_text::{ClockStyle, ClockText};
use super::fields::{Columns, EnumStyle, Fields, Style};
use super::nesting::Nesting;
use super::number::{self, HexCase};
use super::palette::Palette;
use super::per_trace::PerTrace;
use super::scopes::{self, Member};

/// Prints events as LTTV did.
#[derive(Debug)]
pub struct Lttv {
    clock: ClockText,
    palette: Palette,
    contexts: Style,
    payload: Style,
    traces: PerTrace<TraceText>,
    nesting: Nesting,
}

/// What lines of one trace have in common.
#[derive(Debug)]
struct TraceText {
    path: String,
    types: Vec<TypeText>,
}

/// The scopes of an event type that are printed.
#[derive(Debug, Default)]
struct TypeText {
    contexts: Vec<(Scope, Vec<Member>)>,
    /// Empty if the payload has no members.
    payload: Vec<Member>,
}

impl Lttv {
    /// Prints events of these traces.
    pub fn new(traces: &[Arc<Trace>], clock: ClockText, colored: bool) -> Self {
        let palette = if colored { Palette::COLORED } else { Palette::PLAIN };
        let payload = Style {
            names: true,
            indices: false,
            braces: true,
            hex: HexCase::Lower,
            enums: EnumStyle::Bracketed,
            palette: colored.then_some(palette),
        };
        let contexts = Style { braces: false, ..payload };
        let text = |schema: &Schema, event_type: &EventType| {
            let mut text = TypeText::default();
            for (scope, class) in scopes::shown(schema, event_type) {
                match scope {
                    Scope::PacketContext => {}
                    Scope::Payload => text.payload = scopes::members(class, scope, &payload),
                    _ => {
                        let members = scopes::members(class, scope, &Columns(&contexts));
                        text.contexts.push((scope, members));
                    }
                }
            }
            text
        };
        let traces = PerTrace::new(traces, |_, trace| {
            let path = trace.path().to_string_lossy().into_owned();
            let types = trace.schema().event_types.iter();
            TraceText { path, types: types.map(|t| text(trace.schema(), t)).collect() }
        });
        Lttv { clock, palette, contexts, payload, traces, nesting: Nesting::default() }
    }

    fn time(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match (self.clock.style(), event.timestamp()) {
            (ClockStyle::Cycles, _) => number::padded(out, event.cycles().unwrap_or(0), 20),
            (_, Some(time)) => self.clock.time(out, time),
            (_, None) => out.push(b'-'),
        }
    }
}

impl EventText for Lttv {
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let tracefile = event.tracefile();
        out.extend_from_slice(tracefile.channel().as_bytes());
        out.push(b'.');
        let Palette { event_name, timestamp, reset, .. } = self.palette;
        for part in [event_name, event.event_type().name(), reset, ": ", timestamp] {
            out.extend_from_slice(part.as_bytes());
        }
        self.time(event, out);
        let Some(TraceText { path, types }) = self.traces.of(event.trace()) else { return };
        for part in [reset, " (", path, "/", tracefile.name(), ")"] {
            out.extend_from_slice(part.as_bytes());
        }
        let Some(text) = types.get(event.type_id().index()) else { return };
        for (scope, members) in &text.contexts {
            let mut fields = Fields::new(out, &mut self.nesting, &self.contexts, members);
            event.visit(*scope, &mut fields);
        }
        if !text.payload.is_empty() {
            out.push(b' ');
            let mut fields = Fields::new(out, &mut self.nesting, &self.payload, &text.payload);
            event.visit(Scope::Payload, &mut fields);
        }
        out.push(b'\n');
    }
}
