//! The choice of the events to record, of those that a machine has.

use std::collections::BTreeSet;

/// Events that an analysis needs or can use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// The events.
    pub names: Vec<EventName>,
    /// `true` if one of the events suffices.
    pub is_any: bool,
    /// `true` if there are no results without the events.
    pub is_required: bool,
    /// The consequence for the results if the events are missing.
    pub consequence: String,
}

/// The names of events of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventName {
    /// The name in LTTng 2, in which `*` stands for any text.
    pub lttng: String,
    /// Patterns of the names in ftrace and perf, `SYSTEM:NAME`. The first one of which a machine has events suffices.
    pub kernel: Vec<String>,
}

/// Events that were wished, and that a machine does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The names in LTTng 2.
    pub events: String,
    /// The consequence for the results.
    pub consequence: String,
    /// `true` if there are no results without the events.
    pub is_required: bool,
}

/// The events to record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Choice {
    /// The names that the tracer uses.
    pub events: BTreeSet<String>,
    /// The events that the tracer does not have.
    pub missing: Vec<Missing>,
}

impl Choice {
    /// Chooses events of ftrace or perf, given all that the kernel has as `SYSTEM:NAME`. What only LTTng can record is
    /// not missing.
    pub fn of_kernel(wishes: &[Wish], available: &BTreeSet<String>) -> Choice {
        Choice::of(wishes, |name| {
            let is_event = |pattern: &&String| {
                !pattern.starts_with("ftrace:") && !pattern.starts_with("perf:")
            };
            let mut patterns = name.kernel.iter().filter(is_event).peekable();
            patterns.peek()?;
            let found = patterns.map(|pattern| matching(pattern, available));
            Some(found.into_iter().find(|found| !found.is_empty()).unwrap_or_default())
        })
    }

    /// Chooses events of LTTng, given all that its kernel tracer has. System calls are not among them, and the state
    /// dump is always recorded.
    pub fn of_lttng(wishes: &[Wish], available: &BTreeSet<String>) -> Choice {
        Choice::of(wishes, |name| {
            let name = &name.lttng;
            let is_other = name.contains(':') || name.starts_with("lttng_statedump_");
            if is_other || is_syscall(name) {
                return is_syscall(name).then(|| vec![name.clone()]);
            }
            Some(matching(name, available))
        })
    }

    /// Chooses the events that `resolve` finds for a name; it returns `None` if the tracer never has such events.
    fn of(wishes: &[Wish], resolve: impl Fn(&EventName) -> Option<Vec<String>>) -> Choice {
        let mut choice = Choice::default();
        for wish in wishes {
            let found: Vec<_> =
                wish.names.iter().filter_map(|name| Some((name, resolve(name)?))).collect();
            let lacks: Vec<&str> = found
                .iter()
                .filter(|(_, events)| events.is_empty())
                .map(|(name, _)| name.lttng.as_str())
                .collect();
            let is_met = match wish.is_any {
                true => found.is_empty() || lacks.len() < found.len(),
                false => lacks.is_empty(),
            };
            let missing = Missing {
                events: lacks.join(", "),
                consequence: wish.consequence.clone(),
                is_required: wish.is_required,
            };
            if !is_met && !choice.missing.contains(&missing) {
                choice.missing.push(missing);
            }
            choice.events.extend(found.into_iter().flat_map(|(_, events)| events));
        }
        choice
    }
}

/// Returns `true` for the names of system calls in LTTng.
pub(crate) fn is_syscall(name: &str) -> bool {
    name.starts_with("syscall_entry_") || name.starts_with("syscall_exit_")
}

/// Returns the names that match a pattern with at most one `*` in each of its parts.
fn matching(pattern: &str, available: &BTreeSet<String>) -> Vec<String> {
    if !pattern.contains('*') {
        return available.get(pattern).cloned().into_iter().collect();
    }
    available.iter().filter(|name| matches(pattern, name)).cloned().collect()
}

/// Returns `true` if a name matches a pattern, in which `*` stands for any text.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len())
                .filter(|at| rest.is_char_boundary(*at))
                .any(|at| matches(after, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(names: &[(&str, &[&str])], is_any: bool) -> Wish {
        let name = |(lttng, kernel): &(&str, &[&str])| EventName {
            lttng: (*lttng).to_owned(),
            kernel: kernel.iter().map(|of| (*of).to_owned()).collect(),
        };
        let names = names.iter().map(name).collect();
        Wish { names, is_any, is_required: false, consequence: "less is known".to_owned() }
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn the_first_pattern_with_events_is_chosen() {
        let calls = wish(
            &[("syscall_entry_*", &["raw_syscalls:sys_enter", "syscalls:sys_enter_*"])],
            false,
        );
        let raw = set(&["raw_syscalls:sys_enter", "syscalls:sys_enter_read"]);
        let choice = Choice::of_kernel(std::slice::from_ref(&calls), &raw);
        assert_eq!(choice.events, set(&["raw_syscalls:sys_enter"]));
        let each = set(&[
            "syscalls:sys_enter_read",
            "syscalls:sys_enter_write",
            "syscalls:sys_exit_write",
        ]);
        let choice = Choice::of_kernel(&[calls], &each);
        assert_eq!(choice.events, set(&["syscalls:sys_enter_read", "syscalls:sys_enter_write"]));
        let any_system = wish(
            &[("net_if_receive_skb", &["*:net_if_receive_skb", "*:netif_receive_skb"])],
            false,
        );
        let choice = Choice::of_kernel(&[any_system], &set(&["net:netif_receive_skb"]));
        assert_eq!(choice.events, set(&["net:netif_receive_skb"]));
    }

    #[test]
    fn missing_events_are_told_with_the_consequence() {
        let both = wish(&[("a_entry", &["s:a_entry"]), ("a_exit", &["s:a_exit"])], false);
        let any = Wish { is_any: true, ..both.clone() };
        let only_lttng = wish(&[("lttng_statedump_process_state", &[])], false);
        let choice = Choice::of_kernel(&[both, any, only_lttng.clone()], &set(&["s:a_entry"]));
        assert_eq!(choice.events, set(&["s:a_entry"]));
        let names: Vec<&str> = choice.missing.iter().map(|of| of.events.as_str()).collect();
        assert_eq!(names, ["a_exit"]);
        assert_eq!(Choice::of_lttng(&[only_lttng], &set(&[])), Choice::default());
    }

    #[test]
    fn lttng_has_system_calls_and_patterns() {
        let wishes =
            [wish(&[("syscall_exit_*", &[]), ("irq_softirq_*", &[]), ("ftrace:print", &[])], true)];
        let choice = Choice::of_lttng(&wishes, &set(&["irq_softirq_entry", "sched_switch"]));
        assert_eq!(choice.events, set(&["irq_softirq_entry", "syscall_exit_*"]));
    }
}
