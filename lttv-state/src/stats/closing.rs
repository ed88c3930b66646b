//! Frames and waits open at the end of statistics, which count up to there.

use hashbrown::HashMap;
use ltt_read::Timestamp;

use super::border::Border;
use super::collect::facts;
use super::facts::ProcessFacts;
use super::leaf::{Counts, LeafKey, Leaves};
use super::ledger::Ledger;
use crate::fast_hash::FastHash;
use crate::kernel::{ExecutionMode, Process, ProcessIndex, TraceState};

/// Adds the time of frames and waits that are still open at a time, in ns. `leaves` are those
/// of the ledger, to which further ones are added.
pub(super) fn close(
    ledger: &Ledger,
    (state, time): (&TraceState, i64),
    border: &Border,
    leaves: &mut Vec<(LeafKey, Counts)>,
    processes: &mut Vec<ProcessFacts>,
) {
    // Leaves without any counts so far. They are found by key, the others in the
    // ledger.
    let mut new = Leaves::default();
    let first = state.cpus().next().map_or(0, |(number, _)| number);
    let open_waits = OpenWaits::at(state, time);
    for (ix, process) in state.processes() {
        // Events may name CPUs that are not in the state.
        let known = process.cpu().and_then(|cpu| state.cpu(cpu));
        let cpu = known.map_or(first, |known| known.number());
        let runs = state.has_switches() && known.is_some_and(|cpu| cpu.running() == ix);
        for open in open_frames(process, runs, time).filter(OpenFrame::is_known) {
            let key =
                LeafKey { mode: open.mode, submode: open.submode, ..LeafKey::of(process, cpu) };
            let counts = match ledger.get(&key) {
                Some(leaf) => &mut leaves[leaf.index()].1,
                None => new.at(key),
            };
            let (elapsed, cpu_time) = border.within(process, &open, time);
            counts.open_time = counts.open_time.wrapping_add(elapsed);
            counts.cumulative_cpu_time = counts.cumulative_cpu_time.wrapping_add(cpu_time);
        }
        let (blocked, ready) = border.wait_within(process, open_waits.of(ix, process));
        if (blocked, ready) == (0, 0) {
            continue;
        }
        let facts = facts(processes, process.serial().index());
        facts.blocked_time = facts.blocked_time.wrapping_add(blocked);
        facts.ready_time = facts.ready_time.wrapping_add(ready);
        let key = LeafKey::of(process, cpu);
        let counts = match ledger.get(&key) {
            Some(leaf) => &mut leaves[leaf.index()].1,
            None => new.at(key),
        };
        counts.wait_time = counts.wait_time.wrapping_add(blocked.wrapping_add(ready));
    }
    leaves.extend(new.into_vec());
}

/// A frame that is open at some time.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenFrame {
    /// The place on the stack, 0 for the outermost frame.
    pub(super) depth: usize,
    pub(super) mode: ExecutionMode,
    submode: crate::kernel::NameId,
    /// The time of its entry, in ns.
    pub(super) entry: i64,
    /// The CPU time of the frame and of frames nested in it up to that time, in ns.
    pub(super) cpu_time: u64,
}

impl OpenFrame {
    /// Returns `true` if the mode of the frame is known.
    fn is_known(&self) -> bool {
        self.mode != ExecutionMode::Unknown
    }
}

/// Iterates over the frames of a process at a time, the innermost first.
pub(super) fn open_frames(
    process: &Process,
    runs: bool,
    time: i64,
) -> impl Iterator<Item = OpenFrame> {
    let mut nested = 0u64;
    process.stack().iter().enumerate().rev().map(move |(depth, frame)| {
        let is_top = depth + 1 == process.stack().len();
        let last = if runs && is_top { since(frame.change().as_ns(), time) } else { 0 };
        nested = nested.wrapping_add(frame.cpu_time()).wrapping_add(last);
        let (mode, submode, entry) = (frame.mode(), frame.submode(), frame.entry().as_ns());
        OpenFrame { depth, mode, submode, entry, cpu_time: nested }
    })
}

/// The waits of processes that are open at some time.
pub(super) struct OpenWaits<'s> {
    state: &'s TraceState,
    /// The time, in ns.
    time: i64,
    /// The times since which the states of processes are unknown, if that is earlier.
    lost: HashMap<ProcessIndex, i64, FastHash>,
}

impl<'s> OpenWaits<'s> {
    /// Returns the waits of a state at a time, in ns.
    pub(super) fn at(state: &'s TraceState, time: i64) -> Self {
        let mut lost = HashMap::default();
        for loss in state.losses_before(Timestamp::from_ns(time)) {
            lost.extend(loss.processes().iter().map(|ix| (*ix, loss.since().as_ns())));
        }
        OpenWaits { state, time, lost }
    }

    /// Returns the time in ns for which a process has been blocked and ready, since it last ran. Without
    /// events of switches that is unknown.
    pub(super) fn of(&self, ix: ProcessIndex, process: &Process) -> (u64, u64) {
        let cpu = process.cpu().and_then(|cpu| self.state.cpu(cpu));
        if cpu.is_some_and(|cpu| cpu.running() == ix) || !self.state.has_switches() {
            return (0, 0);
        }
        process.waiting_until(self.lost.get(&ix).copied().unwrap_or(self.time))
    }
}

/// Returns the time from `from` to `to` in ns; 0 if `to` is earlier.
pub(super) fn since(from: i64, to: i64) -> u64 {
    if to > from { to.wrapping_sub(from) as u64 } else { 0 }
}
