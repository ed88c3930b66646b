//! Reading all streams in time order. Times are per event; runs of one stream have three events
//! on average.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ltt_read::{Merge, Trace};
use lttv_benches::{Sums, bench_events};
use lttv_traces::{Input, Kind};

fn headers(c: &mut Criterion) {
    let mut group = c.benchmark_group("merge, headers and sizes only, kernel-like");
    group.sample_size(20).throughput(Throughput::Elements(bench_events()));
    for streams in [4, 8, 64] {
        let input = Input::new(Kind::Kernel, bench_events()).cpus(streams);
        let traces = [Trace::open(input.cached().expect("a trace")).expect("a trace")];
        group.bench_function(BenchmarkId::from_parameter(format!("{streams} streams")), |b| {
            b.iter(|| {
                let (mut merge, mut types) = (Merge::new(&traces), 0);
                while let Some(event) = merge.next() {
                    types += event.type_id().index() as u64;
                }
                types
            });
        });
    }
    group.finish();
}

fn every_field(c: &mut Criterion) {
    let mut group = c.benchmark_group("merge of 8 streams, every field");
    group.sample_size(20).throughput(Throughput::Elements(bench_events()));
    for (name, kind) in
        [("kernel-like", Kind::Kernel), ("UST-like", Kind::Ust), ("LTTng 0.x", Kind::Legacy)]
    {
        let dir = Input::new(kind, bench_events()).cached().expect("a trace");
        let traces = [Trace::open(dir).expect("a trace")];
        group.bench_function(name, |b| {
            b.iter(|| {
                let (mut merge, mut sums) = (Merge::new(&traces), Sums::default());
                while let Some(event) = merge.next() {
                    sums.add(&event);
                }
                sums
            });
        });
    }
    group.finish();
}

criterion_group!(benches, headers, every_field);
criterion_main!(benches);
