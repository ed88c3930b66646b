//! Printing events as text: what the program `text_dump` is made of.
//!
//! A format implements [`EventText`]: it appends one line for each event to a
//! buffer of bytes. All that an event type decides (its name, its trace, which
//! scopes it has) is spelt once, when the format is made.

pub mod clock_text;
mod fields;
mod float;
mod integer;
pub mod json;
mod legacy;
mod legacy_fields;
mod legacy_symbols;
pub mod lttv;
mod memo;
pub mod notice_text;
pub mod number;
pub mod options;
pub mod output;
mod packet_text;
pub mod palette;
mod per_trace;
mod plan;
pub mod pretty;
mod pretty_head;
mod pretty_time;
mod quote;
mod scopes;
pub mod text;
pub mod time_arg;
pub mod trace_name;
pub mod zone;

#[cfg(test)]
mod test_fields;

use ltt_read::Event;
use lttv_state::kernel::{Process, TraceState};

use self::text::Text;

/// A way to print events, one line each.
pub trait EventText {
    /// Appends the line of an event, with its line break; `state` is what is known of
    /// the machine after it, for formats that [want](Self::wants_state) that.
    fn event(&mut self, event: &Event<'_>, state: Option<StateAt<'_>>, out: &mut Text);

    /// Whether it prints states.
    fn wants_state(&self) -> bool {
        false
    }
}

/// What a machine does where an event happened.
#[derive(Debug, Clone, Copy)]
pub struct StateAt<'s> {
    /// The state of the machine.
    pub state: &'s TraceState,
    /// Number of the CPU.
    pub cpu: u32,
    /// What runs there.
    pub running: &'s Process,
}
