//! Settings: the number of longest durations, and periods.

use std::sync::Arc;

use ltt_read::{Timestamp, Trace};
use lttv_context::Traceset;
use lttv_filter::Environment;

use super::collector::Wanted;
use super::group_by::GroupBy;
use super::over_time::OverTime;
use super::selection::Selection;
use crate::spans::period::{Period, PeriodError, Periods};
use crate::spans::{Families, Family, SpanFilter};

/// The settings of latencies.
#[derive(Debug, Clone)]
pub struct Settings {
    pub(super) figures: Wanted,
    pub(super) periods: Periods,
    pub(super) families: Families,
    pub(super) selection: Option<Selection>,
}

impl Default for Settings {
    fn default() -> Self {
        let families = Family::LATENCIES.into_iter().collect();
        let (periods, selection) = Default::default();
        let figures = Wanted { top: 10, ..Wanted::default() };
        Settings { figures, periods, families, selection }
    }
}

impl Settings {
    /// Creates the default settings: the ten longest durations of each family, and no periods.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of longest durations of each family in the result. Memory grows with it.
    #[must_use]
    pub fn top(self, top: usize) -> Self {
        Settings { figures: Wanted { top, ..self.figures }, ..self }
    }

    /// Keeps the longest durations of each [row](super::LatencyFigures::top) as well. Memory grows with the number
    /// of threads and subjects.
    #[must_use]
    pub fn top_of_rows(self) -> Self {
        Settings { figures: Wanted { has_top_of_rows: true, ..self.figures }, ..self }
    }

    /// Divides the figures by a property of single spans: [`File`](GroupBy::File), [`Cpu`](GroupBy::Cpu),
    /// [`Size`](GroupBy::Size) or [`Result`](GroupBy::Result). The [rows](super::TraceLatency::rows) by it add up to
    /// the whole. Other values divide nothing: threads and subjects are always told apart.
    ///
    /// ```
    /// use lttv_context::Traceset;
    /// use lttv_state::analysis::read;
    /// use lttv_state::latency::{Family, GroupBy, LatencyAnalysis, PartOf, Settings};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let settings = Settings::new().divide(GroupBy::Result);
    /// let latency = read(&Traceset::open(path)?).run(LatencyAnalysis::new(settings)).output;
    /// let rows = latency.traces()[0].rows(Family::Syscall, GroupBy::Result);
    /// let failed = |part: &Option<PartOf>| matches!(part, Some(PartOf::Result(Some(_))));
    /// let failures = rows.iter().filter(|row| failed(&row.part));
    /// let count: u64 = failures.map(|row| row.figures.durations().count()).sum();
    /// assert_eq!(count, latency.traces()[0].total(Family::Syscall).failures());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn divide(self, by: GroupBy) -> Self {
        let division = Some(by).filter(|by| by.is_of_spans());
        Settings { figures: Wanted { division, ..self.figures }, ..self }
    }

    /// Divides the figures by a label of [periods](Period), or by a value of them in classes between powers of two:
    /// [`GroupBy::Value`]. The name may follow that of a period and a point.
    #[must_use]
    pub fn divide_by_value(self, name: &str) -> Self {
        let division = Some(GroupBy::Value);
        Settings { figures: Wanted { division, value: name.into(), ..self.figures }, ..self }
    }

    /// Sets a filter: figures are those of the spans of a traceset that pass it. Of these only whole ones
    /// count; the [unmatched](super::TraceLatency::unmatched), [disks](super::TraceLatency::disks) and
    /// [futexes](super::TraceLatency::futexes) are empty, since they follow from all events.
    #[must_use]
    pub fn select(self, filter: SpanFilter, traceset: &Traceset) -> Self {
        Settings { selection: Some(Selection::new(filter, traceset)), ..self }
    }

    /// Sets the families that are measured. The default is [`Family::LATENCIES`].
    #[must_use]
    pub fn families(self, families: impl IntoIterator<Item = Family>) -> Self {
        Settings { families: families.into_iter().collect(), ..self }
    }

    /// Sets intervals of a length in ns, from a time on: the durations of each can be
    /// [looked up](super::TraceLatency::in_interval) in the result.
    #[must_use]
    pub fn every(self, start: Timestamp, length: u64) -> Self {
        let intervals = Some(OverTime::new(start.as_ns(), length));
        Settings { figures: Wanted { intervals, ..self.figures }, ..self }
    }

    /// Sets the periods to be measured in traces. Times in expressions are those of an environment.
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
        Ok(Settings { periods, ..self })
    }
}
