//! Lines of events for people:
//! `03:56:56.255770982 server/163 [6] sched_waking { comm = "client", tid = 180, prio = 20 }`.
//!
//! The thread is that of the event's contexts, or else that of the state of the machine: `-` if neither
//! tells it. Contexts that say more come between the name and the fields. The path of the trace ends the line if there are
//! several traces.

use std::sync::Arc;

use ltt_read::{Event, Trace};
use lttv_filter::Zone;

use super::lttv::Lttv;
use super::options::{Contexts, LineOptions};
use super::per_trace::PerTrace;
use super::rows::needs_state;
use super::thread::ThreadFields;
use super::{EventText, StateAt};
use crate::escape;
use crate::text::clock_text::{ClockRange, ClockStyle, ClockText};
use crate::text::number;
use crate::text::palette::Palette;
use crate::text::{Chunk, Text};

/// A format that prints events as lines for people.
#[derive(Debug)]
pub struct Lines {
    clock: ClockText,
    palette: Palette,
    traces: PerTrace<OfTrace>,
    fields: Lttv,
    wants_state: bool,
    has_several: bool,
}

/// The parts that the lines of one trace share.
#[derive(Debug)]
struct OfTrace {
    path: Chunk,
    /// The parts by event type, created at the first event of the type.
    types: Vec<Option<Box<OfType>>>,
}

/// The parts that the lines of one event type share.
#[derive(Debug)]
struct OfType {
    thread: ThreadFields,
    clock: ClockRange,
    name: Chunk,
}

impl Lines {
    /// Creates a format for the events of these traces.
    pub fn new(known: &[Arc<Trace>], clock: ClockText, colored: bool) -> Self {
        let options = LineOptions { contexts: Contexts::BesideThread, ..LineOptions::default() };
        // Fields contain no times.
        let no_clock = ClockText::new(ClockStyle::Seconds, Zone::UTC);
        Lines {
            clock,
            palette: if colored { Palette::COLORED } else { Palette::PLAIN },
            traces: PerTrace::new(known, |_, trace| OfTrace::new(trace)),
            fields: Lttv::with(known, no_clock, colored, options),
            wants_state: needs_state(&["tid", "comm"], known),
            has_several: known.len() > 1,
        }
    }
}

impl OfTrace {
    fn new(trace: &Trace) -> Self {
        let path = trace.path().display().to_string();
        OfTrace {
            path: Chunk::new(format!("  ({})", escape::name(&path))),
            types: trace.schema().event_types.iter().map(|_| None).collect(),
        }
    }
}

impl OfType {
    /// Creates the parts from the first event of a type.
    #[cold]
    #[inline(never)]
    fn new(event: &Event<'_>, palette: Palette) -> Box<Self> {
        let Palette { event_name, reset, .. } = palette;
        let name = escape::name(event.event_type().name());
        Box::new(OfType {
            thread: ThreadFields::of(event),
            clock: ClockRange::of(event.trace().schema(), event.event_type()),
            name: Chunk::new(format!(" {event_name}{name}{reset}")),
        })
    }
}

impl EventText for Lines {
    fn continue_with(&mut self, traces: &[Arc<Trace>], names: &[String]) {
        self.traces.continue_with(traces, |_, trace| OfTrace::new(trace));
        self.fields.continue_with(traces, names);
        self.has_several = traces.len() > 1;
    }

    fn wants_state(&self) -> bool {
        self.wants_state
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn event(&mut self, event: &Event<'_>, state: Option<StateAt<'_>>, out: &mut Text) {
        let Lines { clock, palette, traces, fields, has_several, .. } = self;
        // Records without a time, which describe what was before, belong to no state.
        let state = state.filter(|_| event.timestamp().is_some());
        let Some(OfTrace { path, types }) = traces.of(event.trace()) else { return };
        let Some(of) = types.get_mut(event.type_id().index()) else { return };
        let of = of.get_or_insert_with(|| OfType::new(event, *palette));
        out.append(palette.timestamp.as_bytes());
        match (clock.style(), event.timestamp()) {
            (ClockStyle::Cycles, _) => number::padded(out, event.cycles().unwrap_or(0), 20),
            (_, Some(time)) => clock.time(out, time, of.clock),
            (_, None) => out.push(b'-'),
        }
        out.append(palette.reset.as_bytes());
        let cpu = event.tracefile().cpu().or(state.map(|state| state.cpu));
        // Idle threads have names of their own, and the number 0.
        let tid = of.thread.ids(event, state).tid.filter(|tid| *tid != 0);
        out.push(b' ');
        let before = out.len();
        of.thread.command(event, state, cpu, out);
        let has_name = out.len() > before;
        if let Some(tid) = tid {
            if has_name {
                out.push(b'/');
            }
            number::signed(out, tid);
        }
        if tid.is_none() && !has_name {
            out.push(b'-');
        }
        if let Some(cpu) = cpu {
            out.append(b" [");
            number::decimal(out, cpu.into());
            out.push(b']');
        }
        of.name.append(out);
        fields.fields(event, out);
        if *has_several {
            path.append(out);
        }
        out.push(b'\n');
    }
}
