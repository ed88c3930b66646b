//! The position of a read with a check among all events, compared with a sorted list of them.
//! The traces are tiny, with equal times, clocks that go back, and damage within packets.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::support::config::cases;
use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, Schema, StreamClassId};
use ltt_read::selection::EventSelection;
use ltt_read::writer::{FieldValue, StreamWriter, metadata_text, presets};
use ltt_read::{Event, Timestamp, Trace, TraceIndex, TracefileIndex};
use lttv_context::{
    Bounds, EventCall, Extension, Handle, Setup, Subscription, Traceset, TracesetContext,
    TracesetPosition,
};
use proptest::prelude::*;
use proptest::sample::Index;

const CHANNEL: StreamClassId = StreamClassId(0);
const NUMBERED: EventTypeId = EventTypeId(0);
const TEXT: EventTypeId = EventTypeId(1);
/// The start of the text of each event that is to be damaged.
const MARK: &str = "damage here";

/// An event of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Known {
    /// The time of delivery.
    time: i64,
    trace: usize,
    tracefile: usize,
    number: u64,
}

/// The time that passes before an event, the time by which the clock then goes back, and
/// whether the packet is damaged there.
type Draft = (u64, u64, bool);

/// Events by trace, tracefile and packet.
type Drafts = Vec<Vec<Vec<Vec<Draft>>>>;

struct Sample {
    traceset: Traceset,
    events: Vec<Known>,
}

fn schema() -> Arc<Schema> {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let number = || ("number", FieldClass::uint(32, ByteOrder::Little));
    schema.add_event_type(CHANNEL, "numbered", FieldClass::structure([number()]));
    let text = FieldClass::structure([number(), ("text", FieldClass::string())]);
    schema.add_event_type(CHANNEL, "text", text);
    Arc::new(schema)
}

/// Removes the end of the marked text in each packet, so that it extends to the packet's end.
fn damage(bytes: &mut [u8], packet_size: usize) {
    for packet in bytes.chunks_mut(packet_size) {
        let mark = packet.windows(MARK.len()).position(|window| window == MARK.as_bytes());
        if let Some(mark) = mark {
            packet[mark..].fill(b'x');
        }
    }
}

fn sample(drafts: &Drafts) -> Sample {
    const PACKET: u64 = 512;
    let (schema, mut events, mut number) = (schema(), Vec::new(), 0);
    let origin = schema.clocks[0].timestamp(0).expect("a time").as_ns();
    let metadata = metadata_text(&schema).expect("metadata");
    let mut traces = Vec::new();
    for (trace, streams) in drafts.iter().enumerate() {
        let mut files = Vec::new();
        for (tracefile, packets) in streams.iter().enumerate() {
            let name = format!("chan_{tracefile}");
            let writer = StreamWriter::new(schema.clone(), CHANNEL, &name, Vec::new());
            let writer = writer.expect("a stream").with_stream_id(tracefile as u64);
            let mut writer = writer.with_packet_limit(PACKET).with_padding();
            let (mut now, mut latest) = (1000u64, i64::MIN);
            for packet in packets {
                let begin = now;
                writer.begin_packet(begin).expect("a packet");
                let (mut end, mut is_sound) = (begin, true);
                for (gap, back, is_damaged) in packet {
                    now = now + gap - back;
                    end = end.max(now);
                    number += 1;
                    is_sound &= !is_damaged;
                    if *is_damaged {
                        let fields = FieldValue::structure([number.into(), MARK.into()]);
                        writer.event(TEXT, now, fields).expect("an event");
                    } else {
                        let fields = FieldValue::structure([number.into()]);
                        writer.event(NUMBERED, now, fields).expect("an event");
                    }
                    if is_sound {
                        latest = latest.max(origin + now as i64);
                        events.push(Known { time: latest, trace, tracefile, number });
                    }
                }
                writer.end_packet(end).expect("a packet");
            }
            let mut bytes = writer.finish().expect("a file");
            damage(&mut bytes, PACKET as usize);
            files.push((name, bytes));
        }
        traces.push(Trace::from_memory(metadata.as_bytes(), files).expect("a trace"));
    }
    events.sort_by_key(|event| (event.time, event.trace, event.tracefile));
    Sample { traceset: traces.into(), events }
}

/// A choice of every n-th event from some tracefiles.
#[derive(Debug, Clone)]
struct Sieve {
    every: u64,
    /// `true` for excluded tracefiles, by trace and tracefile. Tracefiles beyond the list are included.
    left_out: Vec<Vec<bool>>,
}

impl Sieve {
    fn leaves_out(&self, trace: usize, tracefile: usize) -> bool {
        self.left_out.get(trace).and_then(|of| of.get(tracefile)).is_some_and(|out| *out)
    }

    fn has(&self, event: &Known) -> bool {
        event.number.is_multiple_of(self.every) && !self.leaves_out(event.trace, event.tracefile)
    }
}

fn number(event: &Event<'_>) -> u64 {
    event.field("number").and_then(|value| value.as_u64()).expect("a number")
}

impl EventSelection for Sieve {
    fn matches(&self, event: &Event<'_>) -> bool {
        number(event).is_multiple_of(self.every)
            && !self.leaves_out(event.trace_index().0, event.tracefile_index().0)
    }

    fn may_match(&self, trace: TraceIndex, tracefile: TracefileIndex) -> bool {
        !self.leaves_out(trace.0, tracefile.0)
    }
}

/// An extension that makes the context read all events.
struct State;

impl Extension for State {
    type Checkpoint = ();

    fn install(_: Handle<Self>, _: &mut Setup<'_, '_>) {}

    fn reset(&mut self) {}

    fn save(&self) {}

    fn restore(&mut self, _: &()) {}

    fn checkpoint_bytes(_: &(), _: Option<&()>) -> usize {
        size_of::<Self::Checkpoint>()
    }
}

#[derive(Debug, Clone)]
enum Step {
    Choose(Sieve),
    ChooseAll,
    Read { time: Option<Index>, position: Option<Index>, events: Option<u64>, stop: Option<Index> },
    Look(u64),
    SeekTime(Index),
    SeekPosition(Index),
}

fn known(call: &EventCall<'_, '_>) -> Known {
    Known {
        time: call.delivery_time().as_ns(),
        trace: call.trace.index().0,
        tracefile: call.tracefile.index().0,
        number: number(&call.event),
    }
}

/// Lists the events after a position, by a context of its own.
fn from(sample: &Sample, position: &TracesetPosition) -> Vec<Known> {
    let mut seen = Vec::new();
    let mut context = TracesetContext::new(&sample.traceset);
    context.on_event(Subscription::to_every_event(), |call| seen.push(known(call)));
    context.seek_position(position).expect("position is of this traceset");
    _ = context.read(&Bounds::all()).expect("bounds have no position");
    drop(context);
    seen
}

fn run(drafts: &Drafts, with_state: bool, steps: &[Step]) -> Result<(), TestCaseError> {
    let sample = &sample(drafts);
    let (events, end) = (&sample.events, sample.events.len());
    let times: Vec<i64> = events.iter().flat_map(|event| [event.time, event.time + 1]).collect();
    let seen = RefCell::new(Vec::new());
    let stop = Cell::new(0);
    let mut context = TracesetContext::new(&sample.traceset);
    if with_state {
        context.attach(State);
    }
    context.on_event(Subscription::to_every_event(), |call| {
        let event = known(call);
        seen.borrow_mut().push((event, call.position()));
        if stop.get() == event.number { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let all = Sieve { every: 1, left_out: Vec::new() };
    let mut sieve = all.clone();
    let mut at = 0;
    let mut saved = vec![(TracesetPosition::end(&sample.traceset), end)];
    for step in steps {
        let mut looks = false;
        let (mut limit, mut most) = (end, u64::MAX);
        let mut bounds = Bounds::all();
        stop.set(0);
        match step {
            Step::Choose(choice) => {
                sieve = choice.clone();
                context.set_filter(choice.clone());
                continue;
            }
            Step::ChooseAll => {
                sieve = all.clone();
                context.clear_filter();
                continue;
            }
            Step::SeekTime(time) => {
                if !times.is_empty() {
                    let time = *time.get(&times);
                    context.seek_time(Timestamp::from_ns(time));
                    at = events.partition_point(|event| event.time < time);
                }
                continue;
            }
            Step::SeekPosition(position) => {
                let (position, number) = position.get(&saved);
                context.seek_position(position).expect("position is of this traceset");
                at = *number;
                continue;
            }
            Step::Look(events) => {
                bounds = bounds.max_examined(*events);
                looks = true;
            }
            Step::Read { time, position, events: count, stop: number } => {
                if let Some(time) = time.filter(|_| !times.is_empty()) {
                    let time = *time.get(&times);
                    bounds = bounds.until_start_of(Timestamp::from_ns(time));
                    limit = limit.min(events.partition_point(|event| event.time < time));
                }
                if let Some(position) = position {
                    let (position, number) = position.get(&saved);
                    bounds = bounds.until_position(position);
                    limit = limit.min(*number);
                }
                if let Some(count) = count {
                    bounds = bounds.events(*count);
                    most = *count;
                }
                if let Some(number) = number.filter(|_| !events.is_empty()) {
                    stop.set(number.get(events).number);
                }
            }
        }
        let read = context.read(&bounds).expect("position is of this traceset");
        let here = context.position();
        let rest = from(sample, &here);
        let got: Vec<Known> = seen.borrow().iter().map(|(event, _)| *event).collect();
        prop_assert_eq!(read.events, got.len() as u64);
        let mut expected = Vec::new();
        let mut to = at;
        let limit = if looks { end - rest.len() } else { limit.max(at) };
        while most > 0 && to < limit {
            let event = events[to];
            to += 1;
            if sieve.has(&event) {
                expected.push(event);
                most -= 1;
                if stop.get() == event.number {
                    break;
                }
            }
        }
        prop_assert_eq!(&got, &expected, "{:?} from {} to {}", step, at, to);
        prop_assert_eq!(&rest, &events[to..], "{:?} from {} to {}", step, at, to);
        prop_assert_eq!(here.time().map(Timestamp::as_ns), events.get(to).map(|next| next.time));
        for (event, position) in seen.take() {
            let number = events.iter().position(|known| *known == event).expect("known");
            prop_assert_eq!(&from(sample, &position), &events[number..]);
            prop_assert!(position < here);
            saved.push((position, number));
        }
        saved.push((here, to));
        at = to;
        let here = &saved[saved.len() - 1].0;
        for (position, number) in &saved {
            prop_assert_eq!(position.partial_cmp(here), Some(number.cmp(&at)));
        }
    }
    // Without a check, the events that were neither delivered nor passed follow.
    stop.set(0);
    context.clear_filter();
    _ = context.read(&Bounds::all()).expect("bounds have no position");
    let got: Vec<Known> = seen.borrow().iter().map(|(event, _)| *event).collect();
    prop_assert_eq!(&got, &events[at..]);
    Ok(())
}

fn drafts() -> impl Strategy<Value = Drafts> {
    let back = prop_oneof![4 => Just(0u64), 1 => 0..6u64];
    let event = (0..4u64, back, prop::bool::weighted(0.05));
    let packet = prop::collection::vec(event, 0..5);
    let stream = prop::collection::vec(packet, 1..4);
    let trace = prop::collection::vec(stream, 1..4);
    prop::collection::vec(trace, 1..3)
}

fn step() -> impl Strategy<Value = Step> {
    let maybe = |chance| prop::option::weighted(chance, any::<Index>());
    let left_out = prop::collection::vec(prop::collection::vec(any::<bool>(), 0..3), 0..2);
    let sieve = (1..5u64, left_out).prop_map(|(every, left_out)| Sieve { every, left_out });
    let count = prop::option::weighted(0.4, 0..5u64);
    prop_oneof![
        3 => sieve.prop_map(Step::Choose),
        1 => Just(Step::ChooseAll),
        6 => (maybe(0.3), maybe(0.3), count, maybe(0.4))
            .prop_map(|(time, position, events, stop)| Step::Read { time, position, events, stop }),
        1 => (1..8u64).prop_map(Step::Look),
        1 => any::<Index>().prop_map(Step::SeekTime),
        1 => any::<Index>().prop_map(Step::SeekPosition),
    ]
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn no_event_is_lost_after_a_check(
        drafts in drafts(),
        with_state in any::<bool>(),
        steps in prop::collection::vec(step(), 1..10),
    ) {
        run(&drafts, with_state, &steps)?;
    }
}
