//! The number of events over time.

use ltt_read::Timestamp;

use super::work::Work;
use super::{Output, xy};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::protocol::models::{Answer, Axis, DataProvider, DataType, Entry, Header, Kind, Tree};
use crate::protocol::parameters::Parameters;
use crate::protocol::samples::Samples;

/// The histogram of all events, and of lost ones.
#[derive(Debug)]
pub(super) struct Histogram;

/// The number of entries of a trace: itself, all events, lost events.
const ENTRIES: i64 = 3;
const NAMES: [&str; 2] = ["Total", "Lost Events"];
const AXIS: Axis = Axis::new("Number of events", "", DataType::Number);

impl Output for Histogram {
    fn description(&self) -> DataProvider {
        DataProvider {
            id: "org.eclipse.tracecompass.internal.tmf.core.histogram.HistogramDataProvider",
            name: "Histogram",
            description: "Number of events over time",
            kind: Kind::TreeTimeXy,
        }
    }

    fn tree(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        parameters.range()?;
        let mut entries = Vec::new();
        for (number, group) in dataset.groups().iter().enumerate() {
            let id = number as i64 * ENTRIES;
            let labels = vec![group.name.clone()];
            entries.push(Entry { id, labels, ..Entry::default() });
            for (name, at) in NAMES.iter().zip(1..) {
                entries.push(Entry {
                    id: id + at,
                    parent: Some(id),
                    labels: vec![(*name).to_owned()],
                    has_data: true,
                    is_default: Some(true),
                    ..Entry::default()
                });
            }
        }
        let headers = vec![Header::text("Name", "Trace")];
        work.json(&Answer::complete(Tree { headers, entries, expand: None }))
    }

    fn xy(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let samples = parameters.samples("nbTimes")?;
        let items = parameters.items()?;
        let passing = super::passing(dataset, parameters)?;
        let counted = dataset.events().snapshot();
        let mut series = xy::Writer::start(work, "Histogram", &samples)?;
        for id in xy::unique(items) {
            let (group, which) = (id.div_euclid(ENTRIES), id.rem_euclid(ENTRIES));
            let Ok(group) = usize::try_from(group) else { continue };
            let Some(times) = counted.times.get(group) else { continue };
            let before = |time| match &passing {
                None => times.before(time),
                Some(passing) => passing.before(group, &counted, time),
            };
            let (numbers, style) = match which {
                1 => (counts(&samples, before), "events"),
                2 => (losses(&samples, dataset, group), "lost"),
                _ => continue,
            };
            let name = name(NAMES[which as usize - 1], group, dataset.groups().len());
            series.series(id, &name, &numbers, AXIS, style)?;
        }
        let all_passing = passing.is_none_or(|passing| passing.numbers.is_complete);
        series.end(counted.is_complete && all_passing)
    }

    fn style(&self, _: &Dataset, _: &Parameters, work: &mut Work<'_>) -> Result {
        let style = |name, color| xy::style(name, color, "bar");
        work.json(&xy::styles([
            ("events", style("Events", "#3f76a3")),
            ("lost", style("Lost events", "#d64545")),
        ]))
    }
}

/// Returns the name of a series. Clients tell lost events by that word, which the names of traces
/// may contain: these are in the tree.
fn name(of: &str, group: usize, groups: usize) -> String {
    match groups {
        1 => of.to_owned(),
        _ => format!("{of}, trace {}", group + 1),
    }
}

/// Counts the events from each sample until before the next one. The last sample counts those at
/// its time.
fn counts(samples: &Samples, before: impl Fn(Timestamp) -> u64) -> Vec<f64> {
    let next = samples.end().checked_add(1);
    // No event is at a later time than the greatest one.
    let ends = samples.iter().skip(1).chain([next.unwrap_or(i64::MAX)]);
    let mut earlier = before(Timestamp::from_ns(samples.start()));
    let counts = ends.map(|end| {
        let until = before(Timestamp::from_ns(end));
        let count = until.saturating_sub(earlier);
        earlier = until.max(earlier);
        count as f64
    });
    counts.collect()
}

/// Counts lost events at the sample where each loss ends.
fn losses(samples: &Samples, dataset: &Dataset, group: usize) -> Vec<f64> {
    let mut counts = vec![0.0; samples.len()];
    for loss in dataset.losses().iter().filter(|loss| loss.group == group) {
        let is_inside = (samples.start()..=samples.end()).contains(&loss.end);
        let after = samples.first_from(loss.end.saturating_add(1));
        if let Some(at) = after.checked_sub(1).filter(|_| is_inside) {
            counts[at] += loss.events as f64;
        }
    }
    counts
}
