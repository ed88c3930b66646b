//! Checkpoints report the memory that they take from the heap.
//!
//! A single test, since the heap is that of the whole process.

use lttv_context::{Bounds, CheckpointPolicy, Traceset, TracesetContext};
use lttv_state::kernel::KernelState;
use lttv_traces::{Input, Kind};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Returns the bytes of checkpoints as they report them, and as the allocator counts them.
fn measured(traceset: &Traceset) -> (usize, usize) {
    let mut context = TracesetContext::new(traceset);
    context.attach(KernelState::new());
    context.state().set_policy(CheckpointPolicy::every(2000));
    _ = context.state().replay(&Bounds::all()).expect("no position");
    let checkpoints = context.checkpoints().clone();
    assert!(checkpoints.len() >= 3);
    // The state shares unchanged parts with checkpoints.
    drop(context);
    let with_them = dhat::HeapStats::get().curr_bytes;
    let counted = checkpoints.bytes();
    drop(checkpoints);
    (counted, with_them - dhat::HeapStats::get().curr_bytes)
}

#[test]
fn the_count_is_right() {
    let generated = tempfile::tempdir().unwrap();
    Input::new(Kind::Kernel, 200_000).packet_bytes(16 << 10).write(generated.path()).unwrap();
    let bundled = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    for path in [generated.path().to_str().unwrap(), bundled] {
        let traceset = Traceset::open(path).unwrap();
        let _profiler = dhat::Profiler::builder().testing().build();
        let (counted, taken) = measured(&traceset);
        println!("{path}: counted {counted} bytes, taken {taken}");
        assert!(taken <= counted + counted / 10, "{path}: {taken} bytes, {counted} counted");
        assert!(taken >= counted - counted / 10, "{path}: {taken} bytes, {counted} counted");
    }
}
