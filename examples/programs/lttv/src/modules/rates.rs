//! Average and peak rates of events.

use std::time::Duration;

use lttv_common::report::Usage;
use lttv_context::Handle;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes, Kind, Name};
use lttv_context::framework::{Failure, Module, ModuleInfo, OptionSpec};
use lttv_hooks::Priority;

use super::{Host, event_counts, places, report_with};

/// The module `rates`.
#[derive(Debug)]
pub(super) struct Rates;

impl Module<Host> for Rates {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "rates",
            summary: "Rates of the events counted, in events per second",
            description: "Adds to the counts of eventCounts: `duration`, from the first to the \
                          last event counted; `rate`, the average over that time; `peak_rate`, \
                          the rate of the busiest interval of --rate-interval; and \
                          `event_rates`, the averages by type.",
            requires: &["eventCounts"],
        }
    }

    fn options(&self) -> Vec<OptionSpec> {
        let help = "Length of the intervals over which peak rates are computed";
        let interval = OptionSpec::new("rate-interval", Kind::Duration, help);
        vec![interval.value_name("SECONDS").default_value("0.1")]
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let interval = host.options.get::<Duration>("rate-interval")?.copied().unwrap_or_default();
        let interval = u64::try_from(interval.as_nanos()).map_err(Usage::new)?;
        if interval == 0 {
            return Err(Usage::new("--rate-interval must be longer than 0").into());
        }
        let events = event_counts::events(host)?;
        let batch = &mut host.data.batch;
        let contexts = batch.context.contexts();
        let (mut cpus, mut of_tracefile) = (Vec::new(), Vec::new());
        for tracefile in contexts.tracefiles() {
            let cpu = (tracefile.trace_index().0, places::cpu(tracefile));
            let known = cpus.iter().position(|(known, _)| *known == cpu);
            of_tracefile.push(known.unwrap_or_else(|| {
                cpus.push((cpu, Peak::default()));
                cpus.len() - 1
            }));
        }
        let traces = contexts.traces().iter().map(|_| Peak::default()).collect();
        let peaks = Peaks { interval, traces, cpus, of_tracefile };
        let peaks = batch.context.attach_data(peaks);
        host.data.on_chosen(events, move |call| {
            let time = call.time().as_ns();
            let peaks = &mut call.extensions[peaks];
            peaks.traces[call.tracefile.trace_index().0].count(time, peaks.interval);
            let cpu = peaks.of_tracefile[call.tracefile.number().0];
            peaks.cpus[cpu].1.count(time, peaks.interval);
        });
        // The counts have been exported: their module comes first.
        report_with(host, Priority::DEFAULT, move |host| report(host, peaks));
        Ok(())
    }
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

/// The busiest interval so far. Intervals follow each other from the first event on.
#[derive(Debug, Default)]
struct Peak {
    /// The times of the first and the last event, in ns.
    span: Option<(i64, i64)>,
    interval_number: u64,
    events: u64,
    most: u64,
}

impl Peak {
    fn count(&mut self, time: i64, interval: u64) {
        let (first, _) = *self.span.get_or_insert((time, time));
        self.span = Some((first, time));
        // Events come in order: none is before the first.
        let interval_number = time.abs_diff(first) / interval;
        if interval_number != self.interval_number {
            (self.interval_number, self.events) = (interval_number, 0);
        }
        self.events += 1;
        self.most = self.most.max(self.events);
    }

    /// Returns the time from the first to the last event.
    fn duration(&self) -> Duration {
        let (first, last) = self.span.unwrap_or_default();
        Duration::from_nanos(last.abs_diff(first))
    }

    /// Returns the events per second in the busiest interval.
    fn rate(&self, interval: u64) -> f64 {
        self.most as f64 / Duration::from_nanos(interval).as_secs_f64()
    }
}

fn report(host: &mut Host, peaks: Handle<Peaks>) -> Result<(), AttributeError> {
    let attributes = &mut host.attributes;
    let context = &host.data.batch.context;
    let (traces, peaks) = (context.contexts().traces(), &context.extensions()[peaks]);
    for (trace, peak) in traces.iter().zip(&peaks.traces) {
        let trace = places::of_trace(attributes, trace)?;
        attributes.set(trace, "duration", peak.duration())?;
        add_rates(attributes, trace, peak, peaks.interval, peak.duration())?;
        add_type_rates(attributes, trace, peak.duration())?;
    }
    for ((trace, cpu), peak) in &peaks.cpus {
        // The average of a CPU is over the time of its trace, including idle time.
        let duration = peaks.traces[*trace].duration();
        let cpu = places::of_cpu(attributes, &traces[*trace], *cpu)?;
        add_rates(attributes, cpu, peak, peaks.interval, duration)?;
    }
    Ok(())
}

/// Adds the rates of the events that are counted in a subtree.
fn add_rates(
    attributes: &mut Attributes,
    tree: AttributeId,
    peak: &Peak,
    interval: u64,
    duration: Duration,
) -> Result<(), AttributeError> {
    let events = attributes.entry::<u64>(tree, "events")?;
    if let Some(rate) = rate(attributes[events], duration) {
        attributes.set(tree, "rate", rate)?;
    }
    attributes.set(tree, "peak_rate", peak.rate(interval))?;
    Ok(())
}

/// Adds the rates of the events of each type of a trace.
fn add_type_rates(
    attributes: &mut Attributes,
    trace: AttributeId,
    duration: Duration,
) -> Result<(), AttributeError> {
    let types = attributes.subtree(trace, "event_types")?;
    let rates = attributes.subtree(trace, "event_rates")?;
    let found: Vec<(String, f64)> = attributes
        .children(types)
        .filter_map(|id| {
            let Some(Name::Text(name)) = attributes.name(id) else { return None };
            let events = attributes[attributes.key::<u64>(id)?];
            Some((name.to_owned(), rate(events, duration)?))
        })
        .collect();
    found.iter().try_for_each(|(name, rate)| attributes.set(rates, name, *rate).map(|_| ()))
}

/// Returns the events per second; `None` for no time.
fn rate(events: u64, duration: Duration) -> Option<f64> {
    (!duration.is_zero()).then(|| events as f64 / duration.as_secs_f64())
}
