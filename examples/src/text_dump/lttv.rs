//! The look of LTTV's `textDump`:
//! `channel.event: seconds.nanoseconds (trace/tracefile), context = value { field = value }`.
//!
//! Where LTTV had the columns of the process state there are the contexts that
//! were recorded with the event. The packet context is left out: its CPU is in
//! the name of the tracefile.

use std::sync::Arc;

use ltt_read::schema::Scope;

use super::EventText;
use super::clock_text::{ClockStyle, ClockText};
use super::fields::{EnumStyle, Fields, Style};
use super::nesting::Nesting;
use super::number::{self, HexCase};
use super::palette::Palette;
use crate::reader::{Event, Trace};

/// Prints events as LTTV did.
#[derive(Debug)]
pub struct Lttv {
    clock: ClockText,
    palette: Palette,
    contexts: Style,
    payload: Style,
    /// Of each trace the path, and for each event type whether its payload
    /// has members.
    traces: Vec<(String, Vec<bool>)>,
    nesting: Nesting,
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
        let of_trace = |trace: &Arc<Trace>| {
            let types = &trace.schema().event_types;
            let has_fields = |p: &Option<Arc<_>>| {
                p.as_ref()
                    .is_some_and(|p: &Arc<ltt_read::schema::FieldClass>| !p.members().is_empty())
            };
            let fields = types.iter().map(|t| has_fields(&t.payload)).collect();
            (trace.path().to_string_lossy().into_owned(), fields)
        };
        Lttv {
            clock,
            palette,
            contexts: Style { columns: true, ..payload },
            payload,
            traces: traces.iter().map(of_trace).collect(),
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

/// The channel of a tracefile: its name without the number of the CPU.
fn channel(tracefile: &str) -> &str {
    match tracefile.rsplit_once('_') {
        Some((channel, cpu)) if !cpu.is_empty() && cpu.bytes().all(|c| c.is_ascii_digit()) => {
            channel
        }
        _ => tracefile,
    }
}

impl EventText for Lttv {
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let tracefile = event.tracefile().name();
        out.extend_from_slice(channel(tracefile).as_bytes());
        out.push(b'.');
        let Palette { event_name, timestamp, reset, .. } = self.palette;
        for part in [event_name, event.event_type().name(), reset, ": ", timestamp] {
            out.extend_from_slice(part.as_bytes());
        }
        self.time(event, out);
        let (path, has_fields) = &self.traces[event.trace_index()];
        for part in [reset, " (", path, "/", tracefile, ")"] {
            out.extend_from_slice(part.as_bytes());
        }
        for scope in [Scope::CommonContext, Scope::SpecificContext] {
            if event.has_scope(scope) {
                event.visit(scope, &mut Fields::new(out, &mut self.nesting, &self.contexts));
            }
        }
        if has_fields[event.type_id().index()] && event.has_scope(Scope::Payload) {
            out.push(b' ');
            event.visit(Scope::Payload, &mut Fields::new(out, &mut self.nesting, &self.payload));
        }
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels() {
        assert_eq!(channel("channel0_12"), "channel0");
        assert_eq!(channel("my_channel_3"), "my_channel");
        assert_eq!(channel("stream"), "stream");
        assert_eq!(channel("my_"), "my_");
        assert_eq!(channel("a_b"), "a_b");
    }
}
