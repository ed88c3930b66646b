//! Messages between the processes of several hosts.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::rc::Rc;

use ltt_read::{Timestamp, TraceIndex, TracefileIndex};
use lttv_context::synchronize::matching::{
    Direction, Hosts, MatchLimits, Matcher, MessageEvents, Rules,
};
use lttv_context::synchronize::{HostIndex, Message};
use lttv_context::{EventCall, Handle, Traceset};
use lttv_state::kernel::{CpuMode, KernelState, Transition};

use super::control_flow::ProcessKey;
use super::time_window::TimeWindow;
use crate::chunk::FinishReason;
use crate::identity::Owner;
use crate::request::EventsRequest;

/// The greatest number of messages in a model. Further ones are counted.
const MOST_MESSAGES: usize = 1 << 17;

/// The greatest number of ends without a message whose processes are remembered.
const MOST_ENDS: usize = 1 << 16;

/// The messages between the processes of several hosts in a time window, as arrows of a chart.
///
/// A message is in the window if both of its ends are. Their times are those of the traces, so the
/// clocks have to be [related](lttv_context::synchronize) for an arrow to point forward in time.
///
/// Messages are found again if the window changes, except in a part of a window that is complete
/// and after it.
///
/// ```
/// use lttv_context::synchronize::matching::{Hosts, Rules};
/// use lttv_context::{Traceset, TracesetContext};
/// use lttv_requests::views::{HostMessages, TimeWindow};
/// use lttv_requests::{Budget, Owner, Scheduler};
/// use lttv_state::kernel::KernelState;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let mut context = TracesetContext::new(&traceset);
/// let state = context.attach(KernelState::new());
/// let all = TimeWindow::covering(context.contexts().time_span().expect("some events"));
/// let mut scheduler = Scheduler::new(context);
///
/// let messages = HostMessages::new(&traceset, &Hosts::of(&traceset), &Rules::built_in(), all);
/// if messages.can_exist() {
///     scheduler.submit(messages.request(Owner::unique(), state))?;
///     while scheduler.service_chunk(Budget::default()).has_more() {}
/// }
/// for message in messages.messages().iter() {
///     println!("{:?} to {:?}", message.sender.process, message.receiver.process);
/// }
/// # assert!(!messages.can_exist()); // a trace of one host
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct HostMessages {
    inner: Rc<RefCell<Inner>>,
}

/// A message between two hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HostMessage {
    /// The end at which the message was sent.
    pub sender: HostMessageEnd,
    /// The end at which the message was received.
    pub receiver: HostMessageEnd,
}

/// One end of a [`HostMessage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HostMessageEnd {
    /// The host.
    pub host: HostIndex,
    /// The trace with the event.
    pub trace: TraceIndex,
    /// The time of the send or the receive.
    pub time: Timestamp,
    /// The number of the CPU on which the event occurred; `None` if it is unknown.
    pub cpu: Option<u32>,
    /// The process that sent the message, or for which it was received; `None` if that was the
    /// kernel on its own, or is unknown.
    ///
    /// The process of an event outside of interrupts is the running one. The process of a receive
    /// in an interrupt is the one that the interrupt wakes next. The process of a send in an
    /// interrupt, such as an acknowledgement, is `None`.
    pub process: Option<ProcessKey>,
}

struct Inner {
    window: TimeWindow,
    events: MessageEvents,
    matcher: Matcher,
    /// The ends that were not long ago.
    ends: RecentEnds,
    /// The receives in interrupts that have woken no process yet.
    arrivals: Vec<Arrival>,
    messages: Rc<Vec<HostMessage>>,
    omitted: u64,
    can_exist: bool,
    /// The time before which all ends are known to the matcher.
    read_until: Timestamp,
    is_complete: bool,
    /// `true` if the matcher knows ends after `read_until`.
    is_partial: bool,
    /// A number that changes whenever previous requests are to stop.
    epoch: u64,
}

/// The identity of an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct EndKey {
    host: HostIndex,
    is_send: bool,
    time: Timestamp,
}

/// The ends whose other ends may follow, the oldest first.
#[derive(Debug, Default)]
struct RecentEnds {
    ends: HashMap<EndKey, HostMessageEnd>,
    order: VecDeque<EndKey>,
}

/// A receive in an interrupt.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    trace: TraceIndex,
    cpu: u32,
    key: EndKey,
    /// The number of messages before it.
    before: usize,
}

impl EndKey {
    fn sender(of: &Message) -> Self {
        EndKey { host: of.sender, is_send: true, time: of.sent }
    }

    fn receiver(of: &Message) -> Self {
        EndKey { host: of.receiver, is_send: false, time: of.received }
    }
}

impl RecentEnds {
    fn add(&mut self, key: EndKey, end: HostMessageEnd) {
        if self.ends.insert(key, end).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > MOST_ENDS
            && let Some(oldest) = self.order.pop_front()
        {
            self.ends.remove(&oldest);
        }
    }
}

impl HostMessages {
    /// Creates a model of the messages that rules find between the hosts of a traceset.
    pub fn new(traceset: &Traceset, hosts: &Hosts, rules: &Rules, window: TimeWindow) -> Self {
        let events = MessageEvents::new(traceset, hosts, rules);
        let mut with_ends = HashSet::new();
        for (index, trace) in traceset.traces().iter().enumerate() {
            let index = TraceIndex(index);
            let mut tracefiles = (0..trace.tracefiles().len()).map(TracefileIndex);
            if tracefiles.any(|tracefile| events.may_want(index, tracefile)) {
                with_ends.extend(hosts.of_trace(index));
            }
        }
        let inner = Inner {
            window,
            events,
            matcher: matcher(),
            ends: RecentEnds::default(),
            arrivals: Vec::new(),
            messages: Rc::default(),
            omitted: 0,
            can_exist: with_ends.len() > 1,
            read_until: window.start(),
            is_complete: false,
            is_partial: false,
            epoch: 0,
        };
        HostMessages { inner: Rc::new(RefCell::new(inner)) }
    }

    /// Returns `true` if at least two hosts may have recorded ends of messages. Otherwise a request
    /// finds nothing.
    pub fn can_exist(&self) -> bool {
        self.inner.borrow().can_exist
    }

    /// Returns a snapshot of the messages, in the order in which their second ends were read. Later
    /// requests do not change it.
    pub fn messages(&self) -> Rc<Vec<HostMessage>> {
        self.inner.borrow().messages.clone()
    }

    /// Returns the number of messages that were found but not stored, as there were more than
    /// 131,072.
    pub fn omitted(&self) -> u64 {
        self.inner.borrow().omitted
    }

    /// Returns `true` if the messages of the whole window are known.
    pub fn is_complete(&self) -> bool {
        self.inner.borrow().is_complete
    }

    /// Sets the window, and stops previous requests.
    pub fn show(&self, window: TimeWindow) {
        let inner = &mut *self.inner.borrow_mut();
        let before = std::mem::replace(&mut inner.window, window);
        inner.epoch += 1;
        let is_known = inner.is_complete && inner.omitted == 0;
        if is_known && window.start() >= before.start() && window.start() <= before.end() {
            let is_inside = |end: &HostMessageEnd| window.contains(end.time);
            Rc::make_mut(&mut inner.messages)
                .retain(|of| is_inside(&of.sender) && is_inside(&of.receiver));
            // Places in the list have changed.
            inner.arrivals.clear();
            if window.end() <= before.end() {
                return;
            }
            // The matcher can go on, unless it has read on after this window.
            if inner.read_until == before.end() {
                inner.is_complete = false;
                return;
            }
        }
        inner.clear();
    }

    /// Creates the request that finds the messages. The kernel state, which is attached to the
    /// scheduler's context, says which processes they are of.
    ///
    /// Previous requests are stopped. What one has found that did not reach the end is found again.
    pub fn request<'h>(&self, owner: Owner, state: Handle<KernelState>) -> EventsRequest<'h> {
        let (epoch, start, end) = {
            let inner = &mut *self.inner.borrow_mut();
            inner.epoch += 1;
            if inner.is_partial {
                inner.clear();
            }
            let end = if inner.is_complete { inner.read_until } else { inner.window.end() };
            (inner.epoch, inner.read_until, end)
        };
        let [at_event, at_end] = [(); 2].map(|()| self.inner.clone());
        EventsRequest::new(owner)
            .waiting()
            .starting_at(start)
            .until(end)
            .on_every_event(move |call, request| {
                let inner = &mut *at_event.borrow_mut();
                if inner.epoch != epoch {
                    return request.stop();
                }
                inner.is_partial = true;
                if let Some(state) = call.extensions.get(state) {
                    inner.event(call, state);
                }
            })
            .after_request(move |_, _, reason| {
                let inner = &mut *at_end.borrow_mut();
                let is_all = matches!(reason, FinishReason::EndTime | FinishReason::EndOfTraceset);
                if is_all && inner.epoch == epoch {
                    (inner.is_complete, inner.read_until) = (true, end);
                    inner.is_partial = false;
                }
            })
    }
}

impl Inner {
    /// Forgets all that was read.
    fn clear(&mut self) {
        self.matcher = matcher();
        self.ends = RecentEnds::default();
        self.arrivals.clear();
        self.messages = Rc::default();
        self.omitted = 0;
        (self.is_complete, self.is_partial) = (false, false);
        self.read_until = self.window.start();
    }

    fn event(&mut self, call: &EventCall<'_, '_>, kernel: &KernelState) {
        let (trace, event_type) = (call.trace.index(), call.event.type_id());
        if !self.arrivals.is_empty() {
            self.wake(call, kernel);
        }
        if !self.events.wants(trace, event_type) {
            return;
        }
        let Some(end) = self.events.end_of(&call.event) else { return };
        let is_send = end.direction == Direction::Send;
        let key = EndKey { host: end.host, is_send, time: end.time };
        let cpu = kernel.cpu_of(call);
        let is_interrupt = is_interrupt(kernel, trace, cpu);
        let running = kernel.running_at(call).filter(|_| !is_interrupt);
        // The idle process neither sends nor receives.
        let process = running.filter(|process| process.tid() != Some(0));
        let process = process.map(|process| ProcessKey { trace, serial: process.serial() });
        let (host, time) = (end.host, end.time);
        self.ends.add(key, HostMessageEnd { host, trace, time, cpu, process });
        let before = self.messages.len();
        let (window, ends) = (self.window, &self.ends.ends);
        self.matcher.add(&end, |message| {
            let sender = ends.get(&EndKey::sender(&message));
            let receiver = ends.get(&EndKey::receiver(&message));
            let (Some(&sender), Some(&receiver)) = (sender, receiver) else {
                self.omitted += 1;
                return;
            };
            match window.contains(sender.time) && window.contains(receiver.time) {
                false => {}
                true if self.messages.len() < MOST_MESSAGES => {
                    Rc::make_mut(&mut self.messages).push(HostMessage { sender, receiver });
                }
                true => self.omitted += 1,
            }
        });
        if let (false, true, Some(cpu)) = (is_send, is_interrupt, cpu) {
            self.arrivals.push(Arrival { trace, cpu, key, before });
        }
    }

    /// Finds the process of messages that have arrived: the one that an event wakes within their
    /// interrupt.
    fn wake(&mut self, call: &EventCall<'_, '_>, kernel: &KernelState) {
        let trace = call.trace.index();
        let Some(cpu) = kernel.cpu_of(call) else { return };
        let is_here = |arrival: &Arrival| (arrival.trace, arrival.cpu) == (trace, cpu);
        if !self.arrivals.iter().any(is_here) {
            return;
        }
        let woken = match kernel.transition(trace, call.event.type_id()) {
            Some(Transition::Wakeup) => {
                let state = kernel.trace(trace);
                state.and_then(|state| state.process(state.effect().subject()?))
            }
            _ if is_interrupt(kernel, trace, Some(cpu)) => return,
            _ => None,
        };
        if let Some(woken) = woken {
            let process = Some(ProcessKey { trace, serial: woken.serial() });
            for arrival in self.arrivals.iter().filter(|arrival| is_here(arrival)) {
                if let Some(end) = self.ends.ends.get_mut(&arrival.key) {
                    end.process = process;
                }
                let messages = Rc::make_mut(&mut self.messages);
                for message in messages.iter_mut().skip(arrival.before) {
                    let HostMessageEnd { host, time, .. } = message.receiver;
                    if (EndKey { host, is_send: false, time }) == arrival.key {
                        message.receiver.process = process;
                    }
                }
            }
        }
        self.arrivals.retain(|arrival| !is_here(arrival));
    }
}

/// Creates a matcher that forgets ends when their processes are forgotten.
fn matcher() -> Matcher {
    Matcher::new(MatchLimits::default().pending(MOST_ENDS))
}

/// Returns `true` if a CPU executes an interrupt.
fn is_interrupt(kernel: &KernelState, trace: TraceIndex, cpu: Option<u32>) -> bool {
    let mode = kernel.trace(trace).zip(cpu).map(|(state, cpu)| state.cpu_mode(cpu));
    matches!(mode, Some(CpuMode::Irq | CpuMode::Softirq))
}

impl fmt::Debug for HostMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = self.inner.borrow();
        f.debug_struct("HostMessages")
            .field("window", &inner.window)
            .field("messages", &inner.messages.len())
            .field("is_complete", &inner.is_complete)
            .finish_non_exhaustive()
    }
}
