//! The cost of a context compared with a merge, of each hook, and of seeking. Times of reading
//! are per event; the trace is kernel-like, with 8 streams whose runs have three events on
//! average. The cost of a hook by id is also measured for a trace of routines, whose event
//! types are as frequent as in recordings.

use criterion::measurement::WallTime;
use criterion::{
    BatchSize, BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main,
};
use ltt_read::{Merge, Timestamp};
use lttv_benches::{bench_events, handles, time_range};
use lttv_context::{
    Bounds, CheckpointPolicy, Extension, Handle, ParallelReader, Setup, Subscription, Traceset,
    TracesetContext,
};
use lttv_traces::{Input, Kind, Random};

fn traceset() -> Traceset {
    traceset_of(Kind::Kernel)
}

fn traceset_of(kind: Kind) -> Traceset {
    let dir = Input::new(kind, bench_events()).packet_bytes(64 << 10).cached();
    Traceset::open(dir.expect("a trace")).expect("a trace")
}

/// An event type with about a third of the events.
const EVENT: &str = "sched_switch";

/// A share of the events of a trace, its event type, and two of its fields.
type Share = (&'static str, &'static str, [&'static str; 2]);

const SHARES: [Share; 3] = [
    ("a third", EVENT, ["prev_tid", "next_tid"]),
    ("a ninth", "sched_wakeup", ["tid", "prio"]),
    ("a thirtieth", "syscall_entry_read", ["fd", "count"]),
];

/// The shares in a trace of routines.
const SHARES_OF_ROUTINE: [Share; 3] = [
    ("a ninth", "sched_stat_runtime", ["tid", "runtime"]),
    ("a seventeenth", EVENT, ["prev_tid", "next_tid"]),
    ("a thirtieth", "syscall_entry_read", ["fd", "count"]),
];

/// An event type without events.
const ABSENT: &str = "no such event";

fn read(context: &mut TracesetContext<'_>) -> u64 {
    context.seek_time(Timestamp::MIN);
    context.read(&Bounds::all()).map_or(0, |read| read.events)
}

/// The baseline.
fn without_hooks(group: &mut BenchmarkGroup<'_, WallTime>, traceset: &Traceset) {
    group.bench_function("without a context", |b| {
        let mut merge = Merge::new(traceset.traces());
        b.iter(|| {
            merge.seek(Timestamp::MIN);
            let mut types = 0;
            while let Some(event) = merge.next() {
                types += event.type_id().index();
            }
            types
        });
    });
    group.bench_function("no hooks", |b| {
        let mut context = TracesetContext::new(traceset);
        b.iter(|| read(&mut context));
    });
}

/// Reads two fields of an event type, in a hook or without a context.
fn by_share(group: &mut BenchmarkGroup<'_, WallTime>, traceset: &Traceset, shares: [Share; 3]) {
    for (share, event, fields) in shares {
        group.bench_function(
            format!("without a context, two fields of {share} of the events"),
            |b| {
                let handles = handles(traceset, event, &fields.map(str::to_owned));
                let mut merge = Merge::new(traceset.traces());
                b.iter(|| {
                    merge.seek(Timestamp::MIN);
                    let mut sum = 0u64;
                    while let Some(event) = merge.next() {
                        for field in &handles[event.trace_index().0][event.type_id().index()] {
                            sum = sum.wrapping_add(event.integer(field).unwrap_or(0));
                        }
                    }
                    sum
                });
            },
        );
        group.bench_function(format!("a hook by id, two fields of {share} of the events"), |b| {
            let mut sum = 0u64;
            let mut context = TracesetContext::new(traceset);
            context.on_event(Subscription::to(event).fields(fields), |call| {
                let (first, second) =
                    (call.unsigned(0).unwrap_or(0), call.unsigned(1).unwrap_or(0));
                sum = sum.wrapping_add(first).wrapping_add(second);
            });
            b.iter(|| read(&mut context));
        });
    }
}

fn pipeline(c: &mut Criterion) {
    let traceset = traceset();
    let mut group = c.benchmark_group("read everything in order");
    group.sample_size(20).throughput(Throughput::Elements(bench_events()));
    without_hooks(&mut group, &traceset);
    group.bench_function("a hook by id that is never called", |b| {
        let mut context = TracesetContext::new(&traceset);
        context.on_event(ABSENT, |_| {});
        b.iter(|| read(&mut context));
    });
    by_share(&mut group, &traceset, SHARES);
    for hooks in [1, 2, 10, 100] {
        let mut calls = vec![0u64; hooks];
        let mut context = TracesetContext::new(&traceset);
        for calls in &mut calls {
            context.on_event(Subscription::to_every_event(), |_| *calls += 1);
        }
        group.bench_function(BenchmarkId::new("hooks of every event", hooks), |b| {
            b.iter(|| read(&mut context));
        });
    }
    group.finish();
}

fn pipeline_of_routine(c: &mut Criterion) {
    let traceset = traceset_of(Kind::Routine);
    let mut group = c.benchmark_group("read everything in order, routine");
    group.sample_size(20).throughput(Throughput::Elements(bench_events()));
    without_hooks(&mut group, &traceset);
    by_share(&mut group, &traceset, SHARES_OF_ROUTINE);
    group.finish();
}

fn parallel(c: &mut Criterion) {
    let traceset = traceset();
    let mut group = c.benchmark_group("count by name, in slices");
    group.sample_size(20).throughput(Throughput::Elements(bench_events()));
    for threads in [1, 2] {
        let parallel = ParallelReader::new(&traceset).threads(threads);
        group.bench_function(BenchmarkId::new("threads", threads), |b| {
            b.iter(|| {
                let read = parallel.run(|slice| {
                    let mut count = 0u64;
                    let mut context = slice.context();
                    context.on_event(EVENT, |_| count += 1);
                    slice.read(&mut context).expect("no extension");
                    drop(context);
                    count
                });
                read.results.iter().sum::<u64>()
            });
        });
    }
    group.finish();
}

/// A state of about the size of the kernel state: data for each of 500 processes.
struct Processes(Vec<u64>);

impl Extension for Processes {
    type Checkpoint = Vec<u64>;

    fn install(handle: Handle<Self>, setup: &mut Setup<'_, '_>) {
        setup.hooks.on_event(Subscription::to(EVENT).fields(["next_tid"]), move |call| {
            let tid = call.unsigned(0).unwrap_or(0);
            let processes = &mut call.extensions[handle].0;
            let at = tid as usize % processes.len();
            processes[at] += 1;
        });
    }

    fn reset(&mut self) {
        self.0.fill(0);
    }

    fn save(&self) -> Vec<u64> {
        self.0.clone()
    }

    fn restore(&mut self, saved: &Vec<u64>) {
        self.0.clone_from(saved);
    }

    fn checkpoint_bytes(saved: &Vec<u64>, _: Option<&Vec<u64>>) -> usize {
        size_of::<Self::Checkpoint>() + saved.len() * size_of::<u64>()
    }
}

fn seeks(c: &mut Criterion) {
    let traceset = traceset();
    let (first, last) = time_range(&traceset.traces()[0]).expect("sound tracefiles");
    let length = last.as_ns().abs_diff(first.as_ns());
    let mut random = Random::new(1);
    let mut time = || Timestamp::from_ns(first.as_ns() + random.below(length) as i64);
    let mut context = TracesetContext::new(&traceset);
    let positions: Vec<_> = (0..100)
        .map(|_| {
            context.seek_time(time());
            context.position()
        })
        .collect();
    let one = Bounds::all().events(1);

    let mut group = c.benchmark_group("go to a random place and read one event");
    group.sample_size(20);
    group.bench_function("by time", |b| {
        let step = |time| {
            context.seek_time(time);
            context.read(&one)
        };
        b.iter_batched(&mut time, step, BatchSize::SmallInput);
    });
    group.bench_function("by position", |b| {
        let mut next = positions.iter().cycle();
        b.iter(|| {
            next.next().map(|position| context.seek_position(position));
            context.read(&one)
        });
    });
    for every in [5_000, 50_000] {
        let mut context = TracesetContext::new(&traceset);
        context.attach(Processes(vec![0; 500]));
        context.state().set_policy(CheckpointPolicy::every(every));
        read(&mut context);
        group.bench_function(
            BenchmarkId::new("by time, with state, checkpoints every", every),
            |b| {
                let step = |time| {
                    context.state().seek_time(time);
                    context.read(&one)
                };
                b.iter_batched(&mut time, step, BatchSize::SmallInput);
            },
        );
    }
    group.finish();

    let mut next = positions.windows(2).cycle();
    c.bench_function("compare two positions", |b| {
        b.iter(|| next.next().map(|pair| pair[0] < pair[1]));
    });
}

criterion_group!(benches, pipeline, pipeline_of_routine, parallel, seeks);
criterion_main!(benches);
