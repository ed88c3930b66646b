//! Measuring of times.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Returns the CPU time of this thread.
fn cpu_now() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec as u32)
}

/// A measurement of CPU time and elapsed time.
pub(super) struct Timer(Instant, Duration);

impl Timer {
    pub(super) fn start() -> Timer {
        Timer(Instant::now(), cpu_now())
    }

    /// Returns the CPU time and the elapsed time.
    pub(super) fn stop(self) -> (Duration, Duration) {
        let wall = self.0.elapsed();
        (cpu_now().saturating_sub(self.1), wall)
    }
}
