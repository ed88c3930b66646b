//! The state reached from a checkpoint equals that of a full replay, at any event.

use std::cell::RefCell;

use lttv_context::{
    Bounds, CheckpointPolicy, Extension, Traceset, TracesetContext, TracesetPosition,
};
use lttv_state::kernel::KernelState;

type SavedKernelState = <KernelState as Extension>::Checkpoint;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::support;

/// Returns the state before the event with a number and its position, computed by reading
/// all previous events.
fn replayed(traceset: &Traceset, event: u64) -> (SavedKernelState, TracesetPosition) {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    _ = context.state().replay(&Bounds::all().events(event)).expect("bounds without a position");
    (context.extensions()[kernel].save(), context.position())
}

#[test]
fn states_from_checkpoints_equal_a_replay() {
    let mut thinned = 0;
    for (name, traceset) in support::kernel_traces() {
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(KernelState::new());
        context.state().set_policy(CheckpointPolicy::every(509));
        let events =
            context.state().replay(&Bounds::all()).expect("bounds without a position").events;
        // With half the memory there are fewer checkpoints, and they yield the same states.
        let all = context.checkpoints().bytes();
        context.state().set_policy(CheckpointPolicy::every(509).memory(all / 2));
        assert!(context.checkpoints().bytes() <= all / 2, "{name}");
        let checkpoints = context.checkpoints().len() as u64;
        thinned += u32::from(checkpoints > 0);
        let context = RefCell::new(context);
        let mut runner = TestRunner::new(ProptestConfig::with_cases(24));
        let result = runner.run(&(0..=events), |event| {
            let (expected, position) = replayed(&traceset, event);
            let mut context = context.borrow_mut();
            context.seek_position(&position).expect("a position of the traceset");
            let again = context.state().update();
            let most = (2 * events).div_ceil(checkpoints + 1).max(2 * 509);
            prop_assert!(again <= most, "{} events again", again);
            prop_assert!(context.extensions()[kernel].save() == expected, "{name}: {event}");
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    assert!(thinned > 0, "no checkpoints remained in any trace");
}

#[test]
fn seeking_the_start_restores_the_initial_state() {
    for (name, traceset) in support::kernel_traces() {
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(KernelState::new());
        let begin = context.extensions()[kernel].save();
        _ = context.state().replay(&Bounds::all()).expect("bounds without a position");
        assert!(context.extensions()[kernel].save() != begin, "{name}: nothing happened");
        context.seek_time(ltt_read::Timestamp::MIN);
        assert!(context.extensions()[kernel].save() == begin, "{name}");
    }
}
