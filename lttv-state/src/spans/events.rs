//! The events that begin and end spans: what is recorded of them, and what they do to the machines.

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, TraceIndex, TracefileIndex};
use lttv_context::{Contexts, TracesetContext};

use super::action::Action;
use super::families::Families;
use super::family::Family;
use super::inputs::{Input, RecordedEvent, RecordedInputs};
use super::lookup::Lookup;
use super::machine::Machine;
use super::outcome::{At, Log, Wanted};
use super::period::{PendingPeriods, PeriodHooks, Periods, RecordedPeriods};
use super::place::EventPlace;
use super::span::Completeness;
use crate::analysis::KernelOfContext;
use crate::kernel::needs::{EventKind, Need};
use crate::kernel::{KernelState, StateChange, TraceState};

/// The events that begin and end spans.
#[derive(Debug)]
pub(crate) struct SpanEvents {
    pub(crate) families: Families,
    pub(crate) periods: Periods,
    wanted: Wanted,
    pub(crate) lookup: Lookup,
    /// The meaning of event types, by trace.
    meanings: Vec<Vec<Option<Meaning>>>,
    /// The index of each tracefile in its trace.
    tracefiles: Vec<TracefileIndex>,
    pending: PendingPeriods,
}

/// The meaning of the events of a type, and what is recorded of them.
#[derive(Debug)]
struct Meaning {
    action: Box<Action>,
    inputs: Vec<Input>,
}

/// The fields and outcomes of the events of a slice.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    inputs: RecordedInputs,
    periods: RecordedPeriods,
    places: Vec<EventPlace>,
    places_read: usize,
    /// The outcomes, by trace.
    pub(crate) logs: Vec<Log>,
}

impl Recorded {
    /// Removes everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.inputs.clear();
        self.periods.clear();
        self.places.clear();
        self.places_read = 0;
        self.logs.iter_mut().for_each(Log::clear);
    }
}

impl SpanEvents {
    /// Creates those of the figures of families.
    pub(crate) fn for_figures(families: Families, periods: Periods) -> Self {
        let (meanings, tracefiles, pending) = Default::default();
        let (wanted, lookup) = (Wanted::Figures, Lookup::new(0, u64::MAX));
        SpanEvents { families, periods, wanted, lookup, meanings, tracefiles, pending }
    }

    /// Creates those of the figures of families, beside the spans that they are of.
    pub(crate) fn for_figures_of_spans(families: Families, periods: Periods) -> Self {
        SpanEvents { wanted: Wanted::FiguresOfSpans, ..Self::for_figures(families, periods) }
    }

    /// Creates those of the spans of families, of at least and at most a duration in ns.
    pub(crate) fn for_spans(families: Families, periods: Periods, (min, max): (u64, u64)) -> Self {
        let lookup = Lookup::new(min, max);
        SpanEvents { wanted: Wanted::Spans, lookup, ..Self::for_figures(families, periods) }
    }

    /// Returns `true` if spans are wanted, with the places of their events.
    #[inline]
    fn wants_spans(&self) -> bool {
        self.wanted != Wanted::Figures
    }

    /// Looks up the meaning of all event types. Returns the events that each trace lacks for families.
    pub(crate) fn prepare(
        &mut self,
        contexts: &Contexts,
        kernel: &KernelState,
    ) -> Vec<Vec<(Family, Vec<Need>)>> {
        self.meanings.clear();
        self.lookup.prepare(contexts.traces().len(), &self.periods);
        let mut missing = Vec::new();
        for of in contexts.traces() {
            let (index, trace) = (of.index(), of.trace());
            let types = (0..trace.schema().event_types.len()).map(|at| EventTypeId(at as u32));
            let actions = types.map(|id| Some((id, Action::of(kernel, trace, index, id)?)));
            let actions: Vec<_> = actions.collect();
            missing.push(missing_of(kernel, index, &actions));
            let meanings = actions.into_iter().map(|action| {
                let (_, action) = action?;
                let action = if action.serves(self.families) { action } else { Action::Other };
                let inputs = action.inputs();
                Some(Meaning { action: Box::new(action), inputs })
            });
            self.meanings.push(meanings.collect());
        }
        self.tracefiles = contexts.tracefiles().iter().map(|of| of.index()).collect();
        missing
    }

    /// Adds the hooks that find periods, if there are any.
    pub(crate) fn attach(
        &self,
        context: &mut TracesetContext<'_>,
        kernel: &mut KernelOfContext<'_>,
    ) {
        if !self.periods.is_empty() {
            let (periods, pending) = (self.periods.clone(), self.pending.clone());
            let kernel = kernel(context);
            context.attach(PeriodHooks { kernel, periods, pending });
        }
    }

    #[inline]
    fn meaning(&self, trace: TraceIndex, event_type: EventTypeId) -> Option<&Meaning> {
        self.meanings.get(trace.0)?.get(event_type.index())?.as_ref()
    }

    /// Records what is needed of an event.
    #[inline]
    pub(crate) fn record(
        &self,
        recorded: &mut Recorded,
        (number, counts): (usize, bool),
        trace: TraceIndex,
        event: &Event<'_>,
    ) {
        let meaning = self.meaning(trace, event.type_id());
        if let Some(Meaning { inputs, action }) = meaning {
            if !inputs.is_empty() {
                recorded.inputs.push(inputs, event);
            }
            if self.wants_spans() && action.has_place() {
                recorded.places.push(EventPlace::new(event.tracefile_index(), event.position()));
            }
        }
        if let Some(mut found) = self.pending.take() {
            found.iter_mut().for_each(|found| found.counts &= counts);
            // Any change of the state has a meaning.
            recorded.periods.push((number, meaning.is_some()), trace.0, found);
        }
    }

    /// Begins a slice of a number of traces.
    pub(crate) fn begin_slice(&self, recorded: &mut Recorded, traces: usize) {
        recorded.logs.resize_with(traces, || Log::new(self.families, self.wanted));
    }

    /// Applies the periods of events up to a change of the state, with or without those of the change.
    #[inline]
    fn apply_periods(
        &self,
        machines: &mut [Machine],
        recorded: &mut Recorded,
        until: (usize, bool),
    ) {
        let Recorded { periods, logs, .. } = recorded;
        periods.apply_until(until, |trace, found| {
            logs[trace].is_on = found.counts;
            machines[trace].apply_period(&self.periods, found, &mut logs[trace]);
        });
    }

    /// Applies a change of the state to the machine of its trace. The state is that after it.
    #[inline]
    pub(crate) fn changed(
        &self,
        machines: &mut [Machine],
        recorded: &mut Recorded,
        kernel: &KernelState,
        of: StateChange,
    ) {
        self.apply(machines, recorded, kernel, of);
        if self.wants_spans() {
            self.lookup.changed(machines, &mut recorded.logs, kernel, of, !self.periods.is_empty());
        }
    }

    #[inline]
    fn apply(
        &self,
        machines: &mut [Machine],
        recorded: &mut Recorded,
        kernel: &KernelState,
        of: StateChange,
    ) {
        let StateChange { trace, tracefile, event_type, counts, number, .. } = of;
        let Some(Meaning { action, inputs }) = self.meaning(trace, event_type) else { return };
        self.apply_periods(machines, recorded, (number, false));
        let Recorded { inputs: values, places, places_read, logs, .. } = &mut *recorded;
        let event = match inputs.len() {
            0 => RecordedEvent::NONE,
            fields => values.next(fields),
        };
        let mut place = None;
        if self.wants_spans() && action.has_place() {
            place = places.get(*places_read).copied();
            *places_read += 1;
        }
        let Some(state) = kernel.trace(trace) else { return };
        let effect = state.effect();
        let Some(cpu) = effect.cpu() else { return };
        let at = At {
            cpu,
            place: effect.place(),
            time: effect.time().as_ns(),
            tracefile: self.tracefiles[tracefile.0],
            event: place,
        };
        let log = &mut logs[trace.0];
        log.is_on = counts;
        machines[trace.0].apply(state, action, &event, &at, log);
        self.apply_periods(machines, recorded, (number, true));
    }

    /// Applies the periods after the last change of a slice of a number of events.
    pub(crate) fn end_slice(
        &self,
        machines: &mut [Machine],
        recorded: &mut Recorded,
        events: usize,
    ) {
        self.apply_periods(machines, recorded, (events, true));
        if self.wants_spans() {
            self.lookup.end_slice(machines, &mut recorded.logs);
        }
    }

    /// Returns the spans that are open at the end of a trace, at a time in ns.
    pub(crate) fn open(
        &self,
        trace: TraceIndex,
        state: &TraceState,
        machine: &mut Machine,
        time: i64,
    ) -> Log {
        let mut log = Log::new(self.families, Wanted::Spans);
        log.is_on = true;
        for (ending, cpu) in machine.open(state) {
            let (place, tracefile) = (0, TracefileIndex(0));
            let at = At { cpu, place, time, tracefile, event: None };
            log.part(|| ending, Completeness::NoEnd, &at);
        }
        self.lookup.look_up(trace, (state, machine), usize::MAX, &mut log);
        log
    }
}

/// Returns the families for which a trace lacks events, each with the events.
fn missing_of(
    kernel: &KernelState,
    index: TraceIndex,
    actions: &[Option<(EventTypeId, Action)>],
) -> Vec<(Family, Vec<Need>)> {
    let has_transition = |transition| {
        let is_it = |(id, action): &(EventTypeId, Action)| {
            kernel.transition(index, *id) == Some(transition) && !matches!(action, Action::Other)
        };
        actions.iter().flatten().any(is_it)
    };
    let has_futexes = || {
        let is_it = |action: &Action| matches!(action, Action::Entry(of) if of.futex.is_some());
        actions.iter().flatten().any(|(_, action)| is_it(action))
    };
    // The name of a call may be recorded as a number.
    let has = |kind| match kind {
        EventKind::Transition(of) => has_transition(of),
        EventKind::Without(of) => !has_transition(of),
        EventKind::Named(_) => has_futexes(),
        // No family is that of contexts.
        EventKind::WithContext(_) => false,
    };
    let missing = Family::ALL.into_iter().map(|family| {
        let missing = family.needs().iter().filter(|need| !need.is_met(has));
        (family, missing.copied().collect::<Vec<_>>())
    });
    missing.filter(|(_, missing)| !missing.is_empty()).collect()
}
