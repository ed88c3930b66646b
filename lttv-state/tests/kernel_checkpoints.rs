//! State reached by checkpoints is that of a full replay, at any event.

mod support;

use std::cell::RefCell;

use lttv_context::{Bounds, Extension, Saving, Traceset, TracesetContext, TracesetPosition};
use lttv_state::kernel::{KernelState, SavedKernelState};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// The state before the event of a number, by reading all before it, with its
/// position.
fn replayed(traceset: &Traceset, event: u64) -> (SavedKernelState, TracesetPosition) {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    _ = context.replay(&Bounds::all().events(event)).expect("no position");
    (context.extensions()[kernel].save(), context.position())
}

#[test]
fn checkpoints_lead_where_a_replay_does() {
    let mut thinned = 0;
    for (name, traceset) in support::kernel_traces() {
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(KernelState::new());
        context.save_checkpoints(Saving::every(509));
        let events = context.replay(&Bounds::all()).expect("no position").events;
        // In half the memory there are less, and they lead as far.
        let all = context.checkpoints().bytes();
        context.save_checkpoints(Saving::every(509).memory(all / 2));
        assert!(context.checkpoints().bytes() <= all / 2, "{name}");
        let checkpoints = context.checkpoints().len() as u64;
        thinned += u32::from(checkpoints > 0);
        let context = RefCell::new(context);
        let mut runner = TestRunner::new(ProptestConfig::with_cases(24));
        let result = runner.run(&(0..=events), |event| {
            let (expected, position) = replayed(&traceset, event);
            let mut context = context.borrow_mut();
            let again = context.seek_position_with_state(&position).expect("its position");
            let most = (2 * events).div_ceil(checkpoints + 1).max(2 * 509);
            prop_assert!(again <= most, "{} events again", again);
            prop_assert!(context.extensions()[kernel].save() == expected, "{name}: {event}");
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    assert!(thinned > 0, "there were never any left");
}

#[test]
fn a_state_goes_back_to_the_begin() {
    for (name, traceset) in support::kernel_traces() {
        let mut context = TracesetContext::new(&traceset);
        let kernel = context.attach(KernelState::new());
        let begin = context.extensions()[kernel].save();
        _ = context.replay(&Bounds::all()).expect("no position");
        assert!(context.extensions()[kernel].save() != begin, "{name}: nothing happened");
        context.seek_begin();
        assert!(context.extensions()[kernel].save() == begin, "{name}");
    }
}
