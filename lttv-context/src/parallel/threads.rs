//! Starting the threads of a read.

use std::thread::{Builder, Scope, ScopedJoinHandle};

/// The greatest number of threads of a read, with the calling one.
///
/// A request for more of them counts as one for this number. Each thread needs address space for its stack, and its
/// share of the slices in memory: systems refuse many thousands of threads, at a point at which the
/// program can only abort.
pub const MAX_THREADS: usize = 512;

/// Returns the number of threads for a number that was requested: at least 1, at most [`MAX_THREADS`].
pub(super) fn limited(threads: usize) -> usize {
    threads.clamp(1, MAX_THREADS)
}

/// Starts a thread. Returns `None` if the system refuses: the threads that run do its work then.
pub(super) fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Option<ScopedJoinHandle<'scope, T>> {
    let builder = Builder::new();
    #[cfg(test)]
    let builder = match refusal::is_refused() {
        // No system has room for such a stack.
        true => builder.stack_size(usize::MAX >> 2),
        false => builder,
    };
    builder.spawn_scoped(scope, work).ok()
}

/// Refusing threads in tests.
#[cfg(test)]
pub(super) mod refusal {
    use std::cell::Cell;

    thread_local! {
        /// The number of threads that may still be started by this thread.
        static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    }

    /// Calls a function while only a number of threads can be started by the calling thread.
    pub(crate) fn with_at_most<T>(threads: usize, run: impl FnOnce() -> T) -> T {
        LEFT.set(threads);
        let result = run();
        LEFT.set(usize::MAX);
        result
    }

    pub(super) fn is_refused() -> bool {
        let left = LEFT.get();
        LEFT.set(left.saturating_sub(1));
        left == 0
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::refusal::with_at_most;
    use crate::{ParallelReader, SliceThreads, Traceset, UnorderedReader};

    const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");

    #[test]
    fn reads_end_with_all_events_if_threads_cannot_be_started() {
        let traceset = Traceset::open(TRACE).unwrap();
        for left in [0, 1, 3] {
            let read = with_at_most(left, || {
                let reader = ParallelReader::new(&traceset).threads(8).slices(20);
                reader.run(|slice| {
                    let mut context = slice.context();
                    slice.read(&mut context)
                })
            });
            assert_eq!((read.events, read.errors.len()), (6087, 0), "{left}");
            let read = with_at_most(left, || {
                let reader = UnorderedReader::new(&traceset).threads(8).piece_bytes(1 << 12);
                reader.count(|_| ControlFlow::Continue(()), |_| ())
            });
            assert_eq!(read.events, 6087, "{left}");
        }
    }

    #[test]
    fn more_threads_than_a_read_can_use_are_not_started() {
        assert_eq!(SliceThreads::new(100_000).threads(), super::MAX_THREADS);
        assert_eq!(SliceThreads::new(0).threads(), 1);
        let traceset = Traceset::open(TRACE).unwrap();
        let reader = ParallelReader::new(&traceset).threads(usize::MAX).slices(40);
        let read = reader.run(|slice| slice.read(&mut slice.context()));
        assert_eq!(read.events, 6087);
    }
}
