//! The names of kernel events and their fields in the formats of different years.
//!
//! LTTng 2.x, the markers of LTTng 0.x, the facilities before them and the events of 2003
//! use different names for equivalent kernel events. [`EVENTS`] maps between them: an
//! analysis refers to an event and its fields by one name, that of LTTng 2.x if it has
//! one, and finds the corresponding event types in any of these traces.
//!
//! ```
//! use ltt_read::aliases;
//! use ltt_read::schema::Scope;
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
//! let trace = ltt_read::Trace::open(path)?;
//! let switch = aliases::event("sched_switch").expect("a known event");
//! for id in switch.event_types(trace.schema()) {
//!     // `next_pid` of a marker, `in` of a facility.
//!     let names = switch.field_names("next_tid");
//!     let next = names.iter().find_map(|name| trace.field(id, Scope::Payload, name));
//!     assert!(next.is_some());
//! }
//! # Ok::<(), ltt_read::Error>(())
//! ```

use crate::schema::{EventType, EventTypeId, Schema};

/// An event with its names in all formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventAlias {
    /// The name in LTTng 2.x, or that of the latest marker if LTTng 2.x has none.
    pub name: &'static str,
    /// The event's names in all formats.
    pub names: &'static [EventName],
    /// The event's fields that analyses need.
    pub fields: &'static [FieldAlias],
}

/// A name of an event in one or more formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventName {
    /// The channel of a marker, or the facility; empty if the name alone identifies the
    /// event (LTTng 2.x, and markers before LTTng 0.x had channels).
    pub group: &'static str,
    /// The name within the group. A trailing `*` matches any suffix.
    pub name: &'static str,
}

/// A field with its names in all formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldAlias {
    /// The name in LTTng 2.x, or that of the latest marker if LTTng 2.x has none.
    pub name: &'static str,
    /// The field's names, in the order of lookup: the thread id is called `pid` in some
    /// formats and `tid` in others, which also have a different field `pid`.
    pub names: &'static [&'static str],
}

/// Finds an event by its [`EventAlias::name`].
pub fn event(name: &str) -> Option<&'static EventAlias> {
    EVENTS.iter().find(|event| event.name == name)
}

/// Finds the entry of [`EVENTS`] for an event type; `None` if there is no entry for it.
pub fn event_of(schema: &Schema, event_type: &EventType) -> Option<&'static EventAlias> {
    EVENTS.iter().find(|event| event.is(schema, event_type))
}

impl EventAlias {
    /// Returns `true` if an event type of `schema` is this event.
    pub fn is(&self, schema: &Schema, event_type: &EventType) -> bool {
        let stream = schema.stream_classes.get(event_type.stream.index());
        let channel = stream.and_then(|s| s.identity.name.as_deref());
        let group = channel.or(event_type.identity.namespace.as_deref()).unwrap_or("");
        self.names.iter().any(|name| name.matches(group, event_type.name()))
    }

    /// Iterates over the event types of a schema that are this event.
    pub fn event_types<'a>(&'a self, schema: &'a Schema) -> impl Iterator<Item = EventTypeId> + 'a {
        let types = (0..).zip(&schema.event_types);
        types.filter(|(_, e)| self.is(schema, e)).map(|(id, _)| EventTypeId(id))
    }

    /// Returns all names of a field, given its [`FieldAlias::name`], in the order of
    /// lookup; an empty slice if the table lacks the field.
    pub fn field_names(&self, name: &str) -> &'static [&'static str] {
        self.fields.iter().find(|field| field.name == name).map_or(&[], |field| field.names)
    }
}

impl EventName {
    fn matches(&self, group: &str, name: &str) -> bool {
        let same_name = match self.name.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == self.name,
        };
        same_name && (self.group.is_empty() || self.group == group)
    }
}

const fn n(group: &'static str, name: &'static str) -> EventName {
    EventName { group, name }
}

const fn f(name: &'static str, names: &'static [&'static str]) -> FieldAlias {
    FieldAlias { name, names }
}

const fn e(
    name: &'static str,
    names: &'static [EventName],
    fields: &'static [FieldAlias],
) -> EventAlias {
    EventAlias { name, names, fields }
}

/// The facility of all events in the format of 2003.
const CORE: &str = "core";
/// The name of the kernel's channel and of its facility.
const KERNEL: &str = "kernel";

/// The table of all known events. Names without a group are those of LTTng 2.x, followed
/// by those of markers before they had channels.
pub const EVENTS: &[EventAlias] = &[
    e(
        "sched_switch",
        &[
            n("", "sched_switch"),
            n("", "sched_schedule"),
            n("process", "schedchange"),
            n(CORE, "schedchange"),
        ],
        &[
            f("prev_tid", &["prev_tid", "prev_pid", "out"]),
            f("next_tid", &["next_tid", "next_pid", "in"]),
            f("prev_state", &["prev_state", "out_state"]),
        ],
    ),
    e(
        "sched_wakeup",
        &[n("", "sched_wakeup"), n("", "sched_try_wakeup"), n("process", "wakeup")],
        &[f("tid", &["tid", "pid"]), f("target_cpu", &["target_cpu", "cpu_id"])],
    ),
    e(
        "sched_process_fork",
        &[n("", "sched_process_fork"), n("", "process_fork"), n("process", "fork")],
        &[
            f("parent_tid", &["parent_tid", "parent_pid"]),
            // Markers call threads processes, and processes thread groups.
            f("child_tid", &["child_tid", "child_pid"]),
            f("child_pid", &["child_tgid", "child_pid"]),
        ],
    ),
    e(
        "kthread_create",
        &[n("", "kthread_create"), n("process", "kernel_thread")],
        &[f("pid", &["pid"]), f("fn", &["fn", "function"])],
    ),
    e(
        "sched_process_exit",
        &[n("", "sched_process_exit"), n("", "process_exit"), n("process", "exit")],
        &[f("tid", &["tid", "pid"])],
    ),
    e(
        "sched_process_free",
        &[
            n("", "sched_process_free"),
            n("", "process_free"),
            n("process", "free"),
            n("process", "release"),
        ],
        &[f("tid", &["tid", "pid"])],
    ),
    e(
        "sched_process_exec",
        &[n("", "sched_process_exec"), n("fs", "exec")],
        &[f("filename", &["filename"])],
    ),
    e(
        "syscall_entry",
        &[n("", "syscall_entry_*"), n("", "syscall_entry"), n("kernel_arch", "syscall_entry")],
        &[f("syscall_id", &["syscall_id"]), f("ip", &["ip", "address"])],
    ),
    e(
        "syscall_exit",
        &[n("", "syscall_exit_*"), n("", "syscall_exit"), n("kernel_arch", "syscall_exit")],
        &[f("ret", &["ret"])],
    ),
    e(
        "irq_handler_entry",
        &[n("", "irq_handler_entry"), n("", "irq_entry")],
        &[f("irq", &["irq", "irq_id"]), f("kernel_mode", &["kernel_mode", "kernel"])],
    ),
    e("irq_handler_exit", &[n("", "irq_handler_exit"), n("", "irq_exit")], &[]),
    e(
        "irq_softirq_entry",
        &[n("", "irq_softirq_entry"), n("", "softirq_entry"), n("", "soft_irq_entry")],
        &[f("vec", &["vec", "softirq_id"])],
    ),
    e(
        "irq_softirq_exit",
        &[n("", "irq_softirq_exit"), n("", "softirq_exit"), n("", "soft_irq_exit")],
        &[f("vec", &["vec", "softirq_id"])],
    ),
    e(
        "irq_softirq_raise",
        &[n("", "irq_softirq_raise"), n("", "softirq_raise"), n("", "soft_irq_raise")],
        &[f("vec", &["vec", "softirq_id"])],
    ),
    e(
        "trap_entry",
        &[n("", "trap_entry")],
        &[f("trap_id", &["trap_id"]), f("ip", &["ip", "address"])],
    ),
    e("trap_exit", &[n("", "trap_exit")], &[]),
    e(
        "page_fault_entry",
        &[n("", "page_fault_entry"), n("", "page_fault_nosem_entry")],
        &[f("trap_id", &["trap_id"]), f("ip", &["ip"]), f("address", &["address"])],
    ),
    e("page_fault_exit", &[n("", "page_fault_exit"), n("", "page_fault_nosem_exit")], &[]),
    e("syscall_open", &[n("fs", "open")], &[f("fd", &["fd"]), f("filename", &["filename"])]),
    e(
        "block_rq_issue",
        &[n("", "block_rq_issue"), n("block", "_blk_request_issue")],
        &[
            f("dev", &["dev"]),
            f("major", &["major"]),
            f("minor", &["minor"]),
            f("rwbs", &["rwbs", "direction"]),
        ],
    ),
    e(
        "block_rq_complete",
        &[n("", "block_rq_complete"), n("block", "_blk_request_complete")],
        &[
            f("dev", &["dev"]),
            f("major", &["major"]),
            f("minor", &["minor"]),
            f("rwbs", &["rwbs", "direction"]),
        ],
    ),
    e(
        "thread_brand",
        &[n("userspace", "thread_brand"), n("user_generic", "thread_brand")],
        &[f("name", &["name"])],
    ),
    e(
        "function_entry",
        &[n("userspace", "function_entry"), n("user_generic", "function_entry")],
        &[f("this_fn", &["this_fn"]), f("call_site", &["call_site"])],
    ),
    e(
        "function_exit",
        &[n("userspace", "function_exit"), n("user_generic", "function_exit")],
        &[f("this_fn", &["this_fn"]), f("call_site", &["call_site"])],
    ),
    e("kprobe", &[n(KERNEL, "kprobe")], &[f("ip", &["ip"])]),
    e(
        "lttng_statedump_process_state",
        &[
            n("", "lttng_statedump_process_state"),
            n("task_state", "process_state"),
            n("", "list_process_state"),
            n("statedump", "enumerate_process_state"),
        ],
        &[
            f("tid", &["tid", "pid"]),
            f("ppid", &["ppid", "parent_pid"]),
            f("pid", &["tgid", "pid"]),
            f("name", &["name"]),
            f("type", &["type"]),
            f("mode", &["mode"]),
            f("submode", &["submode"]),
            f("status", &["status"]),
        ],
    ),
    e(
        "lttng_statedump_end",
        &[
            n("", "lttng_statedump_end"),
            n("global_state", "statedump_end"),
            n("", "list_statedump_end"),
            n("statedump", "statedump_end"),
        ],
        &[],
    ),
    e(
        "lttng_statedump_interrupt",
        &[
            n("", "lttng_statedump_interrupt"),
            n("irq_state", "interrupt"),
            n("", "list_interrupt"),
            n("statedump", "enumerate_interrupts"),
        ],
        &[f("irq", &["irq", "irq_id", "num"]), f("name", &["name"]), f("action", &["action"])],
    ),
    e(
        "lttng_statedump_file_descriptor",
        &[
            n("", "lttng_statedump_file_descriptor"),
            n("fd_state", "file_descriptor"),
            n("", "list_file_descriptor"),
        ],
        &[f("pid", &["pid"]), f("fd", &["fd"]), f("filename", &["filename"])],
    ),
    e(
        "sys_call_table",
        &[n("syscall_state", "sys_call_table"), n("", "statedump_sys_call_table")],
        &[f("id", &["id"]), f("address", &["address"]), f("symbol", &["symbol"])],
    ),
    e(
        "softirq_vec",
        &[n("softirq_state", "softirq_vec"), n("", "list_softirq_vec")],
        &[f("id", &["id"]), f("address", &["address"]), f("symbol", &["symbol"])],
    ),
    e(
        "kprobe_table",
        &[n("kprobe_state", "kprobe_table")],
        &[f("ip", &["ip"]), f("symbol", &["symbol"])],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Format, Identity, StreamClass, StreamClassId};

    fn schema(channel: Option<&str>, facility: Option<&str>, name: &str) -> Schema {
        let mut schema = Schema::new(Format::Legacy);
        let mut stream = StreamClass::new(0);
        stream.identity.name = channel.map(Into::into);
        schema.stream_classes.push(stream);
        let identity =
            Identity { namespace: facility.map(Into::into), name: Some(name.into()), uid: None };
        let event = EventType { identity, ..EventType::new(StreamClassId(0), 0, "") };
        schema.event_types.push(event);
        schema
    }

    fn canonical(
        channel: Option<&str>,
        facility: Option<&str>,
        name: &str,
    ) -> Option<&'static str> {
        let schema = schema(channel, facility, name);
        event_of(&schema, &schema.event_types[0]).map(|event| event.name)
    }

    #[test]
    fn an_event_is_found_by_its_name_in_every_format() {
        for (channel, facility, name) in [
            (None, None, "sched_switch"),
            (Some("kernel"), None, "sched_schedule"),
            (None, None, "sched_schedule"),
            (None, Some("process"), "schedchange"),
            (None, Some("core"), "schedchange"),
        ] {
            assert_eq!(canonical(channel, facility, name), Some("sched_switch"), "{name}");
        }
        assert_eq!(canonical(None, None, "syscall_entry_read"), Some("syscall_entry"));
        assert_eq!(canonical(Some("fs"), None, "exec"), Some("sched_process_exec"));
        assert_eq!(canonical(Some("mm"), None, "exec"), None);
        let switch = event("sched_switch").unwrap();
        assert_eq!(switch.field_names("next_tid"), ["next_tid", "next_pid", "in"]);
        assert!(switch.field_names("other").is_empty());
    }

    #[test]
    fn names_are_unique() {
        let mut all: Vec<_> = EVENTS.iter().flat_map(|e| e.names).collect();
        all.sort_by_key(|name| (name.group, name.name));
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
        let mut names: Vec<_> = EVENTS.iter().map(|e| e.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
