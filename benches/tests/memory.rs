//! The heap used for reading does not depend on the length of the trace.
//!
//! A single test, since the heap is that of the whole process.

use std::path::Path;

use ltt_read::{Merge, open_all};
use lttv_benches::Sums;
use lttv_traces::{Input, Kind};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Returns the peak heap, from opening the trace to its last event.
fn peak_heap(trace: &Path, expected: u64) -> usize {
    let _profiler = dhat::Profiler::builder().testing().build();
    let traces = open_all(trace).unwrap();
    let (mut merge, mut events, mut sums) = (Merge::new(&traces), 0, Sums::default());
    while let Some(event) = merge.next() {
        sums.add(&event);
        events += 1;
    }
    assert_eq!(events, expected);
    dhat::HeapStats::get().max_bytes
}

#[test]
fn ten_times_the_events_take_no_more_heap() {
    for kind in [Kind::Kernel, Kind::Ust] {
        let [short, long] = [30_000, 300_000].map(|events| {
            let dir = tempfile::tempdir().unwrap();
            Input::new(kind, events).packet_bytes(16 << 10).write(dir.path()).unwrap();
            peak_heap(dir.path(), events)
        });
        println!("{kind:?}: {short} bytes for 30 000 events, {long} for 300 000");
        assert!(short < 4 << 20, "{short} bytes");
        assert!(long <= short + short / 10, "{short} bytes became {long}");
    }
}
