//! Checkpoints of the kernel state that come from a file lead where a replay does;
//! damaged files and hostile ones do no harm.

mod support;

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use lttv_context::{
    Bounds, CheckpointFileError, Extension, Handle, Saving, Traceset, TracesetContext,
};
use lttv_state::kernel::{KernelState, SavedKernelState};
use lttv_state::stats::Statistics;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

fn with_kernel(traceset: &Traceset) -> (TracesetContext<'static>, Handle<KernelState>) {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    (context, kernel)
}

/// Reads all, and stores checkpoints. Tells how many events there are.
fn store(traceset: &Traceset, every: u64, path: &Path) -> u64 {
    let (mut context, _) = with_kernel(traceset);
    context.save_checkpoints(Saving::every(every));
    let events = context.replay(&Bounds::all()).expect("no position").events;
    context.store_checkpoints(path).expect("it is stored");
    events
}

/// The state before the event of a number, by reading all before it.
fn replayed(traceset: &Traceset, event: u64) -> (SavedKernelState, lttv_context::TracesetPosition) {
    let (mut context, kernel) = with_kernel(traceset);
    context.replay(&Bounds::all().events(event)).expect("no position");
    (context.extensions()[kernel].save(), context.position())
}

#[test]
fn loaded_checkpoints_lead_where_a_replay_does() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoints");
    for (name, traceset) in support::kernel_traces() {
        let events = store(&traceset, 509, &path);
        let (mut context, kernel) = with_kernel(&traceset);
        let loaded = context.load_checkpoints(&path).expect("a sound file");
        assert_eq!(loaded as u64, events / 509, "{name}");
        let context = RefCell::new(context);
        let mut runner = TestRunner::new(ProptestConfig::with_cases(24));
        let result = runner.run(&(0..=events), |event| {
            let (expected, position) = replayed(&traceset, event);
            let mut context = context.borrow_mut();
            let again = context.seek_position_with_state(&position).expect("its position");
            prop_assert!(again <= 509, "{} events again", again);
            prop_assert!(context.extensions()[kernel].save() == expected, "{name}: {event}");
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// What is loaded takes no more memory than what was stored, and is stored as the
/// same bytes again.
#[test]
fn what_is_shared_is_shared_again() {
    let dir = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| dir.path().join(name));
    for (name, traceset) in support::kernel_traces() {
        let (mut saved, _) = with_kernel(&traceset);
        saved.save_checkpoints(Saving::every(200));
        saved.replay(&Bounds::all()).expect("no position");
        saved.store_checkpoints(&first).expect("it is stored");
        let (mut context, _) = with_kernel(&traceset);
        context.load_checkpoints(&first).expect("a sound file");
        let (loaded, made) = (context.checkpoints().bytes(), saved.checkpoints().bytes());
        assert!(loaded <= made + made / 10, "{name}: {loaded} bytes instead of {made}");
        context.store_checkpoints(&second).expect("it is stored");
        assert!(fs::read(&first).unwrap() == fs::read(&second).unwrap(), "{name}");
    }
}

#[test]
fn other_options_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoints");
    let traceset = Traceset::open(support::bundled()).unwrap();
    store(&traceset, 1000, &path);
    let mut context = TracesetContext::new(&traceset);
    context.attach(KernelState::new().without_looking_ahead());
    let error = context.load_checkpoints(&path).unwrap_err();
    assert!(matches!(error, CheckpointFileError::Missing { .. }), "{error}");
}

/// Makes the sums right after damage, so that what is behind them is reached.
fn repair(file: &mut [u8]) {
    let mut sum = crc32fast::Hasher::new();
    sum.update(&file[..12]);
    let mut at = 12;
    while let Some(length) = file.get(at..at + 4) {
        let length = u32::from_le_bytes(length.try_into().unwrap()) as usize;
        let end = at + 4 + length;
        let Some(content) = file.get(at..end) else { return };
        sum.update(content);
        let right = sum.clone().finalize();
        let Some(place) = file.get_mut(end..end + 4) else { return };
        place.copy_from_slice(&right.to_le_bytes());
        at = end + 4;
    }
}

/// Whatever a file makes of states, going on from them comes to an end.
fn use_file(traceset: &Traceset, path: &Path) -> bool {
    let (mut context, kernel) = with_kernel(traceset);
    context.save_checkpoints(Saving::never().memory(8 << 20));
    if context.load_checkpoints(path).is_err() {
        return false;
    }
    assert!(context.checkpoints().bytes() <= 8 << 20);
    let positions: Vec<_> = context.checkpoints().positions().cloned().collect();
    for position in positions {
        context.seek_position_with_state(&position).expect("its traceset");
        let statistics = Statistics::attach_at(&mut context, kernel, ltt_read::Timestamp::MIN);
        context.middle(&Bounds::all().events(300)).expect("no position");
        Statistics::take(&mut context, statistics, kernel);
    }
    true
}

/// A file of few checkpoints, so that much of it can be tried.
fn small_file(dir: &Path) -> (Traceset, PathBuf, Vec<u8>) {
    let traceset = Traceset::open(support::bundled()).unwrap();
    let path = dir.join("checkpoints");
    store(&traceset, 2500, &path);
    let bytes = fs::read(&path).unwrap();
    (traceset, path, bytes)
}

#[test]
fn damage_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let (traceset, path, bytes) = small_file(dir.path());
    let (mut context, _) = with_kernel(&traceset);
    assert_eq!(context.load_checkpoints(&path).ok(), Some(2));
    let refused = |context: &mut TracesetContext<'_>, bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        context.load_checkpoints(&path).is_err()
    };
    // All of the begin, much of the rest; the test of `lttv-context` does it all.
    let places = || (0..bytes.len()).filter(|at| *at < 600 || at.is_multiple_of(37));
    for length in places() {
        assert!(refused(&mut context, &bytes[..length]), "{length} bytes");
    }
    for at in places() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(refused(&mut context, &changed), "byte {at}");
    }
    // What was loaded before is there yet.
    assert_eq!(context.checkpoints().len(), 2);
}

#[test]
fn lies_with_right_sums_do_no_harm() {
    let dir = tempfile::tempdir().unwrap();
    let (traceset, path, bytes) = small_file(dir.path());
    let mut taken = 0;
    let mut runner = TestRunner::new(ProptestConfig::with_cases(200));
    let changes = prop::collection::vec((12..bytes.len(), any::<u8>()), 1..4);
    let result = runner.run(&changes, |changes| {
        let mut changed = bytes.clone();
        for (at, byte) in changes {
            changed[at] = byte;
        }
        repair(&mut changed);
        fs::write(&path, changed).unwrap();
        use_file(&traceset, &path);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    // And it is not that nothing gets through.
    for at in (12..bytes.len()).step_by(499) {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        repair(&mut changed);
        fs::write(&path, changed).unwrap();
        taken += u32::from(use_file(&traceset, &path));
    }
    assert!(taken > 0);
}
