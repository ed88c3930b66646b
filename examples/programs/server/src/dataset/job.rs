//! Results that are computed once, on a thread that the first request for them starts.

use std::sync::{Arc, OnceLock};
use std::thread;

/// A result that is computed when it is first wanted.
#[derive(Debug)]
pub(super) struct Job<T> {
    started: OnceLock<()>,
    result: Arc<OnceLock<T>>,
}

impl<T> Default for Job<T> {
    fn default() -> Self {
        Job { started: OnceLock::new(), result: Arc::default() }
    }
}

impl<T: Send + Sync + 'static> Job<T> {
    /// Returns `true` if the result is there.
    pub(super) fn is_done(&self) -> bool {
        self.result.get().is_some()
    }

    /// Returns the result, if it is there. The first call starts `compute` on a thread; if it
    /// returns `None`, since the result is no longer wanted, there never is a result.
    pub(super) fn get(&self, compute: impl FnOnce() -> Option<T> + Send + 'static) -> Option<&T> {
        self.started.get_or_init(|| {
            let result = Arc::clone(&self.result);
            thread::spawn(move || {
                if let Some(of) = compute() {
                    _ = result.set(of);
                }
            });
        });
        self.result.get()
    }
}
