//! The state of a machine before the first event of its trace.

use std::sync::Arc;

use ltt_read::{Trace, TracefileIndex};

use super::cpu::MAX_CPUS;
use super::initial_running::{InitialProcess, initial_running};
use super::initial_threads::known_threads;
use super::known_threads::KnownThreads;
use super::machine::TraceState;
use super::packets::PacketTracker;
use super::rule::{Rule, cpu_field};
use super::syscall_names::SyscallNames;
use super::transition::Transition;

/// The state before the first event.
#[derive(Debug)]
pub(super) struct Initial {
    begin: i64,
    pub(super) names: Arc<super::Names>,
    cpus: Vec<u32>,
    running: Vec<InitialProcess>,
    has_switches: bool,
    tells_ends_of_forks: bool,
    /// The names of system calls, if the machine is known.
    known_calls: Option<&'static SyscallNames>,
    known_threads: Arc<KnownThreads>,
    /// The maximum number of processes that the trace can mention.
    #[cfg_attr(not(feature = "checkpoint-files"), expect(dead_code))]
    pub(super) processes: u64,
}

/// The first time and the CPUs of a trace, from the first events of its tracefiles.
#[derive(Debug)]
struct TraceStart {
    /// The time of the earliest first event, in ns.
    begin: i64,
    /// The CPU number of each tracefile: from its first event, or else from its name.
    cpus: Vec<Option<u32>>,
}

impl TraceStart {
    fn of(trace: &Arc<Trace>) -> Self {
        let mut begin: Option<i64> = None;
        let cpus = (0..trace.tracefiles().len()).map(|number| {
            let (cpu, time) = first_of(trace, TracefileIndex(number));
            begin = begin.into_iter().chain(time).min();
            cpu
        });
        let cpus = cpus.collect();
        TraceStart { begin: begin.unwrap_or(0), cpus }
    }
}

/// Finds the CPU number of a tracefile, from its first event or else from its name, and the time of
/// that event in ns.
pub(super) fn first_of(
    trace: &Arc<Trace>,
    tracefile: TracefileIndex,
) -> (Option<u32>, Option<i64>) {
    let named = trace.tracefile(tracefile).cpu();
    let mut cursor = trace.cursor(tracefile);
    let Ok(Some(event)) = cursor.next() else { return (named, None) };
    let field = cpu_field(trace, event.type_id());
    let cpu = PacketTracker::new(0).other_cpu(&field, &event).or(named);
    (cpu, event.timestamp().map(|time| time.as_ns()))
}

/// Returns the maximum number of processes that a trace can mention: each byte mentions one
/// at most, and each CPU has two.
fn max_processes(trace: &Trace) -> u64 {
    let bytes: u64 = trace.tracefiles().iter().map(|tracefile| tracefile.size()).sum();
    bytes.saturating_add(2 * MAX_CPUS as u64)
}

impl Initial {
    /// Determines the state before the first event of a trace. With `looks_ahead`, the process that
    /// runs on each CPU is that of its first switch, unless an earlier event tells otherwise.
    pub(super) fn of(
        trace: &Arc<Trace>,
        rules: &[Option<Arc<Rule>>],
        names: Arc<super::Names>,
        looks_ahead: bool,
    ) -> Initial {
        let start = TraceStart::of(trace);
        let is_kernel = rules.iter().flatten().next().is_some();
        let mut cpus: Vec<u32> = start.cpus.iter().copied().flatten().collect();
        cpus.sort_unstable();
        cpus.dedup();
        let running = match looks_ahead {
            true => initial_running(trace, rules, &start.cpus),
            false => Vec::new(),
        };
        Initial {
            begin: start.begin,
            names,
            cpus: if is_kernel { cpus } else { Vec::new() },
            running,
            has_switches: rules.iter().flatten().any(|of| of.transition == Transition::Switch),
            tells_ends_of_forks: rules.iter().flatten().any(|of| of.ends_forks),
            known_calls: trace.schema().env_str("machine").and_then(SyscallNames::of),
            known_threads: Arc::new(known_threads(trace, rules)),
            processes: max_processes(trace),
        }
    }

    /// Returns the numbers of the CPUs on which it is known which process runs, with the numbers of these processes.
    #[cfg(feature = "analyses")]
    pub(super) fn ran_first(&self) -> Vec<(u32, super::Tid)> {
        self.running.iter().map(|first| (first.cpu, first.tid)).collect()
    }

    /// Returns the state.
    pub(super) fn state(&self) -> TraceState {
        let mut state = TraceState::new(self.begin);
        state.names = self.names.clone();
        state.known_calls = self.known_calls;
        state.known_threads = self.known_threads.clone();
        state.has_switches = self.has_switches;
        state.tells_ends_of_forks = self.tells_ends_of_forks;
        for cpu in &self.cpus {
            state.add_cpu(*cpu);
        }
        for first in &self.running {
            state.set_initial_running(first.cpu, first.tid, &first.name);
        }
        state
    }
}
