//! The views that a recording is made for, and the events that they need.

use clap::builder::PossibleValuesParser;
use lttv_common::kernel_trace::{CHART, DISK, IRQ, LATENCY, STATS, USES, Use, WAIT};
use lttv_record::{EventName, Wish};
use lttv_state::kernel::needs::Need;

/// The view of calls of functions, which programs record.
pub(super) const CALLS: &str = "calls";

/// The view of stacks.
pub(super) const FLAME: &str = "flame";

/// The views of the kernel that are recorded if none is named. Memory and network of `usage` have events so frequent
/// that they change what is measured.
const KERNEL: (&str, &[Use]) = ("kernel", &[STATS, CHART, WAIT, LATENCY, IRQ, DISK]);

/// Returns the parser of the names of views.
pub(super) fn parser() -> PossibleValuesParser {
    let commands = USES.iter().map(|of| of.command);
    PossibleValuesParser::new([KERNEL.0].into_iter().chain(commands).chain([CALLS, FLAME]))
}

/// Returns the commands of the views with these names, each once.
pub(super) fn uses(names: &[String]) -> Vec<&'static Use> {
    let mut uses: Vec<&Use> = Vec::new();
    for name in names {
        let of = match name == KERNEL.0 {
            true => KERNEL.1.iter(),
            false => USES.iter(),
        };
        for of in of.filter(|of| *name == KERNEL.0 || of.command == name) {
            if !uses.iter().any(|known| known.command == of.command) {
                uses.push(of);
            }
        }
    }
    uses
}

/// Returns the events that commands need or can use.
pub(super) fn wishes(uses: &[&Use]) -> Vec<Wish> {
    let mut wishes = Vec::new();
    for need in uses.iter().flat_map(|of| of.needs) {
        let wish = wish(need);
        if !wishes.contains(&wish) {
            wishes.push(wish);
        }
    }
    wishes
}

fn wish(need: &Need) -> Wish {
    let name =
        |name: &'static str| EventName { lttng: name.to_owned(), kernel: need.kernel_names(name) };
    Wish {
        names: need.names().into_iter().map(name).collect(),
        is_any: need.is_any(),
        is_required: need.is_required,
        consequence: need.consequence.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lttv_common::kernel_trace::USAGE;
    use lttv_record::Choice;

    use super::*;

    /// The events of a kernel that these tests know.
    const AVAILABLE: &[&str] = &[
        "block:block_rq_complete",
        "block:block_rq_insert",
        "block:block_rq_issue",
        "irq:irq_handler_entry",
        "irq:irq_handler_exit",
        "irq:softirq_entry",
        "irq:softirq_exit",
        "irq:softirq_raise",
        "kmem:mm_page_alloc",
        "net:net_dev_queue",
        "net:net_dev_xmit",
        "net:netif_receive_skb",
        "power:cpu_frequency",
        "raw_syscalls:sys_enter",
        "raw_syscalls:sys_exit",
        "sched:sched_migrate_task",
        "sched:sched_process_fork",
        "sched:sched_switch",
        "sched:sched_waking",
        "sched:sched_wakeup",
        "sched:sched_wakeup_new",
        "syscalls:sys_enter_read",
        "syscalls:sys_exit_read",
        "tcp:tcp_retransmit_skb",
        "timer:hrtimer_expire_entry",
        "timer:hrtimer_expire_exit",
    ];

    fn chosen(uses: &[&Use]) -> (Vec<String>, usize) {
        let available: BTreeSet<String> = AVAILABLE.iter().map(|name| (*name).to_owned()).collect();
        let choice = Choice::of_kernel(&wishes(uses), &available);
        (choice.events.into_iter().collect(), choice.missing.len())
    }

    #[test]
    fn each_command_finds_its_events_in_the_kernel() {
        for of in &USES {
            let (events, missing) = chosen(&[of]);
            assert_eq!(missing, 0, "{}", of.command);
            assert!(!events.is_empty(), "{}", of.command);
        }
        let usage = [
            "kmem:mm_page_alloc",
            "net:net_dev_xmit",
            "net:netif_receive_skb",
            "power:cpu_frequency",
            "sched:sched_migrate_task",
            "sched:sched_switch",
            "tcp:tcp_retransmit_skb",
        ];
        assert_eq!(chosen(&[&USAGE]).0, usage);
        let disk = ["block:block_rq_complete", "block:block_rq_issue", "sched:sched_switch"];
        assert_eq!(chosen(&[&DISK]).0, disk);
    }

    #[test]
    fn the_kernel_is_most_commands() {
        let all = uses(&["kernel".to_owned(), "disk".to_owned(), "usage".to_owned()]);
        let names: Vec<&str> = all.iter().map(|of| of.command).collect();
        assert_eq!(names, ["stats", "chart", "wait", "latency", "irq", "disk", "usage"]);
        let (events, _) = chosen(&uses(&["kernel".to_owned()]));
        let has = |name: &str| events.iter().any(|of| of == name);
        assert!(has("raw_syscalls:sys_enter") && !has("syscalls:sys_enter_read"), "{events:?}");
        assert!(has("sched:sched_waking") && !has("sched:sched_wakeup"), "{events:?}");
        assert!(!has("kmem:mm_page_alloc"), "{events:?}");
    }
}
