//! The threads of samples.

use std::collections::HashMap;
use std::sync::Arc;

use crate::call_stacks::ThreadKey;

/// The maximum number of threads of a trace.
const MAX_THREADS: usize = 1 << 18;

/// A thread of samples, under one of its names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct SampledThread {
    /// The thread.
    pub key: ThreadKey,
    /// The name at the time of its samples; empty if it is unknown. A thread that changes its name counts as another
    /// one.
    pub name: Arc<str>,
}

/// The threads of the samples of a trace, by number.
#[derive(Debug, Clone, Default)]
pub(super) struct SampledThreads {
    all: Vec<SampledThread>,
    numbers: HashMap<SampledThread, u32>,
}

impl SampledThreads {
    /// Returns the number of a thread, which is added if it is new; `None` if there are too many.
    pub(super) fn find_or_add(&mut self, thread: SampledThread) -> Option<u32> {
        if let Some(number) = self.numbers.get(&thread) {
            return Some(*number);
        }
        if self.all.len() >= MAX_THREADS {
            return None;
        }
        let number = self.all.len() as u32;
        self.all.push(thread.clone());
        self.numbers.insert(thread, number);
        Some(number)
    }

    pub(super) fn into_all(self) -> Vec<SampledThread> {
        self.all
    }
}
