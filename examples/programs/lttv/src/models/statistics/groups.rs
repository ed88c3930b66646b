//! Sums of threads by group and by command.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use lttv_state::stats::{ProcessFacts, ProcessSum, TraceStatistics};

/// Returns the sums of threads with an id, by decreasing CPU time. Idle threads come last.
pub(super) fn busiest(trace: &TraceStatistics, mut sums: Vec<ProcessSum>) -> Vec<ProcessSum> {
    let facts = trace.process_facts();
    let tid = |sum: &ProcessSum| facts.get(sum.process.index()).and_then(|of| of.tid);
    sums.retain(|sum| tid(sum).is_some());
    sums.sort_by_key(|sum| (tid(sum) == Some(0), Reverse(sum.cpu_time), sum.process));
    sums
}

/// The sums of several threads. Times are in ns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    /// The commands of the threads, the busiest one first.
    pub(crate) command: String,
    pub(crate) pid: Option<i32>,
    pub(crate) threads: u64,
    pub(crate) cpu: u64,
    pub(crate) user: u64,
    pub(crate) system: u64,
    pub(crate) interrupt: u64,
    pub(crate) blocked: u64,
    pub(crate) ready: u64,
    pub(crate) read: u64,
    pub(crate) written: u64,
    pub(crate) events: u64,
}

/// Returns the sums of threads with one key, by decreasing CPU time. Idle threads are left out.
/// `threads` contains the sums of all, the [busiest] one first.
pub(crate) fn groups<K: Ord>(
    trace: &TraceStatistics,
    threads: &[ProcessSum],
    key: impl Fn(&ProcessFacts) -> Option<K>,
) -> Vec<Group> {
    let mut groups: BTreeMap<K, Group> = BTreeMap::new();
    // The first one is the busiest: its command names the group.
    for sum in threads {
        let facts = &trace.process_facts()[sum.process.index()];
        let Some(key) = key(facts).filter(|_| facts.tid != Some(0)) else { continue };
        let group = groups.entry(key).or_insert_with(|| Group {
            command: facts.name.to_string(),
            pid: facts.pid,
            ..Group::default()
        });
        group.threads += 1;
        for (total, more) in [
            (&mut group.cpu, sum.cpu_time),
            (&mut group.user, sum.user_time),
            (&mut group.system, sum.system_time),
            (&mut group.interrupt, sum.interrupt_time),
            (&mut group.blocked, facts.blocked_time),
            (&mut group.ready, facts.ready_time),
            (&mut group.read, facts.bytes_read),
            (&mut group.written, facts.bytes_written),
            (&mut group.events, sum.events),
        ] {
            *total = total.wrapping_add(more);
        }
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by_key(|group| Reverse(group.cpu));
    groups
}
