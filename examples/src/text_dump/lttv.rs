//! The look of LTTV's `textDump`:
//! `channel.event: seconds.nanoseconds (trace/tracefile), context = value { field = value }`.
//!
//! Where LTTV had the columns of the process state there are the contexts that
//! were recorded with the event. The packet context is left out: its CPU is in
//! the name of the tracefile.

use std::sync::Arc;

use ltt_read::schema::{EventType, Schema, Scope};
use ltt_read::{Event, Trace, Tracefile};

use super::EventText;
use super::chunk::Chunk;
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
    contexts: Style,
    payload: Style,
    traces: PerTrace<TraceText>,
    nesting: Nesting,
}

/// What lines of one trace have in common.
#[derive(Debug)]
struct TraceText {
    /// Channel and place of each tracefile.
    tracefiles: Vec<(Chunk, Chunk)>,
    types: Vec<TypeText>,
}

/// Name of an event type, and the scopes that are printed.
#[derive(Debug)]
struct TypeText {
    name: Chunk,
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
            let Palette { event_name, timestamp, reset, .. } = palette;
            let name = format!("{event_name}{}{reset}: {timestamp}", event_type.name());
            let name = Chunk::new(name);
            let mut text = TypeText { name, contexts: Vec::new(), payload: Vec::new() };
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
            let (reset, path) = (palette.reset, trace.path().display());
            let place = |t: &Tracefile| Chunk::new(format!("{reset} ({path}/{})", t.name()));
            let channel = |t: &Tracefile| Chunk::new(format!("{}.", t.channel()));
            let types = trace.schema().event_types.iter();
            TraceText {
                tracefiles: trace.tracefiles().iter().map(|t| (channel(t), place(t))).collect(),
                types: types.map(|t| text(trace.schema(), t)).collect(),
            }
        });
        Lttv { clock, contexts, payload, traces, nesting: Nesting::default() }
    }
}

impl EventText for Lttv {
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let Some(TraceText { tracefiles, types }) = self.traces.of(event.trace()) else { return };
        let Some(text) = types.get(event.type_id().index()) else { return };
        let Some((channel, place)) = tracefiles.get(event.tracefile_index()) else { return };
        channel.append(out);
        text.name.append(out);
        match (self.clock.style(), event.timestamp()) {
            (ClockStyle::Cycles, _) => number::padded(out, event.cycles().unwrap_or(0), 20),
            (_, Some(time)) => self.clock.time(out, time),
            (_, None) => out.push(b'-'),
        }
        place.append(out);
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
