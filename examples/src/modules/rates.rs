//! How many events there are in a second, on average and at most.

use std::time::Duration;

use lttv_context::Handle;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes, Kind, Name};
use lttv_context::modules::{Failure, Module, ModuleInfo};
use lttv_context::options::OptionSpec;
use lttv_hooks::Priority;

use super::{Host, event_counts, places, report_with};
use crate::report::Usage;

/// The module `rates`.
#[derive(Debug)]
pub(super) struct Rates;

impl Module<Host> for Rates {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "rates",
            summary: "Rates of the events counted, in events a second",
            description: "Adds to the counts of eventCounts: `duration`, from the first event \
                          counted to the last one; `rate`, the average over that time; \
                          `peak_rate`, that of the busiest stretch of --rate-interval; and \
                          `event_rates`, the averages by type.",
            requires: &["eventCounts"],
        }
    }

    fn options(&self) -> Vec<OptionSpec> {
        let help = "Length of the stretches among which peak rates are sought";
        let interval = OptionSpec::new("rate-interval", Kind::Duration, help);
        vec![interval.value_name("SECONDS").default("0.1")]
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let interval = host.options.get::<Duration>("rate-interval")?.copied().unwrap_or_default();
        let interval = u64::try_from(interval.as_nanos()).map_err(Usage::new)?;
        if interval == 0 {
            return Err(Usage::new("--rate-interval has no length").into());
        }
        let events = event_counts::events(host)?;
        let batch = &mut host.data.batch;
        let contexts = batch.context.contexts();
        let (mut cpus, mut of_tracefile) = (Vec::new(), Vec::new());
        for tracefile in contexts.tracefiles() {
            let cpu = (tracefile.trace_index(), places::cpu(tracefile));
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
            let time = call.time().ns();
            let peaks = &mut call.extensions[peaks];
            peaks.traces[call.tracefile.trace_index()].count(time, peaks.interval);
            let cpu = peaks.of_tracefile[call.tracefile.number()];
            peaks.cpus[cpu].1.count(time, peaks.interval);
        });
        // The counts are there by then: their module comes first.
        report_with(host, Priority::DEFAULT, move |host| report(host, peaks));
        Ok(())
    }
}

/// The busiest stretches of traces and of their CPUs.
#[derive(Debug)]
struct Peaks {
    /// Length of a stretch in ns.
    interval: u64,
    /// By index of the trace.
    traces: Vec<Peak>,
    /// By trace and CPU.
    cpus: Vec<((usize, Option<u32>), Peak)>,
    /// The place in `cpus`, by number of the tracefile.
    of_tracefile: Vec<usize>,
}

/// The busiest stretch so far. Stretches follow each other from the first event
/// on.
#[derive(Debug, Default)]
struct Peak {
    /// Times of the first event and the last one, in ns.
    span: Option<(i64, i64)>,
    stretch: u64,
    events: u64,
    most: u64,
}

impl Peak {
    fn count(&mut self, time: i64, interval: u64) {
        let (first, _) = *self.span.get_or_insert((time, time));
        self.span = Some((first, time));
        // Events come in order: none lies before the first.
        let stretch = time.abs_diff(first) / interval;
        if stretch != self.stretch {
            (self.stretch, self.events) = (stretch, 0);
        }
        self.events += 1;
        self.most = self.most.max(self.events);
    }

    /// From the first event to the last one.
    fn duration(&self) -> Duration {
        let (first, last) = self.span.unwrap_or_default();
        Duration::from_nanos(last.abs_diff(first))
    }

    /// Events a second in the busiest stretch.
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
        // A CPU's average is over the time of its trace: it may have been idle.
        let duration = peaks.traces[*trace].duration();
        let cpu = places::of_cpu(attributes, &traces[*trace], *cpu)?;
        add_rates(attributes, cpu, peak, peaks.interval, duration)?;
    }
    Ok(())
}

/// Rates of what is counted in a tree.
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

/// Events a second; `None` if no time passed.
fn rate(events: u64, duration: Duration) -> Option<f64> {
    (!duration.is_zero()).then(|| events as f64 / duration.as_secs_f64())
}
