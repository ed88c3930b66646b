//! The analysis that finds spans.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use ltt_read::{Event, Timestamp, Trace, TraceIndex, TracefileIndex, TracefileNumber};
use lttv_context::{Contexts, TracesetContext};

use super::events::{Recorded, SpanEvents};
use super::family::Family;
use super::machine::Machine;
use super::names::SpanNames;
use super::outcome::{At, Log};
use super::settings::SpanSettings;
use super::span::{Completeness, Span, SpanThread, Waker};
use super::subjects::Subjects;
use super::threads::ThreadId;
use crate::analysis::{End, EventsOfSlice, KernelAnalysis, KernelOfContext, Window};
#[cfg(feature = "checkpoint-files")]
use crate::kernel::OwnStates;
use crate::kernel::needs::Need;
use crate::kernel::{KernelState, StateChange, TraceState};
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
    subjects: Arc<RwLock<Vec<Subjects>>>,
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
        let events = SpanEvents::for_spans(settings.families, settings.periods.clone());
        let (traces, missing, subjects) = Default::default();
        let visitor = Mutex::new(Some(visitor));
        SpanAnalysis { settings, events, traces, missing, subjects, visitor }
    }

    /// Returns `true` if a span has a duration that is wanted.
    fn wants(&self, span: &Span) -> bool {
        let SpanSettings { min, max, .. } = self.settings;
        match span.duration() {
            Some(duration) => (min..=max).contains(&duration),
            None => min == 0 && max == u64::MAX,
        }
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

    /// Looks up the threads of the spans of a trace that were added since the last call, and the subjects that are new.
    /// `place` is that of the CPU of the last event, on which handlers interrupted a thread.
    fn look_up(
        &self,
        trace: TraceIndex,
        (state, machine): (&TraceState, &mut Machine),
        place: usize,
        log: &mut Log,
    ) {
        let Some(spans) = &mut log.spans else { return };
        let mut at = log.looked_up;
        while let Some(span) = spans.get_mut(at) {
            if !self.wants(span) {
                spans.remove(at);
                continue;
            }
            span.trace = trace;
            let (thread, waker) = span.ids;
            let is_handler = matches!(
                span.family,
                Family::HardIrq | Family::Vector | Family::Softirq | Family::SoftirqRaise
            );
            span.thread = match state.running_at(place).filter(|_| is_handler) {
                Some(running) => {
                    SpanThread { tid: running.tid(), pid: running.pid(), comm: running.name() }
                }
                // Found before the state followed the event: by the names that threads had then.
                None if span.family == Family::Period => described(machine, thread),
                None => thread_of(state, machine, thread),
            };
            span.waker = match waker {
                ThreadId::NONE | ThreadId::OTHERS => Waker::Unknown,
                ThreadId::INTERRUPT => Waker::Interrupt,
                waker => Waker::Thread(thread_of(state, machine, waker)),
            };
            at += 1;
        }
        log.looked_up = at;
        let known = self.subjects.read().unwrap_or_else(PoisonError::into_inner);
        if known.get(trace.0).is_some_and(|known| !known.is_up_to_date(state, machine)) {
            drop(known);
            let mut known = self.subjects.write().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = known.get_mut(trace.0) {
                known.update(state, machine);
            }
        }
    }

    /// Passes the spans of a slice to the visitor; `earliest` is `None` after all events.
    fn visit(&self, logs: &[Log], earliest: Option<i64>) {
        let subjects = self.subjects.read().unwrap_or_else(PoisonError::into_inner);
        let names = SpanNames::new(&subjects);
        let mut visitor = self.visitor();
        let Some(visitor) = visitor.as_mut() else { return };
        for span in logs.iter().flat_map(|log| log.spans.iter().flatten()) {
            visitor.span(span, &names);
        }
        match earliest {
            Some(earliest) => visitor.passed(Timestamp::from_ns(earliest), &names),
            None => visitor.finished(&names),
        }
    }
}

/// Returns a thread by its number.
fn thread_of(state: &TraceState, machine: &Machine, id: ThreadId) -> SpanThread {
    let facts = id.index().and_then(|at| machine.threads.facts.get(at));
    let Some(facts) = facts else { return SpanThread::default() };
    // Another thread may have got the id since.
    let process = state.find(facts.tid).map(|(_, process)| process);
    let process = process.filter(|of| facts.serial.is_none_or(|serial| of.serial() == serial));
    match process {
        Some(of) => SpanThread { tid: of.tid(), pid: of.pid(), comm: of.name() },
        None => described(machine, id),
    }
}

/// Returns a thread by its number, with the name that it had when it was last described.
fn described(machine: &Machine, id: ThreadId) -> SpanThread {
    let facts = id.index().and_then(|at| machine.threads.facts.get(at));
    facts.map_or(SpanThread::default(), |facts| SpanThread {
        tid: Some(facts.tid),
        pid: facts.pid,
        comm: facts.name,
    })
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
        let subjects = contexts.traces().iter().map(|_| Subjects::new(&self.settings.periods));
        self.subjects = Arc::new(RwLock::new(subjects.collect()));
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
        let has_periods = !self.settings.periods.is_empty();
        // Periods of events that changed no state are applied late: they may be of any trace.
        let traces = if has_periods { 0..machines.len() } else { of.trace.0..of.trace.0 + 1 };
        for trace in traces {
            let Some(state) = kernel.trace(TraceIndex(trace)) else { continue };
            let (machine, log) = (&mut machines[trace], &mut slice.recorded.logs[trace]);
            let place = state.effect().place();
            if log.spans_so_far() > log.looked_up {
                self.look_up(TraceIndex(trace), (state, machine), place, log);
            }
            if has_periods && trace == of.trace.0 {
                machine.describe_running(state, place);
            }
        }
    }

    fn end_slice(&self, State(machines): &mut State, slice: &mut Slice, events: EventsOfSlice<'_>) {
        let Slice { recorded, earliest } = slice;
        self.events.end_slice(machines, recorded, events.events.len());
        for ((at, log), machine) in (0..).zip(&mut recorded.logs).zip(&*machines) {
            let first = log.looked_up;
            let Some(spans) = &mut log.spans else { continue };
            for span in &mut spans[first..] {
                span.trace = TraceIndex(at);
                span.thread = described(machine, span.ids.0);
            }
            let mut number = 0;
            spans.retain(|span| {
                number += 1;
                number <= first || self.wants(span)
            });
            if spans.len() > first {
                let mut known = self.subjects.write().unwrap_or_else(PoisonError::into_inner);
                known.iter_mut().skip(at).take(1).for_each(|of| of.update_periods(machine));
            }
        }
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
        let mut logs = Vec::new();
        let reached = end.reached.map(Timestamp::as_ns).filter(|_| end.is_stopped);
        let until = reached.into_iter().chain(end.window.end).min().unwrap_or(i64::MAX);
        for ((at, machine), state) in (0..).zip(&mut machines).zip(end.kernel.traces()) {
            let time = last_event(&self.traces[at]).as_ns().min(until);
            let mut log = Log::of_spans(self.settings.families);
            log.is_on = true;
            for (ending, cpu) in machine.open(state) {
                let (place, tracefile) = (0, TracefileIndex(0));
                let at = At { cpu, place, time, tracefile, event: None };
                log.part(|| ending, Completeness::NoEnd, &at);
            }
            self.look_up(TraceIndex(at), (state, machine), usize::MAX, &mut log);
            logs.push(log);
        }
        self.visit(&logs, None);
        let visitor = self.visitor().take();
        FoundSpans {
            visitor: visitor.expect("the result is taken once"),
            missing: self.missing.clone(),
        }
    }
}
