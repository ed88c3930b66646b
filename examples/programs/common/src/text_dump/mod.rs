//! Printing of events as text: the implementation of the program `text_dump`.
//!
//! A format implements [`EventText`]: it appends one line per event to a buffer of bytes.
//! The parts that depend only on the event type (its name, trace and scopes) are formatted
//! once, at the first event of the type.

mod fields;
mod float;
mod integer;
pub mod json;
mod legacy;
mod legacy_fields;
mod legacy_symbols;
pub mod lines;
pub mod lttv;
mod memo;
pub mod notice_text;
pub mod options;
mod packet_text;
mod parts;
mod per_trace;
mod plan;
pub mod pretty;
mod pretty_head;
mod pretty_time;
mod process_columns;
mod quote;
pub mod rows;
mod scopes;
mod thread;
pub mod trace_name;

#[cfg(test)]
mod test_fields;

use std::ops::Range;
use std::sync::Arc;

use ltt_read::{Event, Trace};
use lttv_context::EventCall;
use lttv_state::kernel::{KernelState, Process, TraceState};

pub use self::parts::PartEnds;
use crate::text::Text;

/// A text format of events, one line each.
pub trait EventText: Send {
    /// Appends the line of an event, with its line break. `state` is the state of the
    /// machine after the event, for formats that [print](Self::wants_state) it.
    fn event(&mut self, event: &Event<'_>, state: Option<StateAt<'_>>, out: &mut Text);

    /// Continues with later versions of [growing traces](ltt_read::GrowingTrace), and with those
    /// after them, given with their names.
    fn continue_with(&mut self, traces: &[Arc<Trace>], names: &[String]);

    /// Appends what is before the first event.
    fn start(&mut self, _out: &mut Text) {}

    /// Appends what is after the last event.
    fn finish(&mut self, _out: &mut Text) {}

    /// Returns `true` if the format prints states.
    fn wants_state(&self) -> bool {
        false
    }

    /// Returns warnings of requested parts that are not in the traces.
    fn warnings(&self) -> &[String] {
        &[]
    }

    /// Returns `true` if parts of the events can be printed apart from each other: lines depend on
    /// earlier events only in the way that [`PartEnds`] tell.
    fn has_parts(&self) -> bool {
        false
    }

    /// Starts a part: the event before the next one is unknown.
    fn start_part(&mut self) {}

    /// Ends a part whose text is in one piece.
    fn end_part(&mut self) -> PartEnds {
        PartEnds::default()
    }

    /// Continues after a part that another printer of the same format printed. Returns the bytes of
    /// the part to replace, with their replacement.
    fn continue_after(&mut self, _part: &PartEnds) -> Option<(Range<usize>, Text)> {
        None
    }
}

/// The state of a machine after an event.
#[derive(Debug, Clone, Copy)]
pub struct StateAt<'s> {
    /// The state of the machine.
    pub state: &'s TraceState,
    /// The number of the CPU of the event.
    pub cpu: u32,
    /// The process that runs on that CPU.
    pub running: &'s Process,
    /// The process that recorded the event: at a context switch the one that is switched out.
    pub recorded_by: &'s Process,
}

impl<'s> StateAt<'s> {
    /// Returns the state at the event of a hook after the kernel state; `None` if its CPU is unknown.
    pub fn of(kernel: &'s KernelState, call: &EventCall<'_, '_>) -> Option<Self> {
        let (state, cpu) = (kernel.trace(call.trace.index())?, kernel.cpu_of(call)?);
        let recorded_by = kernel.process_of(call)?;
        Some(StateAt { state, cpu, running: state.running(cpu)?, recorded_by })
    }
}
