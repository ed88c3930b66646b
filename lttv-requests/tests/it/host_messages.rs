//! Messages between processes of two hosts: the processes at their ends, and changes of the window.

use std::rc::Rc;

use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, Schema, StreamClassId};
use ltt_read::uuid::Uuid;
use ltt_read::writer::{FieldValue, MemoryTrace, presets};
use ltt_read::{Timestamp, TraceIndex};
use lttv_context::synchronize::matching::{Hosts, Rules};
use lttv_context::{Handle, Traceset, TracesetContext};
use lttv_requests::views::{HostMessage, HostMessageEnd, HostMessages, TimeWindow};
use lttv_requests::{Budget, Owner, Scheduler};
use lttv_state::kernel::{KernelState, Tid};
use proptest::prelude::*;

/// An event on the only CPU of a host.
#[derive(Debug, Clone, Copy)]
enum Act {
    /// A thread runs from now on.
    Run(i32),
    /// A softirq starts.
    Enter,
    /// A softirq ends.
    Leave,
    Wake(i32),
    Send(u32),
    Receive(u32),
}

/// The event types of a host.
struct Types {
    switch: EventTypeId,
    enter: EventTypeId,
    leave: EventTypeId,
    wake: EventTypeId,
    send: EventTypeId,
    receive: EventTypeId,
}

const STREAM: StreamClassId = StreamClassId(0);

impl Types {
    fn new(schema: &mut Schema) -> Self {
        let sint = || FieldClass::sint(32, ByteOrder::Little);
        let uint = |bits| FieldClass::uint(bits, ByteOrder::Little);
        let comm = || presets::text_array(16);
        let vec = || FieldClass::structure([("vec", uint(32))]);
        let segment = || {
            FieldClass::structure([("seq", uint(32)), ("ack_seq", uint(32)), ("flags", uint(16))])
        };
        let switch = FieldClass::structure([
            ("prev_comm", comm()),
            ("prev_tid", sint()),
            ("prev_prio", sint()),
            ("prev_state", FieldClass::sint(64, ByteOrder::Little)),
            ("next_comm", comm()),
            ("next_tid", sint()),
            ("next_prio", sint()),
        ]);
        let wake = FieldClass::structure([
            ("comm", comm()),
            ("tid", sint()),
            ("prio", sint()),
            ("target_cpu", sint()),
        ]);
        let mut add = |name, payload| schema.add_event_type(STREAM, name, payload);
        Types {
            switch: add("sched_switch", switch),
            enter: add("irq_softirq_entry", vec()),
            leave: add("irq_softirq_exit", vec()),
            wake: add("sched_waking", wake),
            send: add("inet_sock_local_out", segment()),
            receive: add("inet_sock_local_in", segment()),
        }
    }

    /// Returns the type and the payload of an event. `running` is the thread before it.
    fn event(&self, act: Act, running: &mut i32) -> (EventTypeId, FieldValue) {
        let text = FieldValue::from("t");
        match act {
            Act::Run(next) => {
                let previous = std::mem::replace(running, next);
                let values = [
                    text.clone(),
                    previous.into(),
                    20.into(),
                    0.into(),
                    text,
                    next.into(),
                    20.into(),
                ];
                (self.switch, FieldValue::structure(values))
            }
            Act::Enter => (self.enter, FieldValue::structure([FieldValue::from(3_u32)])),
            Act::Leave => (self.leave, FieldValue::structure([FieldValue::from(3_u32)])),
            Act::Wake(tid) => {
                (self.wake, FieldValue::structure([text, tid.into(), 20.into(), 0.into()]))
            }
            Act::Send(key) => (self.send, segment(key)),
            Act::Receive(key) => (self.receive, segment(key)),
        }
    }
}

fn segment(key: u32) -> FieldValue {
    FieldValue::structure([FieldValue::from(key), 7_u32.into(), 16_u16.into()])
}

/// Writes a trace of each host. Its events have times in ns.
fn traceset(hosts: &[Vec<(u64, Act)>]) -> Traceset {
    let trace = |(number, acts): (usize, &Vec<(u64, Act)>)| {
        let mut schema = presets::lttng_kernel(Format::Ctf1);
        let uuid = Some(Uuid([number as u8 + 1; 16]));
        let clock = &mut schema.clocks[0];
        (clock.uuid, clock.offset_seconds, clock.offset_cycles) = (uuid, 0, 0);
        schema.uuid = uuid;
        let types = Types::new(&mut schema);
        let mut trace = MemoryTrace::new(schema);
        let stream = trace.stream(STREAM, "channel0_0").expect("a stream");
        let mut stream = stream.with_packet_context(FieldValue::fields([("cpu_id", 0_u64)]));
        let mut running = 0;
        for (time, act) in acts {
            let (event_type, values) = types.event(*act, &mut running);
            stream.event(event_type, *time, values).expect("an event");
        }
        trace.add(stream).expect("a tracefile");
        trace.open().expect("a trace")
    };
    hosts.iter().enumerate().map(trace).collect()
}

fn window(start: u64, end: u64) -> TimeWindow {
    let at = |ns: u64| Timestamp::from_ns(ns.cast_signed());
    TimeWindow::new(at(start), at(end)).expect("not empty")
}

/// A scheduler with kernel state, and a model.
struct Viewer {
    scheduler: Scheduler<'static>,
    kernel: Handle<KernelState>,
    owner: Owner,
    messages: HostMessages,
}

impl Viewer {
    fn new(traceset: &Traceset, window: TimeWindow) -> Self {
        let mut context = TracesetContext::new(traceset);
        let kernel = context.attach(KernelState::new());
        let messages =
            HostMessages::new(traceset, &Hosts::of(traceset), &Rules::built_in(), window);
        let scheduler = Scheduler::new(context);
        Viewer { scheduler, kernel, owner: Owner::unique(), messages }
    }

    fn read(&mut self) -> Rc<Vec<HostMessage>> {
        let request = self.messages.request(self.owner, self.kernel);
        self.scheduler.submit(request).expect("no position");
        while self.scheduler.service_chunk(Budget::default()).has_more() {}
        assert!(self.messages.is_complete());
        self.messages.messages()
    }

    /// Returns the thread id of the process at an end.
    fn tid(&self, end: &HostMessageEnd) -> Option<Tid> {
        let process = end.process?;
        let state = self.scheduler.context().extensions()[self.kernel].trace(process.trace)?;
        state.processes().find(|(_, of)| of.serial() == process.serial)?.1.tid()
    }
}

/// A request and its reply: the threads 10 and 11 of the first host, 20 and 21 of the second one.
fn conversation() -> [Vec<(u64, Act)>; 2] {
    use Act::*;
    let first = vec![
        (10, Run(10)),
        (100, Send(1)),
        (110, Run(11)),
        // The reply interrupts another thread.
        (300, Enter),
        (310, Receive(2)),
        (320, Wake(10)),
        (330, Leave),
        // A thread wakes another one after the interrupt.
        (340, Wake(12)),
        // An acknowledgement that wakes no thread.
        (400, Enter),
        (410, Receive(3)),
        (420, Leave),
        (430, Wake(12)),
        // A receive outside of interrupts, and a send within.
        (500, Receive(4)),
        (510, Enter),
        (520, Send(5)),
        (530, Leave),
    ];
    let second = vec![
        (20, Run(21)),
        (30, Run(0)),
        (200, Enter),
        (210, Receive(1)),
        (220, Wake(20)),
        (230, Leave),
        (240, Run(20)),
        (250, Send(2)),
        (260, Run(0)),
        (390, Send(3)),
        (395, Run(21)),
        (450, Send(4)),
        (540, Receive(5)),
    ];
    [first, second]
}

#[test]
fn messages_are_of_the_processes_that_send_and_wake() {
    let traceset = traceset(&conversation());
    let mut viewer = Viewer::new(&traceset, window(0, 1000));
    assert!(viewer.messages.can_exist());
    let messages = viewer.read();
    let found: Vec<_> = messages
        .iter()
        .map(|HostMessage { sender, receiver }| {
            let end = |end: &HostMessageEnd| (end.trace.0, end.time.as_ns(), viewer.tid(end));
            (end(sender), end(receiver))
        })
        .collect();
    let expected = [
        ((0, 100, Some(10)), (1, 210, Some(20))),
        ((1, 250, Some(20)), (0, 310, Some(10))),
        // The idle process sends nothing, and nothing was woken.
        ((1, 390, None), (0, 410, None)),
        ((1, 450, Some(21)), (0, 500, Some(11))),
        ((0, 520, None), (1, 540, Some(21))),
    ];
    assert_eq!(found, expected);
    assert!(messages.iter().all(|of| of.sender.cpu == Some(0) && of.receiver.cpu == Some(0)));
    assert_eq!(messages[0].sender.trace, TraceIndex(0));
    assert_eq!(viewer.messages.omitted(), 0);
}

#[test]
fn both_ends_are_in_the_window() {
    let traceset = traceset(&conversation());
    let count = |start, end| Viewer::new(&traceset, window(start, end)).read().len();
    assert_eq!(count(100, 211), 1);
    assert_eq!((count(101, 211), count(100, 210)), (0, 0));
    assert_eq!(count(90, 320), 2);
}

#[test]
fn one_host_has_no_messages() {
    let [first, _] = conversation();
    assert!(!Viewer::new(&traceset(&[first]), window(0, 1000)).messages.can_exist());
}

#[test]
fn a_cancelled_request_is_started_again() {
    let traceset = traceset(&conversation());
    let mut viewer = Viewer::new(&traceset, window(0, 1000));
    let all = viewer.read();
    let mut viewer = Viewer::new(&traceset, window(0, 1000));
    let request = viewer.messages.request(viewer.owner, viewer.kernel);
    viewer.scheduler.submit(request).expect("no position");
    for _ in 0..12 {
        viewer.scheduler.service_chunk(Budget::events(1));
    }
    viewer.scheduler.cancel_owner(viewer.owner);
    assert!(!viewer.messages.is_complete());
    assert_eq!(viewer.read(), all);
}

/// Returns conversations in rounds of 1,000 ns: all that follows a receive is in its round.
fn rounds(random: &[(bool, u64)]) -> [Vec<(u64, Act)>; 2] {
    use Act::*;
    let mut hosts = [vec![(1, Run(10))], vec![(2, Run(20))]];
    for (round, (is_forward, late)) in random.iter().enumerate() {
        let (start, key) = (1000 * (round as u64 + 1), round as u32);
        let (from, to) = if *is_forward { (0, 1) } else { (1, 0) };
        hosts[from].push((start + 1, Send(key)));
        let arrival = start + 1000 * late + 10;
        let tid = 30 + round as i32;
        let receive = [Enter, Receive(key), Wake(tid), Leave];
        hosts[to].extend(receive.into_iter().zip(arrival..).map(|(act, at)| (at, act)));
    }
    // A message that takes long is received among those of later rounds.
    for acts in &mut hosts {
        acts.sort_by_key(|of| of.0);
    }
    hosts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn each_window_contains_what_a_new_model_finds(
        random in prop::collection::vec((any::<bool>(), 0..3_u64), 1..20),
        windows in prop::collection::vec((0..22_u64, 1..22_u64), 1..12),
    ) {
        let mut hosts = rounds(&random);
        // Messages of one round and host would mix otherwise.
        for acts in &mut hosts {
            for place in 1..acts.len() {
                let before = acts[place - 1].0;
                acts[place].0 = acts[place].0.max(before + 1);
            }
        }
        let traceset = traceset(&hosts);
        let mut viewer = Viewer::new(&traceset, window(0, 1000));
        for (number, (start, width)) in windows.into_iter().enumerate() {
            let window = window(1000 * start, 1000 * (start + width));
            viewer.messages.show(window);
            if number % 3 == 2 {
                // A request that is cancelled leaves nothing wrong.
                let request = viewer.messages.request(viewer.owner, viewer.kernel);
                viewer.scheduler.submit(request).expect("no position");
                viewer.scheduler.service_chunk(Budget::events(3));
                viewer.scheduler.cancel_owner(viewer.owner);
            }
            let key = |of: &HostMessage| (of.sender.time, of.receiver.time, of.receiver.process);
            let sorted = |messages: &[HostMessage]| {
                let mut keys: Vec<_> = messages.iter().map(key).collect();
                keys.sort_unstable();
                keys
            };
            let found = sorted(&viewer.read());
            prop_assert_eq!(found, sorted(&Viewer::new(&traceset, window).read()));
        }
    }
}
