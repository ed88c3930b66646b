//! Evaluating filters does not allocate.
//!
//! A program of its own, since it replaces the global allocator.
//!
//! A single test, because allocations are counted for the whole process.

use std::path::Path;

use lttv_filter::{Expression, Filters};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// One expression for each kind of test.
const FILTERS: [&str; 8] = [
    "event.name == sched_switch",
    "next_tid > 100 && prev_tid != 7 && next_prio < 100",
    "next_tid in (0, 3, 5, 100, 2000)",
    "next_comm == \"swapper/1\"",
    "next_comm =~ \"*s*[a-q]*e?\"",
    "exists(ret) ^ tracefile.cpu == 1",
    "filename not in (\"/etc/passwd\", \"/dev/null\")",
    "event.time >= 1795233416.4 && !(event.time > 1795233416.5) && ret != 0",
];

#[test]
fn evaluating_filters_does_not_allocate() {
    let _profiler = dhat::Profiler::builder().testing().build();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces/kernel");
    let traces = ltt_read::open_all(path).expect("a bundled trace");
    let mut merge = ltt_read::Merge::new(&traces);
    // Layouts of event types are created at their first event.
    while merge.next().is_some() {}
    for text in FILTERS {
        let expression = Expression::parse(text).expect(text);
        let filters = Filters::new(&expression, &traces).expect(text);
        let mut merge = ltt_read::Merge::new(&traces);
        let (mut asked, mut passed, mut blocks) = (0, 0, 0);
        while let Some(event) = merge.next() {
            let before = dhat::HeapStats::get().total_blocks;
            passed += u32::from(filters.matches(&event));
            blocks += dhat::HeapStats::get().total_blocks - before;
            asked += 1;
        }
        assert!(asked > 6000 && passed < asked, "{text}: {passed} of {asked}");
        assert_eq!(blocks, 0, "{text}");
    }
}
