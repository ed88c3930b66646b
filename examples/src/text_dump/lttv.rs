//! The look of LTTV's `textDump`:
//! `channel.event: seconds.nanoseconds (trace/tracefile), context = value { field = value }`.
//!
//! Where LTTV had the columns of the process state there are the contexts that
//! were recorded with the event. The packet context is left out: its CPU is in
//! the name of the tracefile.

use std::sync::Arc;

use ltt_read::schema::{FieldClass, Scope};
use ltt_read::{Event, Trace};

use super::EventText;
use super::clock_text::{ClockStyle, ClockText};
use super::fields::{EnumStyle, Fields, Style};
use super::nesting::Nesting;
use super::number::{self, HexCase};
use super::palette::Palette;
use super::per_trace::PerTrace;

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
    /// Whether each event type's payload has members.
    has_fields: Vec<bool>,
}

impl Lttv {
    /// Prints events of these traces.
    pub fn new(traces: &[Arc<Trace>], clock: ClockText, colored: bool) -> Self {
        let palette = if colored { Palette::COLORED } else { Palette::PLAIN };
        let payload = Style {
            names: true,
            indices: false,
            hide_roles: false,
            columns: false,
            hex: HexCase::Lower,
            enums: EnumStyle::Bracketed,
            palette: colored.then_some(palette),
        };
        let traces = PerTrace::new(traces, |_, trace| {
            let has_members = |p: &FieldClass| !p.members().is_empty();
            let types = &trace.schema().event_types;
            TraceText {
                path: trace.path().to_string_lossy().into_owned(),
                has_fields: types
                    .iter()
                    .map(|t| t.payload.as_deref().is_some_and(has_members))
                    .collect(),
            }
        });
        Lttv {
            clock,
            palette,
            contexts: Style { columns: true, ..payload },
            payload,
            traces,
            nesting: Nesting::default(),
        }
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
        let Some(TraceText { path, has_fields }) = self.traces.of(event.trace()) else { return };
        for part in [reset, " (", path, "/", tracefile.name(), ")"] {
            out.extend_from_slice(part.as_bytes());
        }
        for scope in [Scope::CommonContext, Scope::SpecificContext] {
            event.visit(scope, &mut Fields::new(out, &mut self.nesting, &self.contexts));
        }
        if has_fields.get(event.type_id().index()) == Some(&true) {
            out.push(b' ');
            event.visit(Scope::Payload, &mut Fields::new(out, &mut self.nesting, &self.payload));
        }
        out.push(b'\n');
    }
}
