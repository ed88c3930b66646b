//! The names of today's events for those of the formats before CTF.

use std::sync::Arc;

use ltt_read::schema::{EnvValue, FieldClass, FieldKind, Schema};

/// The name of an event and of its fields, before CTF and today.
struct Row {
    old: &'static str,
    new: &'static str,
    fields: &'static [(&'static str, &'static str)],
}

const fn row(
    old: &'static str,
    new: &'static str,
    fields: &'static [(&'static str, &'static str)],
) -> Row {
    Row { old, new, fields }
}

const SWITCH: &[(&str, &str)] = &[
    ("prev_pid", "prev_tid"),
    ("next_pid", "next_tid"),
    ("out", "prev_tid"),
    ("in", "next_tid"),
    ("out_state", "prev_state"),
];
const IRQ: &[(&str, &str)] = &[("irq_id", "irq")];
const SOFTIRQ: &[(&str, &str)] = &[("softirq_id", "vec")];
const PROCESS: &[(&str, &str)] = &[("pid", "tid"), ("tgid", "pid"), ("parent_pid", "ppid")];

/// The events with the same meaning and fields of the same meaning.
static ROWS: &[Row] = &[
    row("sched_schedule", "sched_switch", SWITCH),
    row("schedchange", "sched_switch", SWITCH),
    row("sched_try_wakeup", "sched_wakeup", &[("pid", "tid"), ("cpu_id", "target_cpu")]),
    row("sched_wakeup_new_task", "sched_wakeup_new", &[("pid", "tid"), ("cpu_id", "target_cpu")]),
    row(
        "process_fork",
        "sched_process_fork",
        &[("parent_pid", "parent_tid"), ("child_pid", "child_tid"), ("child_tgid", "child_pid")],
    ),
    row("fork", "sched_process_fork", &[("parent_pid", "parent_tid"), ("child_pid", "child_tid")]),
    row("process_exit", "sched_process_exit", &[("pid", "tid")]),
    row("process_free", "sched_process_free", &[("pid", "tid")]),
    row("process_wait", "sched_process_wait", &[("pid", "tid")]),
    row("irq_entry", "irq_handler_entry", IRQ),
    row("irq_exit", "irq_handler_exit", &[("handled", "ret")]),
    row("softirq_entry", "irq_softirq_entry", SOFTIRQ),
    row("softirq_exit", "irq_softirq_exit", SOFTIRQ),
    row("softirq_raise", "irq_softirq_raise", SOFTIRQ),
    row("soft_irq_entry", "irq_softirq_entry", SOFTIRQ),
    row("soft_irq_exit", "irq_softirq_exit", SOFTIRQ),
    row("soft_irq_raise", "irq_softirq_raise", SOFTIRQ),
    row("process_state", "lttng_statedump_process_state", PROCESS),
    row("enumerate_process_state", "lttng_statedump_process_state", PROCESS),
    row("interrupt", "lttng_statedump_interrupt", &[("irq_id", "irq"), ("num", "irq")]),
    row("file_descriptor", "lttng_statedump_file_descriptor", &[]),
    row("statedump_end", "lttng_statedump_end", &[]),
    row("timer_set", "timer_start", &[]),
    row("dev_xmit", "net_dev_xmit", &[]),
    row("dev_receive", "netif_receive_skb", &[]),
];

/// Renames the event types and fields of a schema. Returns `true` if one has another name then.
///
/// Only events whose fields mean the same are renamed; all others keep their names, such as
/// `syscall_entry`, whose number LTTng has put into the names of events since.
pub(super) fn apply(schema: &mut Schema) -> bool {
    let mut changed = false;
    for event in &mut schema.event_types {
        // In CTF 1.8, the names of events contain those of their facilities.
        let name = event.name().rsplit('.').next().unwrap_or_default();
        let Some(row) = ROWS.iter().find(|row| row.old == name) else { continue };
        event.identity.name = Some(row.new.into());
        event.payload = event.payload.as_ref().map(|payload| renamed(payload, row.fields));
        changed = true;
    }
    // By this entry, programs recognize traces of kernels.
    if changed && schema.env_str("domain").is_none() {
        schema.env.push(("domain".into(), EnvValue::Str("kernel".to_owned())));
    }
    changed
}

/// Returns a structure with other names of its members. A new name that the structure has
/// already, and will not lose, is left out.
fn renamed(class: &Arc<FieldClass>, names: &[(&str, &str)]) -> Arc<FieldClass> {
    let mut class = FieldClass::clone(class);
    if let FieldKind::Struct(fields) = &mut class.kind {
        let taken: Vec<Arc<str>> = fields.members.iter().map(|m| m.name.clone()).collect();
        let stays = |name: &str| {
            taken.iter().any(|n| **n == *name) && !names.iter().any(|(old, _)| *old == name)
        };
        for member in &mut fields.members {
            let new = names.iter().find(|(old, _)| *old == &*member.name).map(|(_, new)| *new);
            if let Some(new) = new.filter(|new| !stays(new)) {
                member.name = new.into();
            }
        }
    }
    Arc::new(class)
}

#[cfg(test)]
mod tests {
    use ltt_read::schema::{ByteOrder, Format, StreamClass, StreamClassId};

    use super::*;

    #[test]
    fn events_and_fields_get_the_names_of_today() {
        let int = || FieldClass::sint(32, ByteOrder::Little);
        let mut schema = Schema::new(Format::Ctf1);
        schema.stream_classes.push(StreamClass::new(0));
        let fields = FieldClass::structure([("pid", int()), ("tgid", int()), ("x", int())]);
        schema.add_event_type(StreamClassId(0), "process_state", fields);
        schema.add_event_type(StreamClassId(0), "other", FieldClass::structure([]));
        assert!(apply(&mut schema));
        assert!(!apply(&mut schema));
        let names: Vec<_> = schema.event_types.iter().map(|event| event.name()).collect();
        assert_eq!(names, ["lttng_statedump_process_state", "other"]);
        let payload = schema.event_types[0].payload.as_ref().unwrap();
        let fields: Vec<_> = payload.members().iter().map(|member| &*member.name).collect();
        assert_eq!(fields, ["tid", "pid", "x"]);
    }
}
