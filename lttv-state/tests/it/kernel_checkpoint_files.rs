//! Checkpoints of the kernel state loaded from a file yield the state of a full replay.
//! Damaged and hostile files do no harm.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use lttv_context::{
    Bounds, CheckpointFileFault, CheckpointPolicy, Extension, Handle, Traceset, TracesetContext,
};
use lttv_state::analysis::attach;
use lttv_state::kernel::KernelState;

type SavedKernelState = <KernelState as Extension>::Checkpoint;
use lttv_state::stats::StatisticsAnalysis;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::support;

fn with_kernel(traceset: &Traceset) -> (TracesetContext<'static>, Handle<KernelState>) {
    let mut context = TracesetContext::new(traceset);
    let kernel = context.attach(KernelState::new());
    (context, kernel)
}

/// Reads a whole traceset and stores its checkpoints. Returns the number of events.
fn store(traceset: &Traceset, every: u64, path: &Path) -> u64 {
    let (mut context, _) = with_kernel(traceset);
    context.state().set_policy(CheckpointPolicy::every(every));
    let events = context.state().replay(&Bounds::all()).expect("bounds without a position").events;
    context.state().store_checkpoints(path).expect("checkpoints can be stored");
    events
}

/// Returns the state before the event with a number, computed by reading all previous
/// events.
fn replayed(traceset: &Traceset, event: u64) -> (SavedKernelState, lttv_context::TracesetPosition) {
    let (mut context, kernel) = with_kernel(traceset);
    _ = context.state().replay(&Bounds::all().events(event)).expect("bounds without a position");
    (context.extensions()[kernel].save(), context.position())
}

#[test]
fn states_from_loaded_checkpoints_equal_a_replay() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoints");
    for (name, traceset) in support::kernel_traces() {
        let events = store(&traceset, 509, &path);
        let (mut context, kernel) = with_kernel(&traceset);
        let loaded = context.state().load_checkpoints(&path).expect("a valid file");
        assert_eq!(loaded as u64, events / 509, "{name}");
        let context = RefCell::new(context);
        let mut runner = TestRunner::new(ProptestConfig::with_cases(24));
        let result = runner.run(&(0..=events), |event| {
            let (expected, position) = replayed(&traceset, event);
            let mut context = context.borrow_mut();
            context.seek_position(&position).expect("a position of the traceset");
            let again = context.state().update();
            prop_assert!(again <= 509, "{} events again", again);
            prop_assert!(context.extensions()[kernel].save() == expected, "{name}: {event}");
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

/// Loaded checkpoints take no more memory than those that were stored, and are stored as
/// the same bytes again.
#[test]
fn loaded_checkpoints_share_data() {
    let dir = tempfile::tempdir().unwrap();
    let [first, second] = ["first", "second"].map(|name| dir.path().join(name));
    for (name, traceset) in support::kernel_traces() {
        let (mut saved, _) = with_kernel(&traceset);
        saved.state().set_policy(CheckpointPolicy::every(200));
        _ = saved.state().replay(&Bounds::all()).expect("bounds without a position");
        saved.state().store_checkpoints(&first).expect("checkpoints can be stored");
        let (mut context, _) = with_kernel(&traceset);
        context.state().load_checkpoints(&first).expect("a valid file");
        let (loaded, made) = (context.checkpoints().bytes(), saved.checkpoints().bytes());
        assert!(loaded <= made + made / 10, "{name}: {loaded} bytes instead of {made}");
        context.state().store_checkpoints(&second).expect("checkpoints can be stored");
        assert!(fs::read(&first).unwrap() == fs::read(&second).unwrap(), "{name}");
    }
}

#[test]
fn files_with_other_options_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("checkpoints");
    let traceset = Traceset::open(support::bundled()).unwrap();
    store(&traceset, 1000, &path);
    let mut context = TracesetContext::new(&traceset);
    context.attach(KernelState::new().without_looking_ahead());
    let error = context.state().load_checkpoints(&path).unwrap_err();
    assert!(matches!(error.fault, CheckpointFileFault::Missing { .. }), "{error}");
}

/// Corrects the checksums after damage, so that the data they cover is decoded.
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

/// Loads a file and reads on from its checkpoints, which must terminate for any states.
/// Returns whether the file was accepted.
fn use_file(traceset: &Traceset, path: &Path) -> bool {
    let (mut context, kernel) = with_kernel(traceset);
    context.state().set_policy(CheckpointPolicy::never().memory(8 << 20));
    if context.state().load_checkpoints(path).is_err() {
        return false;
    }
    assert!(context.checkpoints().bytes() <= 8 << 20);
    let positions: Vec<_> = context.checkpoints().positions().cloned().collect();
    for position in positions {
        context.seek_position(&position).expect("its traceset");
        context.state().update();
        let statistics = attach(&mut context, kernel, .., StatisticsAnalysis::new());
        _ = context.read(&Bounds::all().events(300)).expect("bounds without a position");
        statistics.take(context.extensions_mut());
    }
    true
}

/// Creates a file of few checkpoints, so that many changes to it can be tested.
fn small_file(dir: &Path) -> (Traceset, PathBuf, Vec<u8>) {
    let traceset = Traceset::open(support::bundled()).unwrap();
    let path = dir.join("checkpoints");
    store(&traceset, 2500, &path);
    let bytes = fs::read(&path).unwrap();
    (traceset, path, bytes)
}

#[test]
fn damaged_files_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let (traceset, path, bytes) = small_file(dir.path());
    let (mut context, _) = with_kernel(&traceset);
    assert_eq!(context.state().load_checkpoints(&path).ok(), Some(2));
    let refused = |context: &mut TracesetContext<'_>, bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        context.state().load_checkpoints(&path).is_err()
    };
    // The start is tested completely, the remainder in part; a test of `lttv-context`
    // covers all.
    let places = || (0..bytes.len()).filter(|at| *at < 600 || at.is_multiple_of(37));
    for length in places() {
        assert!(refused(&mut context, &bytes[..length]), "{length} bytes");
    }
    for at in places() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(refused(&mut context, &changed), "byte {at}");
    }
    // Checkpoints that were loaded before are kept.
    assert_eq!(context.checkpoints().len(), 2);
}

#[test]
fn invalid_contents_with_correct_checksums_do_no_harm() {
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
    // Some of the changed files must have been accepted.
    for at in (12..bytes.len()).step_by(499) {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        repair(&mut changed);
        fs::write(&path, changed).unwrap();
        taken += u32::from(use_file(&traceset, &path));
    }
    assert!(taken > 0);
}
