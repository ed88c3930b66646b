//! Names of system calls, soft interrupts and probes of a legacy trace, from the events of
//! its state dump that have been read so far.

use std::collections::HashMap;

use ltt_read::schema::{EventTypeId, Scope};
use ltt_read::{Event, Field, Trace, Value};

use crate::escape::{self, Escapes};
use crate::text::Text;
use crate::text::number;

/// A table of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    /// The names of system calls, by number.
    Syscalls,
    /// The names of soft interrupts, by number.
    Softirqs,
    /// The names of probes, by address.
    Probes,
}

/// The greatest number of entries of a table. No kernel has names for larger numbers.
const MAX_ENTRIES: usize = 1 << 16;

impl Table {
    /// Returns the table with the names of a field's values; `None` if they have no names.
    pub(super) fn of_field(channel: &str, event: &str, field: &str) -> Option<Self> {
        match (channel, event, field) {
            ("kernel", "syscall_entry", "syscall_id") => Some(Table::Syscalls),
            ("kernel", "softirq_entry" | "softirq_exit" | "softirq_raise", "softirq_id") => {
                Some(Table::Softirqs)
            }
            ("kernel", "kprobe", "ip") => Some(Table::Probes),
            _ => None,
        }
    }
}

/// An event type whose events contain names.
#[derive(Debug)]
pub(super) struct Source {
    table: Table,
    number: Field,
    symbol: Field,
}

impl Source {
    /// Returns the source for an event type of a channel; `None` for other event types.
    pub(super) fn of(trace: &Trace, channel: &str, event: &str, id: EventTypeId) -> Option<Self> {
        let (table, number) = match (channel, event) {
            ("syscall_state", "sys_call_table") => (Table::Syscalls, "id"),
            ("softirq_state", "softirq_vec") => (Table::Softirqs, "id"),
            ("kprobe_state", "kprobe_table") => (Table::Probes, "ip"),
            _ => return None,
        };
        let field = |name| trace.field(id, Scope::Payload, name);
        Some(Source { table, number: field(number)?, symbol: field("symbol")? })
    }
}

/// The names read so far.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    syscalls: Vec<Option<Box<[u8]>>>,
    softirqs: Vec<Option<Box<[u8]>>>,
    probes: HashMap<u64, Box<[u8]>>,
}

impl Symbols {
    /// Adds the name that an event contains.
    pub(super) fn add(&mut self, source: &Source, event: &Event<'_>) {
        let (Some(number), Some(Value::Str(symbol))) =
            (event.integer(&source.number), event.get(&source.symbol))
        else {
            return;
        };
        let symbol = escape::lines_of_bytes(symbol.bytes, Escapes::Text);
        let names = match source.table {
            Table::Syscalls => &mut self.syscalls,
            Table::Softirqs => &mut self.softirqs,
            Table::Probes => {
                if self.probes.len() < MAX_ENTRIES {
                    self.probes.insert(number, symbol.into());
                }
                return;
            }
        };
        let Some(index) = usize::try_from(number).ok().filter(|n| *n < MAX_ENTRIES) else { return };
        if names.len() <= index {
            names.resize(index + 1, None);
        }
        names[index] = Some(symbol.into());
    }

    /// Appends the name of a number in brackets.
    pub(super) fn append(&self, table: Table, value: u64, out: &mut Text) {
        let (names, kind): (_, &[u8]) = match table {
            Table::Syscalls => (&self.syscalls, b"syscall "),
            Table::Softirqs => (&self.softirqs, b"softirq "),
            Table::Probes => {
                if let Some(name) = self.probes.get(&value) {
                    bracketed(out, |out| out.append(name));
                }
                return;
            }
        };
        let name = usize::try_from(value).ok().and_then(|n| names.get(n)?.as_deref());
        bracketed(out, |out| match name {
            Some(name) => out.append(name),
            None => {
                out.append(kind);
                number::decimal(out, value);
            }
        });
    }
}

fn bracketed(out: &mut Text, write: impl FnOnce(&mut Text)) {
    out.append(b" [");
    write(out);
    out.push(b']');
}
