//! Counting while events go by.

use ltt_read::schema::EventTypeId;

use super::facts::{DeviceFacts, ProcessFacts};
use super::leaf::{Counts, LeafKey, Leaves};
use crate::kernel::{
    Effect, Frame, Process, RequestKind, RequestStep, Serial, Step, TraceState, Transfer,
    Transition, Waited,
};

/// The statistics of a trace while they are collected.
#[derive(Debug, Clone, Default)]
pub(super) struct Collector {
    pub(super) leaves: Leaves,
    pub(super) cpus: Vec<OnCpu>,
    /// By serial number.
    pub(super) processes: Vec<ProcessFacts>,
    pub(super) devices: Vec<DeviceFacts>,
    pub(super) begin: i64,
    pub(super) last: i64,
}

/// What a CPU is on, and since when.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnCpu {
    on: Place,
    /// Of the frame around it, if that is known.
    outer: Option<Place>,
    /// What was entered last: it is often entered again.
    entered: Place,
    since: i64,
    /// Whether the process is described.
    is_described: bool,
}

/// A leaf, and where it is.
#[derive(Debug, Clone, Copy)]
struct Place {
    key: LeafKey,
    leaf: u32,
}

impl OnCpu {
    fn new(key: LeafKey, leaf: u32, since: i64) -> Self {
        let on = Place { key, leaf };
        OnCpu { on, outer: None, entered: on, since, is_described: false }
    }

    /// Counts the time since it has been on its leaf. (Not with each event: that
    /// would be the same sum.)
    #[inline]
    fn charge(&mut self, leaves: &mut Leaves, time: i64) {
        charge(leaves, self.on.leaf, self.since, time);
        self.since = time;
    }

    /// Goes over to another leaf.
    fn go_to(&mut self, leaves: &mut Leaves, key: LeafKey, time: i64) {
        self.charge(leaves, time);
        self.is_described &= key.process == self.on.key.process;
        self.outer = None;
        self.on = Place { key, leaf: leaves.place(key) };
    }

    /// Follows who runs into something, or out of it, as most events have it: by what
    /// is known from before, without looking for leaves. False if it was not as simple
    /// as that; nothing has been counted then.
    #[inline]
    fn follow(
        &mut self,
        leaves: &mut Leaves,
        running: &Process,
        effect: &Effect,
        time: i64,
    ) -> bool {
        let LeafKey { process, function, .. } = self.on.key;
        if running.serial() != process
            || running.function() != function
            || effect.lost_since().is_some()
        {
            return false;
        }
        match (effect.step(), effect.ended(), running.stack()) {
            (Step::Entered, [], [.., below, top]) if self.on.is(below) => {
                self.charge(leaves, time);
                self.outer = Some(self.on);
                let key = LeafKey { mode: top.mode(), submode: top.submode(), ..self.on.key };
                if key != self.entered.key {
                    self.entered = Place { key, leaf: leaves.place(key) };
                }
                self.on = self.entered;
                true
            }
            (Step::Left, [ended], [.., top]) => {
                let LeafKey { mode, submode, .. } = self.on.key;
                let Some(outer) = self.outer.filter(|outer| outer.is(top)) else { return false };
                if (ended.mode, ended.submode) != (mode, submode) {
                    return false;
                }
                let counts = leaves.at(self.on.leaf);
                counts.charge(self.since, time);
                counts.ended(ended);
                (self.on, self.outer, self.since) = (outer, None, time);
                true
            }
            _ => false,
        }
    }
}

impl Place {
    /// Whether it has a frame's mode and submode.
    #[inline]
    fn is(&self, frame: &Frame) -> bool {
        (self.key.mode, self.key.submode) == (frame.mode(), frame.submode())
    }
}

impl Collector {
    /// Nothing yet: begins at a time, in a state.
    pub(super) fn begin(&mut self, state: &TraceState, time: i64) {
        *self = Collector { begin: time, last: time, ..Collector::default() };
        for device in state.devices() {
            let facts = DeviceFacts::new(device.number(), time, device.in_flight());
            self.devices.push(facts);
        }
        self.follow_all(state);
    }

    /// Counts an event of a CPU that changes nothing.
    #[inline]
    pub(super) fn count(&mut self, cpu: u32, event_type: EventTypeId, time: i64) {
        self.last = time;
        if let Some(of) = self.cpus.get(cpu as usize) {
            self.leaves.at(of.on.leaf).events.count(event_type);
        }
    }

    /// An event of a CPU has been applied to the state.
    #[inline]
    pub(super) fn transition(
        &mut self,
        state: &TraceState,
        transition: Transition,
        cpu: u32,
        event_type: EventTypeId,
        time: i64,
    ) {
        self.last = time;
        if self.cpus.len() <= cpu as usize {
            self.follow_all(state);
        }
        let Some(of) = self.cpus.get_mut(cpu as usize) else { return };
        let effect = state.effect();
        if let Some(lost) = effect.lost_since() {
            // What ran was supposed to run on until now; nobody knows.
            of.charge(&mut self.leaves, lost);
            if let Some(nobody) = state.cpu(cpu).and_then(|of| state.process(of.nobody())) {
                let unknown = self.leaves.place(unknown(nobody, cpu));
                charge(&mut self.leaves, unknown, lost, time);
                of.since = time;
            }
        }
        let running = state.running(cpu);
        let is_followed =
            running.is_some_and(|running| of.follow(&mut self.leaves, running, effect, time));
        if !is_followed {
            ended(&mut self.leaves, of.on, state, cpu);
        }
        if let Some(running) = running {
            // Who runs may do something else now, or be another one.
            if !is_followed
                && let key = key(running, cpu)
                && key != of.on.key
            {
                of.go_to(&mut self.leaves, key, time);
            }
            if !of.is_described {
                of.is_described = true;
                self.describe_once(state, running);
            }
        }
        let leaf = self.cpus[cpu as usize].on.leaf;
        if let Some(waited) = effect.waited() {
            self.waited(state, waited, leaf);
        }
        if transition.is_rare() || !effect.is_plain() {
            self.rare(state, transition);
        }
        // What is rare may have gone over to another leaf.
        self.count(cpu, event_type, time);
    }

    /// The process that a CPU is on now has waited until then.
    #[inline]
    fn waited(&mut self, state: &TraceState, waited: Waited, leaf: u32) {
        let Some(process) = state.process(waited.process) else { return };
        let counts = self.leaves.at(leaf);
        let time = waited.blocked.wrapping_add(waited.ready);
        counts.wait_time = counts.wait_time.wrapping_add(time);
        let facts = facts(&mut self.processes, process.serial());
        facts.blocked_time = facts.blocked_time.wrapping_add(waited.blocked);
        facts.ready_time = facts.ready_time.wrapping_add(waited.ready);
        facts.times_scheduled += 1;
        if let Some(latency) = waited.since_wakeup {
            facts.wakeup_latency.count(latency);
        }
    }

    /// What is seldom: names, births and ends, input and output.
    fn rare(&mut self, state: &TraceState, transition: Transition) {
        use Transition::*;
        let effect = state.effect();
        if let Some((ix, transfer, bytes)) = effect.transferred()
            && let Some(process) = state.process(ix)
        {
            let facts = facts(&mut self.processes, process.serial());
            match transfer {
                Transfer::Read => facts.bytes_read += bytes,
                Transfer::Write => facts.bytes_written += bytes,
            }
        }
        if let Some(request) = effect.request() {
            self.request(state, request);
        }
        for (process, name) in effect.renamed() {
            facts(&mut self.processes, *process).rename(state.name(*name));
        }
        for process in effect.gone() {
            self.describe(state, process);
        }
        match transition {
            Fork | Exec | Exit | Brand => self.life(state, transition),
            Migrate => {
                if let Some(process) = effect.target().and_then(|ix| state.process(ix)) {
                    facts(&mut self.processes, process.serial()).migrations += 1;
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
            let facts = facts(&mut self.processes, running.serial());
            match request.kind {
                RequestKind::Read => facts.blocks_read += request.bytes,
                RequestKind::Write => facts.blocks_written += request.bytes,
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
            facts(&mut self.processes, process.serial()).end = Some(effect.time());
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
        let facts = facts(&mut self.processes, process.serial());
        facts.seen = true;
        facts.tid = process.tid();
        facts.pid = process.pid().or(facts.pid);
        facts.parent = process.parent().or(facts.parent);
        facts.kind = process.kind().or(facts.kind);
        facts.start = process.creation();
        facts.rename(state.name(process.name()));
    }

    /// Looks at all CPUs anew.
    #[cold]
    fn follow_all(&mut self, state: &TraceState) {
        let known = state.cpus().map(|(number, _)| number + 1).max().unwrap_or(0);
        for cpu in 0..known {
            let Some(running) = state.running(cpu) else { continue };
            let key = key(running, cpu);
            let time = self.last;
            match self.cpus.get_mut(cpu as usize) {
                // What it was on before, others may have changed.
                Some(of) if of.on.key == key => of.outer = None,
                Some(of) => of.go_to(&mut self.leaves, key, time),
                None => {
                    let leaf = self.leaves.place(key);
                    self.cpus.push(OnCpu::new(key, leaf, self.begin));
                }
            }
        }
    }

    /// A process is about to go for good, or the end has come.
    pub(super) fn describe_all(&mut self, state: &TraceState) {
        for (_, process) in state.processes() {
            self.describe(state, process);
        }
    }

    /// Everything up to a time has been told.
    pub(super) fn finish(&mut self, state: &TraceState, time: i64) {
        self.last = time;
        self.cpus.iter_mut().for_each(|of| of.charge(&mut self.leaves, time));
        for (facts, device) in self.devices.iter_mut().zip(state.devices()) {
            facts.until(time);
            facts.name = state.name(device.name()).into();
        }
        self.describe_all(state);
    }

    /// What is still open at the end of the trace has lasted until then.
    pub(super) fn close(&mut self, state: &TraceState) {
        let time = self.last;
        for (ix, process) in state.processes() {
            let runs =
                process.cpu().and_then(|cpu| state.cpu(cpu)).is_some_and(|c| c.running() == ix);
            let cpu = process.cpu().unwrap_or(0);
            let mut nested = 0u64;
            for (depth, frame) in process.stack().iter().enumerate().rev() {
                let is_top = depth + 1 == process.stack().len();
                let last = if runs && is_top { since(frame.change().ns(), time) } else { 0 };
                nested = nested.wrapping_add(frame.cpu_time()).wrapping_add(last);
                if frame.mode() == crate::kernel::ExecutionMode::Unknown {
                    continue;
                }
                let place = self.leaves.place(LeafKey {
                    process: process.serial(),
                    cpu,
                    function: process.function(),
                    mode: frame.mode(),
                    submode: frame.submode(),
                });
                let counts: &mut Counts = self.leaves.at(place);
                let elapsed = since(frame.entry().ns(), time);
                counts.open_time = counts.open_time.wrapping_add(elapsed);
                counts.cumulative_cpu_time = counts.cumulative_cpu_time.wrapping_add(nested);
            }
        }
    }
}

fn since(from: i64, to: i64) -> u64 {
    to.saturating_sub(from).max(0) as u64
}

#[inline]
fn key(process: &Process, cpu: u32) -> LeafKey {
    let top = process.top();
    LeafKey {
        process: process.serial(),
        cpu,
        function: process.function(),
        mode: top.mode(),
        submode: top.submode(),
    }
}

fn unknown(nobody: &Process, cpu: u32) -> LeafKey {
    let (mode, submode) = (Default::default(), crate::kernel::NameId::UNKNOWN);
    LeafKey { process: nobody.serial(), cpu, function: 0, mode, submode }
}

/// Counts the time from one point to another.
#[inline]
fn charge(leaves: &mut Leaves, leaf: u32, from: i64, to: i64) {
    leaves.at(leaf).charge(from, to);
}

/// Counts what ended while a CPU was on a place.
fn ended(leaves: &mut Leaves, on: Place, state: &TraceState, cpu: u32) {
    for ended in state.effect().ended() {
        let Some(process) = state.process(ended.process) else { continue };
        let key = LeafKey {
            process: process.serial(),
            cpu,
            function: process.function(),
            mode: ended.mode,
            submode: ended.submode,
        };
        let place = if key == on.key { on.leaf } else { leaves.place(key) };
        leaves.at(place).ended(ended);
    }
}

fn facts(processes: &mut Vec<ProcessFacts>, serial: Serial) -> &mut ProcessFacts {
    let at = serial.index();
    if processes.len() <= at {
        processes.resize_with(at + 1, ProcessFacts::default);
    }
    &mut processes[at]
}
