//! The cost of serving requests: one viewer, many viewers of the same interval, and overlapping
//! intervals, with times per event of the trace. Also many waiting requests, each for a few
//! events at a different position, with times per request.

use std::cell::Cell;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ltt_read::Timestamp;
use lttv_benches::{bench_events, counting, drain};
use lttv_context::{Traceset, TracesetContext};
use lttv_requests::Scheduler;
use lttv_requests::views::TimeWindow;
use lttv_traces::{Input, Kind};

fn traceset() -> Traceset {
    let dir = Input::new(Kind::Kernel, bench_events()).packet_bytes(64 << 10).cached();
    Traceset::open(dir.expect("a trace")).expect("a trace")
}

fn viewers(c: &mut Criterion) {
    let traceset = traceset();
    let mut group = c.benchmark_group("the same interval");
    group.sample_size(20).throughput(Throughput::Elements(bench_events()));
    for viewers in [1u64, 10, 100] {
        group.bench_function(BenchmarkId::new("viewers", viewers), |b| {
            let count = Cell::new(0);
            let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
            b.iter(|| {
                count.set(0);
                for _ in 0..viewers {
                    scheduler.submit(counting(&count)).expect("a sound request");
                }
                let (read, delivered) = drain(&mut scheduler);
                assert_eq!((read, delivered), (bench_events(), viewers * bench_events()));
                assert_eq!(count.get(), delivered);
            });
        });
    }
}

/// Requests ten intervals, each half overlapping the previous one.
fn staggered(c: &mut Criterion) {
    let traceset = traceset();
    let span = TracesetContext::new(&traceset).contexts().time_span().expect("some events");
    let all = TimeWindow::covering(span);
    let step = all.width() / 11;
    let at = |number: u64| Timestamp::from_ns(all.start().as_ns() + (step * number) as i64);
    let count = Cell::new(0);
    let interval = |number: u64| counting(&count).starting_at(at(number)).until(at(number + 2));
    let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
    for number in 0..10 {
        scheduler.submit(interval(number)).expect("a sound request");
    }
    let union = drain(&mut scheduler).0;
    scheduler.submit(counting(&count).starting_at(at(0)).until(at(11))).expect("a sound request");
    assert_eq!(drain(&mut scheduler).0, union, "each event is read once");

    let mut group = c.benchmark_group("ten intervals, each half over the one before");
    group.sample_size(20).throughput(Throughput::Elements(union));
    group.bench_function("together", |b| {
        b.iter(|| {
            (0..10).for_each(|number| _ = scheduler.submit(interval(number)));
            drain(&mut scheduler)
        });
    });
    group.bench_function("one after the other", |b| {
        b.iter(|| {
            for number in 0..10 {
                _ = scheduler.submit(interval(number));
                drain(&mut scheduler);
            }
        });
    });
}

/// Requests twenty events each, at positions spread evenly over the trace. The time per
/// request should grow no faster than the logarithm of their number.
fn waiting(c: &mut Criterion) {
    let traceset = traceset();
    let span = TracesetContext::new(&traceset).contexts().time_span().expect("some events");
    let all = TimeWindow::covering(span);
    let mut group = c.benchmark_group("requests that wait");
    for requests in [1_000_u64, 3_000, 10_000] {
        group.sample_size(10).throughput(Throughput::Elements(requests));
        group.bench_function(BenchmarkId::new("requests", requests), |b| {
            let count = Cell::new(0);
            let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
            let step = all.width() / requests;
            b.iter(|| {
                for number in 0..requests {
                    let begin = Timestamp::from_ns(all.start().as_ns() + (step * number) as i64);
                    let request = counting(&count).starting_at(begin).max_events(20);
                    scheduler.submit(request).expect("a sound request");
                }
                drain(&mut scheduler)
            });
        });
    }
}

criterion_group!(benches, viewers, staggered, waiting);
criterion_main!(benches);
