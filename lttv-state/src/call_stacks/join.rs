//! Adding the figures of parts that follow each other.

use ltt_read::Timestamp;

use super::calls::{CallStacks, TraceCalls};
use super::part::Bases;
use super::paths::PathId;
use super::tracker::{Frame, MAX_DEPTH, MAX_FRAMES, Step};

impl CallStacks {
    /// Adds the figures of the following window of the same traceset, read with the same rules.
    /// The calls that are open at the end are those of the later window.
    pub fn add(&mut self, later: &CallStacks) {
        for (of, later) in self.traces.iter_mut().zip(&later.traces) {
            of.add(later);
        }
        let known = self.traces.len().min(later.traces.len());
        self.traces.extend_from_slice(&later.traces[known..]);
        if self.pairs.is_empty() {
            self.pairs.clone_from(&later.pairs);
        }
    }

    /// Returns `false` if parts could not be added exactly.
    pub(super) fn is_exact(&self) -> bool {
        self.traces.iter().all(|trace| trace.is_exact)
    }
}

impl TraceCalls {
    /// Adds the figures of what follows: of a window, at the start of which the stacks are known,
    /// or of a part, whose stacks continue those of this one.
    fn add(&mut self, later: &TraceCalls) {
        let omitted =
            |of: &TraceCalls| of.anomalies().omitted_calls + of.anomalies().omitted_events;
        self.is_exact &= later.is_exact && omitted(later) == 0;
        let mut threads = Vec::with_capacity(later.tracker.stacks.len());
        for (key, name) in later.tracker.index.all() {
            threads.push(self.tracker.index.find_or_add(*key, name));
            self.tracker.update_threads(i64::MIN);
        }
        let mut paths = vec![None; later.tracker.paths.len()];
        for (at, thread) in threads.iter().enumerate() {
            let Some(thread) = *thread else { continue };
            match &later.tracker.part {
                Some(part) => {
                    let Some(bases) = part.threads.get(at) else { continue };
                    self.continue_thread(thread, bases, &mut paths);
                }
                None => {
                    let (of, later) = (&self.tracker.stacks[thread], &later.tracker.stacks[at]);
                    paths[later.root.index()] = Some(of.root);
                }
            }
            let figures = later.figures.threads.get(at).copied().unwrap_or_default();
            let of = self.figures.thread(thread);
            of.entries = of.entries.saturating_add(figures.entries);
            of.anomalies = of.anomalies.saturating_add(figures.anomalies);
            if later.tracker.part.is_none() {
                of.max_depth = of.max_depth.max(figures.max_depth);
            }
        }
        self.add_paths(later, &mut paths);
        self.tracker.binaries.append(&later.tracker.binaries);
        self.figures.anomalies.add(&later.figures.anomalies);
        self.add_stacks(later, &threads, &paths);
        self.is_exact &= omitted(self) == 0;
        if let Some(chart) = &later.figures.chart
            && let Some(of) = &mut self.figures.chart
        {
            of.add(chart, &threads, &paths);
        }
    }

    /// Follows a thread through a part: ends the calls that end there, and finds out which path
    /// each root of the part continues.
    fn continue_thread(&mut self, thread: usize, bases: &Bases, paths: &mut [Option<PathId>]) {
        for base in &bases.all {
            let collectors = std::slice::from_mut(&mut self.figures);
            if let Some(exit) = base.exit {
                self.tracker.step(thread, Step::Exit(exit.code), exit.time, collectors);
            }
            let stack = &mut self.tracker.stacks[thread];
            if let Some((first, last)) = base.events {
                if !stack.frames.is_empty() {
                    self.figures.charge(stack.path(), stack.last, first);
                }
                stack.last = last;
            }
            let stack = &self.tracker.stacks[thread];
            let depth = stack.frames.len() + base.max_depth;
            self.is_exact &= depth <= MAX_DEPTH && stack.excess == 0;
            paths[base.root.index()] = Some(stack.path());
            if base.max_depth > 0 {
                let of = self.figures.thread(thread);
                of.max_depth = of.max_depth.max(depth);
            }
        }
    }

    /// Adds the figures of the paths of a later part, whose roots are known.
    fn add_paths(&mut self, later: &TraceCalls, paths: &mut [Option<PathId>]) {
        paths[PathId::OMITTED.index()] = Some(PathId::OMITTED);
        for (path, node) in later.tracker.paths.iter() {
            let of = match node.function.and_then(|id| later.functions().get(id.index())) {
                None => paths[path.index()],
                Some(function) => {
                    let parent = paths.get(node.parent.index()).copied().flatten();
                    let functions = &mut self.tracker.functions;
                    let code = self.tracker.sections.translate(&later.tracker.sections, node.code);
                    parent.map(|parent| {
                        self.tracker
                            .paths
                            .child(parent, code, || functions.find_or_add(function.process, code))
                    })
                }
            };
            paths[path.index()] = of;
            let figures = later.figures_of(path);
            if let Some(of) = of {
                let of = self.figures.figures(of);
                of.calls.add(&figures.calls);
                of.self_time = of.self_time.saturating_add(figures.self_time);
            }
        }
    }

    /// Adds the open calls of a later part, and applies the events that it left undecided.
    fn add_stacks(
        &mut self,
        later: &TraceCalls,
        threads: &[Option<usize>],
        paths: &[Option<PathId>],
    ) {
        let tracker = &mut self.tracker;
        if later.tracker.part.is_none() {
            tracker.set_stacks(tracker.stacks.iter().map(|of| of.emptied()).collect());
        }
        for (at, stack) in later.tracker.stacks.iter().enumerate() {
            let Some(thread) = threads[at] else { continue };
            let of = &mut tracker.stacks[thread];
            of.excess = stack.excess;
            if later.tracker.part.is_none() {
                of.last = stack.last;
            }
            let sections = &mut tracker.sections;
            let frames = stack.frames.iter().map(|frame| Frame {
                code: sections.translate(&later.tracker.sections, frame.code),
                path: paths[frame.path.index()].unwrap_or(PathId::OMITTED),
                ..*frame
            });
            of.frames.extend(frames);
            tracker.frames += stack.frames.len();
            self.is_exact &= tracker.frames <= MAX_FRAMES && stack.excess == 0;
        }
        let Some(part) = &later.tracker.part else { return };
        self.is_exact &= !part.is_incomplete;
        for event in &part.undecided {
            if let Some(thread) = threads[event.thread as usize] {
                let collectors = std::slice::from_mut(&mut self.figures);
                self.tracker.step(thread, event.step, event.time, collectors);
            }
        }
    }

    /// Returns the time of the last entry or exit of any thread; `None` if there is none.
    pub fn last_event(&self) -> Option<Timestamp> {
        let times = self.tracker.stacks.iter().map(|stack| stack.last);
        times.filter(|last| *last > i64::MIN).max().map(Timestamp::from_ns)
    }
}
