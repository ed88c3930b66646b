//! Usage in slices: the state is followed in order, its effects are added on any thread.

use std::mem::swap;

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Timestamp, TraceIndex, TracefileNumber};
use lttv_context::{Contexts, Handle, SliceAnalysis, TracesetContext};

use super::collect::{Collector, Span, Sums};
use super::collected::Collected;
use super::events::{Measure, Source};
use super::handle::UsageOptions;
use super::{TraceUsage, Usage};
use crate::kernel::{Followed, FollowerObserver, KernelState, Observer, Serial};
use crate::stats::parallel::finished as finish;
use crate::stats::{Start, slices as statistics};

/// The usage of whole traces as an analysis in slices, with the statistics that it is based on.
#[derive(Debug)]
pub(super) struct InSlices {
    statistics: statistics::InSlices,
    /// The event types that measure something, by trace.
    sources: Vec<Vec<Option<Source>>>,
    /// The index of the trace of each tracefile.
    traces: Vec<usize>,
}

/// A slice: its events, and what they add.
#[derive(Debug, Default)]
pub(super) struct Slice {
    statistics: statistics::Slice,
    /// The measures of events, by their numbers, in order.
    measured: Vec<(usize, Measure<u32>)>,
    /// The names of interfaces that occur.
    interfaces: Vec<Box<str>>,
    /// The additions to be made, by trace.
    logs: Vec<Log>,
}

/// The state between two slices.
#[derive(Debug)]
pub(super) struct State {
    statistics: statistics::State,
    collectors: Vec<Collector<Log>>,
}

/// The sums of slices.
#[derive(Debug)]
pub(super) struct Part {
    statistics: statistics::Part,
    /// By trace.
    collected: Vec<Collected>,
}

/// Additions to sums, in order.
#[derive(Debug, Default)]
struct Log(Vec<Addition>);

#[derive(Debug, Clone, Copy)]
enum Addition {
    Time {
        cpu: u32,
        process: Serial,
        from: i64,
        to: i64,
    },
    Frequency {
        cpu: u32,
        hz: u64,
        from: i64,
        to: i64,
    },
    Switch {
        cpu: u32,
        time: i64,
    },
    Migration {
        time: i64,
    },
    /// The measure with this number.
    Measured {
        owner: Serial,
        measure: u32,
        time: i64,
    },
}

impl Sums for Log {
    #[inline]
    fn charge(&mut self, cpu: u32, process: Serial, from: i64, to: i64) {
        self.0.push(Addition::Time { cpu, process, from, to });
    }

    fn charge_frequency(&mut self, cpu: u32, hz: u64, from: i64, to: i64) {
        self.0.push(Addition::Frequency { cpu, hz, from, to });
    }

    #[inline]
    fn switched(&mut self, cpu: u32, time: i64) {
        self.0.push(Addition::Switch { cpu, time });
    }

    fn migrated(&mut self, time: i64) {
        self.0.push(Addition::Migration { time });
    }
}

impl InSlices {
    /// Creates the analysis for the traces of a context, which is at their start, with the state and
    /// the sums there.
    pub(super) fn new(
        contexts: &Contexts,
        kernel: KernelState,
        options: UsageOptions,
    ) -> (Self, State, Part) {
        let (of_statistics, state) = statistics::InSlices::new(contexts, kernel);
        let begins = state.kernel().traces().map(|state| state.start_time().as_ns());
        let intervals = options.intervals(begins.min().unwrap_or(0));
        let collectors = state.kernel().traces().map(|state| {
            let span = Span::of(Start::Trace, state.start_time().as_ns());
            Collector::new(state, span, Log::default())
        });
        let collectors: Vec<_> = collectors.collect();
        let sources = contexts.traces().iter().map(|of| {
            let types = of.trace().schema().event_types.len();
            let mut sources: Vec<_> = (0..types).map(|_| None).collect();
            for (id, source) in Source::all_of(of.trace()) {
                sources[id.index()] = Some(source);
            }
            sources
        });
        let analysis = InSlices {
            statistics: of_statistics,
            sources: sources.collect(),
            traces: contexts.tracefiles().iter().map(|of| of.trace_index().0).collect(),
        };
        let collected = collectors.iter().map(|_| Collected::new(intervals)).collect();
        let part = Part { statistics: Default::default(), collected };
        (analysis, State { statistics: state, collectors }, part)
    }

    /// Returns what an event type measures, if it measures something.
    #[inline]
    fn source(&self, tracefile: TracefileNumber, event_type: EventTypeId) -> Option<&Source> {
        let trace = *self.traces.get(tracefile.0)?;
        self.sources.get(trace)?.get(event_type.index())?.as_ref()
    }
}

impl SliceAnalysis for InSlices {
    type Slice = Slice;
    type State = State;
    type Part = Part;

    const RECORDS: bool = true;

    fn attach(&self, context: &mut TracesetContext<'_>) -> Handle<Slice> {
        context.attach_data(Slice::default())
    }

    #[inline]
    fn record(&self, slice: &mut Slice, at: (TracefileNumber, Timestamp), event: &Event<'_>) {
        let number = slice.statistics.events();
        self.statistics.record(&mut slice.statistics, at, event);
        if let Some(source) = self.source(at.0, event.type_id()) {
            source.read(event, |measure| slice.measure(number, measure));
        }
    }

    fn resolve(&self, state: &mut State, slice: &mut Slice) {
        let State { statistics, collectors } = state;
        slice.logs.resize_with(collectors.len(), Log::default);
        let swap_logs = |collectors: &mut [Collector<Log>], logs: &mut [Log]| {
            for (collector, log) in collectors.iter_mut().zip(logs) {
                swap(&mut collector.sums, log);
            }
        };
        swap_logs(collectors, &mut slice.logs);
        let mut observer = InOrder { collectors, measured: &slice.measured, first: 0 };
        self.statistics.resolve_with(statistics, &mut slice.statistics, &mut observer);
        swap_logs(collectors, &mut slice.logs);
    }

    fn add(&self, part: &mut Part, slice: &mut Slice) {
        self.statistics.add(&mut part.statistics, &mut slice.statistics);
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
        slice.interfaces.clear();
        slice.logs.iter_mut().for_each(|log| log.0.clear());
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
}

/// The collection after each event of a slice.
struct InOrder<'s> {
    collectors: &'s mut [Collector<Log>],
    measured: &'s [(usize, Measure<u32>)],
    /// The number of the next measure.
    first: usize,
}

impl InOrder<'_> {
    /// Adds what an event measures, if it measures something.
    #[inline]
    fn measure(
        &mut self,
        kernel: &KernelState,
        (number, time): (usize, i64),
        trace: TraceIndex,
        place: Option<usize>,
    ) {
        if self.measured.get(self.first).is_none_or(|(of, _)| *of != number) {
            return;
        }
        let measure = self.first as u32;
        self.first += 1;
        let running = kernel.trace(trace).zip(place);
        let running = running.and_then(|(state, place)| state.running_at(place));
        let running = running.map(|of| (of.serial(), of.mode().is_interrupt()));
        let collector = &mut self.collectors[trace.0];
        if let Some(owner) = collector.owner(running, time) {
            collector.sums.0.push(Addition::Measured { owner, measure, time });
        }
    }
}

impl FollowerObserver for InOrder<'_> {
    #[inline]
    fn changed(&mut self, kernel: &mut KernelState, followed: Followed) {
        let Followed { number, trace, transition, event_type, time, .. } = followed;
        let Some(state) = kernel.trace(trace) else { return };
        self.collectors[trace.0].event_applied(state, transition, event_type);
        let place = state.effect().place();
        self.measure(kernel, (number, time), trace, Some(place));
    }

    fn elsewhere(
        &mut self,
        _: (usize, i64),
        _: (TraceIndex, EventTypeId),
        _: (u32, Option<usize>),
    ) {
    }

    #[inline]
    fn unchanged(
        &mut self,
        kernel: &KernelState,
        event: (usize, i64),
        trace: TraceIndex,
        place: Option<usize>,
    ) {
        self.measure(kernel, event, trace, place);
    }
}

/// Returns the usage of the slices that a context has read, and the state after them.
pub(super) fn finished(
    context: &TracesetContext<'_>,
    analysis: &InSlices,
    (state, part): (State, Part),
    is_stopped: bool,
) -> (Usage, KernelState) {
    let of_statistics = (state.statistics, part.statistics);
    let (statistics, kernel) = finish(context, &analysis.statistics, of_statistics, is_stopped);
    let traces = statistics.into_traces().into_iter();
    let traces =
        traces.zip(state.collectors).zip(part.collected).map(|((statistics, of), sums)| {
            let collected = of.with_sums(sums).collected(statistics.end().as_ns());
            TraceUsage { statistics, collected }
        });
    (Usage { traces: traces.collect() }, kernel)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lttv_context::Traceset;
    use lttv_context::testing::check_slices;

    use super::*;

    #[test]
    fn slices_of_any_sizes_add_up() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
        let traceset = Traceset::open(path).expect("the bundled trace");
        let options = UsageOptions::new().every(Duration::from_millis(10));
        let context = TracesetContext::new(&traceset);
        let new = |context: &TracesetContext<'_>| {
            InSlices::new(context.contexts(), KernelState::new(), options)
        };
        let (analysis, ..) = new(&context);
        let start = || {
            let context = TracesetContext::new(&traceset);
            let (_, state, part) = new(&context);
            (context, state, part)
        };
        let digest = |state, part| {
            let (usage, _) = finished(&context, &analysis, (state, part), false);
            let of = |of: &TraceUsage| {
                let all = (of.cpus(), of.threads(), of.intervals(), of.interfaces(), of.total());
                format!("{all:?}")
            };
            usage.traces().iter().map(of).collect::<Vec<_>>()
        };
        check_slices(&analysis, start, digest, 31, 200);
    }
}
