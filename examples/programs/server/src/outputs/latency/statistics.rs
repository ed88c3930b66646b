//! LatencyFigures of durations, by what took the time.

use lttv_state::durations::{Distribution, Extreme};
use lttv_state::latency::GroupBy;

use super::Analysis;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::outputs::Output;
use crate::outputs::work::Work;
use crate::protocol::models::{Answer, DataProvider, DataType, Entry, Header, Tree};
use crate::protocol::parameters::Parameters;

/// The tree of figures.
#[derive(Debug)]
pub(super) struct Statistics(pub(super) &'static Analysis);

const HEADERS: [Header; 12] = [
    Header::text("Label", "What takes the time"),
    Header::of("Minimum", "The shortest duration, in ns", DataType::Duration),
    Header::of("Maximum", "The longest duration, in ns", DataType::Duration),
    Header::of("Average", "The mean, in ns", DataType::Duration),
    Header::of("Std Dev", "The standard deviation, in ns", DataType::Duration),
    Header::of("Count", "The number of durations", DataType::Number),
    Header::of("Total", "Their sum, in ns", DataType::Duration),
    Header::of("50 %", "Half of the durations are at most as long, in ns", DataType::Duration),
    Header::of("90 %", "90 percent are at most as long, in ns", DataType::Duration),
    Header::of("99 %", "99 percent are at most as long, in ns", DataType::Duration),
    Header::of("Min Time Range", "The time of the shortest duration", DataType::TimeRange),
    Header::of("Max Time Range", "The time of the longest duration", DataType::TimeRange),
];

impl Output for Statistics {
    fn description(&self) -> DataProvider {
        self.0.statistics
    }

    fn serves(&self, dataset: &Dataset) -> bool {
        self.0.serves(dataset)
    }

    fn tree(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let window = dataset.window(parameters.range()?);
        let Some(latency) = dataset.latency(window) else {
            return work.json(&Answer::<Tree>::running(None));
        };
        let mut rows = Rows::default();
        for (trace, of) in self.0.traces(dataset, &latency) {
            let name = dataset.group_of(trace).map_or("", |group| &group.name);
            let empty = vec![String::new(); HEADERS.len() - 1];
            let root = rows.add(None, name.to_owned(), empty);
            for (_, _, family) in self.0.families(dataset, trace, of) {
                let total = of.total(family);
                let title = family.title().to_owned();
                let parent = rows.add(Some(root), title, labels(total.durations()));
                for row in of.rows(family, GroupBy::Subject) {
                    work.tick()?;
                    let subject = row.subject.map_or(String::new(), |subject| of.subject(subject));
                    rows.add(Some(parent), subject, labels(row.figures.durations()));
                }
            }
        }
        let tree = Tree { headers: HEADERS.into(), entries: rows.entries, expand: Some(2) };
        work.json(&Answer::complete(tree))
    }
}

#[derive(Default)]
struct Rows {
    entries: Vec<Entry>,
}

impl Rows {
    fn add(&mut self, parent: Option<i64>, name: String, figures: Vec<String>) -> i64 {
        let id = self.entries.len() as i64;
        let labels = std::iter::once(name).chain(figures).collect();
        self.entries.push(Entry { id, parent, labels, ..Entry::default() });
        id
    }
}

/// Returns the labels after the first one. Without durations, only the count is known.
fn labels(of: &Distribution) -> Vec<String> {
    let spread = of.spread();
    if spread.count() == 0 {
        let mut labels = vec![String::new(); HEADERS.len() - 1];
        labels[4] = "0".to_owned();
        return labels;
    }
    let percentile = |p: f64| of.percentile(p).map_or(String::new(), |ns| ns.to_string());
    let range = |of: Extreme| format!("[{},{}]", of.begin().as_ns(), of.end().as_ns());
    vec![
        spread.least().value.to_string(),
        spread.greatest().value.to_string(),
        format!("{:.0}", spread.mean()),
        format!("{:.0}", spread.deviation()),
        spread.count().to_string(),
        spread.total().to_string(),
        percentile(50.0),
        percentile(90.0),
        percentile(99.0),
        range(spread.least()),
        range(spread.greatest()),
    ]
}
