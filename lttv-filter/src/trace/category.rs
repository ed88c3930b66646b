//! Categories of events: the provider, channel, facility or subsystem that they belong to.

use ltt_read::Trace;
use ltt_read::schema::{EventType, EventTypeId, Format, Schema};

/// The subsystems of lttng-modules: the `TRACE_SYSTEM` of each of its headers of events. The
/// trace does not contain it, but the names of these events start with it. The first entry
/// that fits a name decides, so longer ones precede their prefixes.
const SUBSYSTEMS: [&str; 50] = [
    "9p",
    "asoc",
    "block",
    "btrfs",
    "compaction",
    "dma_fence",
    "ext3",
    "ext4",
    "gpio",
    "i2c",
    "irq",
    "jbd",
    "jbd2",
    "kmem",
    "kvm_mmu",
    "kvm_x86",
    "kvm",
    "lock",
    "lttng_statedump",
    "lttng_test",
    "lttng",
    "mm_vmscan",
    "module",
    "napi",
    "net",
    "oom",
    "power",
    "preemptirq",
    "printk",
    "random",
    "rcu",
    "regmap",
    "regulator",
    "rpc",
    "rpm",
    "sched",
    "scsi",
    "signal",
    "skb",
    "sock",
    "sunrpc",
    "syscall",
    "timer",
    "udp",
    "v4l2",
    "vmscan",
    "workqueue",
    "writeback",
    "x86_exceptions",
    "x86_irq_vectors",
];

/// Other starts of names: system calls of 32-bit programs, and the kernel's own names, which
/// lttng-modules used before version 2.5.
const OTHER_STARTS: [(&str, &str); 27] = [
    ("compat_syscall_", "syscall"),
    ("compat_sys_", "syscall"),
    ("sys_", "syscall"),
    ("exit_syscall", "syscall"),
    ("softirq_", "irq"),
    ("tasklet_", "irq"),
    ("hrtimer_", "timer"),
    ("itimer_", "timer"),
    ("kmalloc", "kmem"),
    ("kfree_skb", "skb"),
    ("consume_skb", "skb"),
    ("kfree", "kmem"),
    ("mm_page_", "kmem"),
    ("mm_shrink_slab_", "mm_vmscan"),
    ("mm_compaction_", "compaction"),
    ("netif_", "net"),
    ("cpu_idle", "power"),
    ("cpu_frequency", "power"),
    ("machine_suspend", "power"),
    ("console", "printk"),
    ("wbc_", "writeback"),
    ("balance_dirty_pages", "writeback"),
    ("bdi_dirty_ratelimit", "writeback"),
    ("global_dirty_state", "writeback"),
    ("snd_soc_", "asoc"),
    ("irq_vectors_", "x86_irq_vectors"),
    ("page_fault_", "x86_exceptions"),
];

/// The channels of the events of a type.
pub(super) enum Channels<'t> {
    /// No tracefile has such events.
    None,
    /// All events are in channels of this name, or of this facility.
    One(&'t str),
    /// The events are in several channels. The tracefile decides.
    Several,
}

/// Returns the channel of the events of a type, or else their facility: the name before the
/// point in the lines that LTTV prints.
pub(super) fn channels(trace: &Trace, id: EventTypeId) -> Channels<'_> {
    let (schema, event_type) = (trace.schema(), &trace.schema().event_types[id.index()]);
    if schema.format == Format::Legacy {
        let channel = schema.stream_of(id).identity.name.as_deref();
        let prefix = channel.or(event_type.identity.namespace.as_deref());
        return prefix.map_or(Channels::None, Channels::One);
    }
    let mut names = trace.tracefiles().iter().filter(|tracefile| is_in(tracefile, event_type));
    let Some(first) = names.next() else { return Channels::None };
    match names.all(|tracefile| tracefile.channel() == first.channel()) {
        true => Channels::One(first.channel()),
        false => Channels::Several,
    }
}

/// Returns `true` if a tracefile can have events of a type.
pub(super) fn is_in(tracefile: &ltt_read::Tracefile, event_type: &EventType) -> bool {
    tracefile.stream_class().is_none_or(|class| class == event_type.stream)
}

/// Returns the category of the events of a type, as far as their name decides it: the
/// provider before the first `:`, or the subsystem of an event of the kernel. Otherwise it is
/// the channel.
pub(super) fn in_name<'t>(schema: &'t Schema, event_type: &'t EventType) -> Option<&'t str> {
    if schema.format == Format::Legacy {
        return None;
    }
    let name = event_type.name();
    if let Some((provider, _)) = name.split_once(':') {
        return Some(provider);
    }
    let is_kernel = schema.env_str("domain") == Some("kernel")
        || schema.env_str("tracer_name") == Some("lttng-modules");
    is_kernel.then(|| subsystem(name)).flatten()
}

/// Returns the subsystem of an event of lttng-modules.
fn subsystem(name: &str) -> Option<&'static str> {
    let starts = |of: &&&str| {
        let rest = name.strip_prefix(**of);
        rest.is_some_and(|rest| rest.starts_with('_'))
    };
    let other = || OTHER_STARTS.iter().find(|(start, _)| name.starts_with(start));
    let known = SUBSYSTEMS.iter().find(starts).copied();
    known.or_else(|| other().map(|(_, subsystem)| *subsystem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsystems_of_kernel_events() {
        for (name, expected) in [
            ("sched_switch", "sched"),
            ("irq_softirq_entry", "irq"),
            ("timer_hrtimer_start", "timer"),
            ("block_rq_issue", "block"),
            ("kmem_mm_page_alloc", "kmem"),
            ("net_dev_xmit", "net"),
            ("jbd2_commit_logging", "jbd2"),
            ("jbd_checkpoint", "jbd"),
            ("kvm_mmu_get_page", "kvm_mmu"),
            ("kvm_exit", "kvm"),
            ("x86_irq_vectors_local_timer_entry", "x86_irq_vectors"),
            ("x86_exceptions_page_fault_user", "x86_exceptions"),
            ("lttng_statedump_process_state", "lttng_statedump"),
            ("lttng_logger", "lttng"),
            ("mm_vmscan_kswapd_sleep", "mm_vmscan"),
            ("syscall_entry_read", "syscall"),
            ("compat_syscall_exit_read", "syscall"),
            ("sys_read", "syscall"),
            ("exit_syscall", "syscall"),
            ("softirq_raise", "irq"),
            ("kfree_skb", "skb"),
            ("kfree", "kmem"),
        ] {
            assert_eq!(subsystem(name), Some(expected), "{name}");
        }
        // Such a name is from a probe that a user added.
        for name in ["schedule", "my_probe", "", "sched", "_sched_switch"] {
            assert_eq!(subsystem(name), None, "{name}");
        }
    }

    #[test]
    fn longer_subsystems_precede_their_prefixes() {
        for (at, subsystem) in SUBSYSTEMS.iter().enumerate() {
            for later in &SUBSYSTEMS[at + 1..] {
                assert!(!later.starts_with(&format!("{subsystem}_")), "{subsystem} {later}");
            }
        }
        for (at, (start, _)) in OTHER_STARTS.iter().enumerate() {
            assert!(OTHER_STARTS[at + 1..].iter().all(|(later, _)| !later.starts_with(start)));
        }
    }
}
