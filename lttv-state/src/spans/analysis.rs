//! The analysis that finds spans.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ltt_read::{Event, Timestamp, Trace, TraceIndex, TracefileNumber};
use lttv_context::{Contexts, TracesetContext};

use super::events::{Recorded, SpanEvents};
use super::family::Family;
use super::machine::Machine;
use super::names::SpanNames;
use super::outcome::Log;
use super::settings::SpanSettings;
use super::span::Span;
use crate::analysis::{End, EventsOfSlice, KernelAnalysis, KernelOfContext, Window};
#[cfg(feature = "checkpoint-files")]
use crate::kernel::OwnStates;
use crate::kernel::needs::Need;
use crate::kernel::{KernelState, StateChange};
use crate::last_event::last_event;

/// A receiver of spans.
pub trait SpanVisitor: Send {
    /// Receives a span. Those of one trace come in the order of their ends.
    fn span(&mut self, span: &Span, names: &SpanNames<'_>);

    /// Called after each slice of events. No later span begins before a time. The default
    /// does nothing.
    fn passed(&mut self, earliest: Timestamp, names: &SpanNames<'_>) {
        let (_, _) = (earliest, names);
    }

    /// Called after all spans. The default does nothing.
    fn finished(&mut self, names: &SpanNames<'_>) {
        let _ = names;
    }
}

/// The analysis that finds spans, for a [`SpanVisitor`].
///
/// Spans that end in the window are found, with their true begin, and those that are open at its end.
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_state::analysis::read;
/// use lttv_state::spans::{Family, Span, SpanAnalysis, SpanNames, SpanSettings, SpanVisitor};
///
/// /// The longest system call, with its name.
/// #[derive(Default)]
/// struct Longest(Option<(u64, String)>);
///
/// impl SpanVisitor for Longest {
///     fn span(&mut self, span: &Span, names: &SpanNames<'_>) {
///         let Some(duration) = span.duration() else { return };
///         if self.0.as_ref().is_none_or(|(longest, _)| duration > *longest) {
///             self.0 = Some((duration, names.label(span)));
///         }
///     }
/// }
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let settings = SpanSettings::new().families([Family::Syscall]);
/// let analysis = SpanAnalysis::new(settings, Longest::default());
/// let found = read(&Traceset::open(path)?).threads(2).run(analysis);
/// assert!(found.errors.is_empty());
/// let (_, name) = found.output.visitor.0.expect("the trace has system calls");
/// assert_eq!(name, "epoll_wait");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SpanAnalysis<V> {
    settings: SpanSettings,
    events: SpanEvents,
    traces: Vec<Arc<Trace>>,
    missing: Vec<Vec<(Family, Vec<Need>)>>,
    visitor: Mutex<Option<V>>,
}

/// The result of a [`SpanAnalysis`].
#[derive(Debug)]
#[non_exhaustive]
pub struct FoundSpans<V> {
    /// The visitor.
    pub visitor: V,
    /// The families without spans, since a trace lacks events: by trace, with the events.
    pub missing: Vec<Vec<(Family, Vec<Need>)>>,
}

/// The name of saved states.
#[cfg(feature = "checkpoint-files")]
const SAVED: &str = "spans";

/// The recorded parts of the events of a slice, and the spans that end in it.
#[derive(Debug, Default)]
pub struct Slice {
    recorded: Recorded,
    /// The time before which nothing is open, in ns.
    earliest: i64,
}

/// The state between two slices: all that has begun.
#[derive(Debug, Clone)]
pub struct State(Vec<Machine>);

impl<V: SpanVisitor> SpanAnalysis<V> {
    /// Creates the analysis.
    pub fn new(settings: SpanSettings, visitor: V) -> Self {
        let SpanSettings { families, periods, min, max } = settings.clone();
        let events = SpanEvents::for_spans(families, periods, (min, max));
        let (traces, missing) = Default::default();
        let visitor = Mutex::new(Some(visitor));
        SpanAnalysis { settings, events, traces, missing, visitor }
    }

    /// Returns `true` if all events have been followed, so that the states serve other settings.
    #[cfg(feature = "checkpoint-files")]
    fn is_general(&self) -> bool {
        self.settings.periods.is_empty()
            && SpanSettings::FAMILIES.iter().all(|family| self.settings.families.contains(*family))
    }

    fn visitor(&self) -> MutexGuard<'_, Option<V>> {
        self.visitor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes the spans of a slice to the visitor; `earliest` is `None` after all events.
    fn visit(&self, logs: &[Log], earliest: Option<i64>) {
        let mut visitor = self.visitor();
        let Some(visitor) = visitor.as_mut() else { return };
        self.events.lookup.with_names(|names| {
            for span in logs.iter().flat_map(|log| log.spans.iter().flatten()) {
                visitor.span(span, names);
            }
            match earliest {
                Some(earliest) => visitor.passed(Timestamp::from_ns(earliest), names),
                None => visitor.finished(names),
            }
        });
    }
}

impl<V: SpanVisitor> KernelAnalysis for SpanAnalysis<V> {
    type State = State;
    type Slice = Slice;
    type Part = ();
    type Output = FoundSpans<V>;

    fn keeps_state(&self) -> bool {
        true
    }

    fn prepare(&mut self, contexts: &Contexts, kernel: &KernelState) {
        self.missing = self.events.prepare(contexts, kernel);
        self.traces = contexts.traces().iter().map(|of| of.trace().clone()).collect();
    }

    fn options(&self) -> u64 {
        self.settings.periods.checksum()
    }

    fn state_bytes(State(machines): &State, _: Option<&State>) -> usize {
        machines.iter().map(Machine::bytes).sum()
    }

    fn attach(&self, context: &mut TracesetContext<'_>, kernel: &mut KernelOfContext<'_>) {
        self.events.attach(context, kernel);
    }

    #[cfg(feature = "checkpoint-files")]
    fn save(&self, State(machines): &State, to: &mut OwnStates) {
        // Periods of the user contain values of events; some families leave out events.
        if self.is_general() {
            to.put(SAVED, 0, Machine::to_bytes(machines));
        }
    }

    #[cfg(feature = "checkpoint-files")]
    fn saved(&self, _: &KernelState, from: &OwnStates) -> Option<State> {
        // They contain what is open of families that are not wanted, too, which is ignored.
        let bytes = from.get(SAVED, 0).filter(|_| self.settings.periods.is_empty())?;
        Machine::decoded(bytes, self.missing.len()).map(State)
    }

    fn begin(&self, _: &KernelState, _: Window) -> (State, ()) {
        (State(self.missing.iter().map(|_| Machine::default()).collect()), ())
    }

    fn end_window(&self, state: &mut State, at_end: State) {
        *state = at_end;
    }

    #[inline]
    fn record(
        &self,
        slice: &mut Slice,
        of: (usize, bool),
        (trace, _): (TraceIndex, TracefileNumber),
        event: &Event<'_>,
    ) {
        self.events.record(&mut slice.recorded, of, trace, event);
    }

    fn begin_slice(&self, State(machines): &mut State, slice: &mut Slice) {
        self.events.begin_slice(&mut slice.recorded, machines.len());
    }

    #[inline]
    fn changed(
        &self,
        State(machines): &mut State,
        slice: &mut Slice,
        kernel: &KernelState,
        of: StateChange,
    ) {
        self.events.changed(machines, &mut slice.recorded, kernel, of);
    }

    fn end_slice(&self, State(machines): &mut State, slice: &mut Slice, events: EventsOfSlice<'_>) {
        let Slice { recorded, earliest } = slice;
        self.events.end_slice(machines, recorded, events.events.len());
        let families = self.settings.families;
        let open = machines.iter().filter_map(|of| of.earliest_open(families)).min();
        let last = recorded.logs.iter().filter_map(|log| log.last).max();
        *earliest = open.unwrap_or(i64::MAX).min(last.unwrap_or(i64::MIN));
    }

    fn add(&self, (): &mut (), slice: &mut Slice, _: EventsOfSlice<'_>) {
        self.visit(&slice.recorded.logs, Some(slice.earliest));
    }

    fn clear(&self, slice: &mut Slice) {
        slice.recorded.clear();
    }

    fn finish(&self, State(mut machines): State, (): (), end: End<'_>) -> FoundSpans<V> {
        let reached = end.reached.map(Timestamp::as_ns).filter(|_| end.is_stopped);
        let until = reached.into_iter().chain(end.window.end).min().unwrap_or(i64::MAX);
        let traces = (0..).map(TraceIndex).zip(&mut machines).zip(end.kernel.traces());
        let logs: Vec<Log> = traces
            .map(|((trace, machine), state)| {
                let time = last_event(&self.traces[trace.0]).as_ns().min(until);
                self.events.open(trace, state, machine, time)
            })
            .collect();
        self.visit(&logs, None);
        let visitor = self.visitor().take();
        FoundSpans {
            visitor: visitor.expect("the result is taken once"),
            missing: self.missing.clone(),
        }
    }
}
