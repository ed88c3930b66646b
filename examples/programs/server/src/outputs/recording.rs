//! The times in which each tracefile was recorded, and those in which events were lost.

use lttv_state::history::History;
use lttv_state::tree::Quark;

use super::Output;
use super::states::answer::{self, Element};
use super::states::styles;
use super::work::Work;
use crate::dataset::Dataset;
use crate::dataset::{ChartRow, Lane};
use crate::error::Result;
use crate::protocol::models::{Answer, DataProvider, Entry, Header, Kind, Tree};
use crate::protocol::parameters::Parameters;

/// The chart of tracefiles.
#[derive(Debug)]
pub(super) struct Recording;

const NAMES: [&str; 1] = ["Tracefile"];

impl Output for Recording {
    fn description(&self) -> DataProvider {
        DataProvider {
            id: "org.lttv.recording",
            name: "Recording",
            description: "The times in which each tracefile was recorded or has lost events",
            kind: Kind::TimeGraph,
        }
    }

    fn tree(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        parameters.range()?;
        let history = dataset.recording()?;
        let (start, end) = dataset.span();
        let entry = |quark: Quark, label: String| Entry {
            id: quark.index() as i64,
            labels: vec![label],
            start: Some(start),
            end: Some(end),
            ..Entry::default()
        };
        let mut entries = Vec::new();
        for (number, trace) in dataset.traceset().traces().iter().enumerate() {
            let Some(base) = history.tree().child(Quark::ROOT, &number.to_string()) else {
                continue;
            };
            let name = trace.path().file_name().unwrap_or_default().to_string_lossy();
            entries.push(entry(base, name.into_owned()));
            for (tracefile, quark) in trace.tracefiles().iter().zip(history.tree().children(base)) {
                let parent = Some(base.index() as i64);
                let row = entry(quark, tracefile.name().to_owned());
                entries.push(Entry { parent, has_data: true, ..row });
            }
        }
        let headers = vec![Header::text("Tracefile", "Channel and CPU")];
        work.json(&Answer::complete(Tree { headers, entries, expand: None }))
    }

    fn states(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let history = dataset.recording()?;
        let rows: Vec<ChartRow> =
            parameters.items()?.into_iter().filter_map(|id| row(history, id)).collect();
        answer::states((history, None), &NAMES, rows.iter(), parameters, work)
    }

    fn arrows(&self, _: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        parameters.samples("nbTimes")?;
        work.json(&Answer::complete([(); 0]))
    }

    fn tooltip(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let element = Element::parse(parameters)?;
        let history = dataset.recording()?;
        let row = row(history, element.entry);
        answer::tooltip((history, None), row.as_ref(), &NAMES, &element, |_| Ok(()), work)
    }

    fn style(&self, _: &Dataset, _: &Parameters, work: &mut Work<'_>) -> Result {
        styles::answer(work)
    }
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
