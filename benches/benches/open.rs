//! Opening a trace, and computing its packet index (packets of 64 KiB).

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ltt_read::{Merge, Trace, TracefileIndex};
use lttv_benches::bench_events;
use lttv_traces::{Input, Kind};

const PACKET: u64 = 64 << 10;

fn open(c: &mut Criterion) {
    let input = Input::new(Kind::Kernel, bench_events()).packet_bytes(PACKET);
    let indexed = input.cached().expect("a trace");
    let plain = input.without_index().cached().expect("a trace");

    let mut group = c.benchmark_group("open");
    group.bench_function("metadata and first packets", |b| {
        b.iter(|| Trace::open(&indexed).expect("a trace"));
    });
    group.bench_function("and the first event of the merge", |b| {
        b.iter(|| {
            let trace = Trace::open(&indexed).expect("a trace");
            Merge::new(&[trace]).next().expect("an event").timestamp()
        });
    });
    let packets = |trace: &Trace| -> u64 {
        let tracefiles = 0..trace.tracefiles().len();
        tracefiles
            .map(|number| trace.packet_index(TracefileIndex(number)).entries().len() as u64)
            .sum()
    };
    group.throughput(Throughput::Elements(packets(&Trace::open(&plain).expect("a trace"))));
    for (name, dir) in [
        ("and all packet indexes, from index files", &indexed),
        ("and all packet indexes, from packet headers", &plain),
    ] {
        group.bench_function(name, |b| {
            b.iter(|| packets(&Trace::open(dir).expect("a trace")));
        });
    }
    group.finish();
}

criterion_group!(benches, open);
criterion_main!(benches);
