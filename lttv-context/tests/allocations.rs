//! Delivering events costs no allocation.
//!
//! A program of its own, since it replaces the global allocator.
//!
//! This file contains only one test, since allocations are counted for the whole process.

use std::path::Path;

use lttv_context::{Bounds, Subscription, Traceset, TracesetContext};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

#[test]
fn delivering_events_allocates_nothing() {
    let _profiler = dhat::Profiler::builder().testing().build();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces/kernel");
    let traceset = Traceset::open(path).expect("a bundled trace");
    let (mut sum, mut calls) = (0u64, 0u64);
    let mut context = TracesetContext::new(&traceset);
    let count = context.attach_data(0u64);
    context.on_event(Subscription::to("sched_switch").fields(["prev_tid", "next_tid"]), |call| {
        sum += call.unsigned(0).unwrap_or(0) ^ call.unsigned(1).unwrap_or(0);
    });
    context.on_event(Subscription::to_every_event(), |_| calls += 1);
    context.on_event("syscall_*", move |call| call.extensions[count] += 1);
    // The layout of an event type is compiled when its first event is read.
    let first = context.read(&Bounds::all()).expect("bounds have no position");
    context.seek_time(ltt_read::Timestamp::MIN);
    assert!(context.read(&Bounds::all().events(1)).is_ok());
    let before = dhat::HeapStats::get().total_blocks;
    let rest = context.read(&Bounds::all()).expect("bounds have no position");
    let blocks = dhat::HeapStats::get().total_blocks - before;
    let syscalls = context.extensions()[count];
    drop(context);
    assert_eq!(first.events, rest.events + 1);
    assert!(first.events > 6000 && sum != 0 && syscalls > 1000);
    assert_eq!(calls, 2 * first.events);
    // Entering a packet may allocate, and so may the start of a read.
    let packets: usize = (traceset.traces().iter())
        .flat_map(|trace| {
            (0..trace.tracefiles().len()).map(|t| trace.packet_index(ltt_read::TracefileIndex(t)))
        })
        .map(|index| index.entries().len())
        .sum();
    assert!(blocks <= 2 * packets as u64 + 10, "{blocks} blocks for {packets} packets");
}
