//! The cost of following call stacks and heaps, beyond reading: a table in processor time of this
//! thread, in ns an event. Each figure is the least of several passes in turns.
//!
//! Measures a generated trace (`LTTV_BENCH_EVENTS`, half a million by default), and traces named
//! as arguments.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use lttv_benches::bench_events;
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_state::call_stacks::{CallRules, CallStackState, CallStacks};
use lttv_state::heap::{Heap, HeapState};
use lttv_traces::{Input, Kind};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 7;

/// The work per event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// A hook that counts.
    Read,
    /// Call stacks without figures.
    Stacks,
    /// Call stacks with the figures of functions and call paths.
    Calls,
    /// The figures of calls and heaps.
    Heap,
}

const WORKS: [Work; 4] = [Work::Read, Work::Stacks, Work::Calls, Work::Heap];

fn main() {
    // Cargo adds an option.
    let args: Vec<_> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    println!(
        "{:30} {:>9} {:>8} {:>8} {:>8} {:>8}",
        "processor time in ns an event", "events", "read", "+ stacks", "+ calls", "+ heap"
    );
    let generated = Input::new(Kind::Calls, bench_events()).packet_bytes(64 << 10).cached();
    measure("generated", &generated.expect("a trace"));
    args.iter().for_each(|path| measure(path, Path::new(path)));
}

fn measure(name: &str, path: &Path) {
    let traceset = Traceset::open(path).expect("a trace");
    let mut events = 0;
    let mut least = [Duration::MAX; WORKS.len()];
    for _ in 0..ROUNDS {
        for (work, least) in WORKS.iter().zip(&mut least) {
            let begin = now();
            events = pass(&traceset, *work);
            *least = (*least).min(now() - begin);
        }
    }
    let per_event = |time: Duration| time.as_nanos() as f64 / events.max(1) as f64;
    let [read, others @ ..] = least.map(per_event);
    print!("{name:30} {events:>9} {read:>8.1}");
    let mut before = read;
    for time in others {
        print!(" {:>8.1}", time - before);
        before = time;
    }
    println!();
}

/// Reads a traceset once. Returns the number of events.
fn pass(traceset: &Traceset, work: Work) -> u64 {
    let mut events = 0;
    let mut context = TracesetContext::new(traceset);
    context.on_event("*", |_| events += 1);
    if work == Work::Read {
        _ = black_box(context.read(&Bounds::all()));
        drop(context);
        return events;
    }
    let stacks = context.attach(CallStackState::new(CallRules::default()));
    let calls = (work != Work::Stacks).then(|| CallStacks::attach(&mut context, stacks));
    let heap = (work == Work::Heap).then(|| {
        let state = context.attach(HeapState::new(stacks));
        Heap::attach(&mut context, state)
    });
    _ = black_box(context.read(&Bounds::all()));
    black_box(calls.map(|calls| calls.take(context.extensions())));
    black_box(heap.map(|heap| heap.take(context.extensions())));
    drop(context);
    events
}

fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
