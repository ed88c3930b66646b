//! The state of a trace between events: mappings, and the threads that are off their CPUs.

use std::collections::HashMap;
use std::sync::Arc;

use ltt_read::Trace;

use super::chain::addresses;
use super::frames::{FrameId, Frames};
use super::recorded::{ItemKind, Sample};
use super::spaces::Spaces;
use super::threads::{SampledThread, SampledThreads};
use crate::call_stacks::{ThreadId, ThreadKey};
use crate::kernel::{Process, Serial, TraceState};

/// The maximum number of frames of all threads that are off their CPUs.
const MAX_OPEN_FRAMES: usize = 1 << 22;

/// The state of a trace between events.
#[derive(Debug, Clone, Default)]
pub(super) struct StackState {
    pub(super) spaces: Spaces,
    pub(super) frames: Frames,
    pub(super) threads: SampledThreads,
    /// The threads that were switched out, with their stacks.
    off_cpu: HashMap<Serial, OffCpu>,
    open_frames: usize,
    /// The times of the first events after lost ones, by the place of their CPU.
    lost: Vec<i64>,
    pub(super) omitted: Omitted,
}

/// The numbers of stacks that could not be added.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Omitted {
    /// Beyond the maximum number of threads.
    pub(super) of_threads: u64,
    /// Off CPU while events were lost.
    pub(super) lost: u64,
}

/// A thread that is off its CPU.
#[derive(Debug, Clone)]
struct OffCpu {
    thread: u32,
    since: i64,
    place: usize,
    frames: Box<[FrameId]>,
}

/// A stack whose thread and frames are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resolved {
    pub(super) thread: u32,
    pub(super) weight: u64,
    /// The number of its frames.
    pub(super) depth: u32,
}

/// Resolved stacks: those of a slice.
#[derive(Debug, Default)]
pub(super) struct ResolvedStacks {
    pub(super) stacks: Vec<Resolved>,
    /// The frames of all stacks, the innermost one of each first.
    pub(super) frames: Vec<FrameId>,
}

/// A stack that has not been added up.
#[derive(Debug, Clone)]
pub(super) enum HeldStack {
    /// The stack of an event that counts.
    Counted { thread: u32, weight: u64, frames: Vec<FrameId> },
    /// The stack of a thread that was switched out.
    OffCpu(Serial),
}

impl ResolvedStacks {
    pub(super) fn clear(&mut self) {
        self.stacks.clear();
        self.frames.clear();
    }
}

impl StackState {
    /// Creates the state before the first event of a trace.
    pub(super) fn new(trace: &Trace) -> Self {
        StackState { spaces: Spaces::new(trace), ..StackState::default() }
    }

    /// Applies what an event says of threads and mappings.
    pub(super) fn apply(&mut self, kind: &ItemKind) {
        match kind {
            ItemKind::Sample(_) => {}
            ItemKind::Mapping { process, mapping } => self.spaces.map(*process, mapping),
            ItemKind::Symbol(symbol) => self.spaces.symbol(symbol),
            ItemKind::Exec { process } => self.spaces.clear(*process),
            // A process that has ended may still be in samples, until another one has its id.
            ItemKind::Fork { pid, parent_pid } => self.spaces.fork(*parent_pid, *pid),
        }
    }

    /// Returns the number of the thread of a sample, with its name by the kernel state; `running` is the thread of its
    /// CPU by that state.
    fn thread(
        &mut self,
        sample: &Sample,
        (state, running): (Option<&TraceState>, Option<&Process>),
        cpu: u32,
    ) -> Option<u32> {
        // Without switches, the thread that a CPU was last seen with may have left it.
        let running = running.filter(|_| state.is_some_and(TraceState::has_switches));
        let of_kernel = running.and_then(Process::tid).map(i64::from);
        let tid = sample.thread.or(of_kernel);
        let is_same = tid.is_some() && tid == of_kernel;
        let running = running.filter(|_| is_same);
        let of_kernel = running.and_then(Process::pid).map(i64::from);
        let process = sample.process.or(of_kernel);
        let thread = match tid {
            Some(tid) => ThreadId::Tid(tid),
            None if process.is_some() => ThreadId::Process,
            None => ThreadId::Cpu(cpu),
        };
        let by_kernel = || {
            let state = state?;
            let name = match running {
                Some(process) => state.name(process.name()).into(),
                None => state.name_of_thread(i32::try_from(tid?).ok()?),
            };
            Some(name).filter(|name| !name.is_empty()).map(Arc::from)
        };
        let idle = || (tid == Some(0)).then(|| "swapper".into());
        let name = sample.name.clone().or_else(by_kernel).or_else(idle);
        let key = ThreadKey { process, thread };
        let found = self.threads.find_or_add(SampledThread { key, name: name.unwrap_or_default() });
        self.omitted.of_threads += u64::from(found.is_none());
        found
    }

    /// Adds the frames of a sample, the innermost one first; an unknown one if there are none.
    fn resolve(&mut self, sample: &Sample, words: &[u64], frames: &mut Vec<FrameId>) {
        let before = frames.len();
        self.resolve_known(sample, words, frames);
        if frames.len() == before {
            frames.push(Frames::UNKNOWN);
        }
    }

    /// Adds the frames of a sample, the innermost one first.
    fn resolve_known(&mut self, sample: &Sample, words: &[u64], frames: &mut Vec<FrameId>) {
        let words = words.get(sample.chain.clone()).unwrap_or_default();
        for (mode, address) in addresses(words, sample.first_is_exact) {
            let frame = self.spaces.frame(sample.memory, mode, address);
            frames.push(self.frames.find_or_add(frame));
        }
    }

    /// Adds a sample that counts.
    pub(super) fn sample(
        &mut self,
        (sample, words): (&Sample, &[u64]),
        weight: u64,
        running: (Option<&TraceState>, Option<&Process>),
        cpu: u32,
        to: &mut ResolvedStacks,
    ) {
        let Some(thread) = self.thread(sample, running, cpu) else { return };
        let before = to.frames.len();
        self.resolve(sample, words, &mut to.frames);
        let depth = (to.frames.len() - before) as u32;
        to.stacks.push(Resolved { thread, weight, depth });
    }

    /// Returns the stack of a sample that counts, which may go on; `None` if its thread is one too many.
    pub(super) fn held(
        &mut self,
        (sample, words): (&Sample, &[u64]),
        weight: u64,
        running: (Option<&TraceState>, Option<&Process>),
        cpu: u32,
    ) -> Option<HeldStack> {
        let thread = self.thread(sample, running, cpu)?;
        let mut frames = Vec::new();
        self.resolve(sample, words, &mut frames);
        Some(HeldStack::Counted { thread, weight, frames })
    }

    /// Puts the rest of a stack, if there is one, below the part of it that was held, and adds it if it counts.
    pub(super) fn release(
        &mut self,
        stack: HeldStack,
        rest: Option<(&Sample, &[u64])>,
        to: &mut ResolvedStacks,
    ) {
        let mut more = Vec::new();
        if let Some((sample, words)) = rest {
            self.resolve_known(sample, words, &mut more);
        }
        match stack {
            HeldStack::Counted { thread, weight, frames } => {
                let depth = (frames.len() + more.len()) as u32;
                to.frames.extend(frames);
                to.frames.append(&mut more);
                to.stacks.push(Resolved { thread, weight, depth });
            }
            HeldStack::OffCpu(serial) => {
                let Some(open) = self.off_cpu.get_mut(&serial).filter(|_| !more.is_empty()) else {
                    return;
                };
                self.open_frames += more.len();
                open.frames = open.frames.iter().copied().chain(more).collect();
            }
        }
    }

    /// Notes that a thread, with the stack of a sample, is switched out. Returns the stack, which may go on.
    pub(super) fn switched_out(
        &mut self,
        (sample, words): (&Sample, &[u64]),
        (state, process): (&TraceState, &Process),
    ) -> Option<HeldStack> {
        if process.tid() == Some(0) || self.open_frames >= MAX_OPEN_FRAMES {
            return None;
        }
        let (serial, effect) = (process.serial(), state.effect());
        let cpu = effect.cpu().unwrap_or(0);
        let thread = self.thread(sample, (Some(state), Some(process)), cpu)?;
        let mut frames = Vec::new();
        self.resolve(sample, words, &mut frames);
        self.open_frames += frames.len();
        let (since, place) = (effect.time().as_ns(), effect.place());
        let open = OffCpu { thread, since, place, frames: frames.into() };
        if let Some(before) = self.off_cpu.insert(serial, open) {
            self.open_frames -= before.frames.len();
        }
        Some(HeldStack::OffCpu(serial))
    }

    /// Follows what an event changes: a thread that is switched in has been off its CPU for a time. If that
    /// counts, it is added.
    pub(super) fn changed(
        &mut self,
        state: &TraceState,
        counts: bool,
        is_weight_time: bool,
        to: &mut ResolvedStacks,
    ) {
        let effect = state.effect();
        for loss in effect.losses() {
            if self.lost.len() <= loss.place {
                self.lost.resize(loss.place + 1, i64::MIN);
            }
            self.lost[loss.place] = effect.time().as_ns();
        }
        for gone in effect.removed() {
            if let Some(open) = self.off_cpu.remove(&gone.serial()) {
                self.open_frames -= open.frames.len();
            }
        }
        let Some(wait) = effect.waited() else { return };
        let next = state.process(wait.process).map(Process::serial);
        let Some(open) = next.and_then(|serial| self.off_cpu.remove(&serial)) else { return };
        self.open_frames -= open.frames.len();
        let lost_at = |place: usize| self.lost.get(place).is_some_and(|lost| *lost > open.since);
        if !counts {
            return;
        }
        if lost_at(open.place) || lost_at(effect.place()) {
            self.omitted.lost += 1;
            return;
        }
        let time = wait.blocked.saturating_add(wait.ready);
        let weight = if is_weight_time { time } else { 1 };
        to.stacks.push(Resolved { thread: open.thread, weight, depth: open.frames.len() as u32 });
        to.frames.extend_from_slice(&open.frames);
    }
}
