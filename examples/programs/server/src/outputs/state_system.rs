//! All attributes of the kernel's state over time.

use lttv_common::kernel_trace::HISTORY;
use lttv_state::history::History;
use lttv_state::tree::Quark;

use super::Output;
use super::states::answer::{self, Element};
use super::states::styles;
use super::work::Work;
use crate::dataset::Dataset;
use crate::dataset::{ChartRow, Lane};
use crate::error::{OutputError, Result};
use crate::protocol::models::{Answer, DataProvider, Entry, Header, Kind, Tree};
use crate::protocol::parameters::Parameters;

/// The chart of all attributes.
#[derive(Debug)]
pub(super) struct StateSystem;

const NAMES: [&str; 1] = ["Attribute"];

impl Output for StateSystem {
    fn description(&self) -> DataProvider {
        DataProvider {
            id: "org.eclipse.tracecompass.internal.tmf.core.statesystem.provider.\
                 StateSystemDataProvider",
            name: "State System Explorer",
            description: "All attributes of the kernel's state over time",
            kind: Kind::TimeGraph,
        }
    }

    fn serves(&self, dataset: &Dataset) -> bool {
        dataset.kernel().is_some_and(|kernel| kernel.serves(&HISTORY))
    }

    fn tree(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        parameters.range()?;
        let Some(history) = history(dataset)? else {
            return work.json(&Answer::<Tree>::running(None));
        };
        let (start, end) = dataset.span();
        let tree = history.tree();
        let entries = tree.quarks().filter(|quark| *quark != Quark::ROOT).map(|quark| Entry {
            id: quark.index() as i64,
            parent: tree.parent(quark).filter(|of| *of != Quark::ROOT).map(|of| of.index() as i64),
            labels: vec![tree.name(quark).unwrap_or_default().to_owned()],
            has_data: true,
            start: Some(start),
            end: Some(end),
            ..Entry::default()
        });
        let headers = vec![Header::text("Attribute", "Name of the attribute")];
        let tree = Tree { headers, entries: entries.collect(), expand: Some(2) };
        work.json(&Answer::of(tree, history.is_complete()))
    }

    fn states(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let Some(history) = history(dataset)? else {
            return answer::no_states(parameters, work);
        };
        let rows: Vec<ChartRow> =
            parameters.items()?.into_iter().filter_map(|id| row(&history, id)).collect();
        answer::states((&history, None), &NAMES, rows.iter(), parameters, work)
    }

    fn arrows(&self, _: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        parameters.samples("nbTimes")?;
        work.json(&Answer::complete([(); 0]))
    }

    fn tooltip(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let element = Element::parse(parameters)?;
        let Some(history) = history(dataset)? else {
            return work.json(&Answer::<()>::running(None));
        };
        let row = row(&history, element.entry);
        answer::tooltip((&history, None), row.as_ref(), &NAMES, &element, |_| Ok(()), work)
    }

    fn style(&self, _: &Dataset, _: &Parameters, work: &mut Work<'_>) -> Result {
        styles::answer(work)
    }
}

fn history(dataset: &Dataset) -> std::result::Result<Option<History>, OutputError> {
    dataset.kernel().ok_or(OutputError::NotOffered)?.history()
}

/// Returns the row of an attribute by its id.
fn row(history: &History, id: i64) -> Option<ChartRow> {
    let tree = history.tree();
    let quark = Quark::from_index(u32::try_from(id).ok()?);
    if quark == Quark::ROOT || !tree.contains(quark) {
        return None;
    }
    let labels = vec![tree.name(quark)?.to_owned()];
    Some(ChartRow { id, labels, lane: Lane::Value(quark) })
}
