//! Saved stacks.

use std::sync::Arc;

use super::binaries::Binaries;
use super::functions::RawCode;
use super::thread::ThreadKey;
use super::tracker::{Frame, Tracker};

/// The saved stacks of a traceset, for checkpoints.
#[derive(Debug, Clone, Default)]
pub struct SavedCallStacks {
    pub(super) traces: Vec<SavedTrace>,
}

/// The saved stacks of a trace: of the threads with calls.
#[derive(Debug, Clone, Default)]
pub(super) struct SavedTrace {
    binaries: Binaries,
    threads: Vec<SavedThread>,
}

#[derive(Debug, Clone)]
struct SavedThread {
    key: ThreadKey,
    name: Arc<str>,
    last: i64,
    excess: u64,
    /// The calls, outermost first, with the times of their entries in ns.
    frames: Vec<(RawCode, i64)>,
}

impl SavedCallStacks {
    pub(super) fn of<'t>(traces: impl Iterator<Item = &'t Tracker>) -> Self {
        SavedCallStacks { traces: traces.map(SavedTrace::of).collect() }
    }

    /// Returns the number of bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        let of_thread =
            |thread: &SavedThread| size_of::<SavedThread>() + size_of_val(thread.frames.as_slice());
        let of_trace = |trace: &SavedTrace| -> usize {
            size_of::<SavedTrace>() + trace.threads.iter().map(of_thread).sum::<usize>()
        };
        size_of::<Self>() + self.traces.iter().map(of_trace).sum::<usize>()
    }
}

impl SavedTrace {
    fn of(tracker: &Tracker) -> Self {
        let threads = tracker.index.all().iter().zip(&tracker.stacks);
        let threads = threads.map(|((key, name), stack)| SavedThread {
            key: *key,
            name: name.clone(),
            last: stack.last,
            excess: stack.excess,
            frames: stack.frames.iter().map(|frame| (frame.code, frame.entered)).collect(),
        });
        SavedTrace { binaries: tracker.binaries.clone(), threads: threads.collect() }
    }

    /// Sets the stacks to the saved ones. The paths remain.
    pub(super) fn restore(&self, tracker: &mut Tracker) {
        for stack in &mut tracker.stacks {
            stack.frames.clear();
            (stack.excess, stack.last) = (0, i64::MIN);
        }
        tracker.frames = 0;
        tracker.binaries = self.binaries.clone();
        for saved in &self.threads {
            let Some(thread) = tracker.index.find_or_add(saved.key, &saved.name) else { continue };
            tracker.update_threads(saved.last);
            let stack = &mut tracker.stacks[thread];
            (stack.excess, stack.last) = (saved.excess, saved.last);
            for (code, entered) in &saved.frames {
                let (code, functions) = (*code, &mut tracker.functions);
                let path = tracker
                    .paths
                    .child(stack.path(), code, || functions.find_or_add(saved.key.process, code));
                stack.frames.push(Frame { code, path, entered: *entered });
            }
            tracker.frames += stack.frames.len();
        }
    }
}
