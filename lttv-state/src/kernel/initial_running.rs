//! The processes that run when a trace starts, found in the first switch of each CPU.

use std::collections::HashSet;
use std::sync::Arc;

use ltt_read::{Trace, TracefileIndex};

use super::packets::PacketTracker;
use super::rule::Rule;
use super::transition::Transition;

/// The maximum number of events that are read from a tracefile.
const MAX_EVENTS: u64 = 1 << 20;

/// A process that ran on a CPU when the trace started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InitialProcess {
    pub(super) cpu: u32,
    pub(super) tid: i32,
    pub(super) name: Vec<u8>,
    time: i64,
}

/// Finds the processes that ran on the CPUs when a trace started: those that are switched
/// out first, if no events were lost before. `cpus` are the CPUs of the first events of the
/// tracefiles.
pub(super) fn initial_running(
    trace: &Arc<Trace>,
    rules: &[Option<Arc<Rule>>],
    cpus: &[Option<u32>],
) -> Vec<InitialProcess> {
    let mut first: Vec<InitialProcess> = Vec::new();
    for number in 0..trace.tracefiles().len() {
        if may_contain(trace, number, rules, Transition::Switch) {
            let cpu = cpus.get(number).copied().flatten();
            first.extend(initial_running_of_tracefile(trace, number, rules, cpu.unwrap_or(0)));
        }
    }
    first.sort_by_key(|first| (first.cpu, first.time));
    first.dedup_by_key(|first| first.cpu);
    // In a snapshot, the events of one CPU may start long after those of others: the
    // process that ran there at that time may have been forked after the start of the
    // trace.
    let Some(last) = first.iter().map(|first| first.time).max() else { return first };
    for number in 0..trace.tracefiles().len() {
        if may_contain(trace, number, rules, Transition::Fork) {
            for_each_fork(trace, number, rules, last, |tid, time| {
                first.retain(|first| first.tid != tid || first.time < time);
            });
        }
    }
    first
}

/// Returns `true` if a tracefile may contain events of a transition.
fn may_contain(
    trace: &Trace,
    number: usize,
    rules: &[Option<Arc<Rule>>],
    transition: Transition,
) -> bool {
    let class = trace.tracefiles()[number].stream_class();
    let types = trace.schema().event_types.iter().zip(rules);
    types.into_iter().any(|(event_type, rule)| {
        class.is_none_or(|class| event_type.stream == class)
            && rule.as_ref().is_some_and(|rule| rule.transition == transition)
    })
}

/// Calls a function with the id and the time of each process fork in a tracefile, up to the
/// time `last`.
fn for_each_fork(
    trace: &Arc<Trace>,
    number: usize,
    rules: &[Option<Arc<Rule>>],
    last: i64,
    mut call: impl FnMut(i32, i64),
) {
    let mut cursor = trace.cursor(TracefileIndex(number));
    for _ in 0..MAX_EVENTS {
        let Ok(Some(event)) = cursor.next() else { return };
        let time = event.timestamp().map_or(i64::MIN, |time| time.as_ns());
        if time > last {
            return;
        }
        let rule = rules.get(event.type_id().index()).and_then(Option::as_deref);
        // Records without a time tell of threads that were there before.
        let is_fork = |rule: &&Rule| {
            rule.transition == Transition::Fork && !(rule.is_record && event.timestamp().is_none())
        };
        if let Some(rule) = rule.filter(is_fork)
            && let Some(tid) = rule.tid(&event, 0)
        {
            call(tid, time);
        }
    }
}

/// Finds the processes that a tracefile's first switches switch out, one for each CPU.
fn initial_running_of_tracefile(
    trace: &Arc<Trace>,
    number: usize,
    rules: &[Option<Arc<Rule>>],
    cpu: u32,
) -> Vec<InitialProcess> {
    let mut cursor = trace.cursor(TracefileIndex(number));
    let mut packet = PacketTracker::new(cpu);
    let mut found: Vec<InitialProcess> = Vec::new();
    let mut cpus = HashSet::new();
    for _ in 0..MAX_EVENTS {
        let Ok(Some(event)) = cursor.next() else { break };
        let Some(rule) = rules.get(event.type_id().index()).and_then(Option::as_deref) else {
            continue;
        };
        let gap = packet.advance(rule, &event);
        let cpu = packet.cpu();
        if gap {
            break;
        }
        if rule.transition != Transition::Switch || cpus.contains(&cpu) {
            continue;
        }
        let Some(tid) = rule.tid(&event, 0) else { continue };
        let name = rule.text(&event, 3).unwrap_or_default().to_vec();
        let time = event.timestamp().map_or(i64::MIN, |time| time.as_ns());
        cpus.insert(cpu);
        found.push(InitialProcess { cpu, tid, name, time });
        // A tracefile whose events contain their CPU number may have events of several
        // CPUs.
        if !matches!(rule.cpu, super::rule::CpuField::Event(_)) {
            break;
        }
    }
    found
}
