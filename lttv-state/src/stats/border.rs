//! Frames and waits open at the start of a window; their earlier time is subtracted.

use hashbrown::HashMap;

use super::closing::{OpenFrame, OpenWaits, open_frames, since};
use super::facts::ProcessFacts;
use super::leaf::{Counts, LeafKey};
use super::ledger::Ledger;
use crate::fast_hash::FastHash;
use crate::kernel::{Ended, Process, Serial, TraceState};

/// The frames and waits that are open at the start of a window, and the time before the start
/// of those that ended since. Without a window nothing is open and nothing is subtracted.
#[derive(Debug, Clone)]
pub(super) struct Border {
    /// The start, in ns.
    start: i64,
    /// The frames of processes at the start.
    frames: HashMap<Serial, Vec<OpenFrame>, FastHash>,
    /// The time for which processes had been blocked and ready at the start, until they run.
    waits: HashMap<Serial, (u64, u64), FastHash>,
    /// The frames that ended: the leaf, and the elapsed and the CPU time before the start.
    ended: Vec<(LeafKey, u64, u64)>,
    /// The waits that ended: leaf, process, and the time blocked and ready before the start.
    waited: Vec<(LeafKey, Serial, u64, u64)>,
}

impl Border {
    /// Creates the border of statistics that start with the trace or continue others.
    pub(super) fn none() -> Self {
        Border {
            start: i64::MIN,
            frames: HashMap::default(),
            waits: HashMap::default(),
            ended: Vec::new(),
            waited: Vec::new(),
        }
    }

    /// Creates the border at a time, in ns, with the state there.
    pub(super) fn at(start: i64, state: &TraceState) -> Self {
        let mut border = Border { start, ..Border::none() };
        let open_waits = OpenWaits::at(state, start);
        for (ix, process) in state.processes() {
            let wait = open_waits.of(ix, process);
            if wait != (0, 0) {
                border.waits.insert(process.serial(), wait);
            }
            let cpu = process.cpu().and_then(|cpu| state.cpu(cpu));
            let runs = state.has_switches() && cpu.is_some_and(|cpu| cpu.running() == ix);
            let mut frames: Vec<_> = open_frames(process, runs, start).collect();
            frames.reverse();
            border.frames.insert(process.serial(), frames);
        }
        border
    }

    /// Notes a frame that ended at a time and counts for a leaf.
    pub(super) fn frame_ended(
        &mut self,
        process: &Process,
        ended: &Ended,
        time: i64,
        leaf: LeafKey,
    ) {
        // It was on top of the present stack.
        let (depth, entry) = (process.stack().len(), time.saturating_sub_unsigned(ended.elapsed));
        let cpu_time = self.cpu_time_before(process.serial(), depth, entry).min(ended.cpu_time);
        self.ended.push((leaf, since(entry, self.start), cpu_time));
    }

    /// Returns `true` if a frame that ended at a time was open at the start.
    #[inline]
    pub(super) fn was_open(&self, ended: &Ended, time: i64) -> bool {
        ended.elapsed > since(self.start, time)
    }

    /// Notes the end of a wait, with the times blocked and ready, that counts for a leaf.
    pub(super) fn wait_ended(&mut self, process: Serial, wait: (u64, u64), leaf: LeafKey) {
        if let Some((blocked, ready)) = self.waits.remove(&process) {
            let (blocked, ready) = (blocked.min(wait.0), ready.min(wait.1));
            self.waited.push((leaf, process, blocked, ready));
        }
    }

    /// Returns `true` if processes that waited at the start have not run since.
    #[inline]
    pub(super) fn has_waits(&self) -> bool {
        !self.waits.is_empty()
    }

    /// Returns the CPU time that a frame had at the start.
    fn cpu_time_before(&self, process: Serial, depth: usize, entry: i64) -> u64 {
        let known = self.frames.get(&process).and_then(|frames| frames.get(depth));
        known.filter(|frame| frame.entry == entry).map_or(0, |frame| frame.cpu_time)
    }

    /// Returns the elapsed and the CPU time, from the start on, of a frame that is open at a time.
    pub(super) fn within(&self, process: &Process, frame: &OpenFrame, time: i64) -> (u64, u64) {
        let before = self.cpu_time_before(process.serial(), frame.depth, frame.entry);
        let elapsed = since(frame.entry.max(self.start), time);
        (elapsed, frame.cpu_time.wrapping_sub(before))
    }

    /// Returns the part of a wait from the start on.
    pub(super) fn wait_within(&self, process: &Process, wait: (u64, u64)) -> (u64, u64) {
        let before = self.waits.get(&process.serial()).copied().unwrap_or_default();
        (wait.0.saturating_sub(before.0), wait.1.saturating_sub(before.1))
    }

    /// Subtracts the time before the start of frames and waits that ended since. `leaves` are
    /// those of the ledger.
    pub(super) fn subtract(
        &self,
        ledger: &Ledger,
        leaves: &mut [(LeafKey, Counts)],
        processes: &mut [ProcessFacts],
    ) {
        for (leaf, elapsed, cpu_time) in &self.ended {
            let Some(leaf) = ledger.get(leaf) else { continue };
            let counts = &mut leaves[leaf.index()].1;
            counts.before_start = counts.before_start.wrapping_add(*elapsed);
            counts.cumulative_cpu_time = counts.cumulative_cpu_time.wrapping_sub(*cpu_time);
        }
        for (leaf, process, blocked, ready) in &self.waited {
            let Some(leaf) = ledger.get(leaf) else { continue };
            let counts = &mut leaves[leaf.index()].1;
            counts.wait_time = counts.wait_time.wrapping_sub(blocked.wrapping_add(*ready));
            if let Some(facts) = processes.get_mut(process.index()) {
                facts.blocked_time = facts.blocked_time.wrapping_sub(*blocked);
                facts.ready_time = facts.ready_time.wrapping_sub(*ready);
            }
        }
    }
}
