//! The columns of LTTV's `textDump` about the process that runs after an event:
//! `, pid, tgid, name, brand, ppid, function, mode` and optionally ` status`.

use super::StateAt;
use crate::escape;
use crate::text::Text;
use crate::text::number::{self, HexCase};

/// The columns of the process, in the form of one kind of trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessColumns {
    unknown: Unknown,
    has_status: bool,
}

/// The form of what is unknown.
#[derive(Debug, Clone, Copy)]
enum Unknown {
    /// The form of LTTV: numbers are 0, the unknown process is the idle one, and these are the
    /// texts in place of an empty name and an empty brand.
    AsLttv(&'static str, &'static str),
    /// Numbers are `?`, names are empty.
    Marked,
}

impl ProcessColumns {
    /// Creates the columns of LTTng 0.x traces, with the texts in place of an empty name and
    /// an empty brand.
    pub(super) fn as_lttv(
        (nameless, unbranded): (&'static str, &'static str),
        has_status: bool,
    ) -> Self {
        ProcessColumns { unknown: Unknown::AsLttv(nameless, unbranded), has_status }
    }

    /// Creates the columns of all other traces.
    pub(super) fn new(has_status: bool) -> Self {
        ProcessColumns { unknown: Unknown::Marked, has_status }
    }

    /// Appends the columns.
    pub(super) fn append(self, state: Option<StateAt<'_>>, out: &mut Text) {
        match self.unknown {
            Unknown::AsLttv(nameless, unbranded) => as_lttv(state, (nameless, unbranded), out),
            Unknown::Marked => marked(state, out),
        }
        if self.has_status {
            out.push(b' ');
            let status = state.map_or("", |state| state.running.status().as_str());
            out.append(status.as_bytes());
        }
    }
}

fn as_lttv(state: Option<StateAt<'_>>, nameless: (&str, &str), out: &mut Text) {
    let or = |text: &str, otherwise: &str, out: &mut Text| {
        name(if text.is_empty() { otherwise } else { text }, out);
    };
    let number = |value: Option<i32>, out: &mut Text| {
        out.append(b", ");
        number::decimal(out, u64::try_from(value.unwrap_or(0)).unwrap_or(0));
    };
    let running = state.map(|StateAt { state, cpu, running, .. }| {
        // For an unknown process LTTV printed the idle process.
        let idle = || state.cpu(cpu).and_then(|cpu| state.process(cpu.idle()));
        let known = if running.tid().is_none() { idle().unwrap_or(running) } else { running };
        (state, running, known)
    });
    let Some((state, running, known)) = running else {
        number(None, out);
        number(None, out);
        or("", nameless.0, out);
        or("", nameless.1, out);
        out.append(b", 0, 0x0, MODE_UNKNOWN");
        return;
    };
    number(known.tid(), out);
    number(known.pid(), out);
    or(state.name(known.name()), nameless.0, out);
    or(state.name(known.brand()), nameless.1, out);
    number(known.parent(), out);
    function_and_mode(running.function(), running.mode().as_str(), out);
}

fn marked(state: Option<StateAt<'_>>, out: &mut Text) {
    let Some(StateAt { state, cpu, running, .. }) = state else {
        return out.append(b", ?, ?, , , ?, 0x0, MODE_UNKNOWN");
    };
    let number = |value: Option<i32>, out: &mut Text| {
        out.append(b", ");
        match value {
            Some(value) => number::signed(out, value.into()),
            None => out.push(b'?'),
        }
    };
    number(running.tid(), out);
    number(running.pid(), out);
    match (state.name(running.name()), running.tid()) {
        // Some tracers never name the idle process.
        ("", Some(0)) => name(&format!("swapper/{cpu}"), out),
        (text, _) => name(text, out),
    }
    name(state.name(running.brand()), out);
    number(running.parent(), out);
    function_and_mode(running.function(), running.mode().as_str(), out);
}

fn name(text: &str, out: &mut Text) {
    out.append(b", ");
    out.append(escape::name(text).as_bytes());
}

fn function_and_mode(function: u64, mode: &str, out: &mut Text) {
    out.append(b", 0x");
    number::hexadecimal(out, function, HexCase::Lower);
    out.append(b", ");
    out.append(mode.as_bytes());
}
