//! The machine that turns the events of kernels into timelines, one for each thread.
//!
//! It does not depend on traces: [`follow`](super::follow) reads their events.

mod actor;
mod cpu;
mod packets;
#[cfg(feature = "checkpoint-files")]
mod saved;

use std::num::NonZeroU32;
use std::sync::Arc;

use super::cause::{Cause, Devices, PackedSource};
use super::columns::Column;
use super::graph::{Anomalies, TimelineId};
use super::interval::{Form, LinkKind, StoredInterval, StoredLink};
use crate::kernel::{DeviceNumber, NameId, SwitchedOut, TID_END, Tid, TidMap};

pub(super) use self::actor::{Actor, Intervals, Status};
use self::cpu::Cpu;
pub(super) use self::cpu::{ContextKind, Sender};
use self::packets::Packets;

/// The links of all timelines.
pub(super) type Links = Column<StoredLink, 1024>;

/// The state of all machines of a traceset, and the timelines so far.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    /// The threads and idle tasks, by timeline.
    pub(super) actors: Vec<Actor>,
    pub(super) links: Links,
    pub(super) traces: Vec<OfTrace>,
    packets: Packets,
    /// The time since which threads that are mentioned later may have existed, in ns.
    pub(super) begin: i64,
    /// The time of the last event.
    pub(super) last: i64,
    pub(super) anomalies: Anomalies,
}

/// The machine of one trace.
#[derive(Debug, Clone, Default)]
pub(super) struct OfTrace {
    by_tid: TidMap,
    cpus: Vec<Cpu>,
    pub(super) devices: Devices,
    /// The threads that ran on CPUs from the start until their first switches, as far as the kernel state knows.
    ran_first: Arc<[(u32, Tid)]>,
    /// `true` if the trace records interrupts, so that a CPU without any is known to be in none.
    knows_interrupts: bool,
}

/// The place of an event: its trace, CPU and time.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    pub(super) trace: usize,
    /// The index of the CPU among those of the trace.
    pub(super) place: usize,
    /// The number of the CPU.
    pub(super) cpu: u32,
    pub(super) time: i64,
}

/// A thread that an event names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    pub(super) tid: Tid,
    pub(super) pid: Option<Tid>,
    pub(super) name: NameId,
}

/// The event of a wake-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WakeEvent {
    /// On the CPU that wakes the thread.
    Waking,
    /// On the CPU on which the thread will run, in traces without a better event.
    WakeUp,
}

/// The origin of a wake-up, as far as its CPU shows it.
struct Origin {
    cause: Cause,
    source: PackedSource,
    /// The thread that ran.
    waker: Option<TimelineId>,
    /// The thread that raised the softirq in which the CPU is.
    raiser: Option<Sender>,
}

impl OfTrace {
    /// Creates the machine of a trace before its first event.
    pub(super) fn new(knows_interrupts: bool, ran_first: Vec<(u32, Tid)>) -> Self {
        OfTrace { knows_interrupts, ran_first: ran_first.into(), ..OfTrace::default() }
    }
}

impl Machine {
    /// Creates the machines of a number of traces, at the time of their first event.
    pub(super) fn new(traces: Vec<OfTrace>, begin: i64) -> Self {
        Machine {
            actors: Vec::new(),
            links: Links::default(),
            traces,
            packets: Packets::default(),
            begin,
            last: begin,
            anomalies: Anomalies::default(),
        }
    }

    /// Drops what happened before the open intervals, except for the last interval of each thread, which
    /// an event of the same time may still change.
    pub(super) fn forget_past(&mut self) {
        let links = std::mem::take(&mut self.links);
        for actor in &mut self.actors {
            let Some(last) = actor.forget_past() else { continue };
            let link = match last.form() {
                Form::Linked(_, number) => links.get(number as usize),
                _ => None,
            };
            let form = match (last.form(), link) {
                (Form::Linked(cause, _), Some(_)) => Form::Linked(cause, self.links.len() as u32),
                (form, _) => form,
            };
            actor.intervals.push(StoredInterval::new(last.end, form, last.call()));
            self.links.extend(link);
        }
    }

    fn actor_mut(&mut self, id: TimelineId) -> &mut Actor {
        &mut self.actors[id.index()]
    }

    fn cpu(&mut self, at: At) -> &mut Cpu {
        let cpus = &mut self.traces[at.trace].cpus;
        if cpus.len() <= at.place {
            cpus.resize_with(at.place + 1, Cpu::default);
        }
        &mut cpus[at.place]
    }

    /// Returns the timeline of a thread that an event names, which is added if it is new; that of
    /// the CPU's idle task for id 0. `None` if no thread can have the id.
    #[inline]
    fn find_or_add(&mut self, at: At, tid: Tid) -> Option<TimelineId> {
        let known = match tid {
            0 => self.cpu(at).idle,
            _ => self.find(at.trace, tid),
        };
        known.or_else(|| self.add(at, tid))
    }

    /// Returns the timeline of the last thread with an id.
    #[inline]
    pub(super) fn find(&self, trace: usize, tid: Tid) -> Option<TimelineId> {
        self.traces[trace].by_tid.get(tid).map(|number| TimelineId(number.get() - 1))
    }

    #[cold]
    fn add(&mut self, at: At, tid: Tid) -> Option<TimelineId> {
        if !(0..TID_END).contains(&tid) || self.actors.len() >= u32::MAX as usize - 1 {
            self.anomalies.impossible_ids += 1;
            return None;
        }
        let id = TimelineId(self.actors.len() as u32);
        self.actors.push(Actor::new(at.trace, tid, at.place, at.time));
        match tid {
            0 => self.cpu(at).idle = Some(id),
            _ => self.traces[at.trace].by_tid.set(tid, NonZeroU32::new(id.0 + 1)),
        }
        Some(id)
    }

    /// Notes what the trace says of a thread.
    #[inline]
    fn describe(&mut self, id: TimelineId, named: Named) {
        let actor = self.actor_mut(id);
        if named.name != NameId::EMPTY {
            actor.name = named.name;
        }
        actor.pid = named.pid.or(actor.pid);
    }

    /// Applies a context switch from `previous`, which was switched out for a reason and in a
    /// system call, to `next`.
    pub(super) fn switch(
        &mut self,
        at: At,
        previous: Named,
        out: SwitchedOut,
        call: NameId,
        next: Named,
    ) {
        self.last = at.time;
        let cpu = self.cpu(at);
        let is_first = !std::mem::replace(&mut cpu.has_switched, true);
        let ran = cpu.current.take();
        if !cpu.contexts.is_empty() {
            cpu.contexts.clear();
            self.anomalies.open_interrupts += 1;
        }
        let ran_first =
            is_first && self.traces[at.trace].ran_first.contains(&(at.cpu, previous.tid));
        let previous_id = self.find_or_add(at, previous.tid);
        if let Some(ran) = ran.filter(|ran| Some(*ran) != previous_id) {
            self.anomalies.switches += 1;
            self.lose(ran, at.time);
        }
        if let Some(id) = previous_id {
            self.describe(id, previous);
            self.switch_out(at, id, ran_first);
            let actor = self.actor_mut(id);
            match out {
                _ if actor.is_idle() => actor.set(Status::Preempted),
                SwitchedOut::Ready => actor.set(Status::Preempted),
                // It was woken at this very time, by an event that came first.
                SwitchedOut::Blocked if actor.woken_early == Some(at.time) => {
                    actor.set(Status::Woken);
                }
                SwitchedOut::Blocked => actor.block(call),
                SwitchedOut::Zombie | SwitchedOut::Dead => {
                    actor.set(Status::Ended);
                    actor.ended = Some(at.time);
                }
            }
        }
        let Some(id) = self.find_or_add(at, next.tid) else { return };
        self.describe(id, next);
        self.switch_in(at, id);
        self.cpu(at).current = Some(id);
    }

    #[inline]
    fn switch_out(&mut self, at: At, id: TimelineId, ran_first: bool) {
        let begin = self.begin;
        let actor = self.actor_mut(id);
        let place = std::mem::replace(&mut actor.place, at.place as u32);
        if actor.status == Status::Woken && actor.is_first_seen_at(at.time) {
            // It did not sleep: the wake-up of this very time came first by chance.
            (actor.status, actor.intervals) = (Status::Unseen, Intervals::default());
            actor.woken_early = Some(at.time);
        }
        if std::mem::take(&mut actor.may_have_run) && ran_first {
            // State dumps and wake-ups in the meantime did not change what ran on the CPU.
            actor.ran_since(begin, at.cpu);
        }
        match actor.status {
            Status::Running if actor.cpu == at.cpu => actor.close_as_is(at.time),
            Status::Unseen => {
                (actor.since, actor.cpu, actor.status) = (begin, at.cpu, Status::Unknown);
                actor.close_as_is(at.time);
            }
            status => {
                match status {
                    Status::Running => actor.close_as_is(at.time),
                    _ => _ = actor.close(at.time, Form::Unknown),
                }
                self.anomalies.switches += 1;
                self.leave_cpu(at.trace, place, id);
            }
        }
    }

    #[inline]
    fn switch_in(&mut self, at: At, id: TimelineId) {
        let begin = self.begin;
        let actor = self.actor_mut(id);
        match actor.status {
            Status::Blocked if actor.was_woken_early() => {
                // It was woken before it was switched out, so it did not wait.
                actor.close(at.time, Form::Woken);
                self.anomalies.early_wake_ups += 1;
            }
            Status::Blocked => {
                actor.close_as_is(at.time);
                self.anomalies.missing_wake_ups += 1;
            }
            Status::Preempted | Status::Woken | Status::Unknown => actor.close_as_is(at.time),
            Status::New => _ = actor.close(at.time, Form::Woken),
            Status::Unseen => {
                actor.since = begin;
                actor.close_as_is(at.time);
            }
            Status::Ended => {
                actor.close(at.time, Form::Gap);
                self.anomalies.switches += 1;
            }
            // It left its CPU at an unknown time, where the statistics have it until now.
            Status::Running => {
                actor.close_as_is(at.time);
                let place = actor.place;
                self.anomalies.switches += 1;
                self.leave_cpu(at.trace, place, id);
            }
        }
        let actor = self.actor_mut(id);
        actor.set(Status::Running);
        (actor.cpu, actor.place) = (at.cpu, at.place as u32);
        (actor.woken_early, actor.ended, actor.may_have_run) = (None, None, false);
    }

    /// Notes that a thread does not run on the CPU on which it was last seen.
    #[cold]
    fn leave_cpu(&mut self, trace: usize, place: u32, id: TimelineId) {
        let cpu = self.traces[trace].cpus.get_mut(place as usize);
        if let Some(cpu) = cpu.filter(|cpu| cpu.current == Some(id)) {
            cpu.current = None;
        }
    }

    /// Notes that it is unknown what a thread did since its open interval started.
    fn lose(&mut self, id: TimelineId, time: i64) {
        let actor = self.actor_mut(id);
        if !matches!(actor.status, Status::Unseen | Status::Ended) {
            actor.close(time, Form::Unknown);
            actor.set(Status::Unknown);
        }
    }

    /// Applies a loss of events of a CPU since a time: it is unknown what the thread did that ran
    /// there, and what runs there now.
    pub(super) fn lost(&mut self, at: At, is_told_again: bool) {
        self.anomalies.losses += u64::from(!is_told_again);
        let cpu = self.cpu(at);
        cpu.contexts.clear();
        (cpu.received, cpu.raised) = (None, [None; 2]);
        // The next switch of the CPU tells only what ran until then, not since the start.
        cpu.has_switched = true;
        if let Some(ran) = cpu.current.take() {
            self.lost_since(ran, at.time);
        }
    }

    /// Applies a loss of events to a thread that last ran on the CPU or waits for it, and is not known to run on
    /// another one.
    pub(super) fn lost_thread(&mut self, at: At, tid: Tid) {
        let Some(id) = self.find(at.trace, tid) else { return };
        if self.actors[id.index()].status != Status::Running {
            self.lost_since(id, at.time);
        }
    }

    fn lost_since(&mut self, id: TimelineId, since: i64) {
        let actor = self.actor_mut(id);
        if matches!(actor.status, Status::Unseen | Status::Ended | Status::Unknown) {
            return;
        }
        if since > actor.since {
            actor.close_as_is(since);
        }
        actor.set(Status::Unknown);
    }

    /// Applies a wake-up of a thread.
    pub(super) fn wake(&mut self, at: At, woken: Named, event: WakeEvent) {
        self.last = at.time;
        if woken.tid == 0 {
            return; // the idle tasks do not sleep
        }
        let Some(id) = self.find_or_add(at, woken.tid) else { return };
        let mut origin = self.origin(at);
        if event == WakeEvent::WakeUp && matches!(origin.cause, Cause::Ipi | Cause::Interrupt) {
            origin.cause = Cause::Unknown; // the interrupt only carried the message
        }
        if origin.waker == Some(id) {
            return;
        }
        self.describe(id, woken);
        let begin = self.begin;
        let actor = self.actor_mut(id);
        if actor.may_have_run {
            actor.woken_early = Some(at.time);
        }
        match actor.status {
            Status::Running | Status::Woken if actor.since == at.time => {
                actor.woken_early = Some(at.time);
                return self.amend_wait(at, id, origin);
            }
            Status::Running => {
                actor.woken_early = Some(at.time);
                return;
            }
            Status::Preempted | Status::Woken | Status::Ended => {
                self.anomalies.repeated_wake_ups += 1;
                return;
            }
            Status::Unknown => {
                actor.close_as_is(at.time);
                actor.set(Status::Woken);
                return;
            }
            // It slept since before the trace.
            Status::Unseen => (actor.since, actor.status) = (begin, Status::Blocked),
            Status::Blocked | Status::New => {}
        }
        self.end_wait(at, id, origin);
    }

    /// Ends the wait of a thread.
    fn end_wait(&mut self, at: At, id: TimelineId, origin: Origin) {
        let (form, link) = self.form_of_wait(at, id, origin);
        let actor = self.actor_mut(id);
        let is_some = actor.close(at.time, form);
        actor.set(Status::Woken);
        if is_some {
            self.links.extend(link);
        }
    }

    /// Applies a wake-up at the very time at which the wait of the thread ended, perhaps by an
    /// event that comes first only because its CPU does. The order must not matter: what is known
    /// better counts, or else the thread with the smaller id.
    fn amend_wait(&mut self, at: At, id: TimelineId, origin: Origin) {
        let (form, link) = self.form_of_wait(at, id, origin);
        let (key, end, call) = match self.actor_mut(id).wait_until(at.time) {
            Some(wait) => (wait.form(), wait.end, wait.call()),
            None => return self.anomalies.repeated_wake_ups += 1,
        };
        if self.rank(form, link) < self.rank(key, None) {
            if let Some(wait) = self.actor_mut(id).wait_until(at.time) {
                *wait = StoredInterval::new(end, form, call);
            }
            self.links.extend(link);
        }
    }

    /// Returns the rank of a wait: its cause, and the thread that ended it, as in a link that is
    /// new or else stored.
    fn rank(&self, form: Form, new: Option<StoredLink>) -> (Cause, Option<(u32, Tid)>) {
        match form {
            Form::Linked(cause, number) => {
                let link = new.or_else(|| self.links.get(number as usize));
                let from = link.map(|link| &self.actors[link.from.index()]);
                (cause, from.map(|from| (from.trace, from.tid)))
            }
            Form::Blocked(cause, _) => (cause, None),
            _ => (Cause::Unknown, None),
        }
    }

    /// Returns the form of a wait that a wake-up ends, and the link to be stored, if it has one.
    fn form_of_wait(
        &mut self,
        at: At,
        id: TimelineId,
        origin: Origin,
    ) -> (Form, Option<StoredLink>) {
        let sender = match origin.cause {
            Cause::Network => self.cpu(at).received.take().or(origin.raiser),
            _ => None,
        };
        let link = match (sender.filter(|sender| sender.thread != id), origin.waker) {
            (Some(Sender { thread, time }), _) => Some((thread, time, LinkKind::Network)),
            (None, Some(waker)) => Some((waker, at.time, LinkKind::WakeUp)),
            (None, None) => None,
        };
        match (link, u32::try_from(self.links.len())) {
            (Some((from, time, kind)), Ok(number)) => {
                let link = StoredLink { time, from, kind, source: origin.source };
                (Form::Linked(origin.cause, number), Some(link))
            }
            _ => (Form::Blocked(origin.cause, origin.source), None),
        }
    }

    /// Returns what the CPU of a wake-up shows of its origin.
    fn origin(&mut self, at: At) -> Origin {
        let cpu = self.cpu(at);
        let (current, top) = (cpu.current, cpu.contexts.last().copied());
        let (source, waker, raiser) = (PackedSource::default(), None, None);
        let Some(top) = top else {
            let actor = current.map(|id| (id, &self.actors[id.index()]));
            let cause = match actor {
                // The idle task wakes no others: an interrupt was not recorded.
                Some((_, actor)) if actor.is_idle() => Cause::Interrupt,
                Some((id, actor)) if actor.status == Status::Running => {
                    return Origin { cause: Cause::Task, source, waker: Some(id), raiser };
                }
                _ => Cause::Unknown,
            };
            return Origin { cause, source, waker, raiser };
        };
        if let Some(source) = top.completed {
            return Origin { cause: Cause::Block, source, waker, raiser };
        }
        let cause = match top.kind {
            ContextKind::Softirq(1 | 8) | ContextKind::Timer | ContextKind::Vector(true) => {
                Cause::Timer
            }
            ContextKind::Softirq(2 | 3) => Cause::Network,
            ContextKind::Softirq(4 | 5) => Cause::Block,
            ContextKind::Softirq(_) => Cause::Softirq,
            ContextKind::Irq => Cause::Irq,
            ContextKind::Vector(false) => Cause::Ipi,
        };
        Origin { cause, source: top.source, waker, raiser: top.raiser }
    }

    /// Applies a fork by the thread that runs on the CPU.
    pub(super) fn fork(&mut self, at: At, child: Named) {
        self.last = at.time;
        if child.tid == 0 {
            return;
        }
        let parent = self.running_thread(at);
        if let Some(old) = self.find(at.trace, child.tid) {
            let actor = self.actor_mut(old);
            if actor.is_first_seen_at(at.time) && parent != Some(old) {
                // It is the child, whose first event has the time of the fork.
                (actor.parent, actor.intervals) = (parent, Intervals::default());
                actor.may_have_run = false;
                return self.describe(old, child);
            }
            if actor.status == Status::Running && parent != Some(old) {
                // The clock of the child's CPU is ahead, as the kernel state has it.
                actor.parent = parent;
                return self.describe(old, child);
            }
            // A known thread with the id has ended, whether that was seen or not.
            if self.actors[old.index()].status != Status::Ended {
                self.anomalies.reused_ids += 1;
                self.lose(old, at.time);
                let actor = self.actor_mut(old);
                actor.set(Status::Ended);
                let place = actor.place;
                self.leave_cpu(at.trace, place, old);
            }
            self.traces[at.trace].by_tid.set(child.tid, None);
        }
        let Some(id) = self.find_or_add(at, child.tid) else { return };
        self.describe(id, child);
        let actor = self.actor_mut(id);
        (actor.status, actor.may_have_run) = (Status::New, false);
        actor.parent = parent;
    }

    /// Applies a thread of a state dump. A thread that waits has done so since the first event.
    pub(super) fn dumped(&mut self, at: At, dumped: Named, is_waiting: bool) {
        self.last = at.time;
        if dumped.tid == 0 {
            return;
        }
        let Some(id) = self.find_or_add(at, dumped.tid) else { return };
        self.describe(id, dumped);
        let begin = self.begin;
        let actor = self.actor_mut(id);
        if actor.status == Status::Unseen {
            actor.status = if is_waiting { Status::Blocked } else { Status::Unknown };
            actor.since = begin;
        } else if actor.status == Status::Unknown && is_waiting {
            actor.close_as_is(at.time);
            actor.set(Status::Blocked);
        }
    }

    /// Enters an interrupt.
    pub(super) fn enter(&mut self, at: At, kind: ContextKind, source: PackedSource) {
        self.last = at.time;
        if !self.cpu(at).enter(kind, source) {
            self.anomalies.open_interrupts += 1;
        }
    }

    /// Leaves an interrupt.
    pub(super) fn leave(&mut self, at: At, kind: ContextKind) {
        self.last = at.time;
        if !self.cpu(at).leave(kind) {
            self.anomalies.unmatched_exits += 1;
        }
    }

    /// Applies the raise of a softirq. One of the network that a thread raises serves a packet
    /// that it sends to its own host.
    pub(super) fn raise(&mut self, at: At, softirq: u32) {
        self.last = at.time;
        if !self.traces[at.trace].knows_interrupts || !self.cpu(at).contexts.is_empty() {
            return;
        }
        let Some(thread) = self.running_thread(at) else { return };
        if let Some(raised) = self.cpu(at).raised(softirq) {
            raised.get_or_insert(Sender { thread, time: at.time });
        }
    }

    /// Returns the thread that runs on the CPU of an event; `None` if it idles, or if that is
    /// unknown.
    fn running_thread(&mut self, at: At) -> Option<TimelineId> {
        let id = self.cpu(at).current?;
        let actor = &self.actors[id.index()];
        (!actor.is_idle() && actor.status == Status::Running).then_some(id)
    }

    /// Applies the completion of a request to a block device.
    pub(super) fn completed(&mut self, at: At, device: Option<DeviceNumber>) {
        self.last = at.time;
        if self.cpu(at).contexts.is_empty() {
            return;
        }
        let source = self.traces[at.trace].devices.source(device);
        if let Some(top) = self.cpu(at).contexts.last_mut() {
            top.completed = Some(source);
        }
    }

    /// Applies the send of a packet.
    pub(super) fn sent(&mut self, at: At, protocol: u32, key: &[u8]) {
        self.last = at.time;
        let thread = match self.cpu(at).contexts.is_empty() {
            true => self.running_thread(at),
            false => None,
        };
        let sender = thread.map(|thread| Sender { thread, time: at.time });
        self.packets.sent(protocol, key, sender);
    }

    /// Applies the receive of a packet.
    pub(super) fn received(&mut self, at: At, protocol: u32, key: &[u8]) {
        self.last = at.time;
        let Some(sender) = self.packets.received(protocol, key) else { return };
        if sender.time < at.time {
            self.cpu(at).received = Some(sender);
            self.anomalies.packets += 1;
        } else {
            self.anomalies.received_before_sent += 1;
        }
    }

    /// Returns the bytes of memory that the machines and timelines take, without those that they
    /// share with an earlier copy.
    pub(super) fn bytes_since(&self, before: Option<&Machine>) -> usize {
        let of_actor = |(at, actor): (usize, &Actor)| {
            let before = before.and_then(|before| before.actors.get(at));
            size_of::<Actor>() + actor.intervals.bytes_since(before.map(|of| &of.intervals))
        };
        let actors: usize = self.actors.iter().enumerate().map(of_actor).sum();
        let links = self.links.bytes_since(before.map(|before| &before.links));
        actors + links + self.packets.len() * 128 + size_of::<Machine>()
    }
}
