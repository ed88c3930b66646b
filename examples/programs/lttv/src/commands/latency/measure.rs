//! The durations that a command measures.

use std::error::Error;

use ltt_read::TimeSpan;
use lttv_common::args::InputArgs;
use lttv_common::cache::CacheArgs;
use lttv_common::kernel_trace;
use lttv_common::report::{Report, Usage};
use lttv_filter::Environment;
use lttv_state::latency::{Family, Period, Settings};
use lttv_state::spans::SpanFilter;

use crate::commands::analysis::Analysis;
use crate::commands::selection::SelectionArgs;
use lttv_common::definitions::PeriodArgs;

/// The options that choose durations.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct MeasureArgs {
    /// The place of saved states.
    #[command(flatten)]
    pub cache: CacheArgs,

    /// Only durations of these families
    #[arg(long, value_name = "FAMILY,…", value_delimiter = ',', value_parser = family_parser())]
    pub family: Vec<String>,

    /// The selection.
    #[command(flatten)]
    pub selection: SelectionArgs,

    /// The periods to measure.
    #[command(flatten)]
    pub periods: PeriodArgs,
}

fn family_parser() -> clap::builder::PossibleValuesParser {
    Family::ALL.map(Family::key).into()
}

/// An analysis of latencies that can be run.
pub(crate) struct Measured {
    /// The traces and the window.
    pub(crate) analysis: Analysis,
    /// The choice of durations.
    pub(crate) settings: Settings,
    /// `true` if only the durations that pass a condition are measured.
    pub(crate) is_selected: bool,
    /// The periods that are measured.
    pub(crate) periods: Vec<Period>,
}

impl MeasureArgs {
    /// Returns the chosen families; none if all are measured.
    pub(crate) fn families(&self) -> Vec<Family> {
        let is_chosen = |of: &Family| self.family.iter().any(|key| key == of.key());
        Family::ALL.into_iter().filter(is_chosen).collect()
    }

    /// Opens the traces, and prepares the analysis.
    ///
    /// # Errors
    ///
    /// If the command line is wrong, or if no trace has the needed events.
    pub(crate) fn open(
        &self,
        input: &InputArgs,
        report: &mut Report,
    ) -> Result<Measured, Box<dyn Error>> {
        let condition = self.selection.condition_with_durations(input)?;
        let definitions = self.periods.definitions()?;
        let periods = &definitions.periods;
        let needs = periods.is_empty().then_some(&kernel_trace::LATENCY);
        let analysis = Analysis::open(input, Some(&self.cache), report, needs)?;
        let environment = Environment::new().in_zone(input.zone());
        let settings = Settings::new()
            .families(Family::LATENCIES.into_iter().chain(self.families()))
            .periods(periods.clone(), analysis.traceset.traces(), &environment)
            .map_err(|error| definitions.wrong(&error))?;
        let is_selected = condition.is_some();
        let settings = match condition {
            Some(condition) => {
                let filter =
                    SpanFilter::with_periods(&condition, &analysis.traceset, periods, &environment)
                        .map_err(|error| Usage::filter("--filter:", &error))?;
                settings.select(filter, &analysis.traceset)
            }
            None => settings,
        };
        Ok(Measured { analysis, settings, is_selected, periods: definitions.periods })
    }
}

/// Returns the time from the first to the last event of all traces in the window.
pub(crate) fn whole(analysis: &Analysis) -> Option<TimeSpan> {
    let spans = analysis.spans().map(|(_, span)| span);
    spans.reduce(|a, b| TimeSpan { start: a.start.min(b.start), end: a.end.max(b.end) })
}
