//! Durations by the time of their end.

use std::collections::BTreeMap;
use std::collections::HashSet;

use lttv_state::latency::Sample;

use super::Analysis;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::outputs::work::Work;
use crate::outputs::{Output, xy};
use crate::protocol::models::{Axis, DataProvider, DataType};
use crate::protocol::parameters::Parameters;
use crate::protocol::samples::Samples;

/// The chart of durations.
#[derive(Debug)]
pub(super) struct Scatter(pub(super) &'static Analysis);

const AXIS: Axis = Axis::new("Latency", "ns", DataType::Duration);

impl Output for Scatter {
    fn description(&self) -> DataProvider {
        self.0.scatter
    }

    fn serves(&self, dataset: &Dataset) -> bool {
        self.0.serves(dataset)
    }

    fn tree(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        self.0.answer(dataset, parameters, work)
    }

    fn xy(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let samples = parameters.samples("nbTimes")?;
        let wanted: HashSet<i64> = parameters.items()?.into_iter().collect();
        let latency = dataset.latency(None);
        let mut writer = xy::Writer::start(work, self.0.scatter.name, &samples)?;
        for (trace, of) in latency.iter().flat_map(|latency| self.0.traces(dataset, latency)) {
            for (id, _, family) in
                self.0.families(dataset, trace, of).filter(|of| wanted.contains(&of.0))
            {
                let (x, y) = points(of.top(family), &samples);
                writer.points(id, family.title(), (&x, &y), AXIS, family.key())?;
            }
        }
        writer.end(latency.is_some())
    }

    fn style(&self, _: &Dataset, _: &Parameters, work: &mut Work<'_>) -> Result {
        work.json(&self.0.styles("scatter"))
    }
}

/// Returns the ends and lengths of the durations that end in the range of the samples, in order of
/// time: between two samples only the longest one.
fn points(durations: &[Sample], samples: &Samples) -> (Vec<i64>, Vec<f64>) {
    let mut longest: BTreeMap<usize, (u64, i64)> = BTreeMap::new();
    for sample in durations {
        let end = sample.end.as_ns();
        if end < samples.start() || end > samples.end() {
            continue;
        }
        let point = (sample.duration(), end);
        let of = longest.entry(samples.first_from(end)).or_insert(point);
        *of = point.max(*of);
    }
    longest.into_values().map(|(duration, end)| (end, duration as f64)).unzip()
}
