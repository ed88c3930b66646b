//! Reading, bounds, positions and seeking, compared with a sorted list of all events.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::rc::Rc;

use crate::support::config::cases;
use crate::support::{Known, Sample, sample};
use ltt_read::Timestamp;
use lttv_context::{
    Bounds, CheckpointPolicy, EndReason, Extension, Handle, Setup, TracesetContext,
    TracesetPosition,
};
use proptest::prelude::*;
use proptest::sample::Index;

/// A step of a test. Indices refer to the events, times and saved positions of the sample.
#[derive(Debug, Clone)]
enum Step {
    Read { time: Option<Index>, position: Option<Index>, events: Option<u64>, stop: Option<Index> },
    SeekTime { time: Index, with_state: bool },
    SeekPosition { position: Index, with_state: bool },
    SeekBegin,
    SeekEnd,
    UpdateState,
    Checkpoint,
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<Index>;
    let maybe = || prop::option::of(any::<Index>());
    prop_oneof![
        6 => (maybe(), maybe(), prop::option::of(0..12u64), prop::option::weighted(0.3, index()))
            .prop_map(|(time, position, events, stop)| Step::Read { time, position, events, stop }),
        2 => (index(), any::<bool>())
            .prop_map(|(time, with_state)| Step::SeekTime { time, with_state }),
        2 => (index(), any::<bool>())
            .prop_map(|(position, with_state)| Step::SeekPosition { position, with_state }),
        1 => Just(Step::SeekBegin),
        1 => Just(Step::SeekEnd),
        1 => Just(Step::UpdateState),
        1 => Just(Step::Checkpoint),
    ]
}

/// A state that depends on every event and on their order.
#[derive(Debug, Default, PartialEq, Eq, Clone)]
struct Digest {
    events: u64,
    sum: u64,
}

impl Digest {
    fn add(&mut self, event: Known) {
        self.events += 1;
        let event = u64::from(event.number) << 8 | (event.trace << 4 | event.tracefile) as u64;
        self.sum = (self.sum ^ event).wrapping_mul(0x0100_0000_01b3);
    }
}

impl Extension for Digest {
    type Checkpoint = Digest;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        setup.hooks.on_event("*", move |call| {
            let event = known(call);
            call.extensions[handle].add(event);
        });
    }

    fn reset(&mut self) {
        *self = Digest::default();
    }

    fn save(&self) -> Digest {
        self.clone()
    }

    fn restore(&mut self, checkpoint: &Digest) {
        self.clone_from(checkpoint);
    }

    fn checkpoint_bytes(_: &Digest, _: Option<&Digest>) -> usize {
        size_of::<Self::Checkpoint>()
    }
}

fn known(call: &lttv_context::EventCall<'_, '_>) -> Known {
    let number = call.event.field("number").and_then(|v| v.as_u64()).expect("a number");
    Known {
        time: call.delivery_time(),
        trace: call.trace.index().0,
        tracefile: call.tracefile.index().0,
        number: number as u32,
    }
}

/// An end time, and the index of the event up to which earlier events were delivered ahead.
type Floor = (Timestamp, usize);

/// The place of a context in the list, and the events that it has delivered ahead of their
/// turn.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// All events before this index have been passed.
    at: usize,
    /// Events before this time were delivered ahead, up to an index.
    floor: Option<Floor>,
    /// Events at this time or later are skipped, since the index in the second part.
    ahead: Option<(Timestamp, usize, Option<Floor>)>,
}

impl From<usize> for Place {
    fn from(at: usize) -> Self {
        Place { at, ..Place::default() }
    }
}

impl Place {
    /// Returns to the place at which the read ahead started.
    fn return_to_place(&mut self) {
        if let Some((end, back, floor)) = self.ahead.take() {
            self.floor = floor.filter(|floor| floor.0 >= end).or(Some((end, self.at)));
            self.at = back;
        }
    }

    /// Computes the events that a read has to deliver, and the reason for its end.
    fn read(
        &mut self,
        sample: &Sample,
        bounds: (Option<Timestamp>, Option<usize>, Option<u64>),
        stop: Option<usize>,
    ) -> (Vec<usize>, EndReason) {
        let (end, position, most) = bounds;
        if self.ahead.is_some_and(|ahead| Some(ahead.0) != end) {
            self.return_to_place();
        }
        let mut heard = Vec::new();
        loop {
            let at = self.at;
            if stop.is_some() && heard.last().copied() == stop {
                return (heard, EndReason::Stopped);
            }
            if most == Some(heard.len() as u64) {
                return (heard, EndReason::EventCount);
            }
            let may_be_early = |end| sample.own_times[at..].iter().any(|time| *time < end);
            let over = match sample.events.get(at) {
                None => Some(EndReason::EndOfTraceset),
                Some(_) if position.is_some_and(|position| at >= position) => {
                    Some(EndReason::EndPosition)
                }
                Some(event) => match end.filter(|end| event.time >= *end) {
                    Some(end) if may_be_early(end) => {
                        self.ahead.get_or_insert((end, at, self.floor));
                        None
                    }
                    Some(_) => Some(EndReason::EndTime),
                    None => None,
                },
            };
            if let Some(reason) = over {
                let reason = if self.ahead.is_some() { EndReason::EndTime } else { reason };
                self.return_to_place();
                return (heard, reason);
            }
            let time = sample.own_times[at];
            let is_above = self.floor.is_none_or(|(floor, until)| time >= floor || at >= until);
            if is_above && end.is_none_or(|end| time < end) {
                heard.push(at);
            }
            self.at += 1;
        }
    }
}

fn run(
    sample: &Sample,
    steps: &[Step],
    checkpoints: Option<(u64, usize)>,
) -> Result<(), TestCaseError> {
    let seen = RefCell::new(Vec::new());
    let stop = Cell::new(None);
    // The saved positions, each with the index of the event that it precedes.
    let saved: Rc<RefCell<Vec<(TracesetPosition, usize)>>> = Rc::default();
    let mut context = TracesetContext::new(&sample.traceset);
    let digest = context.attach(Digest::default());
    if let Some((every, most)) = checkpoints {
        context.state().set_policy(CheckpointPolicy::every(every).memory(most * 400));
    }
    context.on_event("*", |call| {
        let event = known(call);
        let number = sample.events.iter().position(|e| *e == event).expect("a known event");
        seen.borrow_mut().push(number);
        if number.is_multiple_of(3) {
            saved.borrow_mut().push((call.position(), number));
        }
        if stop.get() == Some(number) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let total = sample.events.len();
    let times = sample.times();
    let end = TracesetPosition::end(&sample.traceset);
    saved.borrow_mut().push((end.clone(), total));
    let mut place = Place::default();
    for step in steps {
        let mut at = place.at;
        let mut read_any = false;
        let was_current = context.is_state_current();
        match step {
            Step::Read { time, position, events, stop: stop_at } => {
                let time = time.filter(|_| !times.is_empty()).map(|i| *i.get(&times));
                let position = position.map(|i| i.get(&saved.borrow()).clone());
                let stop_at = stop_at.filter(|_| total > 0).map(|i| i.index(total));
                let mut bounds = Bounds::all();
                if let Some(time) = time {
                    bounds = bounds.until(time);
                }
                if let Some((position, _)) = &position {
                    bounds = bounds.until_position(position);
                }
                if let Some(events) = events {
                    bounds = bounds.events(*events);
                }
                stop.set(stop_at);
                let model = (time, position.map(|p| p.1), *events);
                let (heard, reason) = place.read(sample, model, stop_at);
                let read = context.read(&bounds).expect("a position of the traceset");
                prop_assert_eq!((read.events, read.reason), (heard.len() as u64, reason));
                prop_assert_eq!(seen.take(), heard);
                read_any = place.at > at;
                at = place.at;
            }
            Step::SeekTime { time, with_state } => {
                let Some(time) = (!times.is_empty()).then(|| *time.get(&times)) else { continue };
                if *with_state {
                    context.state().seek_time(time);
                } else {
                    context.seek_time(time);
                }
                at = sample.at(time);
            }
            Step::SeekPosition { position, with_state } => {
                let (position, number) = position.get(&saved.borrow()).clone();
                let sought = if *with_state {
                    context.seek_position(&position).map(|()| _ = context.state().update())
                } else {
                    context.seek_position(&position)
                };
                prop_assert!(sought.is_ok());
                at = number;
            }
            Step::SeekBegin => {
                context.seek_time(Timestamp::MIN);
                at = 0;
            }
            Step::SeekEnd => {
                context.seek_position(&end).expect("a position of the traceset");
                at = total;
            }
            Step::UpdateState => {
                context.state().update();
                prop_assert!(context.is_state_current());
            }
            Step::Checkpoint => {
                prop_assert_eq!(context.state().save_checkpoint(), context.is_state_current());
            }
        }
        match step {
            Step::Read { .. } | Step::Checkpoint => {}
            Step::UpdateState if was_current => {}
            _ => place = Place::from(at),
        }
        // Only reads call the hook, and the position is where the model says.
        prop_assert!(seen.take().is_empty(), "after {:?}", step);
        let position = context.position();
        prop_assert_eq!(position == end, at == total);
        prop_assert_eq!(position.time(), sample.events.get(at).map(|e| e.time));
        for (other, number) in saved.borrow().iter() {
            for time in times.iter().filter(|time| other.is_start_of(**time)) {
                prop_assert_eq!(sample.at(*time), *number);
            }
            prop_assert_eq!(other.partial_cmp(&position), Some(number.cmp(&at)));
        }
        // Positions met while reading are known to be the start of certain times.
        let exact = matches!(step, Step::Read { .. }) && at > 0 && read_any;
        for time in &times {
            let is_start = sample.at(*time) == at;
            prop_assert!(is_start || !position.is_start_of(*time), "{:?} at {}", time, at);
            prop_assert!(
                !is_start || !exact || position.is_start_of(*time),
                "{:?} at {}",
                time,
                at
            );
        }
        saved.borrow_mut().push((position, at));
        if context.is_state_current() {
            let mut expected = Digest::default();
            sample.events[..at].iter().for_each(|event| expected.add(*event));
            prop_assert_eq!(&context.extensions()[digest], &expected, "after {:?}", step);
        }
        if let Some((_, most)) = checkpoints {
            prop_assert!(context.checkpoints().bytes() <= most * 400);
        }
    }
    prop_assert!(context.merge().errors().is_empty());
    Ok(())
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn reads_match_a_sorted_list(
        sample in sample(),
        steps in prop::collection::vec(step(), 1..24),
        checkpoints in prop::option::of((1..10u64, 1..8usize)),
    ) {
        run(&sample, &steps, checkpoints)?;
    }
}
