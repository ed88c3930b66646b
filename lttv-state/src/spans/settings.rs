//! The settings of spans.

use std::sync::Arc;

use ltt_read::Trace;
use lttv_filter::Environment;

use super::families::Families;
use super::family::Family;
use super::period::{Period, PeriodError, Periods};

/// The settings of spans: which ones are found.
#[derive(Debug, Clone)]
pub struct SpanSettings {
    pub(super) families: Families,
    pub(super) periods: Periods,
    pub(super) min: u64,
    pub(super) max: u64,
}

impl Default for SpanSettings {
    fn default() -> Self {
        let periods = Periods::default();
        SpanSettings {
            families: Self::FAMILIES.into_iter().collect(),
            periods,
            min: 0,
            max: u64::MAX,
        }
    }
}

impl SpanSettings {
    /// The default families: all, without those that show the system calls of another one again.
    pub const FAMILIES: [Family; 13] = [
        Family::Run,
        Family::Blocked,
        Family::WakeUp,
        Family::Preemption,
        Family::Syscall,
        Family::HardIrq,
        Family::Vector,
        Family::Softirq,
        Family::SoftirqRaise,
        Family::DiskQueue,
        Family::DiskDevice,
        Family::Period,
        Family::Marker,
    ];

    /// Creates the default settings: all spans of the [default families](Self::FAMILIES).
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the families.
    #[must_use]
    pub fn families(self, families: impl IntoIterator<Item = Family>) -> Self {
        SpanSettings { families: families.into_iter().collect(), ..self }
    }

    /// Sets the least duration, in ns. Spans whose duration is unknown are found if this is 0.
    #[must_use]
    pub fn min(self, min: u64) -> Self {
        SpanSettings { min, ..self }
    }

    /// Sets the greatest duration, in ns. Spans whose duration is unknown are found if this is
    /// `u64::MAX`.
    #[must_use]
    pub fn max(self, max: u64) -> Self {
        SpanSettings { max, ..self }
    }

    /// Sets periods to be found in traces. Times in expressions are those of an environment.
    ///
    /// # Errors
    ///
    /// Returns an error if two periods have the same name, if a period does not fit its parent, or
    /// if an expression does not fit the traces.
    pub fn periods(
        self,
        periods: impl IntoIterator<Item = Period>,
        traces: &[Arc<Trace>],
        environment: &Environment,
    ) -> Result<Self, PeriodError> {
        let periods = Periods::new(periods.into_iter().collect(), traces, environment)?;
        Ok(SpanSettings { periods, ..self })
    }
}
