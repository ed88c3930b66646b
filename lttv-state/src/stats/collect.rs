//! Counting while events go by.

use std::collections::BTreeMap;

use ltt_read::schema::EventTypeId;

use super::collected::Collected;
use super::facts::{DeviceFacts, ProcessFacts};
use super::kinds::Kind;
use super::leaf::{Counts, LeafKey, Leaves};
use super::ledger::{LeafIx, Ledger, charge};
use super::rows::Row;
use super::tally::Tally;
use super::waits::Waits;
use crate::kernel::{
    ExecutionMode, Follower, NameId, Process, RequestKind, RequestStep, Serial, TraceState,
    Transfer, Transition, Waited,
};

/// The statistics of a trace while they are collected.
#[derive(Debug)]
pub(super) struct Collector {
    ledger: Ledger,
    /// By their places in the state.
    cpus: Vec<OnCpu>,
    /// Events of CPUs that the state does not know, since they change nothing.
    strays: BTreeMap<u32, Tally>,
    /// By serial number.
    waits: Vec<Waits>,
    /// By serial number.
    processes: Vec<ProcessFacts>,
    devices: Vec<DeviceFacts>,
    begin: i64,
    /// Since when CPUs count that become known: no statistics of what was before have them.
    known_since: i64,
    last: i64,
}

/// So many CPUs that the state does not know are told apart.
const MAX_STRAYS: usize = 1 << 14;

/// What a CPU is on, and since when.
#[derive(Debug, Clone, Copy)]
struct OnCpu {
    key: LeafKey,
    row: Row,
    leaf: LeafIx,
    kind: Kind,
    since: i64,
}

impl OnCpu {
    fn new(ledger: &mut Ledger, key: LeafKey, since: i64) -> Self {
        let row = ledger.row(key.process, key.cpu);
        let (leaf, kind) = ledger.place(row, &key);
        OnCpu { key, row, leaf, kind, since }
    }

    /// Counts the time since it has been on its leaf. (Not with each event: that
    /// would be the same sum.)
    #[inline]
    fn charge(&mut self, ledger: &mut Ledger, time: i64) {
        ledger.charge(self.leaf, self.since, time);
        self.since = time;
    }

    /// Goes over to a leaf.
    #[inline(always)] // a third of events do
    fn go_to(&mut self, ledger: &mut Ledger, key: LeafKey, time: i64) {
        self.charge(ledger, time);
        if key.process != self.key.process {
            self.row = ledger.row(key.process, key.cpu);
        }
        self.key = key;
        (self.leaf, self.kind) = ledger.place(self.row, &key);
    }

    /// The place of a leaf that it was on most likely until now.
    #[inline]
    fn place_of_last(&self, ledger: &mut Ledger, key: &LeafKey) -> LeafIx {
        if key.is(&self.key) { self.leaf } else { ledger.place_anywhere(key) }
    }

    /// Nobody knows what ran since a time: what was supposed to run on until now did not.
    #[cold]
    fn lose(
        &mut self,
        ledger: &mut Ledger,
        state: &TraceState,
        cpu: u32,
        lost_since: i64,
        time: i64,
    ) {
        self.charge(ledger, lost_since);
        if let Some(nobody) = state.cpu(cpu).and_then(|of| state.process(of.nobody())) {
            let unknown = ledger.place_anywhere(&unknown(nobody, cpu));
            ledger.charge(unknown, lost_since, time);
            self.since = time;
        }
    }
}

impl Follower for Collector {
    fn applied(&mut self, state: &TraceState, transition: Transition, event_type: EventTypeId) {
        let effect = state.effect();
        let Some(cpu) = effect.cpu() else { return };
        self.transition(state, transition, cpu);
        self.count(effect.place(), event_type, effect.time().ns());
    }

    fn passed(&mut self, cpu: u32, place: Option<usize>, event_type: EventTypeId, time: i64) {
        match place.filter(|place| *place < self.cpus.len()) {
            Some(place) => self.count(place, event_type, time),
            None => self.stray(cpu, event_type, time),
        }
    }
}

impl Collector {
    /// Nothing yet: begins at a time, in a state, for so many types of events.
    /// Of CPUs that get known later, all that was since `known_since` is counted.
    pub(super) fn new(state: &TraceState, time: i64, known_since: i64, types: usize) -> Self {
        let devices = state.devices().iter();
        let devices = devices.map(|of| DeviceFacts::new(of.number(), time, of.in_flight()));
        let mut collector = Collector {
            ledger: Ledger::new(types, state.cpus().count()),
            cpus: Vec::new(),
            strays: BTreeMap::new(),
            waits: Vec::new(),
            processes: Vec::new(),
            devices: devices.collect(),
            begin: time,
            known_since: time,
            last: time,
        };
        collector.follow_all(state);
        collector.known_since = known_since;
        collector
    }

    /// Counts an event of a CPU of which nothing else is known.
    #[cold]
    fn stray(&mut self, cpu: u32, event_type: EventTypeId, time: i64) {
        self.last = time;
        let is_known = self.strays.contains_key(&cpu) || self.strays.len() < MAX_STRAYS;
        let cpu = if is_known { cpu } else { u32::MAX };
        self.strays.entry(cpu).or_default().count(event_type);
    }

    /// Counts an event, for what the CPU at its place is on after it.
    #[inline]
    fn count(&mut self, place: usize, event_type: EventTypeId, time: i64) {
        self.last = time;
        if let Some(of) = self.cpus.get_mut(place) {
            self.ledger.count(of.leaf, of.kind, event_type);
        }
    }

    /// An event of a CPU has been applied to the state, and is to be counted next.
    #[inline(always)] // in one place only
    fn transition(&mut self, state: &TraceState, transition: Transition, cpu: u32) {
        let effect = state.effect();
        let (time, place) = (effect.time().ns(), effect.place());
        if self.cpus.len() <= place {
            self.last = time;
            self.follow_all(state);
        }
        let (Some(of), Some(running)) = (self.cpus.get_mut(place), state.running_at(place)) else {
            return;
        };
        if let Some(lost) = effect.lost_since() {
            of.lose(&mut self.ledger, state, cpu, lost, time);
        }
        let key = LeafKey::of(running, cpu);
        if let [ended] = effect.ended() {
            // Who left it goes on running.
            let left = LeafKey { mode: ended.mode, submode: ended.submode, ..key };
            let leaf = of.place_of_last(&mut self.ledger, &left);
            self.ledger.ended(leaf, ended);
        }
        let process = of.key.process;
        // Where it is another one most often, that need not be found out. (Of what runs
        // here, events of other CPUs may have told.)
        if !transition.goes_on() || !key.is(&of.key) {
            of.go_to(&mut self.ledger, key, time);
        }
        let leaf = of.leaf;
        if process != key.process {
            self.comes(state, running);
        }
        if let Some(waited) = effect.waited() {
            self.waited(running, &waited, leaf);
        }
        if transition.is_rare() || !effect.is_plain() {
            self.last = time;
            self.rare(state, transition);
        }
    }

    /// The process that a CPU is on now has waited until then.
    #[inline]
    fn waited(&mut self, process: &Process, waited: &Waited, leaf: LeafIx) {
        self.ledger.waited(leaf, waited.blocked.wrapping_add(waited.ready));
        self.waits_of(process).count(waited);
    }

    fn waits_of(&mut self, process: &Process) -> &mut Waits {
        let at = process.serial().index();
        if self.waits.len() <= at {
            self.await_more(at);
        }
        &mut self.waits[at]
    }

    #[cold]
    fn await_more(&mut self, at: usize) {
        self.waits.resize_with(at + 1, Waits::default);
    }

    /// A CPU goes over to a process: to be described, unless that has been done.
    #[inline]
    fn comes(&mut self, state: &TraceState, process: &Process) {
        if !std::mem::replace(&mut self.waits_of(process).is_described, true) {
            self.describe_once(state, process);
        }
    }

    /// What is seldom: names, births and ends, input and output.
    #[cold]
    fn rare(&mut self, state: &TraceState, transition: Transition) {
        use Transition::*;
        let effect = state.effect();
        if let Some((ix, transfer, bytes)) = effect.transferred()
            && let Some(process) = state.process(ix)
        {
            let facts = facts(&mut self.processes, process.serial().index());
            match transfer {
                Transfer::Read => facts.bytes_read = facts.bytes_read.saturating_add(bytes),
                Transfer::Write => {
                    facts.bytes_written = facts.bytes_written.saturating_add(bytes);
                }
            }
        }
        if let Some(request) = effect.request() {
            self.request(state, request);
        }
        for (process, name) in effect.renamed() {
            facts(&mut self.processes, process.index()).rename(state.name(*name));
        }
        for process in effect.gone() {
            self.describe(state, process);
        }
        match transition {
            Fork | Exec | Exit | Brand => self.life(state, transition),
            Migrate => {
                if let Some(process) = effect.target().and_then(|ix| state.process(ix)) {
                    facts(&mut self.processes, process.serial().index()).migrations += 1;
                }
            }
            ProcessState | DumpEnd | KernelThread => self.follow_all(state),
            _ => {}
        }
    }

    #[cold]
    fn request(&mut self, state: &TraceState, request: crate::kernel::Request) {
        let time = state.effect().time().ns();
        while self.devices.len() <= request.device {
            let Some(device) = state.devices().get(self.devices.len()) else { return };
            self.devices.push(DeviceFacts::new(device.number(), time, 0));
        }
        if request.step == RequestStep::Issued
            && let Some(running) = state.effect().cpu().and_then(|cpu| state.running(cpu))
        {
            let facts = facts(&mut self.processes, running.serial().index());
            match request.kind {
                RequestKind::Read => {
                    facts.blocks_read = facts.blocks_read.saturating_add(request.bytes);
                }
                RequestKind::Write => {
                    facts.blocks_written = facts.blocks_written.saturating_add(request.bytes);
                }
                RequestKind::Other => {}
            }
        }
        let in_flight = state.devices()[request.device].in_flight();
        self.devices[request.device].request(request, in_flight, time);
    }

    #[cold]
    fn life(&mut self, state: &TraceState, transition: Transition) {
        let effect = state.effect();
        let about = match (transition, effect.target()) {
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

    /// Describes a process, unless that has been done.
    #[cold]
    fn describe_once(&mut self, state: &TraceState, process: &Process) {
        if self.processes.get(process.serial().index()).is_none_or(|process| !process.seen) {
            self.describe(state, process);
        }
    }

    fn describe(&mut self, state: &TraceState, process: &Process) {
        describe(&mut self.processes, state, process);
    }

    /// Looks at all CPUs anew.
    #[cold]
    fn follow_all(&mut self, state: &TraceState) {
        for place in 0..state.cpu_count() {
            let (Some(cpu), Some(running)) = (state.cpu_at(place), state.running_at(place)) else {
                continue;
            };
            let key = LeafKey::of(running, cpu.number());
            let time = self.last;
            self.comes(state, running);
            match self.cpus.get_mut(place) {
                Some(of) if of.key == key => {}
                Some(of) => of.go_to(&mut self.ledger, key, time),
                None => self.cpus.push(OnCpu::new(&mut self.ledger, key, self.known_since)),
            }
        }
    }

    /// What was collected up to a time, if that is given: more may follow. Or all of it:
    /// what is open yet has lasted until the last event.
    pub(super) fn collected(&self, state: &TraceState, time: Option<i64>) -> Collected {
        let last = time.map_or(self.last, |time| time.max(self.last));
        let mut leaves = self.ledger.leaves(state.places());
        for of in &self.cpus {
            charge(&mut leaves[of.leaf.index()].1.cpu_time, of.since, last);
        }
        if time.is_none() {
            self.close(state, &mut leaves);
        }
        leaves.extend(self.strays.iter().map(|(cpu, events)| {
            let (mode, submode) = (ExecutionMode::Unknown, NameId::UNKNOWN);
            let key = LeafKey { process: Serial::NONE, cpu: *cpu, function: 0, mode, submode };
            (key, Counts { events: events.clone(), ..Counts::default() })
        }));
        let mut processes = self.processes.clone();
        for (at, waits) in self.waits.iter().enumerate().filter(|(_, waits)| !waits.are_none()) {
            waits.add_to(facts(&mut processes, at));
        }
        for (_, process) in state.processes() {
            describe(&mut processes, state, process);
        }
        let mut devices = self.devices.clone();
        for (facts, device) in devices.iter_mut().zip(state.devices()) {
            facts.until(last);
            facts.name = state.name(device.name()).into();
        }
        let leaves = Leaves::from(leaves);
        Collected { leaves, processes, devices, begin: self.begin, last }
    }

    /// What is still open has lasted until the last event.
    fn close(&self, state: &TraceState, leaves: &mut Vec<(LeafKey, Counts)>) {
        let time = self.last;
        // Those that nothing was counted for: found by key, as the others by the ledger.
        let mut new = Leaves::default();
        let first = state.cpus().next().map_or(0, |(number, _)| number);
        for (ix, process) in state.processes() {
            let runs =
                process.cpu().and_then(|cpu| state.cpu(cpu)).is_some_and(|c| c.running() == ix);
            // Events may tell of CPUs that are not known to exist.
            let known = process.cpu().and_then(|cpu| state.cpu(cpu));
            let cpu = known.map_or(first, |known| known.number());
            let mut nested = 0u64;
            for (depth, frame) in process.stack().iter().enumerate().rev() {
                let is_top = depth + 1 == process.stack().len();
                let last = if runs && is_top { since(frame.change().ns(), time) } else { 0 };
                nested = nested.wrapping_add(frame.cpu_time()).wrapping_add(last);
                if frame.mode() == ExecutionMode::Unknown {
                    continue;
                }
                let key = LeafKey {
                    mode: frame.mode(),
                    submode: frame.submode(),
                    ..LeafKey::of(process, cpu)
                };
                let counts = match self.ledger.get(&key) {
                    Some(leaf) => &mut leaves[leaf.index()].1,
                    None => new.at(key),
                };
                let elapsed = since(frame.entry().ns(), time);
                counts.open_time = counts.open_time.wrapping_add(elapsed);
                counts.cumulative_cpu_time = counts.cumulative_cpu_time.wrapping_add(nested);
            }
        }
        leaves.extend(new.into_all());
    }
}

/// Notes what is known of a process.
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

fn since(from: i64, to: i64) -> u64 {
    to.saturating_sub(from).max(0) as u64
}

fn unknown(nobody: &Process, cpu: u32) -> LeafKey {
    let (mode, submode) = (Default::default(), crate::kernel::NameId::UNKNOWN);
    LeafKey { process: nobody.serial(), cpu, function: 0, mode, submode }
}

/// The facts of the process of a serial number.
fn facts(processes: &mut Vec<ProcessFacts>, at: usize) -> &mut ProcessFacts {
    if processes.len() <= at {
        processes.resize_with(at + 1, ProcessFacts::default);
    }
    &mut processes[at]
}
