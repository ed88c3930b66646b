//! Average and peak rates of events.

use std::collections::BTreeMap;

use std::time::Duration;

use lttv_common::report::Usage;
use lttv_common::table::{Declaration, Table};
use lttv_context::Handle;
use lttv_context::attributes::Kind;
use lttv_context::framework::{Failure, ModuleInfo, OptionSpec};

use super::Host;
use super::analysis::{AnalysisModule, Tables};
use super::event_counts::{self, Counts, Row, table};

/// Returns the module `rates`.
pub(super) fn module() -> AnalysisModule {
    let info = ModuleInfo {
        name: "rates",
        summary: "Rates of the events counted, in events per second",
        description: "Reports the rates of the events that eventCounts counts, in the tables \
                      `totals`, `cpus` and `event_types`: the duration from the first to the last \
                      event counted; the average rate over that time; and the peak rate, that of \
                      the busiest interval of --rate-interval.",
        requires: &["eventCounts"],
    };
    let help = "Length of the intervals over which peak rates are computed";
    let interval = OptionSpec::new("rate-interval", Kind::Duration, help);
    let interval = interval.value_name("SECONDS").default_value("0.1");
    AnalysisModule::new(info, attach).with_options([interval])
}

fn attach(host: &mut Host) -> Result<Option<Tables>, Failure> {
    let interval = host.options.get::<Duration>("rate-interval")?.copied().unwrap_or_default();
    let interval = u64::try_from(interval.as_nanos()).map_err(Usage::new)?;
    if interval == 0 {
        return Err(Usage::new("--rate-interval must be longer than 0").into());
    }
    let events = event_counts::events(host)?;
    let context = &mut host.data.batch.context;
    let contexts = context.contexts();
    let (mut cpus, mut of_tracefile) = (Vec::new(), Vec::new());
    for tracefile in contexts.tracefiles() {
        let cpu = (tracefile.trace_index().0, tracefile.tracefile().cpu());
        let known = cpus.iter().position(|(known, _)| *known == cpu);
        of_tracefile.push(known.unwrap_or_else(|| {
            cpus.push((cpu, Peak::default()));
            cpus.len() - 1
        }));
    }
    let traces = contexts.traces().iter().map(|_| Peak::default()).collect();
    let counts = context.extensions().find::<Counts>().ok_or("no events are counted")?;
    let peaks = context.attach_data(Peaks { interval, traces, cpus, of_tracefile });
    host.data.on_chosen(events, move |call| {
        let time = call.event_time().as_ns();
        let peaks = &mut call.extensions[peaks];
        peaks.traces[call.tracefile.trace_index().0].count(time, peaks.interval);
        let cpu = peaks.of_tracefile[call.tracefile.number().0];
        peaks.cpus[cpu].1.count(time, peaks.interval);
    });
    Ok(Some(Box::new(move |host| Ok(tables(host, counts, peaks)))))
}

/// The busiest intervals of traces and of their CPUs.
#[derive(Debug)]
struct Peaks {
    /// The length of an interval in ns.
    interval: u64,
    /// The peak of each trace, by trace index.
    traces: Vec<Peak>,
    /// The peak of each CPU, with its trace index and CPU number.
    cpus: Vec<((usize, Option<u32>), Peak)>,
    /// The index in `cpus`, by tracefile number.
    of_tracefile: Vec<usize>,
}

/// The number of intervals whose events are counted at a time. A clock that goes back by more of them has its
/// events counted anew.
const RECENT: usize = 4096;

/// The busiest interval so far. Intervals follow each other, before and after the first event.
#[derive(Debug, Default)]
struct Peak {
    /// The time of the first event that was read, in ns.
    origin: Option<i64>,
    /// The least and the greatest time of an event, in ns.
    span: Option<(i64, i64)>,
    /// The numbers of events of the latest intervals.
    recent: BTreeMap<i64, u64>,
    most: u64,
}

impl Peak {
    fn count(&mut self, time: i64, interval: u64) {
        let origin = *self.origin.get_or_insert(time);
        let (first, last) = self.span.unwrap_or((time, time));
        self.span = Some((first.min(time), last.max(time)));
        let offset = i128::from(time) - i128::from(origin);
        let events = self.recent.entry(offset.div_euclid(interval.into()) as i64).or_default();
        *events += 1;
        self.most = self.most.max(*events);
        if self.recent.len() > RECENT {
            self.recent.pop_first();
        }
    }

    /// Returns the time from the first to the last event in ns.
    fn duration(&self) -> u64 {
        let (first, last) = self.span.unwrap_or_default();
        last.abs_diff(first)
    }
}

fn tables(host: &Host, counts: Handle<Counts>, peaks: Handle<Peaks>) -> Vec<Table> {
    let (context, has_traces) = (&host.data.batch.context, host.data.has_traces());
    let (counts, peaks) = (&context.extensions()[counts], &context.extensions()[peaks]);
    let totals = counts.by(context.contexts(), |_, _| ());
    let cpus = counts.by(context.contexts(), |cpu, _| cpu);
    let types = counts.by(context.contexts(), |_, event| event.to_owned());
    let peak_of_cpu = |row: &Row<Option<u32>>| {
        let peak = peaks.cpus.iter().find(|(cpu, _)| *cpu == (row.0.0, row.1))?;
        Some(per_second(peak.1.most, peaks.interval))
    };
    vec![
        table(("totals", "Rates"), has_traces, &totals)
            .duration("duration_ns", "DURATION", |row| peaks.traces[row.0.0].duration())
            .with(|table| rate(table, peaks))
            .decimal("peak_rate", "PEAK/s", |row| {
                per_second(peaks.traces[row.0.0].most, peaks.interval)
            })
            .build(),
        table(("cpus", "Rates by CPU"), has_traces, &cpus)
            .integer("cpu", "CPU", |row| row.1)
            .with(|table| rate(table, peaks))
            .decimal("peak_rate", "PEAK/s", peak_of_cpu)
            .build(),
        table(("event_types", "Rates by type"), has_traces, &types)
            .text("event", "EVENT", |row| row.1.as_str())
            .with(|table| rate(table, peaks))
            .build(),
    ]
}

/// Adds the column of average rates. All are over the time of the trace, including idle time.
fn rate<'r, K>(table: Declaration<'r, Row<K>>, peaks: &Peaks) -> Declaration<'r, Row<K>> {
    table.decimal("rate", "EVENTS/s", |row| {
        let duration = peaks.traces[row.0.0].duration();
        (duration != 0).then(|| per_second(row.2, duration))
    })
}

/// Returns the number of events per second in a time in ns.
fn per_second(events: u64, ns: u64) -> f64 {
    events as f64 * 1e9 / ns as f64
}
