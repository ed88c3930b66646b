//! The cost of filters: reading in time order with and without them. Times are per event read
//! or skipped.

use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ltt_read::{Event, Merge, Trace};
use lttv_benches::{bench_events, time_range};
use lttv_context::{Bounds, Subscription, Traceset, TracesetContext};
use lttv_filter::{Expression, Filters};
use lttv_traces::{Input, Kind};

fn compile(text: &str, traces: &[Arc<Trace>]) -> Filters {
    let expression = Expression::parse(text).expect("a sound expression");
    Filters::new(&expression, traces).expect("known fields")
}

/// Counts the events that pass, by testing all of them in order.
fn tested(traces: &[Arc<Trace>], passes: impl Fn(&Event<'_>) -> bool) -> u64 {
    let (mut merge, mut passed) = (Merge::new(traces), 0);
    while let Some(event) = merge.next() {
        passed += u64::from(passes(&event));
    }
    passed
}

/// Counts the events that pass, with the others skipped before merging.
fn read(filters: &Filters) -> u64 {
    let (mut events, mut passed) = (filters.read(), 0);
    while events.next().is_some() {
        passed += 1;
    }
    passed
}

/// Counts the calls of a hook, in a context with the filter as its choice.
fn delivered(traceset: &Traceset, filters: &Filters) -> u64 {
    let mut called = 0;
    let mut context = TracesetContext::new(traceset);
    context.set_filter(filters);
    context.on_event(Subscription::to_every_event(), |_| called += 1);
    _ = context.read(&Bounds::all()).expect("no position");
    drop(context);
    called
}

fn filter(c: &mut Criterion) {
    let dir = Input::new(Kind::Kernel, bench_events()).cached().expect("a trace");
    let traces = [Trace::open(dir).expect("a trace")];
    let traceset = Traceset::from_iter(traces.iter().cloned());
    let (first, last) = time_range(&traces[0]).expect("a sound trace");
    let at = |percent: i64| first.as_ns() + (last.as_ns() - first.as_ns()) / 100 * percent;
    let window = format!("event.time >= {}ns && event.time < {}ns", at(50), at(51));
    let mut group = c.benchmark_group("filter, merge of 8 streams, kernel-like");
    group.sample_size(20).throughput(Throughput::Elements(bench_events()));

    group.bench_function("no filter", |b| b.iter(|| tested(&traces, |_| true)));
    for (name, text) in [
        ("by name, all pass, known in advance", "event.name != nothing"),
        ("by name, all but one in a hundred", "event.name != syscall_entry_openat"),
        ("by name, 1 of 16 types", "event.name == syscall_entry_openat"),
        ("by name, a third of the events", "event.name == sched_switch"),
        ("one comparison in 1 of 16 types", "event.fields.sched_switch.next_tid == 1042"),
        (
            "three comparisons in 1 of 16 types",
            "event.fields.sched_switch.next_tid > 1000 && prev_tid != 1042 && next_prio < 1000",
        ),
        ("text in 1 of 16 types", "next_comm == \"worker-042\""),
        ("pattern in 1 of 16 types", "next_comm =~ \"*-?42\""),
        ("two CPUs of 8", "tracefile.cpu in (2, 5)"),
        ("1 % of the time", &window),
    ] {
        let filters = compile(text, &traces);
        group.bench_function(format!("{name}: each event tested"), |b| {
            b.iter(|| tested(&traces, |event| filters.matches(event)))
        });
        group.bench_function(format!("{name}: delivered in a context"), |b| {
            b.iter(|| delivered(&traceset, &filters))
        });
        group.bench_function(format!("{name}: read by the filter"), |b| b.iter(|| read(&filters)));
    }
    group.finish();

    c.bench_function("compile three comparisons", |b| {
        let text = "event.fields.sched_switch.next_tid > 1000 && prev_tid != 1042 && next_prio < 9";
        b.iter(|| compile(text, &traces))
    });
}

criterion_group!(benches, filter);
criterion_main!(benches);
