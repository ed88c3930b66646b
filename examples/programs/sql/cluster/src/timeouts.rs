//! The times after which a silent process counts as dead.

/// The times after which an executor that says nothing counts as dead, in seconds.
///
/// Executors tell the scheduler regularly that they live. The defaults of Ballista would notice a dead one
/// after three minutes; these notice it within 20 seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// The time without a sign of life after which an executor counts as dead.
    pub executor: u64,
    /// The time between two checks of all executors.
    pub check: u64,
    /// The time between two signs of life.
    pub heartbeat: u64,
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts::after(20)
    }
}

impl Timeouts {
    /// Returns the times by which a dead executor is noticed within so many seconds, at least 3.
    pub fn after(seconds: u64) -> Timeouts {
        let seconds = seconds.max(3);
        let check = (seconds / 5).max(1);
        let executor = seconds - check;
        Timeouts { executor, check, heartbeat: (executor / 4).max(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_executor_is_noticed_in_time() {
        for seconds in [0, 1, 3, 4, 5, 20, 60, 600] {
            let Timeouts { executor, check, heartbeat } = Timeouts::after(seconds);
            assert!(executor + check <= seconds.max(3), "{seconds}");
            // A single lost message is no death.
            assert!(heartbeat > 0 && check > 0 && executor >= 2 * heartbeat, "{seconds}");
        }
    }
}
