//! Results that are computed for keys, such as windows, and kept for those that were wanted last.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::job::Job;

/// The number of keys whose results are kept.
const MOST: usize = 8;

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
        let (job, stop) = {
            let mut recent = self.results.lock().unwrap_or_else(PoisonError::into_inner);
            let known = recent.iter().position(|of| of.key == key);
            let of = known.and_then(|at| recent.remove(at)).unwrap_or_else(|| OfKey {
                key,
                job: Arc::default(),
                stop: StopOnDrop::default(),
            });
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
