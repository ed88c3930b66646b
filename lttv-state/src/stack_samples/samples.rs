//! The sums of stacks.

use std::fmt;
use std::sync::Arc;

use ltt_read::Trace;

use super::frames::{Frame, FrameId};
use super::state::{Omitted, ResolvedStacks, StackState};
use super::threads::SampledThread;
use crate::call_stacks::{Binary, FunctionId, PathId, Paths, RawCode};

/// The name of the kernel itself among modules.
const KERNEL: &str = "[kernel.kallsyms]";

/// The unit of the weight of stacks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum WeightUnit {
    /// Time in ns.
    #[default]
    Nanoseconds,
    /// The number of samples.
    Samples,
    /// The number of events.
    Events,
    /// The things that a counter of this name counts, such as `cycles`.
    Counter(Arc<str>),
}

impl fmt::Display for WeightUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            WeightUnit::Nanoseconds => "ns",
            WeightUnit::Samples => "samples",
            WeightUnit::Events => "events",
            WeightUnit::Counter(name) => name,
        })
    }
}

/// The stacks of a traceset, added up.
#[derive(Debug, Clone, Default)]
pub struct StackSamples {
    pub(super) traces: Vec<TraceSamples>,
}

/// The stacks of a trace, added up.
#[derive(Debug, Clone)]
pub struct TraceSamples {
    trace: Arc<Trace>,
    pub(super) unit: WeightUnit,
    frames: Vec<Frame>,
    modules: Vec<Binary>,
    threads: Vec<SampledThread>,
    sums: Sums,
    anomalies: SampleAnomalies,
}

/// A stack with its weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SampledPath {
    /// The number of the path.
    pub id: PathId,
    /// The path of the caller; `None` for the outermost frame.
    pub caller: Option<PathId>,
    /// The number of the thread among [`TraceSamples::threads`].
    pub thread: usize,
    /// The innermost frame.
    pub frame: FrameId,
    /// The weight of the samples with exactly this stack.
    pub weight: u64,
    /// The number of these samples.
    pub samples: u64,
}

/// The numbers of samples of a trace that are not, or not wholly, among its stacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SampleAnomalies {
    /// The number of samples beyond the maximum of 1048576 stacks.
    pub omitted_stacks: u64,
    /// The number of samples of threads beyond the maximum of 262144 threads.
    pub omitted_threads: u64,
    /// The number of frames beyond the maximum of 1048576 different frames: they are unknown ones.
    pub omitted_frames: u64,
    /// The number of times off CPU during which events were lost, so that their ends are unknown.
    pub lost: u64,
}

/// The weights of paths.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    paths: Paths,
    /// The weight and the number of samples of each path.
    weights: Vec<(u64, u64)>,
    /// The root of each thread.
    roots: Vec<PathId>,
}

impl Sums {
    /// Adds the stacks of a slice.
    pub(super) fn add(&mut self, stacks: &ResolvedStacks) {
        let mut frames = stacks.frames.as_slice();
        for stack in &stacks.stacks {
            let (own, rest) = frames.split_at(frames.len().min(stack.depth as usize));
            frames = rest;
            while self.roots.len() <= stack.thread as usize {
                self.roots.push(self.paths.add_root());
            }
            let root = self.roots[stack.thread as usize];
            let path = own.iter().rev().fold(root, |path, frame| {
                let function = || FunctionId(frame.0);
                self.paths.child(path, RawCode::number(frame.0), function)
            });
            if self.weights.len() <= path.index() {
                self.weights.resize(path.index() + 1, (0, 0));
            }
            let (weight, samples) = &mut self.weights[path.index()];
            *weight = weight.saturating_add(stack.weight);
            *samples += 1;
        }
    }

    fn of(&self, path: PathId) -> (u64, u64) {
        self.weights.get(path.index()).copied().unwrap_or_default()
    }
}

impl StackSamples {
    /// Returns the stacks of each trace, by trace index.
    pub fn traces(&self) -> &[TraceSamples] {
        &self.traces
    }
}

impl TraceSamples {
    pub(super) fn new(trace: Arc<Trace>, unit: WeightUnit, state: StackState, sums: Sums) -> Self {
        let Omitted { of_threads, lost } = state.omitted;
        let anomalies = SampleAnomalies {
            omitted_stacks: sums.of(PathId::OMITTED).1,
            omitted_threads: of_threads,
            omitted_frames: state.frames.omitted,
            lost,
        };
        TraceSamples {
            trace,
            unit,
            frames: state.frames.into_all(),
            modules: state.spaces.modules.into_all(),
            threads: state.threads.into_all(),
            sums,
            anomalies,
        }
    }

    /// Returns the trace.
    pub fn trace(&self) -> &Arc<Trace> {
        &self.trace
    }

    /// Returns the address of the first byte of the kernel; `None` if it is unknown.
    pub fn kernel_base(&self) -> Option<u64> {
        let kernel = self.modules.iter().find(|module| &*module.path == KERNEL);
        kernel.map(|module| module.base)
    }

    /// Returns the unit of weights.
    pub fn unit(&self) -> &WeightUnit {
        &self.unit
    }

    /// Returns the frames, by their ids.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Returns the files of programs and the modules of the kernel.
    pub fn modules(&self) -> &[Binary] {
        &self.modules
    }

    /// Returns the threads with samples, by number.
    pub fn threads(&self) -> &[SampledThread] {
        &self.threads
    }

    /// Returns all paths of frames with their weights, callers before what they called.
    pub fn paths(&self) -> Vec<SampledPath> {
        let mut threads = vec![usize::MAX; self.sums.paths.len()];
        for (thread, root) in self.sums.roots.iter().enumerate() {
            threads[root.index()] = thread;
        }
        let mut all = Vec::new();
        for (id, node) in self.sums.paths.iter() {
            let Some(frame) = node.function else { continue };
            let thread = threads[node.parent.index()];
            threads[id.index()] = thread;
            let (weight, samples) = self.sums.of(id);
            let (caller, frame) = (self.sums.paths.caller(id), FrameId(frame.0));
            all.push(SampledPath { id, caller, thread, frame, weight, samples });
        }
        all
    }

    /// Returns the number of samples in all stacks.
    pub fn samples(&self) -> u64 {
        self.sums.weights.iter().skip(1).map(|(_, samples)| samples).sum()
    }

    /// Returns the samples that are not, or not wholly, among the stacks.
    pub fn anomalies(&self) -> SampleAnomalies {
        self.anomalies
    }
}
