//! Kernel state as an extension of a context.

use std::collections::BTreeSet;
use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Timestamp, Trace, TraceIndex, TracefileIndex, TracefileNumber};
#[cfg(feature = "checkpoint-files")]
use lttv_context::Codec;
use lttv_context::{Contexts, EventCall, Extension, Growth, Handle, Setup};

use super::apply::{apply, runs_by_context};
use super::fields::{EventFields, Fields};
use super::growth;
use super::initial::Initial;
use super::machine::{At, SavedState, TraceState};
#[cfg(feature = "analyses")]
use super::names::NameId;
use super::packets::{Entered, PacketFacts, PacketTracker};
use super::rule::{
    CpuField, Rule, cpu_field, depends_on_contexts, has_events, thread_of_event, transition_of,
};
use super::transition::Transition;

/// The kernel states of a traceset's traces. As an extension of a context, it follows the
/// events at [`Priority::STATE`](lttv_hooks::Priority::STATE).
///
/// ```
/// use lttv_context::{Bounds, TracesetContext, Traceset};
/// use lttv_state::kernel::{CpuMode, KernelState};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let state = context.attach(KernelState::new());
/// assert_eq!(context.read(&Bounds::all().events(3000))?.errors, 0);
///
/// let state = context.extensions()[state].trace(ltt_read::TraceIndex(0)).expect("one trace");
/// for (number, _) in state.cpus() {
///     let running = state.running(number).expect("a CPU has one running");
///     println!("CPU {number}: {}, {}", state.cpu_mode(number), state.name(running.name()));
/// }
/// assert!(state.cpus().any(|(number, _)| state.cpu_mode(number) != CpuMode::Unknown));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
#[doc(alias("perf"))]
pub struct KernelState {
    ignores_initial_processes: bool,
    pub(super) traces: Vec<Machine>,
    /// The packet trackers, by tracefile number.
    pub(super) packets: Vec<PacketTracker>,
    pub(super) first_packets: Vec<PacketTracker>,
}

/// The state of a trace's machine, and how its events change it.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) state: TraceState,
    /// The transition of each event type, and the rule for it.
    transitions: Vec<Option<Transition>>,
    rules: Vec<Option<Arc<Rule>>>,
    /// The name of the system call or vector that the name of each event type contains.
    #[cfg(feature = "analyses")]
    type_names: Vec<NameId>,
    /// The location of the CPU number in events of each type.
    cpu_fields: Vec<CpuField>,
    pub(super) initial: Initial,
}

/// The state of all traces in a checkpoint. Consecutive checkpoints share unchanged parts.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedKernelState {
    pub(super) traces: Vec<SavedState>,
    pub(super) packets: Arc<[PacketTracker]>,
}

impl KernelState {
    /// Creates an extension to be attached to a context; it has no traces before.
    pub fn new() -> Self {
        Self::default()
    }

    /// Disables the search for the first switch of each CPU. As in LTTV, the running
    /// process is then unknown until that switch.
    #[must_use]
    pub fn without_looking_ahead(self) -> Self {
        KernelState { ignores_initial_processes: true, ..self }
    }

    /// Creates a state with the same options and without traces.
    pub(crate) fn empty_like(&self) -> Self {
        KernelState { ignores_initial_processes: self.ignores_initial_processes, ..Self::default() }
    }

    /// Returns `true` if a trace describes events that change the state of a machine, as kernel
    /// traces do. Reads no events.
    pub fn follows(trace: &Trace) -> bool {
        let mut types = (0..trace.schema().event_types.len() as u32).map(EventTypeId);
        let is_kernel = trace.schema().env_str("domain") == Some("kernel");
        types.any(|id| {
            Rule::of(trace, id).is_some() || is_kernel && thread_of_event(trace, id).is_some()
        })
    }

    /// Returns the event types of a trace that change the state of a machine, with their transitions,
    /// ordered by type. Reads events only to tell whether switches were recorded: see
    /// [`Trace::may_have_events`].
    ///
    /// ```
    /// use lttv_state::kernel::{KernelState, Transition};
    ///
    /// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
    /// let trace = ltt_read::Trace::open(path)?;
    /// let mut kinds = KernelState::transitions(&trace).map(|(_, transition)| transition);
    /// assert!(kinds.any(|kind| kind == Transition::Switch));
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn transitions(trace: &Arc<Trace>) -> impl Iterator<Item = (EventTypeId, Transition)> {
        Rule::all(trace).into_iter().flatten().map(|rule| (rule.event_type, rule.transition))
    }

    /// Returns the transitions of the event types of a trace, each one once: faster than
    /// [`transitions`](Self::transitions), since one event type of each is enough.
    pub fn kinds(trace: &Arc<Trace>) -> BTreeSet<Transition> {
        let mut kinds = BTreeSet::new();
        for id in (0..trace.schema().event_types.len() as u32).map(EventTypeId) {
            if transition_of(trace, id).is_some_and(|kind| !kinds.contains(&kind)) {
                kinds.extend(Rule::of(trace, id).map(|rule| rule.transition));
            }
        }
        if kinds.contains(&Transition::Switch) && !has_events(trace, Transition::Switch) {
            kinds.remove(&Transition::Switch);
        }
        let mut types = (0..trace.schema().event_types.len() as u32).map(EventTypeId);
        if depends_on_contexts(trace, kinds.iter().copied())
            && types.any(|id| thread_of_event(trace, id).is_some())
        {
            kinds.insert(Transition::Context);
        }
        kinds
    }

    /// Returns the machine of the trace with an index; `None` if there is no such trace. A
    /// user-space trace has a machine, too, whose state remains unknown.
    #[inline]
    pub fn trace(&self, index: TraceIndex) -> Option<&TraceState> {
        Some(&self.traces.get(index.0)?.state)
    }

    pub(crate) fn trace_mut(&mut self, index: TraceIndex) -> Option<&mut TraceState> {
        Some(&mut self.traces.get_mut(index.0)?.state)
    }

    /// Returns the threads that ran on the CPUs of a trace from its start until their first switches, as far as that is
    /// known, with the numbers of the CPUs.
    #[cfg(feature = "analyses")]
    pub(crate) fn ran_first(&self, trace: TraceIndex) -> Vec<(u32, super::Tid)> {
        self.traces.get(trace.0).map_or_else(Vec::new, |of| of.initial.ran_first())
    }

    /// Iterates over the machines of all traces, in the order of their indices.
    pub fn traces(&self) -> impl ExactSizeIterator<Item = &TraceState> {
        self.traces.iter().map(|machine| &machine.state)
    }

    /// Returns the transition of an event type; `None` if its events change no state.
    #[inline]
    pub fn transition(&self, trace: TraceIndex, event_type: EventTypeId) -> Option<Transition> {
        *self.traces.get(trace.0)?.transitions.get(event_type.index())?
    }

    /// Returns the name of the system call or vector that the name of an event type contains; empty
    /// if there is none.
    #[cfg(feature = "analyses")]
    pub(crate) fn name_of_type(&self, trace: TraceIndex, event_type: EventTypeId) -> NameId {
        let names = self.traces.get(trace.0).map(|machine| &machine.type_names);
        let name = names.and_then(|names| names.get(event_type.index()));
        name.copied().unwrap_or(NameId::EMPTY)
    }

    /// Returns the CPU number of an event that a hook got, from the event, its packet or
    /// the tracefile's name. `None` if the trace or tracefile is not one of the context.
    #[inline]
    pub fn cpu_of(&self, call: &EventCall<'_, '_>) -> Option<u32> {
        let (trace, tracefile) = (call.trace.index(), call.tracefile.number());
        Some(self.cpu_and_place(trace, tracefile, &call.event)?.0)
    }

    /// Returns the CPU number of an event and the CPU's index, if the state has it.
    #[inline]
    pub(crate) fn cpu_and_place(
        &self,
        trace: TraceIndex,
        tracefile: TracefileNumber,
        event: &Event<'_>,
    ) -> Option<(u32, Option<usize>)> {
        let (elsewhere, place) = self.place_of_other(trace, tracefile, event)?;
        Some((elsewhere.or_else(|| self.cpu_of_tracefile(tracefile))?, place))
    }

    /// Returns the number of the CPU of an event, unless it is that of the last event of its tracefile
    /// that changes the state, and the CPU's index, if the state has it.
    #[inline]
    pub(crate) fn place_of_other(
        &self,
        trace: TraceIndex,
        tracefile: TracefileNumber,
        event: &Event<'_>,
    ) -> Option<(Option<u32>, Option<usize>)> {
        let (packet, machine) = (self.packets.get(tracefile.0)?, self.traces.get(trace.0)?);
        let field = machine.cpu_fields.get(event.type_id().index())?;
        let cpu = match packet.other_cpu(field, event) {
            Some(cpu) => cpu,
            None if packet.place().is_some() => return Some((None, packet.place())),
            None => packet.cpu(),
        };
        let (cpu, place) = machine.located(cpu);
        Some((Some(cpu), place))
    }

    /// Returns the CPU number of the last event of a tracefile that can change the state;
    /// before that, the CPU number of the tracefile's first event.
    #[inline]
    pub fn cpu_of_tracefile(&self, number: TracefileNumber) -> Option<u32> {
        Some(self.packets.get(number.0)?.cpu())
    }

    /// Returns the process that recorded an event that a hook got: the one that ran on its CPU when the
    /// event happened. At a context switch it is the one that is switched out, as in LTTng's contexts,
    /// whatever the priority of the hook is. Its ids and its name are what `tid`, `pid` and `comm` mean
    /// in filters, unless the event has contexts that tell them.
    ///
    /// ```
    /// use lttv_context::{Bounds, Traceset, TracesetContext};
    /// use lttv_hooks::Priority;
    /// use lttv_context::Subscription;
    /// use lttv_state::kernel::KernelState;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let kernel = context.attach(KernelState::new());
    /// let after = Priority::new(30).expect("a priority");
    /// context.on_event(Subscription::to("sched_switch").priority(after), move |call| {
    ///     let process = call.extensions[kernel].process_of(call).expect("it is known");
    ///     let previous = call.event.field("prev_tid").and_then(|field| field.as_i64());
    ///     assert_eq!(process.tid().map(i64::from), previous);
    /// });
    /// assert_eq!(context.read(&Bounds::all())?.errors, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn process_of(&self, call: &EventCall<'_, '_>) -> Option<&super::Process> {
        let (trace, cpu) = (self.trace(call.trace.index())?, self.cpu_of(call)?);
        self.recorded_by(trace, cpu, call.delivery_time(), &call.event)
            .or_else(|| trace.running(cpu))
    }

    /// Returns the process that an event of a CPU is about, after its effect on the state: that which it switched out,
    /// or its [subject](super::Effect::subject).
    #[cfg(feature = "filter")]
    pub(crate) fn subject_of<'s>(
        &'s self,
        state: &'s TraceState,
        cpu: u32,
        delivered: Timestamp,
        event: &Event<'_>,
    ) -> Option<&'s super::Process> {
        match self.transition(event.trace_index(), event.type_id())? {
            Transition::Switch => self.recorded_by(state, cpu, delivered, event),
            _ => {
                let effect = effect_at(state, cpu, delivered)?;
                state.process(effect.subject()?).or_else(|| effect.removed().first())
            }
        }
    }

    /// Returns the process that an event of a CPU switched out, after its effect on the state.
    pub(crate) fn recorded_by<'s>(
        &'s self,
        state: &'s TraceState,
        cpu: u32,
        delivered: Timestamp,
        event: &Event<'_>,
    ) -> Option<&'s super::Process> {
        if self.transition(event.trace_index(), event.type_id()) != Some(Transition::Switch) {
            return None;
        }
        let effect = effect_at(state, cpu, delivered)?;
        let previous = effect.waited()?.previous?;
        // A process that is dead when it is switched out may be gone.
        effect.removed().first().or_else(|| state.process(previous))
    }

    /// Returns the process that runs on the CPU of an event that a hook got.
    pub fn running_at(&self, call: &EventCall<'_, '_>) -> Option<&super::Process> {
        self.trace(call.trace.index())?.running(self.cpu_of(call)?)
    }

    #[cfg(feature = "checkpoint-files")]
    pub(super) fn finds_initial_processes(&self) -> bool {
        !self.ignores_initial_processes
    }

    /// Returns the number of tracefiles.
    #[cfg(feature = "checkpoint-files")]
    pub(super) fn tracefiles(&self) -> usize {
        self.packets.len()
    }

    /// Returns the limits of valid states of a trace.
    #[cfg(feature = "checkpoint-files")]
    pub(super) fn limits(&self, trace: TraceIndex) -> Option<super::validate::Limits<'_>> {
        let Initial { names, processes, .. } = &self.traces.get(trace.0)?.initial;
        Some(super::validate::Limits { names, processes: *processes })
    }

    /// Applies an event.
    #[inline(always)] // one frame less for each event
    fn apply_event(
        &mut self,
        trace: TraceIndex,
        tracefile: TracefileNumber,
        rule: &Rule,
        event: &Event<'_>,
        time: i64,
    ) {
        let packet = &mut self.packets[tracefile.0];
        let entered = packet.advance(rule, event);
        let entered = entered.map(|entered| (event.tracefile_index(), entered));
        let state = &mut self.traces[trace.0].state;
        apply_fields(state, packet, rule, &EventFields { rule, event }, (entered, time));
    }

    /// Applies the first loss of events of a trace that begins before a time. Returns its CPU and its time; `None` if
    /// there is no such loss. The next event tells of it.
    #[inline]
    pub(crate) fn pass_loss_before(
        &mut self,
        trace: TraceIndex,
        time: Timestamp,
    ) -> Option<(u32, Timestamp)> {
        let (cpu, since) = self.trace_mut(trace)?.pass_loss_before(time.as_ns())?;
        Some((cpu, Timestamp::from_ns(since)))
    }

    /// Applies an event of which its fields, the CPU number in it and the packet, if it may be a new
    /// one, have been recorded.
    #[inline]
    pub(super) fn apply_recorded(
        &mut self,
        (index, trace, of): (TraceIndex, &Arc<Trace>, TracefileIndex),
        (tracefile, time): (TracefileNumber, i64),
        rule: &Rule,
        (packet, cpu): (Option<&PacketFacts>, Option<u32>),
        fields: &impl Fields,
    ) {
        let tracker = &mut self.packets[tracefile.0];
        let entered = tracker.advance_to(packet, cpu, (trace, of));
        let entered = entered.map(|entered| (of, entered));
        let state = &mut self.traces[index.0].state;
        apply_fields(state, tracker, rule, fields, (entered, time));
    }

    /// Returns the index of the CPU of the last event of a tracefile that changed the state.
    #[inline]
    pub(super) fn place_of(&self, tracefile: TracefileNumber) -> Option<usize> {
        self.packets.get(tracefile.0)?.place()
    }

    /// Returns the CPU number of a recorded event that changes no state, and the CPU's index: like
    /// [`cpu_and_place`](Self::cpu_and_place). `None` if it is on the CPU of the last event of its
    /// tracefile that does, and that CPU has been looked up.
    #[cold]
    pub(super) fn elsewhere(
        &self,
        trace: TraceIndex,
        tracefile: TracefileNumber,
        packet: Option<&PacketFacts>,
        cpu: Option<u32>,
    ) -> Option<(u32, Option<usize>)> {
        let (tracker, machine) = (self.packets.get(tracefile.0)?, self.traces.get(trace.0)?);
        let cpu = match cpu.or_else(|| packet.filter(|packet| !tracker.is_in(packet))?.cpu) {
            Some(cpu) => cpu,
            None if tracker.place().is_some() => return None,
            None => tracker.cpu(),
        };
        Some(machine.located(cpu))
    }

    /// Returns the rules for the traces of a context, by trace and event type. A state that is no
    /// extension gets the machines and trackers for these traces.
    pub(super) fn prepare(&mut self, contexts: &Contexts) -> Vec<Vec<Option<Arc<Rule>>>> {
        growth::add_trackers(self, contexts);
        let mut all = Vec::new();
        for of in contexts.traces() {
            if self.traces.len() == of.index().0 {
                let mut rules = growth::rules_of(of.trace());
                let machine = self.machine(of.trace(), &mut rules);
                self.traces.push(machine);
            }
            all.extend(self.traces.get(of.index().0).map(Machine::named_rules));
        }
        all
    }

    /// Creates the machine of a trace.
    pub(super) fn machine(&self, trace: &Arc<Trace>, rules: &mut [Option<Arc<Rule>>]) -> Machine {
        let mut names = super::Names::default();
        for rule in rules.iter_mut().flatten() {
            let rule = Arc::make_mut(rule);
            if let Some(name) = &rule.captured {
                rule.name = names.id(name);
            }
        }
        let looks_ahead = !self.ignores_initial_processes;
        let initial = Initial::of(trace, rules, Arc::new(names), looks_ahead);
        let mut machine = Machine {
            state: initial.state(),
            transitions: Vec::new(),
            rules: Vec::new(),
            #[cfg(feature = "analyses")]
            type_names: Vec::new(),
            cpu_fields: Vec::new(),
            initial,
        };
        machine.add_types(trace, rules);
        machine
    }

    /// Returns `true` if events of a trace change its state.
    pub(super) fn changes(&self, trace: TraceIndex) -> bool {
        self.traces.get(trace.0).is_some_and(|of| of.transitions.iter().any(Option::is_some))
    }

    /// Saves the state of a trace alone; `None` if there is no such trace.
    pub(super) fn save_trace(
        &self,
        contexts: &Contexts,
        trace: TraceIndex,
    ) -> Option<SavedKernelState> {
        let traces = vec![self.traces.get(trace.0)?.state.save()];
        let packets =
            contexts.tracefiles_of(trace).filter_map(|of| self.packets.get(of.number().0));
        Some(SavedKernelState { traces, packets: packets.map(|of| of.without_index()).collect() })
    }

    /// Sets the state of a trace to one that was saved alone.
    pub(super) fn restore_trace(
        &mut self,
        contexts: &Contexts,
        trace: TraceIndex,
        saved: &SavedKernelState,
    ) {
        let (machine, state) = (self.traces.get_mut(trace.0), saved.traces.first());
        let (Some(machine), Some(state)) = (machine, state) else { return };
        machine.state.restore(state);
        for (of, saved) in contexts.tracefiles_of(trace).zip(&*saved.packets) {
            if let Some(packet) = self.packets.get_mut(of.number().0) {
                *packet = *saved;
            }
        }
    }

    /// Determines the state before the first event of a trace again, if no event has changed it
    /// yet and more has arrived.
    pub(super) fn restart(
        &mut self,
        trace: &Arc<Trace>,
        index: TraceIndex,
        rules: &[Option<Arc<Rule>>],
    ) {
        let looks_ahead = !self.ignores_initial_processes;
        let Some(machine) = self.traces.get_mut(index.0) else { return };
        let names = machine.initial.names.clone();
        machine.initial = Initial::of(trace, rules, names, looks_ahead);
        machine.state = machine.initial.state();
    }

    /// Adds a hook's event to the state of a trace.
    #[inline(always)] // one frame less for each event
    pub(super) fn follow(
        handle: Handle<KernelState>,
        call: &mut EventCall<'_, '_>,
        index: TraceIndex,
        rule: &Rule,
    ) {
        let (tracefile, time) = (call.tracefile.number(), call.delivery_time().as_ns());
        if let Some(state) = call.extensions.get_mut(handle) {
            state.apply_event(index, tracefile, rule, &call.event, time);
        }
    }
}

/// Applies the fields of an event, and what is known of losses with its packet, if that is a new one of a tracefile.
#[inline(always)] // one frame less for each event
fn apply_fields(
    state: &mut TraceState,
    packet: &mut PacketTracker,
    rule: &Rule,
    fields: &impl Fields,
    (entered, time): (Option<(TracefileIndex, Entered)>, i64),
) {
    while state.pass_loss_before(time).is_some() {}
    let ends_loss = entered.is_some_and(|(tracefile, _)| state.end_packet(tracefile.0 as u32));
    state.begin_changes();
    let (cpu, place) = packet.locate(state);
    let at = At { cpu, place, time };
    state.begin(at);
    if let Some((tracefile, entered)) = entered {
        state.enter_packet(at, tracefile.0 as u32, entered, ends_loss);
    }
    if rule.is_record && time == i64::MIN {
        return; // the state before the first event contains what it tells
    }
    if rule.tells_process {
        runs_by_context(state, fields, at);
    }
    apply(state, rule, fields, at);
    state.finish(at);
}

impl Machine {
    /// Returns the number and the index of the CPU with a number, which others may share.
    fn located(&self, cpu: u32) -> (u32, Option<usize>) {
        let place = self.state.cpu_index(cpu);
        let known = place.and_then(|place| self.state.cpu_at(place));
        (known.map_or(cpu, |known| known.number()), place)
    }

    /// Returns the rules for all event types, with the ids of the names in them.
    fn named_rules(&self) -> Vec<Option<Arc<Rule>>> {
        let mut rules = self.rules.clone();
        for rule in rules.iter_mut().flatten() {
            // Event types that were declared later have names without ids.
            let known = rule.captured.as_ref().and_then(|name| self.initial.names.find(name));
            if let Some(name) = known.filter(|name| *name != rule.name) {
                Arc::make_mut(rule).name = name;
            }
        }
        rules
    }

    /// Returns the number of event types that are known.
    pub(super) fn types(&self) -> usize {
        self.cpu_fields.len()
    }

    /// Adds the event types after those that are known, with their rules.
    pub(super) fn add_types(&mut self, trace: &Trace, rules: &[Option<Arc<Rule>>]) {
        let known = self.types();
        let new = rules.get(known..).unwrap_or_default();
        self.rules.extend_from_slice(new);
        self.transitions.extend(new.iter().map(|rule| Some(rule.as_ref()?.transition)));
        #[cfg(feature = "analyses")]
        self.type_names
            .extend(new.iter().map(|rule| rule.as_ref().map_or(NameId::EMPTY, |rule| rule.name)));
        self.state.has_switches |= self.transitions.contains(&Some(Transition::Switch));
        self.state.tells_ends_of_forks |= new.iter().flatten().any(|rule| rule.ends_forks);
        let types = (known..rules.len()).map(|at| EventTypeId(at as u32));
        self.cpu_fields.extend(new.iter().zip(types).map(|(rule, id)| match rule {
            Some(rule) => rule.cpu.clone(),
            None => cpu_field(trace, id),
        }));
    }
}

impl Extension for KernelState {
    type Checkpoint = SavedKernelState;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        growth::grow(handle, setup);
    }

    fn growth(&self) -> Option<Growth<Self>> {
        Some(growth::grow)
    }

    fn reach(&mut self, time: Timestamp) {
        for machine in &mut self.traces {
            while machine.state.pass_loss_before(time.as_ns()).is_some() {}
        }
    }

    fn reset(&mut self) {
        for machine in &mut self.traces {
            machine.state = machine.initial.state();
        }
        self.packets.clone_from(&self.first_packets);
    }

    fn save(&self) -> SavedKernelState {
        SavedKernelState {
            traces: self.traces.iter().map(|machine| machine.state.save()).collect(),
            packets: self.packets.iter().map(|packet| packet.without_index()).collect(),
        }
    }

    fn restore(&mut self, saved: &SavedKernelState) {
        for (at, machine) in self.traces.iter_mut().enumerate() {
            match saved.traces.get(at) {
                Some(saved) => machine.state.restore(saved),
                // The trace joined later.
                None => machine.state = machine.initial.state(),
            }
        }
        self.packets.clone_from(&self.first_packets);
        for (packet, saved) in self.packets.iter_mut().zip(&*saved.packets) {
            *packet = *saved;
        }
    }

    fn checkpoint_bytes(saved: &SavedKernelState, before: Option<&SavedKernelState>) -> usize {
        saved.bytes(before)
    }

    #[cfg(feature = "checkpoint-files")]
    fn codec(&self) -> Option<Codec<Self>> {
        Some(self.stored())
    }
}

/// Returns the effect of the last event, if it was delivered for a CPU at a time.
fn effect_at(state: &TraceState, cpu: u32, delivered: Timestamp) -> Option<&super::Effect> {
    let effect = state.effect();
    ((effect.cpu(), effect.time()) == (Some(cpu), delivered)).then_some(effect)
}
