//! Kernel state as an extension of a context.

use std::any::Any;
use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Trace};
#[cfg(feature = "checkpoint-files")]
use lttv_context::Codec;
use lttv_context::{EventCall, Extension, Handle, Setup, Subscription, TraceContext};
use lttv_hooks::Priority;

use super::apply::apply;
use super::cpu::MAX_CPUS;
use super::follower::Follower;
use super::look_ahead::{First, look_ahead};
use super::machine::{At, SavedState, TraceState};
use super::packets::PacketSeen;
use super::rule::{CpuField, Rule, cpu_field};
use super::transition::Transition;

/// What the machines of a traceset's traces are doing: attached to a context, it
/// follows their events at [`Priority::STATE`].
///
/// ```
/// use lttv_context::{Bounds, TracesetContext, Traceset};
/// use lttv_state::kernel::{CpuMode, KernelState};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let state = context.attach(KernelState::new());
/// context.middle(&Bounds::all().events(3000))?;
///
/// let state = context.extensions()[state].trace(0).expect("one trace");
/// for (number, _) in state.cpus() {
///     let running = state.running(number).expect("a CPU has one running");
///     println!("CPU {number}: {}, {}", state.cpu_mode(number), state.name(running.name()));
/// }
/// assert!(state.cpus().any(|(number, _)| state.cpu_mode(number) != CpuMode::Unknown));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct KernelState {
    looks_ahead: bool,
    is_followed: bool,
    traces: Vec<Machine>,
    /// By the number of a tracefile.
    packets: Vec<PacketSeen>,
    first_packets: Vec<PacketSeen>,
}

/// The machine of a trace.
#[derive(Debug)]
struct Machine {
    state: TraceState,
    /// By event type.
    transitions: Vec<Option<Transition>>,
    /// Where events tell their CPU, by event type.
    cpu_fields: Vec<CpuField>,
    followers: Vec<Box<dyn Follower>>,
    initial: Initial,
}

/// What is known before the first event.
#[derive(Debug)]
struct Initial {
    begin: i64,
    names: Arc<super::Names>,
    cpus: Vec<u32>,
    running: Vec<First>,
    /// So many processes at most can the trace tell of.
    #[cfg_attr(not(feature = "checkpoint-files"), expect(dead_code))]
    processes: u64,
}

/// The state of all traces, saved: shared with others as far as it is the same.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedKernelState {
    pub(super) traces: Vec<SavedState>,
    pub(super) packets: Arc<[PacketSeen]>,
}

impl Default for KernelState {
    fn default() -> Self {
        Self::new()
    }
}

impl KernelState {
    /// Of which nothing is known before it is attached.
    pub fn new() -> Self {
        KernelState {
            looks_ahead: true,
            is_followed: false,
            traces: Vec::new(),
            packets: Vec::new(),
            first_packets: Vec::new(),
        }
    }

    /// Without looking for the first switch on each CPU in advance. Who runs there
    /// is not known then before it comes, as in LTTV.
    #[must_use]
    pub fn without_looking_ahead(self) -> Self {
        KernelState { looks_ahead: false, ..self }
    }

    /// The machine of the trace of an index. (A trace of user space has one too, of
    /// which nothing gets known.)
    #[inline]
    pub fn trace(&self, index: usize) -> Option<&TraceState> {
        Some(&self.traces.get(index)?.state)
    }

    pub(crate) fn trace_mut(&mut self, index: usize) -> Option<&mut TraceState> {
        Some(&mut self.traces.get_mut(index)?.state)
    }

    /// The machines of all traces, by their index.
    pub fn traces(&self) -> impl ExactSizeIterator<Item = &TraceState> {
        self.traces.iter().map(|machine| &machine.state)
    }

    /// What the events of a type change; `None` for those that change nothing.
    #[inline]
    pub fn transition(&self, trace: usize, event_type: EventTypeId) -> Option<Transition> {
        *self.traces.get(trace)?.transitions.get(event_type.index())?
    }

    /// The CPU of an event that a hook got: as it or its packet tells, or else as the
    /// tracefile's name does.
    #[inline]
    pub fn cpu_of(&self, call: &EventCall<'_, '_>) -> Option<u32> {
        let (trace, tracefile) = (call.trace.index(), call.tracefile.number());
        Some(self.cpu_and_place(trace, tracefile, &call.event)?.0)
    }

    /// The CPU of any event, and its place if the state knows it.
    #[inline]
    fn cpu_and_place(
        &self,
        trace: usize,
        tracefile: usize,
        event: &Event<'_>,
    ) -> Option<(u32, Option<usize>)> {
        let (packet, machine) = (self.packets.get(tracefile)?, self.traces.get(trace)?);
        let field = machine.cpu_fields.get(event.type_id().index())?;
        let cpu = match packet.other_cpu(field, event) {
            Some(cpu) => cpu,
            None if packet.place().is_some() => return Some((packet.cpu(), packet.place())),
            None => packet.cpu(),
        };
        let place = machine.state.cpu_index(cpu);
        let known = place.and_then(|place| machine.state.cpu_at(place));
        Some((known.map_or(cpu, |known| known.number()), place))
    }

    /// The CPU of the last event of the tracefile of a number that can change the state.
    /// Before that, it is the CPU of its first event.
    #[inline]
    pub fn cpu_of_tracefile(&self, number: usize) -> Option<u32> {
        Some(self.packets.get(number)?.cpu())
    }

    /// The process that ran when a hook got an event.
    pub fn running_at(&self, call: &EventCall<'_, '_>) -> Option<&super::Process> {
        self.trace(call.trace.index())?.running(self.cpu_of(call)?)
    }

    #[cfg(feature = "checkpoint-files")]
    pub(super) fn looks_ahead(&self) -> bool {
        self.looks_ahead
    }

    /// How many tracefiles there are.
    #[cfg(feature = "checkpoint-files")]
    pub(super) fn tracefiles(&self) -> usize {
        self.packets.len()
    }

    /// What states of a trace there can be.
    #[cfg(feature = "checkpoint-files")]
    pub(super) fn limits(&self, trace: usize) -> Option<super::sound::Limits<'_>> {
        let Initial { names, processes, .. } = &self.traces.get(trace)?.initial;
        Some(super::sound::Limits { names, processes: *processes })
    }

    /// Has someone told of each event of a trace that is heard and that changes
    /// something; of others, [`pass`](Self::pass) tells. Gives its number, which in all
    /// traces is the same if it follows all.
    pub(crate) fn follow(&mut self, trace: usize, follower: impl Follower) -> Option<usize> {
        let followers = &mut self.traces.get_mut(trace)?.followers;
        followers.push(Box::new(follower));
        self.is_followed = true;
        Some(followers.len() - 1)
    }

    /// The follower of a number.
    pub(crate) fn follower<F: Follower>(&self, trace: usize, number: usize) -> Option<&F> {
        let follower: &dyn Any = &**self.traces.get(trace)?.followers.get(number)?;
        follower.downcast_ref()
    }

    /// Tells a follower of an event that changes nothing.
    #[inline]
    pub(crate) fn pass(
        &mut self,
        trace: usize,
        follower: usize,
        tracefile: usize,
        event: &Event<'_>,
        time: i64,
    ) {
        let Some((cpu, place)) = self.cpu_and_place(trace, tracefile, event) else { return };
        let machine = self.traces.get_mut(trace);
        if let Some(follower) = machine.and_then(|machine| machine.followers.get_mut(follower)) {
            follower.passed(cpu, place, event.type_id(), time);
        }
    }

    /// Tells whether followers are to be told.
    #[inline(always)] // one frame less for each event
    fn on_event(
        &mut self,
        trace: usize,
        tracefile: usize,
        rule: &Rule,
        event: &Event<'_>,
        time: i64,
    ) -> bool {
        let packet = &mut self.packets[tracefile];
        let (_, gap) = packet.enter(rule, event);
        let state = &mut self.traces[trace].state;
        state.begin_changes();
        let (cpu, place) = packet.locate(state);
        let at = At { cpu, place, time };
        state.begin(at);
        if gap {
            state.gap(at);
        }
        apply(state, rule, event, at);
        state.finish(at);
        self.is_followed
    }

    /// Tells all followers of the last event that was applied.
    #[inline(always)]
    fn tell(&mut self, trace: usize, rule: &Rule) {
        let Machine { state, followers, .. } = &mut self.traces[trace];
        for follower in followers {
            follower.applied(state, rule.transition, rule.event_type);
        }
    }

    fn machine(
        &self,
        trace: &TraceContext,
        rules: &mut [Option<Rule>],
        opening: &Opening,
    ) -> Machine {
        let mut names = super::Names::default();
        let transitions = rules.iter().map(|rule| Some(rule.as_ref()?.transition)).collect();
        for rule in rules.iter_mut().flatten() {
            if let Some(name) = &rule.captured {
                rule.name = names.id(name);
            }
        }
        let is_kernel = rules.iter().flatten().next().is_some();
        let mut cpus: Vec<u32> = opening.cpus.iter().copied().flatten().collect();
        cpus.sort_unstable();
        cpus.dedup();
        let running = match self.looks_ahead {
            true => look_ahead(trace.trace(), rules, &opening.cpus),
            false => Vec::new(),
        };
        let types = (0..trace.trace().schema().event_types.len()).map(|at| EventTypeId(at as u32));
        let cpu_fields = types.map(|id| cpu_field(trace.trace(), id)).collect();
        let initial = Initial {
            begin: opening.begin,
            names: Arc::new(names),
            cpus: if is_kernel { cpus } else { Vec::new() },
            running,
            processes: most_processes(trace.trace()),
        };
        let state = initial.state();
        Machine { state, transitions, cpu_fields, followers: Vec::new(), initial }
    }
}

/// Tells followers of an event, unless there is a check that it does not pass.
#[cold]
fn tell_if_heard(call: &mut EventCall<'_, '_>, handle: Handle<KernelState>, rule: &Rule) {
    if call.is_heard()
        && let Some(state) = call.extensions.get_mut(handle)
    {
        state.tell(call.trace.index(), rule);
    }
}

/// What the first events of a trace's tracefiles tell.
#[derive(Debug)]
struct Opening {
    /// The time of the first of them, in ns.
    begin: i64,
    /// The CPU of each tracefile: that of its first event, or that of its name if there is
    /// none to tell it.
    cpus: Vec<Option<u32>>,
}

impl Opening {
    fn of(trace: &Arc<Trace>) -> Self {
        let mut begin: Option<i64> = None;
        let cpus = trace.tracefiles().iter().enumerate().map(|(number, tracefile)| {
            let mut cursor = trace.cursor(number);
            let Ok(Some(event)) = cursor.next() else { return tracefile.cpu() };
            if let Some(time) = event.timestamp() {
                begin = Some(begin.map_or(time.ns(), |begin| begin.min(time.ns())));
            }
            let field = cpu_field(trace, event.type_id());
            let nothing = PacketSeen::none(0);
            nothing.other_cpu(&field, &event).or_else(|| tracefile.cpu())
        });
        let cpus = cpus.collect();
        Opening { begin: begin.unwrap_or(0), cpus }
    }
}

/// Each byte of a trace tells of one process at most, and each CPU has two.
fn most_processes(trace: &Trace) -> u64 {
    let bytes: u64 = trace.tracefiles().iter().map(|tracefile| tracefile.size()).sum();
    bytes.saturating_add(2 * MAX_CPUS as u64)
}

impl Initial {
    fn state(&self) -> TraceState {
        let mut state = TraceState::new(self.begin);
        state.names = self.names.clone();
        for cpu in &self.cpus {
            state.add_cpu(*cpu);
        }
        for first in &self.running {
            state.runs_at_begin(first.cpu, first.tid, &first.name);
        }
        state
    }
}

impl Extension for KernelState {
    type Checkpoint = SavedKernelState;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        let contexts = setup.contexts;
        let mut packets = Vec::new();
        for trace in contexts.traces() {
            let types =
                (0..trace.trace().schema().event_types.len()).map(|at| EventTypeId(at as u32));
            let mut rules: Vec<_> = types.map(|id| Rule::of(trace.trace(), id)).collect();
            let opening = Opening::of(trace.trace());
            packets.extend(opening.cpus.iter().map(|cpu| PacketSeen::none(cpu.unwrap_or(0))));
            let machine = setup.extensions[handle].machine(trace, &mut rules, &opening);
            setup.extensions[handle].traces.push(machine);
            let index = trace.index();
            for (at, rule) in rules.into_iter().enumerate() {
                let Some(rule) = rule.map(Box::new) else { continue };
                let events = Subscription::to_type(index, EventTypeId(at as u32));
                setup.hooks.on_event(events.priority(Priority::STATE), move |call| {
                    let (tracefile, time) = (call.tracefile.number(), call.time().ns());
                    let heard = call.heard_in_advance();
                    let Some(state) = call.extensions.get_mut(handle) else { return };
                    if !state.on_event(index, tracefile, &rule, &call.event, time) {
                        return;
                    }
                    match heard {
                        Some(true) => state.tell(index, &rule),
                        Some(false) => {}
                        None => tell_if_heard(call, handle, &rule),
                    }
                });
            }
        }
        let state = &mut setup.extensions[handle];
        state.first_packets.clone_from(&packets);
        state.packets = packets;
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
            packets: self.packets.iter().map(|packet| packet.saved()).collect(),
        }
    }

    fn restore(&mut self, saved: &SavedKernelState) {
        for (machine, saved) in self.traces.iter_mut().zip(&saved.traces) {
            machine.state.restore(saved);
        }
        self.packets.clear();
        self.packets.extend_from_slice(&saved.packets);
    }

    fn checkpoint_bytes(saved: &SavedKernelState, before: Option<&SavedKernelState>) -> usize {
        saved.bytes(before)
    }

    #[cfg(feature = "checkpoint-files")]
    fn codec(&self) -> Option<Codec<Self>> {
        Some(self.stored())
    }
}
