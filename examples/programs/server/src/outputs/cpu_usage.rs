//! The use of CPUs over time, in percent of one CPU.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use ltt_read::{Timestamp, TraceIndex};
use lttv_common::kernel_trace::USAGE;
use lttv_state::history::{History, HistoryError};
use lttv_state::tree::Quark;

use super::work::Work;
use super::{Output, xy};
use crate::dataset::{BusyTimes, CpuAttributes, Dataset, ThreadRows, clamped};
use crate::error::{OutputError, Result};
use crate::protocol::models::{Answer, Axis, DataProvider, DataType, Entry, Header, Kind, Tree};
use crate::protocol::parameters::Parameters;

/// The chart of CPU usage: of all CPUs of a trace together, and of each CPU or of each thread.
///
/// A trace has few CPUs and many threads, and clients ask for all series of a chart.
#[derive(Debug)]
pub(super) enum CpuUsage {
    /// The usage of each CPU.
    OfCpus,
    /// The usage by each thread.
    ByThreads,
}

/// The number of ids for each trace: itself, its CPUs, and from [`THREADS`] on its threads.
const STRIDE: i64 = 1 << 40;
/// The id of the thread 0 among those of a trace.
const THREADS: i64 = 1 << 33;
/// The number of numbers that are computed at once: with many samples, those of few entries.
const MOST_NUMBERS: usize = 1 << 18;
const AXIS: Axis = Axis::new("CPU usage", "%", DataType::Number);
const HEADERS: [Header; 4] = [
    Header::text("Process", "All CPUs of a trace, one of them, or a thread"),
    Header::text("TID", "Id of the thread"),
    Header::of("%", "Time on CPUs, in percent of one CPU", DataType::Number),
    Header::of("Time", "Time on CPUs, in ns", DataType::Duration),
];

impl Output for CpuUsage {
    fn description(&self) -> DataProvider {
        match self {
            CpuUsage::OfCpus => DataProvider {
                id: "org.eclipse.tracecompass.analysis.os.linux.core.cpuusage.CpuUsageDataProvider",
                name: "CPU Usage",
                description: "Time in which each CPU runs threads, in percent",
                kind: Kind::TreeTimeXy,
            },
            CpuUsage::ByThreads => DataProvider {
                id: "org.lttv.cpuusage.threads",
                name: "CPU Usage by Threads",
                description: "Time for which each thread runs, in percent of one CPU",
                kind: Kind::TreeTimeXy,
            },
        }
    }

    fn serves(&self, dataset: &Dataset) -> bool {
        dataset.kernel().is_some_and(|kernel| kernel.serves(&USAGE))
    }

    fn tree(&self, dataset: &Dataset, parameters: &Parameters, work: &mut Work<'_>) -> Result {
        let range = parameters.range()?;
        let kernel = dataset.kernel().ok_or(OutputError::NotOffered)?;
        let Some(history) = kernel.history()? else {
            return work.json(&Answer::<Tree>::running(None));
        };
        let rows = kernel.thread_rows(&history)?;
        let (start, end) = range.unwrap_or(dataset.range());
        let width = end.saturating_sub(start).max(1) as f64;
        let entry = |id: i64, parent: Option<i64>, [name, tid]: [String; 2], time: u64| Entry {
            id,
            parent,
            labels: vec![
                name,
                tid,
                rounded(time as f64 * 100.0 / width).to_string(),
                time.to_string(),
            ],
            has_data: true,
            is_default: Some(parent.is_none()),
            ..Entry::default()
        };
        let mut entries = Vec::new();
        for (trace, cpus) in &rows.cpus {
            let base = base(*trace);
            let mut cpu_times = Vec::new();
            let mut thread_times: BTreeMap<i64, u64> = BTreeMap::new();
            for cpu in cpus {
                work.check()?;
                let mut time = 0u64;
                for_each_part(&history, cpu.thread, &[start, end], |tid, _, ns| {
                    time = time.saturating_add(ns);
                    let of = thread_times.entry(tid).or_default();
                    *of = of.saturating_add(ns);
                })?;
                cpu_times.push((cpu.number, time));
            }
            let total = cpu_times.iter().fold(0u64, |sum, (_, time)| sum.saturating_add(*time));
            let name = dataset.group_of(*trace).map_or("", |group| &group.name).to_owned();
            entries.push(entry(base, None, [name, String::new()], total));
            if matches!(self, CpuUsage::OfCpus) {
                entries.extend(cpu_times.into_iter().map(|(number, time)| {
                    entry(cpu_id(base, number), Some(base), [cpu_name(number), String::new()], time)
                }));
                continue;
            }
            let mut threads: Vec<_> =
                thread_times.into_iter().filter(|(tid, _)| *tid > 0).collect();
            threads.sort_by_key(|(tid, time)| (std::cmp::Reverse(*time), *tid));
            entries.extend(threads.into_iter().map(|(tid, time)| {
                let labels = [rows.name(*trace, tid, end).to_owned(), tid.to_string()];
                entry(base + THREADS + tid, Some(base), labels, time)
            }));
        }
        let tree = Tree { headers: HEADERS.into(), entries, expand: None };
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
        let known = kernel.busy_times(&history, &rows);
        let wanted: Vec<i64> = xy::unique(items).collect();
        let times: Vec<i64> = samples.iter().collect();
        let most = (MOST_NUMBERS / times.len().max(1)).max(1);
        let mut writer = xy::Writer::start(work, "CPU Usage", &samples)?;
        for (trace, cpus) in &rows.cpus {
            for wanted in wanted.chunks(most) {
                let wanted = wanted.iter().copied().collect();
                let usage =
                    Usage::of((*trace, cpus), (&history, known), &wanted, &times, writer.work())?;
                for (id, busy) in &usage.busy {
                    let name = usage.name(*id, (*trace, &rows), samples.end());
                    writer.series(*id, &name, &percent(busy, &times), AXIS, "usage")?;
                }
            }
        }
        writer.end(history.is_complete())
    }

    fn style(&self, _: &Dataset, _: &Parameters, work: &mut Work<'_>) -> Result {
        work.json(&xy::styles([("usage", xy::style("CPU usage", "#2f7f4f", "area"))]))
    }
}

/// Returns the id of the entry of a trace.
fn base(trace: TraceIndex) -> i64 {
    trace.0 as i64 * STRIDE
}

fn cpu_id(base: i64, number: u32) -> i64 {
    base + 1 + i64::from(number)
}

fn cpu_name(number: u32) -> String {
    format!("CPU {number}")
}

/// The busy time of entries of a trace between samples.
struct Usage {
    base: i64,
    /// For each wanted id, the time in ns from each sample to the next one.
    busy: BTreeMap<i64, Vec<u64>>,
}

impl Usage {
    /// Adds up the times of the wanted ids, and reads only the CPUs that they need.
    fn of(
        (trace, cpus): (TraceIndex, &[CpuAttributes]),
        (history, known): (&History, Option<&BusyTimes>),
        wanted: &HashSet<i64>,
        times: &[i64],
        work: &Work<'_>,
    ) -> std::result::Result<Usage, OutputError> {
        let base = base(trace);
        let threads: HashMap<i64, usize> = wanted
            .iter()
            .map(|id| id.saturating_sub(base + THREADS))
            .filter(|tid| (1..=i64::from(i32::MAX)).contains(tid))
            .zip(0..)
            .collect();
        let is_total = wanted.contains(&base);
        let none = || vec![0u64; times.len()];
        let mut total = none();
        let mut of_threads: Vec<Vec<u64>> = threads.iter().map(|_| none()).collect();
        let mut busy = BTreeMap::new();
        for cpu in cpus {
            let id = cpu_id(base, cpu.number);
            let is_wanted = wanted.contains(&id);
            if !is_wanted && !is_total && threads.is_empty() {
                continue;
            }
            work.check()?;
            // Without threads, it is enough to know when the CPU runs any.
            let known = known.filter(|_| threads.is_empty());
            let of_cpu = match known.and_then(|known| known.between(cpu.thread, times)) {
                Some(of_cpu) => of_cpu,
                None => {
                    let mut of_cpu = none();
                    for_each_part(history, cpu.thread, times, |tid, at, ns| {
                        of_cpu[at] += ns;
                        if let Some(thread) = threads.get(&tid) {
                            of_threads[*thread][at] += ns;
                        }
                    })?;
                    of_cpu
                }
            };
            total.iter_mut().zip(&of_cpu).for_each(|(total, of)| *total += of);
            if is_wanted {
                busy.insert(id, of_cpu);
            }
        }
        if is_total {
            busy.insert(base, total);
        }
        for (tid, at) in threads {
            busy.insert(base + THREADS + tid, std::mem::take(&mut of_threads[at]));
        }
        Ok(Usage { base, busy })
    }

    /// Returns the name of an entry, which is that of a thread at a time.
    fn name(&self, id: i64, (trace, rows): (TraceIndex, &ThreadRows), time: i64) -> String {
        match id - self.base {
            0 => "Total".to_owned(),
            cpu @ 1..THREADS => cpu_name((cpu - 1) as u32),
            thread => {
                let tid = thread - THREADS;
                format!("{} ({tid})", rows.name(trace, tid, time))
            }
        }
    }
}

/// Calls `part` with each thread that a CPU runs between two samples: its id, the number of the first
/// of the samples, and the time in ns. The idle task is none.
fn for_each_part(
    history: &History,
    thread: Quark,
    times: &[i64],
    mut part: impl FnMut(i64, usize, u64),
) -> std::result::Result<(), HistoryError> {
    let [first, .., last] = times else { return Ok(()) };
    let (from, to) = (clamped(history, *first), clamped(history, *last));
    let end = Timestamp::from_ns(to.as_ns().saturating_add(1));
    let mut at = 0;
    _ = history.for_each_in(&[thread], from..end, 1, |interval| {
        let (start, end) = (interval.start.as_ns(), interval.end.as_ns());
        while at + 1 < times.len() && times[at + 1] <= start {
            at += 1;
        }
        if let Some(tid) = interval.value.as_i64().filter(|tid| *tid != 0) {
            let mut bar = at;
            while bar + 1 < times.len() && times[bar] < end {
                let (low, high) = (start.max(times[bar]), end.min(times[bar + 1]));
                part(tid, bar, u64::try_from(high.saturating_sub(low)).unwrap_or(0));
                bar += 1;
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(())
}

/// Returns the busy part of the time from each sample to the next one in percent, as
/// [`CpuSum::busy_percent`](lttv_state::stats::CpuSum::busy_percent) defines it. The last sample has
/// the value of the one before it.
fn percent(busy: &[u64], times: &[i64]) -> Vec<f64> {
    let mut percent: Vec<f64> = (0..times.len())
        .map(|at| {
            let width = times.get(at + 1).map_or(0, |next| next.saturating_sub(times[at]));
            rounded(busy[at] as f64 * 100.0 / width.max(1) as f64)
        })
        .collect();
    if let [.., before, last] = &mut percent[..] {
        *last = *before;
    }
    percent
}

/// Rounds to two digits after the point, which are more than a chart shows.
fn rounded(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}
