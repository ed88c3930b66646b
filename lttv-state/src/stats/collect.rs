//! Collection of statistics while events are read.

use std::collections::BTreeMap;

use ltt_read::schema::EventTypeId;

use super::accounts::Accounts;
use super::border::Border;
use super::closing::close;
use super::collected::Collected;
use super::facts::{DeviceFacts, ProcessFacts};
use super::leaf::{Counts, LeafKey, Leaves};
use super::ledger::charge;
use super::log::Log;
use super::waits::Waits;
use crate::kernel::{ExecutionMode, NameId, Process, Serial, TraceState, Transition};

/// The collector of a trace's statistics. Times and events by leaf are written down in a log, to be
/// booked in accounts.
#[derive(Debug, Clone)]
pub(super) struct Collector {
    pub(super) log: Log,
    /// The events of CPUs that are not in the state, since their events change nothing.
    unknown_cpus: BTreeMap<u32, Counts>,
    /// The waits of processes, by serial number.
    waits: Vec<Waits>,
    /// The facts about processes, by serial number.
    pub(super) processes: Vec<ProcessFacts>,
    pub(super) devices: Vec<DeviceFacts>,
    begin: i64,
    /// The earliest time that is charged, in ns: the start of a window.
    pub(super) earliest: i64,
    pub(super) last: i64,
}

/// The maximum number of CPUs that are counted separately without being in the state.
const MAX_UNKNOWN_CPUS: usize = 1 << 14;

impl Collector {
    /// Returns the statistics up to a time. If they are final, what is still open then counts
    /// up to that time; otherwise statistics of later events can be added. What was open before
    /// the `border` counts from there.
    pub(super) fn collected(
        &self,
        mut accounts: Accounts,
        state: &TraceState,
        last: i64,
        is_final: bool,
        border: &Border,
    ) -> Collected {
        let last = last.max(self.last);
        accounts.set_cpus(&self.log.cpus);
        let Accounts { ledger, cpus } = &accounts;
        let mut leaves = ledger.leaves(state.process_bound());
        for (place, of) in cpus.iter().enumerate() {
            // The time from which on nothing tells which process runs.
            let lost = match state.has_switches() {
                true => state.lost_before(place, last).map_or(last, |lost| lost.max(of.since)),
                false => of.since,
            };
            charge(&mut leaves[of.leaf.index()].1.cpu_time, of.since, lost);
            let unknown = state.cpu_at(place).filter(|_| lost < last);
            let unknown = unknown.and_then(|cpu| state.process(cpu.unknown_process()));
            let Some(key) = unknown.map(|process| unknown_leaf(process.serial(), of.key.cpu))
            else {
                continue;
            };
            let leaf = ledger.get(&key).map(|leaf| leaf.index()).unwrap_or_else(|| {
                leaves.push((key, Counts::default()));
                leaves.len() - 1
            });
            charge(&mut leaves[leaf].1.cpu_time, lost, last);
        }
        let mut processes = self.processes.clone();
        for (at, waits) in self.waits.iter().enumerate().filter(|(_, waits)| !waits.is_empty()) {
            waits.add_to(facts(&mut processes, at));
        }
        border.subtract(ledger, &mut leaves, &mut processes);
        if is_final {
            close(ledger, (state, last), border, &mut leaves, &mut processes);
        }
        leaves.extend(self.unknown_cpus.iter().map(|(cpu, counts)| {
            let (mode, submode) = (ExecutionMode::Unknown, NameId::UNKNOWN);
            let key = LeafKey { process: Serial::NONE, cpu: *cpu, function: 0, mode, submode };
            (key, counts.clone())
        }));
        for (_, process) in state.processes() {
            describe(&mut processes, state, process);
        }
        let mut devices = self.devices.clone();
        for (facts, device) in devices.iter_mut().zip(state.devices()) {
            facts.advance_to(last);
            facts.name = state.name(device.name()).into();
        }
        let leaves = Leaves::from(leaves);
        Collected { leaves, processes, devices, begin: self.begin, last }
    }
}

impl Collector {
    /// Creates a collector that starts at a time in a state.
    pub(super) fn new(state: &TraceState, time: i64) -> Self {
        let devices = state.devices().iter();
        let devices = devices.map(|of| DeviceFacts::new(of.number(), time, of.in_flight()));
        let mut collector = Collector {
            log: Log::default(),
            unknown_cpus: BTreeMap::new(),
            waits: Vec::new(),
            processes: Vec::new(),
            devices: devices.collect(),
            begin: time,
            earliest: i64::MIN,
            last: time,
        };
        collector.update_all_cpus(state);
        collector
    }

    /// Accounts for an event that has been applied to the state, and counts without a booking.
    #[inline]
    pub(super) fn applied(&mut self, state: &TraceState, transition: Transition) {
        let effect = state.effect();
        let Some(cpu) = effect.cpu() else { return };
        self.transition(state, transition, cpu);
        self.last = effect.time().as_ns();
    }

    /// Accounts for an event that changes no state.
    #[inline]
    pub(super) fn ignored(
        &mut self,
        cpu: u32,
        place: Option<usize>,
        event_type: EventTypeId,
        time: i64,
    ) {
        match place.filter(|place| self.log.key(*place).is_some()) {
            Some(place) => {
                self.last = time;
                self.log.count(place);
            }
            None => {
                self.log.skip();
                self.count_on_unknown_cpu(cpu, event_type, time);
            }
        }
    }

    /// Counts an event of a CPU that is not in the state.
    #[cold]
    fn count_on_unknown_cpu(&mut self, cpu: u32, event_type: EventTypeId, time: i64) {
        self.last = time;
        self.unknown_cpu(cpu).events.count(event_type);
    }

    /// Returns `true` if events of CPUs that are not in the state have been counted.
    pub(super) fn has_unknown_cpus(&self) -> bool {
        !self.unknown_cpus.is_empty()
    }

    /// Returns the counts of a CPU that is not in the state.
    fn unknown_cpu(&mut self, cpu: u32) -> &mut Counts {
        let is_known =
            self.unknown_cpus.contains_key(&cpu) || self.unknown_cpus.len() < MAX_UNKNOWN_CPUS;
        let cpu = if is_known { cpu } else { u32::MAX };
        self.unknown_cpus.entry(cpu).or_default()
    }

    /// Updates the leaves after an event has been applied to the state; the event itself is
    /// counted next.
    #[inline(always)] // only one call site
    fn transition(&mut self, state: &TraceState, transition: Transition, cpu: u32) {
        let effect = state.effect();
        let (time, place) = (effect.time().as_ns(), effect.place());
        if self.log.key(place).is_none() {
            self.last = time;
            self.update_all_cpus(state);
        }
        if !effect.is_common() {
            self.lost(state, place);
        }
        let (Some(before), Some(running)) = (self.log.key(place).copied(), state.running_at(place))
        else {
            return;
        };
        let key = LeafKey::of(running, cpu);
        if let Some(ended) = effect.ended() {
            // The process that left the frame continues to run.
            let left = LeafKey { mode: ended.mode, submode: ended.submode, ..key };
            self.log.ended(place, &left, ended);
        }
        // Most of the other transitions change the leaf, so that comparing does not pay.
        // (Events of other CPUs may also have changed the process that runs here.)
        if !transition.mostly_keeps_frame() || !key.eq_branchless(&before) {
            self.log.move_to(place, &key, time);
        }
        if before.process != key.process {
            self.switched_to(state, running);
        }
        if let Some(waited) = effect.waited() {
            self.log.waited(place, waited.blocked.wrapping_add(waited.ready));
            self.waits_of(running.serial()).count(&waited);
        }
        if transition.is_rare() || !effect.is_common() {
            self.last = time;
            self.rare(state, transition);
        }
    }

    /// Moves CPUs to their unknown processes from the times on from which nothing tells which process ran.
    #[cold]
    fn lost(&mut self, state: &TraceState, place: usize) {
        let effect = state.effect();
        let losses = effect.losses().iter().map(|loss| (loss.place, loss.since()));
        let unseen = effect.unseen_since().map(|since| (place, since));
        for (place, since) in losses.chain(unseen) {
            let Some(cpu) = state.cpu_at(place) else { continue };
            let Some(unknown) = state.process(cpu.unknown_process()) else { continue };
            let (key, since) = (unknown_leaf(unknown.serial(), cpu.number()), since.as_ns());
            self.log.move_at(place, &key, since.max(self.earliest));
        }
        for wait in effect.lost_waits() {
            let key = unknown_leaf(wait.process, wait.cpu);
            self.log.lost_wait(&key, wait.blocked.wrapping_add(wait.ready));
            self.waits_of(wait.process).lose(wait);
        }
    }

    /// Returns the waits of a process.
    fn waits_of(&mut self, process: Serial) -> &mut Waits {
        let at = process.index();
        if self.waits.len() <= at {
            self.grow_waits(at);
        }
        &mut self.waits[at]
    }

    #[cold]
    fn grow_waits(&mut self, at: usize) {
        self.waits.resize_with(at + 1, Waits::default);
    }

    /// Notes that a CPU switched to a process, whose facts are noted the first time.
    #[inline]
    fn switched_to(&mut self, state: &TraceState, process: &Process) {
        if !std::mem::replace(&mut self.waits_of(process.serial()).is_described, true) {
            self.describe_once(state, process);
        }
    }

    /// Handles rare events: names, forks, exits, input and output.
    #[cold]
    fn rare(&mut self, state: &TraceState, transition: Transition) {
        use Transition::*;
        let effect = state.effect();
        if let Some((ix, transfer, bytes)) = effect.transferred() {
            self.transferred(state, ix, transfer, bytes);
        }
        if let Some(request) = effect.request() {
            self.request(state, request);
        }
        for (process, name) in effect.renamed() {
            facts(&mut self.processes, process.index()).rename(state.name(*name));
        }
        for process in effect.removed() {
            self.describe(state, process);
        }
        if effect.left_other_cpu() {
            self.update_all_cpus(state);
        }
        match transition {
            Fork | Exec | Exit | Brand => self.lifecycle(state, transition),
            Migrate => {
                if let Some(process) = effect.subject().and_then(|ix| state.process(ix)) {
                    facts(&mut self.processes, process.serial().index()).migrations += 1;
                }
            }
            ProcessState | DumpEnd | KernelThread => self.update_all_cpus(state),
            _ => {}
        }
    }

    /// Notes the facts about a process that was forked, executes a program or exits.
    #[cold]
    fn lifecycle(&mut self, state: &TraceState, transition: Transition) {
        let effect = state.effect();
        let about = match (transition, effect.subject()) {
            (Transition::Exec | Transition::Brand, _) | (_, None) => {
                effect.cpu().and_then(|cpu| state.running(cpu))
            }
            (_, Some(target)) => state.process(target),
        };
        let Some(process) = about else { return };
        self.describe(state, process);
        if transition == Transition::Exit {
            facts(&mut self.processes, process.serial().index()).end = Some(effect.time());
        }
    }

    /// Notes the facts about a process, unless this has been done.
    #[cold]
    fn describe_once(&mut self, state: &TraceState, process: &Process) {
        if self.processes.get(process.serial().index()).is_none_or(|process| !process.seen) {
            self.describe(state, process);
        }
    }

    fn describe(&mut self, state: &TraceState, process: &Process) {
        describe(&mut self.processes, state, process);
    }

    /// Updates the current leaves of all CPUs, including new ones.
    #[cold]
    fn update_all_cpus(&mut self, state: &TraceState) {
        for place in 0..state.cpu_count() {
            let (Some(cpu), Some(running)) = (state.cpu_at(place), state.running_at(place)) else {
                continue;
            };
            let key = LeafKey::of(running, cpu.number());
            let time = self.last;
            self.switched_to(state, running);
            match self.log.key(place) {
                Some(of) if *of == key => {}
                Some(_) => self.log.move_to(place, &key, time),
                None => self.log.open(key, self.begin),
            }
        }
    }
}

/// Notes the facts about a process.
fn describe(processes: &mut Vec<ProcessFacts>, state: &TraceState, process: &Process) {
    let facts = facts(processes, process.serial().index());
    facts.seen = true;
    facts.tid = process.tid();
    facts.pid = process.pid().or(facts.pid);
    facts.parent = process.parent().or(facts.parent);
    facts.kind = process.kind().or(facts.kind);
    facts.start = process.creation();
    facts.rename(state.name(process.name()));
}

/// Returns the leaf of a process of which nothing is known, such as the placeholder of a CPU.
pub(super) fn unknown_leaf(process: Serial, cpu: u32) -> LeafKey {
    let (mode, submode) = (Default::default(), crate::kernel::NameId::UNKNOWN);
    LeafKey { process, cpu, function: 0, mode, submode }
}

/// Returns the facts about the process with a serial number.
pub(super) fn facts(processes: &mut Vec<ProcessFacts>, at: usize) -> &mut ProcessFacts {
    if processes.len() <= at {
        processes.resize_with(at + 1, ProcessFacts::default);
    }
    &mut processes[at]
}
