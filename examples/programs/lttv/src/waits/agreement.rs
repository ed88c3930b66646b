//! Episodes of the analysis and stretches around a time: two computations of one thing.

use std::cell::RefCell;
use std::rc::Rc;

use ltt_read::{Timestamp, TraceIndex};
use lttv_common::activity::{Doing, Stretch};
use lttv_context::{Bounds, Subscription, Traceset, TracesetContext};
use lttv_hooks::Priority;
use lttv_state::kernel::{KernelState, Serial, Transition};

use super::{Episode, Lives};

fn context() -> TracesetContext<'static> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
    TracesetContext::new(Traceset::open(path).expect("the bundled trace"))
}

/// Returns the episodes of all processes, and the times at which state dumps ended.
fn lives() -> (Lives, Vec<i64>) {
    let mut context = context();
    let kernel = context.attach(KernelState::new());
    let lives = Lives::of_all(&context.extensions()[kernel], None);
    let lives = context.attach_data(lives);
    let dumps: Rc<RefCell<Vec<i64>>> = Rc::default();
    let ends = dumps.clone();
    context.on_event("*", move |call| {
        Lives::record(call, lives, kernel);
        let transition =
            call.extensions[kernel].transition(call.trace.index(), call.event.type_id());
        if transition == Some(Transition::DumpEnd) {
            ends.borrow_mut().push(call.time().as_ns());
        }
    });
    assert_eq!(context.read(&Bounds::all()).expect("no position").errors, 0);
    let lives = std::mem::take(&mut context.extensions_mut()[lives][0]);
    (lives, dumps.take())
}

/// A time within an episode, and the stretch found there.
struct Probe {
    process: Serial,
    time: Timestamp,
    stretch: Option<Stretch>,
    /// Its activity at the time.
    doing: Doing,
}

#[test]
fn a_stretch_is_the_episode_that_contains_its_time() {
    let (lives, dumps) = lives();
    let mut expected = Vec::new();
    let mut probes = Vec::new();
    let all = (0..).map(Serial).zip(&lives.of);
    let all = all.flat_map(|(serial, life)| {
        life.episodes.iter().enumerate().map(move |(at, episode)| (serial, at == 0, episode))
    });
    // The end of a state dump makes unknown states known, without a change of the activity.
    let is_sound =
        |episode: &Episode| !dumps.iter().any(|time| (episode.begin..=episode.end).contains(time));
    for (process, is_first, episode) in all.filter(|(.., of)| is_sound(of)).step_by(3) {
        // The first nanosecond, the middle and the last one.
        let last = episode.end - 1;
        for time in [episode.begin, episode.begin + (last - episode.begin) / 2, last] {
            expected.push((*episode, is_first));
            let time = Timestamp::from_ns(time);
            probes.push(Probe { process, time, stretch: None, doing: Doing::Unknown });
        }
    }
    assert!(probes.len() > 500, "{}", probes.len());
    let probes = Rc::new(RefCell::new(probes));
    let mut context = context();
    let kernel = context.attach(KernelState::new());
    let [before, after] = [(); 2].map(|()| probes.clone());
    context.on_event(Subscription::to_every_event().priority(Priority::FIRST), move |call| {
        let state = call.extensions[kernel].trace(TraceIndex(0)).expect("one trace");
        for probe in before.borrow_mut().iter_mut() {
            if probe.time < call.time() && probe.stretch.is_none() {
                probe.stretch = Stretch::at(state, probe.process);
                probe.doing = probe.stretch.as_ref().map_or(Doing::Unknown, Stretch::doing);
            }
        }
    });
    context.on_event("*", move |call| {
        let kernel = &call.extensions[kernel];
        let state = kernel.trace(TraceIndex(0)).expect("one trace");
        let transition = kernel.transition(TraceIndex(0), call.event.type_id());
        let cpu = kernel.cpu_of(call);
        for stretch in after.borrow_mut().iter_mut().filter_map(|probe| probe.stretch.as_mut()) {
            if transition.is_some() {
                stretch.event(state, transition, cpu, call.time());
            }
        }
    });
    assert_eq!(context.read(&Bounds::all()).expect("no position").errors, 0);
    drop(context);
    let mut waits = 0;
    for (probe, (episode, is_first)) in probes.take().into_iter().zip(expected) {
        let stretch = probe.stretch.expect("the process exists");
        let (since, end) = (stretch.since().as_ns(), stretch.until().map(Timestamp::as_ns));
        // The last episodes end with the trace.
        let until = end.map(|_| episode.end);
        let place = (probe.process, probe.time);
        let doing = probe.doing;
        assert_eq!((doing, end), (episode.doing, until), "{place:?}");
        match is_first {
            // The state may know of the process before its first event.
            true => assert!(since <= episode.begin, "{place:?}"),
            // After a fork, a process is ready twice: before and after its first wake-up. It
            // runs twice when it exits.
            false if doing == Doing::Ready || stretch.words().contains("exit") => {
                assert!(since >= episode.begin, "{place:?}");
            }
            false => assert_eq!(since, episode.begin, "{place:?}"),
        }
        assert_eq!(stretch.wake_up().is_some(), episode.waker.is_some() && until.is_some());
        waits += u64::from(matches!(episode.doing, Doing::Blocked(_)));
    }
    assert!(waits > 100, "{waits}");
}
