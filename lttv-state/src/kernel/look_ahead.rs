//! Who ran on each CPU when the trace began: its first switch tells.

use std::collections::HashSet;
use std::sync::Arc;

use ltt_read::Trace;

use super::packets::PacketSeen;
use super::rule::Rule;
use super::transition::Transition;

/// So many events of a tracefile are looked at.
const MAX_EVENTS: u64 = 1 << 20;

/// A process that ran when the trace began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct First {
    pub(super) cpu: u32,
    pub(super) tid: i32,
    pub(super) name: Vec<u8>,
    time: i64,
}

/// The processes that ran on CPUs when a trace began, as far as switches tell
/// before events were lost.
/// `cpus` are those of the first events of its tracefiles.
pub(super) fn look_ahead(
    trace: &Arc<Trace>,
    rules: &[Option<Rule>],
    cpus: &[Option<u32>],
) -> Vec<First> {
    let mut first: Vec<First> = Vec::new();
    for number in 0..trace.tracefiles().len() {
        if may_have(trace, number, rules, Transition::Switch) {
            let cpu = cpus.get(number).copied().flatten();
            first.extend(first_of(trace, number, rules, cpu.unwrap_or(0)));
        }
    }
    first.sort_by_key(|first| (first.cpu, first.time));
    first.dedup_by_key(|first| first.cpu);
    // In a snapshot the events of a CPU may begin long after those of others: who ran
    // there then need not have lived at the begin.
    let Some(last) = first.iter().map(|first| first.time).max() else { return first };
    for number in 0..trace.tracefiles().len() {
        if may_have(trace, number, rules, Transition::Fork) {
            each_birth(trace, number, rules, last, |tid, time| {
                first.retain(|first| first.tid != tid || first.time < time);
            });
        }
    }
    first
}

/// Whether events of a tracefile may be such.
fn may_have(trace: &Trace, number: usize, rules: &[Option<Rule>], transition: Transition) -> bool {
    let class = trace.tracefiles()[number].stream_class();
    let types = trace.schema().event_types.iter().zip(rules);
    types.into_iter().any(|(event_type, rule)| {
        class.is_none_or(|class| event_type.stream == class)
            && rule.as_ref().is_some_and(|rule| rule.transition == transition)
    })
}

/// Calls for each process that a tracefile tells the birth of, up to a time.
fn each_birth(
    trace: &Arc<Trace>,
    number: usize,
    rules: &[Option<Rule>],
    last: i64,
    mut call: impl FnMut(i32, i64),
) {
    let mut cursor = trace.cursor(number);
    for _ in 0..MAX_EVENTS {
        let Ok(Some(event)) = cursor.next() else { return };
        let time = event.timestamp().map_or(i64::MIN, |time| time.ns());
        if time > last {
            return;
        }
        let rule = rules.get(event.type_id().index()).and_then(Option::as_ref);
        if let Some(rule) = rule.filter(|rule| rule.transition == Transition::Fork)
            && let Some(tid) = rule.tid(&event, 0)
        {
            call(tid, time);
        }
    }
}

fn first_of(trace: &Arc<Trace>, number: usize, rules: &[Option<Rule>], cpu: u32) -> Vec<First> {
    let mut cursor = trace.cursor(number);
    let mut packet = PacketSeen::none(cpu);
    let mut found: Vec<First> = Vec::new();
    let mut cpus = HashSet::new();
    for _ in 0..MAX_EVENTS {
        let Ok(Some(event)) = cursor.next() else { break };
        let Some(rule) = rules.get(event.type_id().index()).and_then(Option::as_ref) else {
            continue;
        };
        let (cpu, gap) = packet.enter(rule, &event);
        if gap {
            break;
        }
        if rule.transition != Transition::Switch || cpus.contains(&cpu) {
            continue;
        }
        let Some(tid) = rule.tid(&event, 0) else { continue };
        let name = rule.text(&event, 3).unwrap_or_default().to_vec();
        let time = event.timestamp().map_or(i64::MIN, |time| time.ns());
        cpus.insert(cpu);
        found.push(First { cpu, tid, name, time });
        // One that tells its CPU in each event may have those of others.
        if !matches!(rule.cpu, super::rule::CpuField::Event(_)) {
            break;
        }
    }
    found
}
