//! Checkpoints of other extensions, versions, options and tracesets are refused.

use crate::count::Count;
use lttv_context::{
    Bounds, CheckpointMismatch, CheckpointPolicy, Extension, ExtensionIdentity, Handle, Setup,
    Subscription, Traceset, TracesetContext,
};

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");

/// Another extension whose checkpoints have the same type and the same name.
#[derive(Debug, Default)]
struct Twice(u64);

impl Extension for Twice {
    type Checkpoint = u64;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        let all = Subscription::to_every_event();
        setup.hooks.on_event(all, move |call| call.extensions[handle].0 += 2);
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
        size_of::<Self::Checkpoint>()
    }

    fn identity(&self) -> ExtensionIdentity {
        ExtensionIdentity { name: "count", version: 0, options: 0 }
    }
}

fn with<E: Extension>(traceset: &Traceset, extension: E) -> (TracesetContext<'static>, Handle<E>) {
    let mut context = TracesetContext::new(traceset);
    let handle = context.attach(extension);
    context.state().set_policy(CheckpointPolicy::every(1000));
    (context, handle)
}

/// Checks that a context with an extension refuses all checkpoints of another, and that its
/// state is right nevertheless.
fn refuses<E: Extension>(
    traceset: &Traceset,
    from: &mut TracesetContext<'_>,
    extension: E,
    state: impl Fn(&E) -> u64,
    expected: u64,
) {
    let (mut context, handle) = with(traceset, extension);
    _ = context.read(&Bounds::all().events(1500)).expect("bounds have no position");
    let own = context.checkpoints().len();
    let refused = context.state().set_checkpoints(from.checkpoints().clone());
    assert!(matches!(refused, Err(CheckpointMismatch::Extension { place: 0, .. })), "{refused:?}");
    assert_eq!(context.checkpoints().len(), own);
    let here = context.position();
    let checkpoint = from.state().checkpoint().expect("the state is current");
    let refused = context.state().restore(&checkpoint).expect_err("it is of another extension");
    assert!(matches!(refused, CheckpointMismatch::Extension { .. }), "{refused}");
    assert_eq!(context.position(), here);
    assert_eq!(state(&context.extensions()[handle]), expected);

    let there = from.checkpoints().positions().nth(2).cloned().expect("a third");
    context.seek_position(&there).expect("position is of this traceset");
    context.state().update();
    assert_eq!(state(&context.extensions()[handle]), 2 * expected);
    assert!(context.is_state_current());
}

#[test]
fn checkpoints_of_other_extensions_are_refused() {
    let traceset = Traceset::open(TRACE).expect("a bundled trace");
    let (mut from, _) = with(&traceset, Count::default());
    _ = from.read(&Bounds::all()).expect("bounds have no position");
    refuses(&traceset, &mut from, Twice::default(), |twice| twice.0, 3000);
    let newer = Count { version: 1, ..Count::default() };
    refuses(&traceset, &mut from, newer, |count| count.events, 1500);
    let other = Count { options: 1, ..Count::default() };
    refuses(&traceset, &mut from, other, |count| count.events, 1500);

    // The error names both extensions.
    let (mut other, _) = with(&traceset, Count { version: 7, options: 0xab, ..Count::default() });
    let refused =
        other.state().set_checkpoints(from.checkpoints().clone()).expect_err("another version");
    assert_eq!(
        refused.to_string(),
        "checkpoint has the state of count (version 0, options 0) at place 0, \
         but attached there is count (version 7, options ab)",
    );
}

#[test]
fn more_or_fewer_extensions_are_refused_and_plain_data_is_not() {
    let traceset = Traceset::open(TRACE).expect("a bundled trace");
    let (mut from, _) = with(&traceset, Count::default());
    _ = from.read(&Bounds::all()).expect("bounds have no position");
    let checkpoints = from.checkpoints().clone();
    assert!(!checkpoints.is_empty());

    let mut none = TracesetContext::new(&traceset);
    assert!(none.state().set_checkpoints(checkpoints.clone()).is_err());
    let (mut two, _) = with(&traceset, Count::default());
    two.attach(Twice::default());
    assert!(two.state().set_checkpoints(checkpoints.clone()).is_err());
    let mut swapped = TracesetContext::new(&traceset);
    swapped.attach_data(0);
    swapped.attach(Count::default());
    assert!(swapped.state().set_checkpoints(checkpoints.clone()).is_err());

    let (mut more, count) = with(&traceset, Count::default());
    more.attach_data("plain");
    assert_eq!(more.state().set_checkpoints(checkpoints.clone()), Ok(()));
    let there = checkpoints.positions().nth(3).expect("a fourth");
    more.seek_position(there).unwrap();
    assert_eq!(more.state().update(), 0);
    assert_eq!(more.extensions()[count].events, 4000);
}

#[test]
fn checkpoints_of_a_changed_traceset_are_refused() {
    let traceset = Traceset::open(TRACE).expect("a bundled trace");
    let (mut from, _) = with(&traceset, Count::default());
    _ = from.read(&Bounds::all()).expect("bounds have no position");
    let mut changed = traceset.clone();
    changed.add(traceset.traces()[0].clone());
    let (mut other, count) = with(&changed, Count::default());
    let refused = other.state().set_checkpoints(from.checkpoints().clone());
    assert!(matches!(refused, Err(CheckpointMismatch::Stale(_))), "{refused:?}");
    let checkpoint = from.state().checkpoint().expect("the state is current");
    let refused = other.state().restore(&checkpoint);
    assert!(matches!(refused, Err(CheckpointMismatch::Stale(_))), "{refused:?}");
    let read = other.read(&Bounds::all()).expect("bounds have no position");
    assert_eq!(other.extensions()[count].events, read.events);
}
