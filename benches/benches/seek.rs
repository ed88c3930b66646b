//! Seeking by time in a merge of 8 streams. After the look-up in the packet index, half a packet
//! of each stream is read on average.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ltt_read::{Merge, Timestamp, Trace};
use lttv_benches::{bench_events, time_range};
use lttv_traces::{Input, Kind, Random};

fn random_times(c: &mut Criterion) {
    let mut group = c.benchmark_group("seek to a random time and read one event, index made");
    group.sample_size(20);
    for kib in [64, 1024] {
        let input = Input::new(Kind::Kernel, bench_events()).packet_bytes(kib << 10);
        let trace = Trace::open(input.cached().expect("a trace")).expect("a trace");
        let (first, last) = time_range(&trace).expect("sound tracefiles");
        let length = last.as_ns().abs_diff(first.as_ns());
        let (mut merge, mut random) = (Merge::new(&[trace]), Random::new(1));
        group.bench_function(BenchmarkId::from_parameter(format!("packets of {kib} KiB")), |b| {
            b.iter_batched(
                || Timestamp::from_ns(first.as_ns() + random.below(length) as i64),
                |time| {
                    merge.seek(time);
                    merge.next().and_then(|event| event.timestamp())
                },
                BatchSize::SmallInput,
            );
        });
    }
    group.finish();
}

fn last_hundredth(c: &mut Criterion) {
    let mut group = c.benchmark_group("open, seek to the last 1 % and read it");
    group.sample_size(20);
    let input = Input::new(Kind::Kernel, bench_events()).packet_bytes(64 << 10);
    for (name, input) in
        [("with index files", input.clone()), ("without index files", input.without_index())]
    {
        let dir = input.cached().expect("a trace");
        let trace = Trace::open(&dir).expect("a trace");
        let (first, last) = time_range(&trace).expect("sound tracefiles");
        let begin = Timestamp::from_ns(last.as_ns() - (last.as_ns() - first.as_ns()) / 100);
        let window = || {
            let mut merge = Merge::new(&[Trace::open(&dir).expect("a trace")]);
            merge.seek(begin);
            let mut events = 0;
            while merge.next().is_some() {
                events += 1;
            }
            events
        };
        group.throughput(Throughput::Elements(window()));
        group.bench_function(name, |b| b.iter(window));
    }
    group.finish();
}

criterion_group!(benches, random_times, last_hundredth);
criterion_main!(benches);
