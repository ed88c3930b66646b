//! The analysis that adds up stacks.

use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Trace, TraceIndex, TracefileNumber};
use lttv_context::Contexts;

use super::events::{is_named, is_switch};
use super::fields::{Chain, Record, SampleFields};
use super::recorded::{ItemKind, Recorded, Sample};
use super::samples::{StackSamples, Sums, TraceSamples, WeightUnit};
use super::state::{HeldStack, ResolvedStacks, StackState};
use crate::analysis::{End, EventsOfSlice, KernelAnalysis, Window};
use crate::kernel::{KernelState, OtherEvent, Process, StateChange, TraceState, Transition};

/// The events whose stacks are added up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SampledEvents {
    /// The events of a name, with or without the system before it.
    Named(Arc<str>),
    /// Switches that take a thread from its CPU, for the time until it runs again.
    OffCpu,
}

/// The weight of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Weight {
    /// The period of samples: what the counter has counted since the last one, such as ns or cycles. Time, of threads
    /// off CPU. Other events count as one.
    #[default]
    Period,
    /// Each sample counts as one.
    Samples,
}

/// The settings of samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampleSettings {
    /// The events whose stacks are added up.
    pub events: SampledEvents,
    /// The weight of each stack.
    pub weight: Weight,
}

/// The analysis that adds up [`StackSamples`].
///
/// [Filters](crate::analysis::Read::filter) select the events; of time off CPU, the switches at its begin.
#[derive(Debug)]
pub struct StackSampleAnalysis {
    settings: SampleSettings,
    traces: Vec<TraceTypes>,
}

/// The event types of a trace.
#[derive(Debug)]
struct TraceTypes {
    trace: Arc<Trace>,
    types: Vec<TypeUse>,
    unit: WeightUnit,
}

/// The use of an event type.
#[derive(Debug)]
enum TypeUse {
    None,
    /// Sampled, by its own stack or by one that may follow.
    Sampled(Box<SampleFields>),
    /// The stack of the event before it.
    StackOfLast(Box<SampleFields>),
    Record(Box<Record>),
}

/// The parts of the events of a slice that were read, and their stacks.
#[derive(Debug, Default)]
pub struct Slice {
    traces: Vec<(Recorded, usize)>,
    resolved: Vec<ResolvedStacks>,
}

/// The state between two slices.
#[derive(Debug, Clone)]
pub struct State {
    traces: Vec<StackState>,
    /// The last event of each tracefile whose stack may follow.
    last: Vec<Option<Last>>,
    /// The stack of the kernel of each tracefile, if that of the program may follow.
    held: Vec<Option<Held>>,
}

/// A stack of the kernel for an event, after which that of the program may follow.
#[derive(Debug, Clone)]
struct Held {
    trace: TraceIndex,
    stack: HeldStack,
}

/// An event whose stack may follow.
#[derive(Debug, Clone, Copy)]
struct Last {
    counts: bool,
}

/// The stacks so far.
#[derive(Debug, Clone)]
pub struct Part(Vec<Sums>);

impl StackSampleAnalysis {
    /// Creates the analysis.
    pub fn new(settings: SampleSettings) -> Self {
        StackSampleAnalysis { settings, traces: Vec::new() }
    }

    fn is_off_cpu(&self) -> bool {
        self.settings.events == SampledEvents::OffCpu
    }

    fn types_of(&self, trace: &Arc<Trace>) -> TraceTypes {
        let mut unit = None;
        let types = (0..trace.schema().event_types.len()).map(|at| EventTypeId(at as u32));
        let types = types.map(|id| {
            let is_sampled = match &self.settings.events {
                SampledEvents::Named(name) => is_named(trace, id, name),
                SampledEvents::OffCpu => is_switch(trace, id),
            };
            if let Some(record) = Record::of(trace, id) {
                return TypeUse::Record(Box::new(record));
            }
            match SampleFields::of(trace, id) {
                Some(fields) if matches!(fields.chain, Chain::Before { .. }) => {
                    TypeUse::StackOfLast(Box::new(fields))
                }
                Some(fields) if is_sampled => {
                    unit.get_or_insert_with(|| fields.unit(trace, id));
                    TypeUse::Sampled(Box::new(fields))
                }
                _ => TypeUse::None,
            }
        });
        let types = types.collect();
        let unit = match (self.settings.weight, self.is_off_cpu()) {
            (Weight::Samples, _) => WeightUnit::Samples,
            (Weight::Period, true) => WeightUnit::Nanoseconds,
            (Weight::Period, false) => unit.unwrap_or_default(),
        };
        TraceTypes { trace: trace.clone(), types, unit }
    }

    fn use_of(&self, trace: TraceIndex, id: EventTypeId) -> &TypeUse {
        let types = self.traces.get(trace.0).map(|of| &of.types);
        types.and_then(|types| types.get(id.index())).unwrap_or(&TypeUse::None)
    }

    /// Applies an event: what was read of it, with the kernel state after it.
    fn event(&self, state: &mut State, slice: &mut Slice, told: &Told<'_>) {
        let State { traces, last, held } = state;
        let Some((of, (recorded, next))) =
            traces.get_mut(told.trace.0).zip(slice.traces.get_mut(told.trace.0))
        else {
            return;
        };
        let resolved = &mut slice.resolved[told.trace.0];
        let last = last.get_mut(told.tracefile.0);
        let mut sample = None;
        while let Some(item) = recorded.items.get(*next).filter(|item| item.number <= told.number) {
            *next += 1;
            of.apply(&item.kind);
            if let ItemKind::Sample(found) = &item.kind
                && item.number == told.number
            {
                sample = Some(found);
            }
        }
        let type_use = self.use_of(told.trace, told.event_type);
        let mut held = held.get_mut(told.tracefile.0);
        if let Some(Held { stack, .. }) = held.as_deref_mut().and_then(Option::take) {
            let follows = matches!(type_use, TypeUse::StackOfLast(of) if of.is_of_program());
            let more = sample.filter(|_| follows).map(|sample| (sample, &*recorded.words));
            of.release(stack, more, resolved);
            if follows {
                return;
            }
        }
        let counts = match type_use {
            TypeUse::Sampled(fields) => {
                let may_follow = matches!(fields.chain, Chain::None);
                if let Some(last) = last {
                    let counts = told.is_selected;
                    *last = may_follow.then_some(Last { counts });
                }
                told.is_selected && !may_follow
            }
            TypeUse::StackOfLast(_) => last.and_then(Option::take).is_some_and(|last| last.counts),
            TypeUse::None | TypeUse::Record(_) => {
                // The stack of this event is not that of an earlier one.
                last.into_iter().for_each(|last| *last = None);
                false
            }
        };
        let Some(sample) = sample.filter(|_| counts) else { return };
        let stack = (sample, &*recorded.words);
        let may_go_on = matches!(type_use, TypeUse::StackOfLast(of) if !of.is_of_program());
        let held_stack = match self.is_off_cpu() {
            true => told.switched_out(sample).and_then(|out| of.switched_out(stack, out)),
            false if told.counts => {
                let weight = match self.settings.weight {
                    Weight::Period => sample.period,
                    Weight::Samples => 1,
                };
                let running = (told.state, told.running);
                match may_go_on {
                    true => of.held(stack, weight, running, told.cpu),
                    false => {
                        of.sample(stack, weight, running, told.cpu, resolved);
                        None
                    }
                }
            }
            false => None,
        };
        if let (Some(held), Some(stack)) = (held.filter(|_| may_go_on), held_stack) {
            *held = Some(Held { trace: told.trace, stack });
        }
    }
}

/// An event that the analysis is told.
struct Told<'k> {
    trace: TraceIndex,
    tracefile: TracefileNumber,
    event_type: EventTypeId,
    number: usize,
    counts: bool,
    is_selected: bool,
    state: Option<&'k TraceState>,
    /// The thread that runs on the CPU after the event.
    running: Option<&'k Process>,
    /// The thread that was switched out by the event.
    previous: Option<&'k Process>,
    cpu: u32,
}

impl<'k> Told<'k> {
    /// Returns the thread of a stack that was switched out: by this event, or by the one before it.
    fn switched_out(&self, sample: &Sample) -> Option<(&'k TraceState, &'k Process)> {
        let state = self.state?;
        let by_id = || {
            let tid = i32::try_from(sample.thread?).ok()?;
            state.find(tid).map(|(_, process)| process)
        };
        Some((state, self.previous.or_else(by_id)?))
    }
}

impl KernelAnalysis for StackSampleAnalysis {
    type State = State;
    type Slice = Slice;
    type Part = Part;
    type Output = StackSamples;

    const EVERY_EVENT: bool = true;

    fn keeps_state(&self) -> bool {
        true
    }

    fn prepare(&mut self, contexts: &Contexts, _: &KernelState) {
        self.traces = contexts.traces().iter().map(|of| self.types_of(of.trace())).collect();
    }

    fn begin(&self, _: &KernelState, _: Window) -> (State, Part) {
        let traces = self.traces.iter().map(|of| StackState::new(&of.trace)).collect();
        (
            State { traces, last: Vec::new(), held: Vec::new() },
            Part(self.traces.iter().map(|_| Sums::default()).collect()),
        )
    }

    fn enter(&self, _: &mut State, part: &mut Part, _: &KernelState, _: Window) {
        part.0.iter_mut().for_each(|sums| *sums = Sums::default());
    }

    #[inline]
    fn record(
        &self,
        slice: &mut Slice,
        (number, _): (usize, bool),
        (trace, _): (TraceIndex, TracefileNumber),
        event: &Event<'_>,
    ) {
        let type_use = self.use_of(trace, event.type_id());
        if matches!(type_use, TypeUse::None) {
            return;
        }
        if slice.traces.len() <= trace.0 {
            slice.traces.resize_with(trace.0 + 1, Default::default);
        }
        let recorded = &mut slice.traces[trace.0].0;
        match type_use {
            TypeUse::Sampled(fields) | TypeUse::StackOfLast(fields) => {
                recorded.push_sample(number, fields, event);
            }
            TypeUse::Record(record) => recorded.push_record(number, record, event),
            TypeUse::None => {}
        }
    }

    fn begin_slice(&self, _: &mut State, slice: &mut Slice) {
        slice.traces.resize_with(self.traces.len(), Default::default);
        slice.resolved.resize_with(self.traces.len(), Default::default);
        slice.traces.iter_mut().for_each(|(_, next)| *next = 0);
    }

    #[inline]
    fn changed(&self, state: &mut State, slice: &mut Slice, kernel: &KernelState, of: StateChange) {
        let Some(trace) = kernel.trace(of.trace) else { return };
        let effect = trace.effect();
        let previous = effect.waited().and_then(|wait| trace.process(wait.previous?));
        let running = trace.running_at(effect.place());
        let is_switch = of.transition == Transition::Switch;
        let told = Told {
            trace: of.trace,
            tracefile: of.tracefile,
            event_type: of.event_type,
            number: of.number,
            counts: of.counts,
            is_selected: of.is_selected,
            state: Some(trace),
            // A switch still belongs to the thread that is switched out.
            running: if is_switch { previous } else { running },
            previous,
            cpu: effect.cpu().unwrap_or(0),
        };
        if self.is_off_cpu()
            && let (Some(stacks), Some(resolved)) =
                (state.traces.get_mut(of.trace.0), slice.resolved.get_mut(of.trace.0))
        {
            let is_time = self.settings.weight == Weight::Period;
            stacks.changed(trace, of.counts, is_time, resolved);
        }
        self.make_room(state, of.tracefile);
        self.event(state, slice, &told);
    }

    #[inline]
    fn unchanged(
        &self,
        state: &mut State,
        slice: &mut Slice,
        kernel: &KernelState,
        of: OtherEvent,
    ) {
        let trace = kernel.trace(of.trace);
        let running = trace.zip(of.place).and_then(|(trace, place)| trace.running_at(place));
        let cpu = of.elsewhere.or_else(|| kernel.cpu_of_tracefile(of.tracefile));
        let told = Told {
            trace: of.trace,
            tracefile: of.tracefile,
            event_type: of.event_type,
            number: of.number,
            counts: of.counts,
            is_selected: of.is_selected,
            state: trace,
            running,
            previous: None,
            cpu: cpu.unwrap_or(0),
        };
        self.make_room(state, of.tracefile);
        self.event(state, slice, &told);
    }

    fn end_slice(&self, state: &mut State, slice: &mut Slice, _: EventsOfSlice<'_>) {
        for (of, (recorded, next)) in state.traces.iter_mut().zip(&slice.traces) {
            recorded.items.iter().skip(*next).for_each(|item| of.apply(&item.kind));
        }
    }

    fn add(&self, Part(sums): &mut Part, slice: &mut Slice, _: EventsOfSlice<'_>) {
        for (sums, stacks) in sums.iter_mut().zip(&slice.resolved) {
            sums.add(stacks);
        }
    }

    fn clear(&self, slice: &mut Slice) {
        slice.traces.iter_mut().for_each(|(recorded, _)| recorded.clear());
        slice.resolved.iter_mut().for_each(ResolvedStacks::clear);
    }

    fn finish(&self, mut state: State, Part(mut sums): Part, _: End<'_>) -> StackSamples {
        for Held { trace, stack } in state.held.into_iter().flatten() {
            let (of, sums) = (&mut state.traces[trace.0], &mut sums[trace.0]);
            let mut resolved = ResolvedStacks::default();
            of.release(stack, None, &mut resolved);
            sums.add(&resolved);
        }
        let traces = self.traces.iter().zip(state.traces).zip(sums);
        let traces = traces.map(|((of, state), sums)| {
            TraceSamples::new(of.trace.clone(), of.unit.clone(), state, sums)
        });
        StackSamples { traces: traces.collect() }
    }
}

impl StackSampleAnalysis {
    fn make_room(&self, state: &mut State, tracefile: TracefileNumber) {
        if state.last.len() <= tracefile.0 {
            state.last.resize(tracefile.0 + 1, None);
            state.held.resize(tracefile.0 + 1, None);
        }
    }
}
