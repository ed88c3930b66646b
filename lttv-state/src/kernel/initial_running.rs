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
    // The events of one CPU may start long after those of others, as in a snapshot: the process that ran
    // there at that time may have been forked after the start of the trace, or have run on another CPU.
    let Some(last) = first.iter().map(|first| first.time).max() else { return first };
    for number in 0..trace.tracefiles().len() {
        let tells = [Transition::Fork, Transition::Switch];
        if tells.into_iter().any(|transition| may_contain(trace, number, rules, transition)) {
            for_each_witness(trace, number, rules, last, |witness| {
                first.retain(|first| !witness.contradicts(first));
            });
        }
    }
    first
}

/// Evidence of an event that a process did not run somewhere before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Witness {
    /// The process was forked, so that it did not exist before.
    Forked { tid: i32, time: i64 },
    /// The process was on a CPU, so that it was on no other one until then.
    OnCpu { tid: i32, time: i64 },
}

impl Witness {
    /// Returns `true` if a process cannot have run on its CPU from the start of the trace.
    fn contradicts(self, first: &InitialProcess) -> bool {
        match self {
            Witness::Forked { tid, time } => first.tid == tid && time <= first.time,
            // Before its first switch nothing is known of the CPU itself. Each CPU has an idle process.
            Witness::OnCpu { tid, time } => first.tid == tid && tid != 0 && time < first.time,
        }
    }
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

/// Calls a function with what the forks and switches of a tracefile tell, up to the time `last`.
fn for_each_witness(
    trace: &Arc<Trace>,
    number: usize,
    rules: &[Option<Arc<Rule>>],
    last: i64,
    mut call: impl FnMut(Witness),
) {
    let mut cursor = trace.cursor(TracefileIndex(number));
    for _ in 0..MAX_EVENTS {
        let Ok(Some(event)) = cursor.next() else { return };
        let time = event.timestamp().map_or(i64::MIN, |time| time.as_ns());
        if time > last {
            return;
        }
        let rule = rules.get(event.type_id().index()).and_then(Option::as_deref);
        let Some(rule) = rule else { continue };
        match rule.transition {
            // Records without a time tell of threads that were there before.
            Transition::Fork if rule.is_record && event.timestamp().is_none() => {}
            Transition::Fork => {
                rule.tid(&event, 0).into_iter().for_each(|tid| call(Witness::Forked { tid, time }));
            }
            Transition::Switch => {
                let both = [rule.tid(&event, 0), rule.tid(&event, 1)];
                both.into_iter().flatten().for_each(|tid| call(Witness::OnCpu { tid, time }));
            }
            _ => {}
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
    // Events were lost after the packet.
    let mut is_lost = false;
    for _ in 0..MAX_EVENTS {
        let Ok(Some(event)) = cursor.next() else { break };
        let Some(rule) = rules.get(event.type_id().index()).and_then(Option::as_deref) else {
            continue;
        };
        let entered = packet.advance(rule, &event);
        let cpu = packet.cpu();
        if let Some(entered) = entered {
            if entered.gap || is_lost {
                break;
            }
            is_lost = entered.loss_after.is_some();
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
