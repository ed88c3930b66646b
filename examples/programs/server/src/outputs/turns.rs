//! Limits concurrent computations of answers to the number of processors, in order of arrival.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The time after which an answer keeps no others waiting.
const SHORT: Duration = Duration::from_millis(50);

/// The permits of computations that run.
#[derive(Debug, Clone)]
pub struct Turns(Arc<Semaphore>);

impl Default for Turns {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Turns::new(processors)
    }
}

impl Turns {
    /// Creates turns for a number of answers at the same time.
    pub fn new(count: usize) -> Self {
        Turns(Arc::new(Semaphore::new(count)))
    }

    /// Waits for a turn.
    pub async fn next(&self) -> Turn {
        let permit = Arc::clone(&self.0).acquire_owned().await.ok();
        Turn { permit: Arc::new(Mutex::new(permit)), until: Instant::now() + SHORT }
    }
}

/// The turn of an answer.
#[derive(Debug, Clone)]
pub struct Turn {
    permit: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
    until: Instant,
}

impl Turn {
    /// Lets the next answer begin, while this one goes on or waits.
    pub fn end(&self) {
        self.permit.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Ends the turn if it has taken too long.
    pub fn end_if_long(&self, now: Instant) {
        if now > self.until {
            self.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    /// A time in which a turn that is free would begin.
    const MOMENT: Duration = Duration::from_millis(20);

    #[test]
    fn answers_that_wait_or_take_long_keep_no_others_waiting() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let turns = Turns::new(1);
            let first = turns.next().await;
            let start = Instant::now();
            assert!(timeout(MOMENT, turns.next()).await.is_err());
            first.end_if_long(start);
            assert!(timeout(MOMENT, turns.next()).await.is_err());
            first.end_if_long(start + 2 * SHORT);
            let second = timeout(MOMENT, turns.next()).await.unwrap();
            second.end();
            let third = timeout(MOMENT, turns.next()).await.unwrap();
            drop(third);
            timeout(MOMENT, turns.next()).await.unwrap();
        });
    }
}
