//! The views that clients know by their ids.
//!
//! An [`Output`] computes answers from a [`Dataset`]. To add one, implement the trait in a module
//! of its own, and add it to [`ALL`]. Methods that an output does not have answer that it cannot
//! run.

mod annotations;
mod cpu_usage;
mod critical_path;
mod disks;
mod events;
mod flame_chart;
mod histogram;
mod latency;
mod line_query;
mod recording;
pub(crate) mod resources;
mod state_system;
mod states;
mod statistics;
mod threads;
pub mod turns;
pub mod work;
mod xy;

use self::work::Work;
use crate::dataset::{Dataset, Passed};
use crate::error::{OutputError, Result};
use crate::protocol::models::{Answer, DataProvider};
use crate::protocol::parameters::{ParameterError, Parameters};

/// A view: a chart, a table or a tree.
pub trait Output: Sync {
    /// Returns its description.
    fn description(&self) -> DataProvider;

    /// Returns `true` if it has data for a dataset.
    fn serves(&self, _dataset: &Dataset) -> bool {
        true
    }

    /// Answers its tree of entries.
    ///
    /// # Errors
    ///
    /// If it has no tree, a parameter is wrong, or the client has gone away.
    fn tree(&self, _: &Dataset, _: &Parameters, _: &mut Work<'_>) -> Result {
        Err(OutputError::NotOffered)
    }

    /// Answers numbers over time.
    ///
    /// # Errors
    ///
    /// If it has none, a parameter is wrong, or the client has gone away.
    fn xy(&self, _: &Dataset, _: &Parameters, _: &mut Work<'_>) -> Result {
        Err(OutputError::NotOffered)
    }

    /// Answers numbers over other values than times.
    ///
    /// # Errors
    ///
    /// If it has none, a parameter is wrong, or the client has gone away.
    fn generic_xy(&self, _: &Dataset, _: &Parameters, _: &mut Work<'_>) -> Result {
        Err(OutputError::NotOffered)
    }

    /// Answers states over time.
    ///
    /// # Errors
    ///
    /// If it has none, a parameter is wrong, or the client has gone away.
    fn states(&self, _: &Dataset, _: &Parameters, _: &mut Work<'_>) -> Result {
        Err(OutputError::NotOffered)
    }

    /// Answers arrows between states.
    ///
    /// # Errors
    ///
    /// If it has none, a parameter is wrong, or the client has gone away.
    fn arrows(&self, _: &Dataset, _: &Parameters, _: &mut Work<'_>) -> Result {
        Err(OutputError::NotOffered)
    }

    /// Answers facts about a state, an arrow or an annotation.
    ///
    /// # Errors
    ///
    /// If it has none, a parameter is wrong, or the client has gone away.
    fn tooltip(&self, _: &Dataset, _: &Parameters, _: &mut Work<'_>) -> Result {
        Err(OutputError::NotOffered)
    }

    /// Answers the columns of its table.
    ///
    /// # Errors
    ///
    /// If it is no table.
    fn columns(&self, _: &Dataset, _: &Parameters, _: &mut Work<'_>) -> Result {
        Err(OutputError::NotOffered)
    }

    /// Answers lines of its table.
    ///
    /// # Errors
    ///
    /// If it is no table, a parameter is wrong, or the client has gone away.
    fn lines(&self, _: &Dataset, _: &Parameters, _: &mut Work<'_>) -> Result {
        Err(OutputError::NotOffered)
    }

    /// Answers its styles.
    ///
    /// # Errors
    ///
    /// If the client has gone away.
    fn style(&self, _: &Dataset, _: &Parameters, work: &mut Work<'_>) -> Result {
        work.json(&Answer::complete(serde_json::json!({ "styles": {} })))
    }

    /// Answers the names of its categories of annotations.
    ///
    /// # Errors
    ///
    /// If the client has gone away.
    fn annotation_categories(&self, dataset: &Dataset, work: &mut Work<'_>) -> Result {
        annotations::categories(dataset, work)
    }

    /// Answers annotations in a range of time.
    ///
    /// # Errors
    ///
    /// If a parameter is wrong, or the client has gone away.
    fn annotations(
        &self,
        dataset: &Dataset,
        parameters: &Parameters,
        work: &mut Work<'_>,
    ) -> Result {
        annotations::losses(dataset, parameters, work)
    }
}

/// Returns the events that pass the filter of a request; `None` if it has no filter. The filter is
/// the parameter `lttv_filter`, which other servers ignore.
///
/// # Errors
///
/// If the text is no filter, or does not fit the traces.
fn passing(
    dataset: &Dataset,
    parameters: &Parameters,
) -> std::result::Result<Option<Passed>, ParameterError> {
    const FILTER: &str = "lttv_filter";
    let filter = parameters.text(FILTER)?.filter(|text| !text.trim().is_empty());
    let passing = filter.map(|filter| dataset.passing(filter)).transpose();
    let passing = passing.map_err(|error| ParameterError::invalid(FILTER, error.to_string()))?;
    Ok(passing.map(|passing| passing.snapshot()))
}

/// All outputs but those of latencies, which follow, in the order of clients' menus.
pub const ALL: &[&dyn Output] = &[
    &histogram::Histogram,
    &events::EventsTable,
    &threads::ThreadStatus,
    &resources::Resources,
    &cpu_usage::CpuUsage::OfCpus,
    &disks::Disks,
    &cpu_usage::CpuUsage::ByThreads,
    &critical_path::CriticalPath,
    &flame_chart::FlameChart,
    &statistics::StatisticsTree,
    &state_system::StateSystem,
    &recording::Recording,
];

/// Returns the outputs that have data for a dataset.
pub fn of(dataset: &Dataset) -> impl Iterator<Item = &'static dyn Output> {
    ALL.iter().chain(latency::ALL).copied().filter(|output| output.serves(dataset))
}

/// Finds an output by its id.
pub fn find(dataset: &Dataset, id: &str) -> Option<&'static dyn Output> {
    of(dataset).find(|output| output.description().id == id)
}
