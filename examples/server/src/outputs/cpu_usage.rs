//! The use of CPUs over time, in percent of one CPU.

use std::collections::HashSet;
use std::ops::ControlFlow;

use ltt_read::Timestamp;
use lttv_state::history::History;
use lttv_state::tree::Quark;

use super::work::Work;
use super::{Output, OutputError, Result, xy};
use crate::dataset::{Dataset, clamped};
use crate::protocol::models::{Answer, Axis, DataProvider, DataType, Entry, Header, Kind, Tree};
use crate::protocol::parameters::Parameters;
use crate::protocol::samples::Samples;

/// The chart of CPU usage: all CPUs together, and each of them.
#[derive(Debug)]
pub(super) struct CpuUsage;

/// The number of ids for each trace.
const STRIDE: i64 = 1 << 20;
const AXIS: Axis = Axis { label: "CPU usage", unit: "%", data_type: DataType::Number };

impl Output for CpuUsage {
    fn description(&self) -> DataProvider {
        DataProvider {
            id: "org.eclipse.tracecompass.analysis.os.linux.core.cpuusage.CpuUsageDataProvider",
            name: "CPU Usage",
            description: "Time in which CPUs run processes, in percent of one CPU",
            kind: Kind::TreeTimeXy,
        }
    }

    fn serves(&self, dataset: &Dataset) -> bool {
        dataset.kernel().is_some()
    }

    fn tree(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        parameters.range()?;
        let kernel = dataset.kernel().ok_or(OutputError::NotOffered)?;
        let Some(history) = kernel.history()? else {
            return work.json(&Answer::<Tree>::running(None));
        };
        let rows = kernel.thread_rows(&history)?;
        let mut entries = Vec::new();
        for (trace, cpus) in &rows.cpus {
            let group = dataset.group_of(*trace);
            let base = trace.0 as i64 * STRIDE;
            let entry = |id: i64, label: String| Entry {
                id,
                labels: vec![label],
                has_data: true,
                is_default: Some(id == base),
                ..Entry::default()
            };
            entries.push(entry(base, group.map_or("", |group| &group.name).to_owned()));
            entries.extend(cpus.iter().map(|cpu| Entry {
                parent: Some(base),
                ..entry(base + 1 + i64::from(cpu.number), format!("CPU {}", cpu.number))
            }));
        }
        let headers = vec![Header::text("CPU", "All CPUs of a trace, or one of them")];
        let tree = Tree { headers, entries, expand: None };
        work.json(&Answer::of(tree, history.is_complete()))
    }

    fn xy(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let samples = parameters.samples("nbTimes")?;
        let items = parameters.items()?;
        let kernel = dataset.kernel().ok_or(OutputError::NotOffered)?;
        let Some(history) = kernel.history()? else {
            return xy::Writer::start(work, "CPU Usage", &samples)?.end(false);
        };
        let rows = kernel.thread_rows(&history)?;
        let wanted: HashSet<i64> = items.into_iter().collect();
        let mut writer = xy::Writer::start(work, "CPU Usage", &samples)?;
        for (trace, cpus) in &rows.cpus {
            let base = trace.0 as i64 * STRIDE;
            let is_total = wanted.contains(&base);
            let mut total = vec![0.0; samples.len()];
            for cpu in cpus {
                let id = base + 1 + i64::from(cpu.number);
                if !is_total && !wanted.contains(&id) {
                    continue;
                }
                writer.work().check()?;
                let numbers = percent(&history, cpu.thread, &samples)?;
                if wanted.contains(&id) {
                    let name = format!("CPU {}", cpu.number);
                    writer.series(id, &name, &numbers, AXIS, "usage")?;
                }
                total.iter_mut().zip(numbers).for_each(|(total, of)| *total += of);
            }
            if is_total {
                total.iter_mut().for_each(|total| *total = (*total * 100.0).round() / 100.0);
                writer.series(base, "Total", &total, AXIS, "usage")?;
            }
        }
        writer.end(history.is_complete())
    }

    fn style(&self, _: &Dataset, _: &Parameters, work: &mut Work<'_>) -> Result {
        work.json(&xy::styles([("usage", xy::style("CPU usage", "#2f7f4f", "area"))]))
    }
}

/// Returns the part of the time from each sample to the next one in which a CPU runs a process, in
/// percent, as [`CpuSum::busy_percent`](lttv_state::stats::CpuSum::busy_percent) defines it. The
/// last sample has the value of the one before it.
fn percent(
    history: &History,
    thread: Quark,
    samples: &Samples,
) -> std::result::Result<Vec<f64>, OutputError> {
    let times: Vec<i64> = samples.iter().collect();
    let mut busy = vec![0u64; times.len()];
    let (from, to) = (clamped(history, samples.start()), clamped(history, samples.end()));
    let mut at = 0;
    let end = Timestamp::from_ns(to.as_ns().saturating_add(1));
    _ = history.for_each_in(&[thread], from..end, 1, |interval| {
        let is_busy = interval.value.as_i64().is_some_and(|tid| tid != 0);
        let (start, end) = (interval.start.as_ns(), interval.end.as_ns());
        while at + 1 < times.len() && times[at + 1] <= start {
            at += 1;
        }
        if is_busy {
            let mut bar = at;
            while bar + 1 < times.len() && times[bar] < end {
                let (low, high) = (start.max(times[bar]), end.min(times[bar + 1]));
                busy[bar] += u64::try_from(high.saturating_sub(low)).unwrap_or(0);
                bar += 1;
            }
        }
        ControlFlow::Continue(())
    })?;
    let mut percent: Vec<f64> = (0..times.len())
        .map(|at| {
            let width = times.get(at + 1).map_or(0, |next| next - times[at]);
            // Two digits after the point are more than a chart shows.
            let exact = busy[at] as f64 * 100.0 / width.max(1) as f64;
            (exact * 100.0).round() / 100.0
        })
        .collect();
    if let [.., before, last] = &mut percent[..] {
        *last = *before;
    }
    Ok(percent)
}
