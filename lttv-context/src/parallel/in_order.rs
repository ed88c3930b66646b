//! Work on several threads whose results are taken in order.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::threads::start;

/// The two ends of the work, both on the calling thread.
pub(super) trait Ends<J, R> {
    /// Returns the next piece of work; `None` if there is no other one.
    fn next_job(&mut self) -> Option<J>;

    /// Takes the result of the next piece. Returns `false` if no other results are wanted.
    fn take(&mut self, result: R) -> bool;
}

/// The state shared by the workers and the calling thread.
struct Shared<J, R> {
    /// The pieces that no worker has begun, with their numbers.
    waiting: VecDeque<(usize, J)>,
    /// The results that have not been taken, by number.
    done: BTreeMap<usize, R>,
    /// `true` if no other piece comes, or if no other result is wanted.
    over: bool,
}

/// Calls `work` for all jobs on several threads. The calling thread finds the jobs, a few for each
/// thread at a time, and takes the results in order.
pub(super) fn in_order<J: Send, R: Send>(
    threads: usize,
    ends: &mut impl Ends<J, R>,
    work: impl Fn(J) -> R + Sync,
) {
    let shared =
        Mutex::new(Shared { waiting: VecDeque::new(), done: BTreeMap::new(), over: false });
    let (more, finished) = (Condvar::new(), Condvar::new());
    let guard = || PanicGuard { shared: &shared, all: [&more, &finished] };
    let worker = || {
        let _guard = guard();
        let mut now = lock(&shared);
        loop {
            if let Some((number, job)) = now.waiting.pop_front() {
                drop(now);
                let result = work(job);
                now = lock(&shared);
                now.done.insert(number, result);
                finished.notify_one();
            } else if now.over {
                break;
            } else {
                now = wait(&more, now);
            }
        }
    };
    thread::scope(|scope| {
        let _guard = guard();
        let (mut started, mut taken, mut are_all) = (0, 0, false);
        let (mut workers, mut is_refused) = (0, false);
        loop {
            let mut now = lock(&shared);
            if let Some(result) = now.done.remove(&taken) {
                drop(now);
                taken += 1;
                if ends.take(result) {
                    continue;
                }
                now = lock(&shared);
                now.waiting.clear();
                are_all = true;
                taken = started;
            }
            if !are_all && started < taken + 3 * threads {
                drop(now);
                let Some(job) = ends.next_job() else {
                    are_all = true;
                    continue;
                };
                lock(&shared).waiting.push_back((started, job));
                if started < threads && !is_refused {
                    match start(scope, worker) {
                        Some(_) => workers += 1,
                        None => is_refused = true,
                    }
                }
                started += 1;
                more.notify_one();
                // Without another thread, this one does the work.
                if workers == 0
                    && let Some((number, job)) = take_job(&shared)
                {
                    let result = work(job);
                    lock(&shared).done.insert(number, result);
                }
                continue;
            }
            if taken == started || now.over {
                break;
            }
            // Waiting may end without a reason.
            drop(wait(&finished, now));
        }
        lock(&shared).over = true;
        more.notify_all();
    });
}

/// Takes the next job.
fn take_job<J, R>(shared: &Mutex<Shared<J, R>>) -> Option<(usize, J)> {
    lock(shared).waiting.pop_front()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wait<'m, T>(changed: &Condvar, guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
    changed.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// A guard that ends all work on a panic, so that no thread waits for one that has ended.
struct PanicGuard<'a, J, R> {
    shared: &'a Mutex<Shared<J, R>>,
    all: [&'a Condvar; 2],
}

impl<J, R> Drop for PanicGuard<'_, J, R> {
    fn drop(&mut self) {
        if thread::panicking() {
            let mut now = lock(self.shared);
            now.over = true;
            now.waiting.clear();
            self.all.iter().for_each(|changed| changed.notify_all());
        }
    }
}
