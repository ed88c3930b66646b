//! Usage as an analysis: the state is followed in order, its effects are added on any thread.

use std::mem::swap;

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Timestamp, TraceIndex, TracefileNumber};
use lttv_context::Contexts;

use super::collect::{Addition, Collector, Log};
use super::collected::Collected;
use super::events::{Measure, Source};
use super::options::UsageOptions;
use super::{TraceUsage, Usage};
use crate::analysis::{End, EventsOfSlice, KernelAnalysis, Window};
use crate::kernel::needs::RecordedEvents;
use crate::kernel::{KernelState, OtherEvent, StateChange};
use crate::stats::{self, StatisticsAnalysis};

/// The analysis that computes [`Usage`], with the statistics that it is based on.
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_state::analysis::read;
/// use lttv_state::usage::{UsageAnalysis, UsageOptions};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let analysis = UsageAnalysis::new(UsageOptions::new());
/// let found = read(&Traceset::open(path)?).threads(2).run(analysis);
/// assert!(found.errors.is_empty());
/// println!("{} switches", found.output.traces()[0].total().switches);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct UsageAnalysis {
    options: UsageOptions,
    statistics: StatisticsAnalysis,
    /// The event types that measure something, by trace.
    sources: Vec<Vec<Option<Source>>>,
}

/// The additions of the events of a slice.
#[derive(Debug, Default)]
pub struct Slice {
    statistics: stats::Slice,
    /// The measures of events, by their numbers, in order.
    measured: Vec<(usize, Measure<u32>)>,
    /// The number of measures whose events have passed.
    passed: usize,
    /// The names of interfaces that occur.
    interfaces: Vec<Box<str>>,
    /// The additions to be made, by trace.
    logs: Vec<Log>,
}

/// The state between two slices.
#[derive(Debug, Clone)]
pub struct State {
    statistics: stats::State,
    collectors: Vec<Collector>,
}

/// The sums of slices.
#[derive(Debug, Clone)]
pub struct Part {
    statistics: stats::Part,
    /// By trace.
    collected: Vec<Collected>,
}

impl UsageAnalysis {
    /// Creates the analysis.
    pub fn new(options: UsageOptions) -> Self {
        UsageAnalysis { options, statistics: StatisticsAnalysis::new(), sources: Vec::new() }
    }

    /// Returns what an event type measures, if it measures something.
    #[inline]
    fn source(&self, trace: TraceIndex, event_type: EventTypeId) -> Option<&Source> {
        self.sources.get(trace.0)?.get(event_type.index())?.as_ref()
    }
}

impl KernelAnalysis for UsageAnalysis {
    type State = State;
    type Slice = Slice;
    type Part = Part;
    type Output = Usage;

    const EVERY_EVENT: bool = true;

    fn prepare(&mut self, contexts: &Contexts, kernel: &KernelState) {
        self.statistics.prepare(contexts, kernel);
        let sources = contexts.traces().iter().map(|of| {
            let types = of.trace().schema().event_types.len();
            let mut sources: Vec<_> = (0..types).map(|_| None).collect();
            for (id, source) in Source::all_of(of.trace()) {
                sources[id.index()] = Some(source);
            }
            sources
        });
        self.sources = sources.collect();
    }

    fn begin(&self, kernel: &KernelState, window: Window) -> (State, Part) {
        let (of_statistics, part) = self.statistics.begin(kernel, window);
        let collectors: Vec<_> =
            kernel.traces().map(|state| Collector::new(state, window)).collect();
        let begin = collectors.iter().map(|of| of.begin).min();
        let intervals = self.options.intervals(begin.unwrap_or(0));
        let collected = collectors.iter().map(|_| Collected::new(intervals)).collect();
        (State { statistics: of_statistics, collectors }, Part { statistics: part, collected })
    }

    #[inline]
    fn record(
        &self,
        slice: &mut Slice,
        (number, _): (usize, bool),
        (trace, _): (TraceIndex, TracefileNumber),
        event: &Event<'_>,
    ) {
        if let Some(source) = self.source(trace, event.type_id()) {
            source.read(event, |measure| slice.measure(number, measure));
        }
    }

    fn begin_slice(&self, state: &mut State, slice: &mut Slice) {
        self.statistics.begin_slice(&mut state.statistics, &mut slice.statistics);
        slice.logs.resize_with(state.collectors.len(), Log::default);
        swap_logs(state, slice);
    }

    #[inline]
    fn changed(&self, all: &mut State, slice: &mut Slice, kernel: &KernelState, of: StateChange) {
        self.statistics.changed(&mut all.statistics, &mut slice.statistics, kernel, of);
        let StateChange { number, trace, transition, .. } = of;
        let Some(state) = kernel.trace(trace) else { return };
        let collector = &mut all.collectors[trace.0];
        collector.applied(state, transition);
        if let Some(measure) = slice.next_measure(number) {
            collector.measure_recorded(
                kernel,
                trace,
                Some(state.effect().place()),
                (measure, of.time),
            );
        }
    }

    #[inline]
    fn unchanged(&self, all: &mut State, slice: &mut Slice, kernel: &KernelState, of: OtherEvent) {
        self.statistics.unchanged(&mut all.statistics, &mut slice.statistics, kernel, of);
        if let Some(measure) = slice.next_measure(of.number) {
            let collector = &mut all.collectors[of.trace.0];
            collector.measure_recorded(kernel, of.trace, of.place, (measure, of.time));
        }
    }

    fn end_slice(&self, state: &mut State, slice: &mut Slice, events: EventsOfSlice<'_>) {
        swap_logs(state, slice);
        self.statistics.end_slice(&mut state.statistics, &mut slice.statistics, events);
    }

    fn add(&self, part: &mut Part, slice: &mut Slice, events: EventsOfSlice<'_>) {
        self.statistics.add(&mut part.statistics, &mut slice.statistics, events);
        for (collected, log) in part.collected.iter_mut().zip(&slice.logs) {
            for addition in &log.0 {
                match *addition {
                    Addition::Time { cpu, process, from, to } => {
                        collected.charge(cpu, process, from, to);
                    }
                    Addition::Frequency { cpu, hz, from, to } => {
                        collected.charge_frequency(cpu, hz, from, to);
                    }
                    Addition::Switch { cpu, time } => collected.switched(cpu, time),
                    Addition::Migration { time } => collected.migrated(time),
                    Addition::Measured { owner, measure, time } => {
                        let (_, measure) = slice.measured[measure as usize];
                        let name = |at: u32| &*slice.interfaces[at as usize];
                        collected.measured(time, owner, measure.map(name));
                    }
                }
            }
        }
    }

    fn clear(&self, slice: &mut Slice) {
        self.statistics.clear(&mut slice.statistics);
        slice.measured.clear();
        slice.passed = 0;
        slice.interfaces.clear();
        slice.logs.iter_mut().for_each(|log| log.0.clear());
    }

    fn finish(&self, state: State, part: Part, end: End<'_>) -> Usage {
        let statistics = self.statistics.finish(state.statistics, part.statistics, end);
        let traces = statistics.into_traces().into_iter();
        let traces = traces.zip(state.collectors).zip(part.collected).zip(end.kernel.traces()).map(
            |(((statistics, of), mut collected), state)| {
                of.add_rest(&mut collected, state, statistics.end().as_ns());
                let recorded = statistics.trace().map(RecordedEvents::of);
                TraceUsage { statistics, collected, recorded: recorded.unwrap_or_default() }
            },
        );
        Usage { traces: traces.collect() }
    }
}

/// Exchanges the logs of collectors and of a slice.
fn swap_logs(state: &mut State, slice: &mut Slice) {
    for (collector, log) in state.collectors.iter_mut().zip(&mut slice.logs) {
        swap(&mut collector.log, log);
    }
}

impl Slice {
    /// Notes what the event with a number measures.
    fn measure(&mut self, number: usize, measure: Measure<&str>) {
        let interfaces = &mut self.interfaces;
        let measure = measure.map(|name| {
            let known = interfaces.iter().position(|of| **of == *name);
            let at = known.unwrap_or_else(|| {
                interfaces.push(name.into());
                interfaces.len() - 1
            });
            at as u32
        });
        self.measured.push((number, measure));
    }

    /// Returns the number of the measure of the event with a number, if it measures something.
    #[inline]
    fn next_measure(&mut self, number: usize) -> Option<u32> {
        // Measures before it are those of events outside of the window.
        while self.measured.get(self.passed)?.0 < number {
            self.passed += 1;
        }
        (self.measured[self.passed].0 == number).then_some(self.passed as u32)
    }
}

impl Collector {
    /// Adds what an event on the CPU at an index measures: the measure with a number, at a time.
    fn measure_recorded(
        &mut self,
        kernel: &KernelState,
        trace: TraceIndex,
        place: Option<usize>,
        (measure, time): (u32, Timestamp),
    ) {
        let running = kernel.trace(trace).zip(place);
        let running = running.and_then(|(state, place)| state.running_at(place));
        let running = running.map(|of| (of.serial(), of.mode().is_interrupt()));
        let time = time.as_ns();
        if let Some(owner) = self.owner(running, time) {
            self.log.0.push(Addition::Measured { owner, measure, time });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::analysis::check;

    #[test]
    fn slices_of_any_sizes_add_up() {
        let of = |of: &TraceUsage| {
            let all = (of.cpus(), of.threads(), of.intervals(), of.interfaces(), of.total());
            format!("{all:?}")
        };
        let options = UsageOptions::new().every(Duration::from_millis(10));
        let digest = |usage: Usage| usage.traces().iter().map(of).collect::<Vec<_>>();
        check(UsageAnalysis::new(options), digest, 31);
    }
}
