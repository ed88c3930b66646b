//! The choice of the stacks that are shown: those of samples, of calls, or of threads off their CPUs.

use std::convert::Infallible;
use std::error::Error;
use std::str::FromStr;
use std::sync::Arc;

use ltt_read::Trace;
use lttv_common::args::InputArgs;
use lttv_common::calls::advice::{self, NoStacks, OtherStacks};
use lttv_common::report::{Interrupted, Report, Usage};
use lttv_common::time::Window;
use lttv_state::call_stacks::{CallRules, CallStacks, declares_calls, declares_markers};
use lttv_state::heap::{Heap, declares_blocks};
use lttv_state::stack_samples::{
    SampleSettings, SampledEvents, StackEvent, StackEventKind, StackSampleAnalysis, StackSamples,
    Weight, stack_events,
};

use super::collect::{Collected, collect};
use super::pairs::PairArgs;
use crate::commands::analysis::Analysis;

/// The options that choose stacks.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SourceArgs {
    /// Show the stacks of `samples`, the `calls` of functions, the sections of `markers`, the time `off-cpu`, or
    /// the stacks of the events of a name [default: the first of these that the traces contain]
    #[arg(long, value_name = "WHAT")]
    pub of: Option<StackSource>,

    /// The weight of each stack of samples
    #[arg(long, value_enum, default_value_t)]
    pub weight: WeightArg,
}

/// A source of stacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StackSource {
    /// The samples of a clock or counter.
    Samples,
    /// The calls of functions.
    Calls,
    /// The sections that programs mark, as calls.
    Markers,
    /// The switches that take threads from CPUs.
    OffCpu,
    /// The events of a name.
    Event(Arc<str>),
}

impl FromStr for StackSource {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "samples" => StackSource::Samples,
            "calls" => StackSource::Calls,
            "markers" => StackSource::Markers,
            "off-cpu" => StackSource::OffCpu,
            name => StackSource::Event(name.into()),
        })
    }
}

/// The weight of stacks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum WeightArg {
    /// The period of samples, such as ns or cycles; the time of waits. Other events count as one
    #[default]
    Period,
    /// Each sample counts as one
    Samples,
}

impl WeightArg {
    fn weight(self) -> Weight {
        match self {
            WeightArg::Period => Weight::Period,
            WeightArg::Samples => Weight::Samples,
        }
    }
}

/// The stacks of a window.
#[derive(Debug)]
pub struct Found {
    /// The traces, after the read.
    pub analysis: Analysis,
    /// The stacks.
    pub stacks: Stacks,
    /// The result of the read: an error if the user has interrupted it.
    pub read: Result<(), Interrupted>,
}

/// Stacks of a kind.
#[derive(Debug)]
pub enum Stacks {
    /// Stacks of calls, with the heaps of programs.
    Calls(CallStacks, Heap),
    /// Stacks of samples, and the events that they are of.
    Samples(StackSamples, SampledEvents),
}

impl Stacks {
    fn is_empty(&self) -> bool {
        match self {
            Stacks::Calls(calls, heap) => {
                let has_heap = heap.traces().iter().any(|trace| trace.has_allocations());
                !has_heap && calls.traces().iter().all(|trace| trace.paths().is_empty())
            }
            Stacks::Samples(samples, _) => samples.traces().iter().all(|of| of.samples() == 0),
        }
    }
}

/// A source that the traces may have.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Candidate {
    Calls,
    Markers,
    Samples(SampledEvents),
}

/// Reads the stacks of a window. Without a choice these are the first ones that the traces contain.
///
/// # Errors
///
/// If no trace can be opened, if none has the needed events, if an expression or the window is wrong, or after an
/// interrupt by the user before the window.
pub fn find(
    input: &InputArgs,
    source: &SourceArgs,
    pairs: &PairArgs,
    report: &mut Report,
) -> Result<Found, Box<dyn Error>> {
    let mut analysis = Analysis::open(input, None, report, None)?;
    let mut candidates = candidates(analysis.traceset.traces(), source, pairs)?;
    if !input.filters.is_empty() {
        candidates.retain(|candidate| matches!(candidate, Candidate::Samples(_)));
        if candidates.is_empty() {
            input.refuse_filters(
                "stacks of calls follow from all events; choose threads with --tid, --pid and \
                 --comm",
            )?;
        }
    }
    let (last, others) = candidates.split_last().ok_or(NoStacks)?;
    for candidate in others {
        let found = read(analysis, candidate, input, source, pairs, report)?;
        if !found.stacks.is_empty() || found.read.is_err() {
            return Ok(found);
        }
        analysis = found.analysis;
    }
    let found = read(analysis, last, input, source, pairs, report)?;
    let is_missing = matches!(found.stacks, Stacks::Samples(..)) && found.stacks.is_empty();
    if is_missing && found.read.is_ok() && found.analysis.window == Window::default() {
        return Err(match source.of {
            None => NoStacks.into(),
            Some(_) => other_stacks("there are no such stacks", found.analysis.traceset.traces()),
        });
    }
    Ok(found)
}

fn read(
    mut analysis: Analysis,
    candidate: &Candidate,
    input: &InputArgs,
    source: &SourceArgs,
    pairs: &PairArgs,
    report: &mut Report,
) -> Result<Found, Box<dyn Error>> {
    match candidate {
        Candidate::Calls | Candidate::Markers => {
            let rules = match candidate {
                Candidate::Markers => CallRules::of_markers(),
                _ => pairs.rules(analysis.traceset.traces())?,
            };
            let Collected { analysis, calls, heap, read } =
                collect(analysis, input, rules, report)?;
            Ok(Found { analysis, stacks: Stacks::Calls(calls, heap), read })
        }
        Candidate::Samples(events) => {
            let filters = input.filters(report, analysis.traceset.traces())?;
            let settings =
                SampleSettings { events: events.clone(), weight: source.weight.weight() };
            let threads = input.threads_or_all(report);
            let (samples, read) =
                analysis.run(threads, filters, StackSampleAnalysis::new(settings));
            advice::warn_of_samples(report, &samples);
            Ok(Found { analysis, stacks: Stacks::Samples(samples, events.clone()), read })
        }
    }
}

/// Returns the sources that traces may have, the first choice first.
fn candidates(
    traces: &[Arc<Trace>],
    source: &SourceArgs,
    pairs: &PairArgs,
) -> Result<Vec<Candidate>, Box<dyn Error>> {
    let events: Vec<StackEvent> = traces.iter().flat_map(stack_events).collect();
    let first = |kind: StackEventKind| {
        let event = events.iter().find(|event| event.kind == kind)?;
        Some(Candidate::Samples(SampledEvents::Named(event.name.clone())))
    };
    let off_cpu = || {
        let has = events
            .iter()
            .any(|event| matches!(event.kind, StackEventKind::Switch | StackEventKind::Before));
        has.then_some(Candidate::Samples(SampledEvents::OffCpu))
    };
    let missing = |what: &str| other_stacks(what, traces);
    match &source.of {
        None if !pairs.pair.is_empty() => Ok(vec![Candidate::Calls]),
        None => {
            let has_calls = |trace: &Arc<Trace>| declares_calls(trace) || declares_blocks(trace);
            let calls = traces.iter().any(has_calls).then_some(Candidate::Calls);
            let has_markers = traces.iter().any(|trace| declares_markers(trace));
            let all = [
                first(StackEventKind::Counter),
                calls,
                has_markers.then_some(Candidate::Markers),
                off_cpu(),
                first(StackEventKind::Tracepoint),
            ];
            Ok(all.into_iter().flatten().collect())
        }
        Some(StackSource::Calls) => Ok(vec![Candidate::Calls]),
        Some(StackSource::Markers) if !pairs.pair.is_empty() => {
            Err(Usage::new("--pair has no use with the sections of markers").into())
        }
        Some(StackSource::Markers) => match traces.iter().any(|trace| declares_markers(trace)) {
            true => Ok(vec![Candidate::Markers]),
            false => Err(missing("the traces contain no markers of ftrace")),
        },
        Some(StackSource::Samples) => {
            let samples = first(StackEventKind::Counter);
            let samples = samples
                .ok_or_else(|| missing("the traces contain no samples of clocks or counters"))?;
            Ok(vec![samples])
        }
        Some(StackSource::OffCpu) => {
            let off_cpu = off_cpu().ok_or_else(|| missing("no switches of threads have stacks"))?;
            Ok(vec![off_cpu])
        }
        Some(StackSource::Event(name)) => {
            let has_name = events.iter().any(|event| {
                let short = event.name.split_once(':').map_or(&*event.name, |(_, short)| short);
                *event.name == **name || short == &**name
            });
            // Of ftrace, the stack is another event.
            let follows = events.iter().any(|event| event.kind == StackEventKind::Before);
            match has_name || follows {
                true => Ok(vec![Candidate::Samples(SampledEvents::Named(name.clone()))]),
                false => Err(missing(&format!("no events `{name}` have stacks"))),
            }
        }
    }
}

/// Returns an error that names the events with stacks.
fn other_stacks(what: &str, traces: &[Arc<Trace>]) -> Box<dyn Error> {
    let mut names: Vec<Arc<str>> =
        traces.iter().flat_map(stack_events).map(|event| event.name).collect();
    names.sort();
    names.dedup();
    let found = match names.is_empty() {
        true => "no events have any".to_owned(),
        false => format!("these have: {}", names.join(", ")),
    };
    OtherStacks { what: what.to_owned(), found }.into()
}
