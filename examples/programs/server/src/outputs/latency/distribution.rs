//! The number of durations by their length.

use std::collections::HashSet;

use super::Analysis;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::outputs::work::Work;
use crate::outputs::{Output, xy};
use crate::protocol::models::{Axis, AxisDomain, AxisRange, DataProvider, DataType};
use crate::protocol::parameters::Parameters;

/// The chart of the distribution of durations, with a bar for each power of two.
#[derive(Debug)]
pub(super) struct Distribution(pub(super) &'static Analysis);

const COUNT: Axis = Axis::new("Count", "", DataType::Number);

impl Output for Distribution {
    fn description(&self) -> DataProvider {
        self.0.distribution
    }

    fn serves(&self, dataset: &Dataset) -> bool {
        self.0.serves(dataset)
    }

    fn tree(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        self.0.answer(dataset, parameters, work)
    }

    fn generic_xy(
        &self,
        dataset: &Dataset,
        parameters: &Parameters,
        work: &mut Work<'_>,
    ) -> Result {
        let samples = parameters.samples("nbSamples")?;
        let wanted: HashSet<i64> = parameters.items()?.into_iter().collect();
        // Clients ask for trees until they are complete, but only once for their numbers.
        let window = dataset.window(Some((samples.start(), samples.end())));
        let latency = work.wait(|| dataset.latency(window))?;
        let mut series = Vec::new();
        for (trace, of) in self.0.traces(dataset, &latency) {
            for (id, _, family) in
                self.0.families(dataset, trace, of).filter(|of| wanted.contains(&of.0))
            {
                let total = of.total(family);
                series.push((id, family, total.durations().log2_bins().collect::<Vec<_>>()));
            }
        }
        // All series have the same bars.
        let bins = series.iter().flat_map(|(_, _, bins)| bins.iter().map(|(range, _)| range));
        let bounds = bins.clone().map(|of| of.start).min().zip(bins.map(|of| of.end).max());
        let (low, high) = bounds.unwrap_or((0, 1));
        let ranges = powers(low, high);
        let whole = AxisDomain { start: saturated(low), end: saturated(high) };
        let axis = Axis { domain: Some(whole), ..Axis::new("Duration", "ns", DataType::Duration) };
        let mut writer = xy::Writer::start(work, self.0.distribution.name, &samples)?;
        for (id, family, bins) in series {
            let mut counts = vec![0.0; ranges.len()];
            for (range, count) in bins {
                if let Some(at) = ranges.iter().position(|of| of.start == saturated(range.start)) {
                    counts[at] = count as f64;
                }
            }
            writer.bars(id, family.title(), (&ranges, axis), (&counts, COUNT), family.key())?;
        }
        writer.end(true)
    }

    fn style(&self, _: &Dataset, _: &Parameters, work: &mut Work<'_>) -> Result {
        work.json(&self.0.styles("bar"))
    }
}

/// Returns the ranges between powers of two from one bound of a bin to another.
fn powers(low: u64, high: u64) -> Vec<AxisRange> {
    let mut ranges = Vec::new();
    let mut start = low;
    while start < high {
        let end = start.saturating_mul(2).max(1).min(high);
        ranges.push(AxisRange { start: saturated(start), end: saturated(end) });
        start = end;
    }
    ranges
}

fn saturated(number: u64) -> i64 {
    number.min(i64::MAX as u64) as i64
}
