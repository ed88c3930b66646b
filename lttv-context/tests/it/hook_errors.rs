//! Hooks for events may return errors, which end the read that called them.

use std::cell::Cell;
use std::error::Error;
use std::fmt;
use std::ops::ControlFlow;

use ltt_read::ErrorChain;
use lttv_context::framework::{Batch, BatchOutcome};
use lttv_context::{
    Bounds, EndReason, Extension, Handle, HookError, HookSet, ParallelReader, ReadEnd, ReadError,
    Setup, Subscription, Traceset, TracesetContext,
};
use lttv_hooks::Priority;

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
const EVENTS: u64 = 6087;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Full(u64);

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "full after {} events", self.0)
    }
}

impl Error for Full {}

fn traceset() -> Traceset {
    Traceset::open(TRACE).expect("a trace")
}

/// Returns a hook that fails at an event, counted from 1.
fn fails_at(event: u64) -> impl FnMut() -> Result<(), Full> {
    let mut seen = 0;
    move || {
        seen += 1;
        if seen == event { Err(Full(seen)) } else { Ok(()) }
    }
}

fn hook_error(read: Result<ReadEnd, ReadError>) -> HookError {
    match read {
        Err(ReadError::Hook(error)) => *error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_error_of_a_hook_ends_the_read_and_has_the_place_of_the_event() {
    let (mut fails, last) = (fails_at(1000), Cell::new(None));
    let mut context = TracesetContext::new(traceset());
    context.on_event("*", |call| {
        last.set(Some(call.event_time()));
        fails()
    });
    let error = hook_error(context.read(&Bounds::all()));
    assert_eq!(error.error.downcast_ref(), Some(&Full(1000)));
    assert_eq!((error.read.events, error.read.reason), (1000, EndReason::Stopped));
    assert_eq!(error.time, last.get());
    let chain = ErrorChain(&error).to_string();
    assert_eq!(chain.matches("full after 1000 events").count(), 1, "{chain}");
    assert!(chain.contains(&error.event) && chain.contains("kernel"), "{chain}");
    // The read goes on after the event.
    let rest = context.read(&Bounds::all()).expect("no other error");
    assert_eq!(rest.events, EVENTS - 1000);
    // The event is the next one at its position.
    context.seek_position(&error.position).expect("this traceset");
    assert_eq!(context.read(&Bounds::all()).expect("no other error").events, EVENTS - 999);
}

#[test]
fn other_hooks_of_the_event_are_called_and_the_first_error_counts() {
    let calls = Cell::new(0);
    let mut context = TracesetContext::new(traceset());
    let late = Subscription::to("*").priority(Priority::LAST);
    context.on_event(late, |_| {
        calls.set(calls.get() + 1);
        Err::<(), _>("the later one")
    });
    context.on_event("*", |_| Err::<(), _>("the first one"));
    let error = hook_error(context.read(&Bounds::all()));
    assert_eq!((error.error.to_string().as_str(), calls.get()), ("the first one", 1));
    // No error of that event is left for the next one.
    let error = hook_error(context.read(&Bounds::all().events(1)));
    assert_eq!((error.read.events, calls.get()), (1, 2));
}

#[test]
fn hooks_of_sets_and_hooks_that_hooks_add_may_fail() {
    let mut context = TracesetContext::new(traceset());
    let mut hooks = HookSet::new();
    hooks.on_event("sched_switch", |call| {
        call.commands.on_event("*", |_| Err::<ControlFlow<()>, _>(Full(0)));
    });
    let id = context.begin_read(hooks);
    let error = hook_error(context.read(&Bounds::all()));
    assert!(error.error.is::<Full>() && error.read.events > 1);
    context.end_read(id);
}

#[test]
fn results_without_errors_keep_their_flow() {
    let mut left = 10;
    let mut context = TracesetContext::new(traceset());
    context.on_event("*", |_| {
        left -= 1;
        Ok::<_, Full>(if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    let read = context.read(&Bounds::all()).expect("no error");
    assert_eq!((read.events, read.reason), (10, EndReason::Stopped));
}

#[test]
fn steps_count_the_events_of_all_steps() {
    let mut fails = fails_at(2500);
    let mut context = TracesetContext::new(traceset());
    context.on_event("*", |_| fails());
    let error = hook_error(context.read_steps(&Bounds::all(), 1000, |_| ControlFlow::Continue(())));
    assert_eq!((error.read.events, error.read.examined), (2500, 2500));
}

/// An extension whose state cannot follow an event.
struct Fragile(u64);

impl Extension for Fragile {
    type Checkpoint = u64;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        setup.hooks.on_event("*", move |call| {
            let count = &mut call.extensions[handle].0;
            *count += 1;
            if *count == 300 { Err(Full(300)) } else { Ok(()) }
        });
    }

    fn reset(&mut self) {
        self.0 = 0;
    }

    fn save(&self) -> u64 {
        self.0
    }

    fn restore(&mut self, saved: &u64) {
        self.0 = *saved;
    }

    fn checkpoint_bytes(_: &u64, _: Option<&u64>) -> usize {
        size_of::<u64>()
    }
}

#[test]
fn an_error_during_a_seek_is_returned_by_the_next_read() {
    let traceset = traceset();
    let mut before = TracesetContext::new(&traceset);
    _ = before.read(&Bounds::all().events(3000)).expect("no hooks");
    let mut context = TracesetContext::new(&traceset);
    let count = context.attach(Fragile(0));
    context.state().seek_time(before.position().time().expect("a time"));
    assert!(context.extensions()[count].0 > 300);
    let error = hook_error(context.read(&Bounds::all()));
    assert_eq!(error.error.downcast_ref(), Some(&Full(300)));
    assert!(context.read(&Bounds::all()).expect("the error was returned").events > 0);
}

#[test]
fn a_replay_returns_the_error_of_an_extension() {
    let mut context = TracesetContext::new(traceset());
    context.attach(Fragile(0));
    let error = hook_error(context.state().replay(&Bounds::all()));
    assert_eq!(error.read.events, 300);
}

#[test]
fn parallel_reads_return_the_first_error_in_the_order_of_slices() {
    let traceset = traceset();
    for threads in [1, 4] {
        let read = ParallelReader::new(&traceset).threads(threads).slices(4).run(|slice| {
            let (number, mut fails) = (slice.number(), fails_at(100));
            let mut context = slice.context();
            context.on_event("*", |_| if number >= 1 { fails() } else { Ok(()) });
            slice.read(&mut context)
        });
        assert!(read.stopped);
        let error = read.hook_error.expect("the hook of the second slice");
        assert_eq!(error.read.events, 100, "{threads}");
        assert_eq!(read.results.last(), Some(&Ok(100)));
    }
}

#[test]
fn batches_return_the_error_and_end() {
    let mut fails = fails_at(1234);
    let mut batch = Batch::new(traceset());
    batch.hooks.on_event("*", move |_| fails());
    let end = batch.run(|_| ());
    assert_eq!((end.events, end.outcome), (1234, BatchOutcome::Stopped));
    assert!(end.hook_error.is_some_and(|error| error.error.is::<Full>()));
}
