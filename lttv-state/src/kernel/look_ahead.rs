//! Who ran on each CPU when the trace began: its first switch tells.

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
pub(super) fn look_ahead(trace: &Arc<Trace>, rules: &[Option<Rule>]) -> Vec<First> {
    let mut first: Vec<First> = Vec::new();
    for number in 0..trace.tracefiles().len() {
        let tracefile = &trace.tracefiles()[number];
        let may_switch = |(at, rule): (usize, &Option<Rule>)| {
            let is_here = tracefile
                .stream_class()
                .is_none_or(|class| trace.schema().event_types[at].stream == class);
            is_here && rule.as_ref().is_some_and(|rule| rule.transition == Transition::Switch)
        };
        if rules.iter().enumerate().any(may_switch) {
            first.extend(first_of(trace, number, rules));
        }
    }
    first.sort_by_key(|first| (first.cpu, first.time));
    first.dedup_by_key(|first| first.cpu);
    first
}

fn first_of(trace: &Arc<Trace>, number: usize, rules: &[Option<Rule>]) -> Vec<First> {
    let mut cursor = trace.cursor(number);
    let mut packet = PacketSeen::none(trace.tracefiles()[number].cpu().unwrap_or(0));
    let mut found: Vec<First> = Vec::new();
    for _ in 0..MAX_EVENTS {
        let Ok(Some(event)) = cursor.next() else { break };
        let Some(rule) = rules.get(event.type_id().index()).and_then(Option::as_ref) else {
            continue;
        };
        let (cpu, gap) = packet.enter(rule, &event);
        if gap {
            break;
        }
        if rule.transition != Transition::Switch || found.iter().any(|first| first.cpu == cpu) {
            continue;
        }
        let Some(tid) = rule.tid(&event, 0) else { continue };
        let name = rule.text(&event, 3).unwrap_or_default().to_vec();
        let time = event.timestamp().map_or(i64::MIN, |time| time.ns());
        found.push(First { cpu, tid, name, time });
        // One that tells its CPU in each event may have those of others.
        if !matches!(rule.cpu, super::rule::CpuField::Event(_)) {
            break;
        }
    }
    found
}
