//! Events about memory: system calls with their arguments, and state dumps.

use ltt_read::schema::{EventTypeId, Scope};
use ltt_read::{Event, Field, Trace};

/// The kinds of system calls that change the mappings of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallKind {
    Map,
    Unmap,
    Protect,
    Remap,
    Break,
}

/// A system call that has started, with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) kind: CallKind,
    pub(super) arguments: [u64; ARGUMENTS],
}

/// The maximum number of arguments.
const ARGUMENTS: usize = 6;

/// The names of the system calls, each with the kind and the possible names of the fields of
/// its arguments; `-` if there is no such argument.
const CALLS: [(&str, CallKind, &[&str]); 8] = [
    ("mmap", CallKind::Map, &["addr", "len", "prot", "flags", "fd", "offset|off"]),
    ("mmap2", CallKind::Map, &["addr", "len", "prot", "flags", "fd", "pgoff"]),
    ("mmap_pgoff", CallKind::Map, &["addr", "len", "prot", "flags", "fd", "pgoff"]),
    ("munmap", CallKind::Unmap, &["addr", "len"]),
    ("mprotect", CallKind::Protect, &["start|addr", "len", "prot"]),
    ("pkey_mprotect", CallKind::Protect, &["start|addr", "len", "prot"]),
    ("mremap", CallKind::Remap, &["addr", "old_len", "new_len", "flags"]),
    ("brk", CallKind::Break, &["brk"]),
];

/// The starts of the names of events before those of system calls.
const ENTRIES: [&str; 5] =
    ["syscall_entry_", "compat_syscall_entry_", "compat_sys_", "sys_", "syscalls:sys_enter_"];

/// The fields of an event type about memory.
#[derive(Debug, Clone)]
pub(super) enum Fields {
    /// The arguments of a system call.
    Call(CallKind, [Option<Field>; ARGUMENTS], Unit),
    /// Process, start, end, flags, inode and offset of a dumped mapping.
    Dumped([Option<Field>; ARGUMENTS]),
    /// The result of a system call.
    Result(Field),
}

/// The unit of the offset of a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Bytes,
    Pages,
}

impl Fields {
    /// Returns the fields of an event type that starts a system call about memory or dumps a
    /// mapping.
    pub(super) fn of(trace: &Trace, id: EventTypeId) -> Option<Fields> {
        let name = trace.event_type(id).name();
        let fields = |names: &[&str]| {
            let mut fields = [const { None }; ARGUMENTS];
            for (field, names) in fields.iter_mut().zip(names) {
                let mut names = names.split('|');
                *field = names.find_map(|name| trace.field(id, Scope::Payload, name));
            }
            fields
        };
        if matches!(name, "lttng_statedump_vm_map" | "vm_map" | "vm_state_vm_map") {
            return Some(Fields::Dumped(fields(&[
                "pid", "start", "end", "flags", "inode", "pgoff",
            ])));
        }
        let call = ENTRIES.iter().find_map(|start| name.strip_prefix(start))?;
        let (_, kind, names) = CALLS.iter().find(|(name, ..)| *name == call)?;
        let unit = if names.contains(&"pgoff") { Unit::Pages } else { Unit::Bytes };
        let fields = fields(names);
        fields[0].is_some().then_some(Fields::Call(*kind, fields, unit))
    }

    /// Returns the field with the result of an event type that ends system calls.
    pub(super) fn of_exit(trace: &Trace, id: EventTypeId) -> Option<Fields> {
        trace.field(id, Scope::Payload, "ret").map(Fields::Result)
    }
}

/// Reads the integers in fields; 0 for those that are missing.
pub(super) fn integers(event: &Event<'_>, fields: &[Option<Field>; ARGUMENTS]) -> [u64; ARGUMENTS] {
    let read = |field: &Option<Field>| field.as_ref().and_then(|field| event.integer(field));
    fields.each_ref().map(|field| read(field).unwrap_or(0))
}
