//! Results that are computed for keys, such as windows, and kept for those that were wanted last.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::job::Job;

/// The number of keys whose results are kept.
const MOST: usize = 8;
/// The time after which a result is no longer computed, unless a client has requested it again.
/// Clients ask about every second.
const PATIENCE: Duration = Duration::from_secs(5);

/// The results of the keys that were wanted last.
#[derive(Debug)]
pub(super) struct Recent<K, T> {
    results: Mutex<VecDeque<OfKey<K, T>>>,
}

#[derive(Debug)]
struct OfKey<K, T> {
    key: K,
    job: Arc<Job<Arc<T>>>,
    stop: StopOnDrop,
    wanted: Instant,
}

/// Ends a computation when its key is forgotten.
#[derive(Debug, Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl<K, T> Default for Recent<K, T> {
    fn default() -> Self {
        Recent { results: Mutex::default() }
    }
}

impl<K: PartialEq, T: Send + Sync + 'static> Recent<K, T> {
    /// Returns the result of a key, if it is computed. The first call for a key starts `compute`
    /// on a thread, which returns `None` after its argument is set.
    pub(super) fn of(
        &self,
        key: K,
        compute: impl FnOnce(&AtomicBool) -> Option<T> + Send + 'static,
    ) -> Option<Arc<T>> {
        self.of_at(key, Instant::now(), compute)
    }

    fn of_at(
        &self,
        key: K,
        now: Instant,
        compute: impl FnOnce(&AtomicBool) -> Option<T> + Send + 'static,
    ) -> Option<Arc<T>> {
        let (job, stop) = {
            let mut recent = self.results.lock().unwrap_or_else(PoisonError::into_inner);
            let known = recent.iter().position(|of| of.key == key);
            let mut of = known.and_then(|at| recent.remove(at)).unwrap_or_else(|| OfKey {
                key,
                job: Arc::default(),
                stop: StopOnDrop::default(),
                wanted: now,
            });
            of.wanted = now;
            let is_abandoned =
                |of: &OfKey<K, T>| now.saturating_duration_since(of.wanted) > PATIENCE;
            recent.retain(|of| of.job.is_done() || !is_abandoned(of));
            let found = (Arc::clone(&of.job), Arc::clone(&of.stop.0));
            recent.push_back(of);
            if recent.len() > MOST {
                recent.pop_front();
            }
            found
        };
        job.get(move || compute(&stop).map(Arc::new)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_nobody_waits_for_is_not_computed_to_the_end() {
        let recent = Recent::<u32, u32>::default();
        let start = Instant::now();
        let (send, ended) = channel();
        let until_stopped = move |stop: &AtomicBool| {
            while !stop.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            _ = send.send(());
            None
        };
        assert!(recent.of_at(1, start, until_stopped).is_none());
        // Another key is wanted, and the first one soon after it.
        recent.of_at(2, start + PATIENCE, |_| Some(2));
        assert!(recent.of_at(1, start + PATIENCE, |_| Some(1)).is_none());
        assert!(ended.try_recv().is_err());
        let late = start + 3 * PATIENCE;
        while recent.of_at(2, late, |_| Some(2)).is_none() {}
        ended.recv_timeout(Duration::from_secs(60)).unwrap();
        // Results stay, and what was stopped is computed again.
        let later = late + 9 * PATIENCE;
        while recent.of_at(1, later, |_| Some(1)).is_none() {}
        assert_eq!(recent.of_at(2, later, |_| None).as_deref(), Some(&2));
        assert_eq!(recent.of_at(1, later, |_| None).as_deref(), Some(&1));
    }
}
