//! What it costs to follow the state of a machine, and to account for it, over
//! reading alone. Times are per event.

use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use lttv_benches::{Input, Kind, bench_events};
use lttv_context::{Bounds, Saving, Traceset, TracesetContext};
use lttv_state::kernel::KernelState;
use lttv_state::stats::Statistics;

/// How much is done for each event.
#[derive(Debug, Clone, Copy)]
enum Work {
    Read,
    State,
    Statistics,
}

/// Reads everything; gives the number of events.
fn pass(traceset: &Traceset, work: Work) -> u64 {
    let mut context = TracesetContext::new(traceset);
    if !matches!(work, Work::Read) {
        let kernel = context.attach(KernelState::new());
        if matches!(work, Work::Statistics) {
            Statistics::attach(&mut context, kernel);
        }
    }
    context.middle(&Bounds::all()).map_or(0, |read| read.events)
}

fn measure(c: &mut Criterion, name: &str, traceset: &Traceset) {
    let events = pass(traceset, Work::Read);
    let mut group = c.benchmark_group(name);
    group.sample_size(20).throughput(Throughput::Elements(events));
    for (name, work) in [
        ("read", Work::Read),
        ("read and follow the state", Work::State),
        ("read, follow the state, account", Work::Statistics),
    ] {
        group.bench_function(name, |b| b.iter(|| pass(traceset, work)));
    }
}

fn generated(c: &mut Criterion) {
    let dir = Input::new(Kind::Kernel, bench_events()).packet_bytes(64 << 10).cached();
    measure(c, "generated", &Traceset::open(dir.expect("a trace")).expect("a trace"));
}

/// A real recording of format 2.3, 618 339 events, if it is at hand.
fn legacy(c: &mut Criterion) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../shared/traces/legacy/trace-618339events-1293lost-1cpu");
    if path.is_dir() {
        measure(c, "real, format 2.3", &Traceset::open(path).expect("a trace"));
    } else {
        eprintln!("skipped: {} is not there", path.display());
    }
}

/// Going to a time with the state there: from the nearest checkpoint on, or from the
/// begin.
fn seek(c: &mut Criterion) {
    let dir = Input::new(Kind::Kernel, bench_events()).packet_bytes(64 << 10).cached();
    let traceset = Traceset::open(dir.expect("a trace")).expect("a trace");
    let (begin, end) = lttv_benches::time_range(&traceset.traces()[0]).expect("events");
    let span = end.ns().abs_diff(begin.ns()).max(1);
    let mut group = c.benchmark_group("go to a time");
    group.sample_size(20);
    let ways = [
        ("by checkpoints every 50000 events", Saving::default()),
        ("by all events", Saving::never()),
    ];
    for (name, saving) in ways {
        let mut context = TracesetContext::new(&traceset);
        context.attach(KernelState::new());
        context.save_checkpoints(saving);
        let _ = context.replay(&Bounds::all());
        // The same times for both.
        let mut random = lttv_benches::Random::new(1);
        group.bench_function(name, |b| {
            b.iter(|| {
                let time = begin.ns().saturating_add_unsigned(random.below(span));
                context.seek_time_with_state(ltt_read::Timestamp::from_ns(time))
            });
        });
    }
}

criterion_group!(benches, generated, legacy, seek);
criterion_main!(benches);
