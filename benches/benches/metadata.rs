//! Parsing metadata. The MB/s at 1000 and at 10 000 event types are similar if the time is
//! linear in the size.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ltt_read::metadata;
use ltt_read::schema::Format;
use lttv_traces::many_types;

fn parse(c: &mut Criterion) {
    let mut group = c.benchmark_group("metadata: parse and resolve");
    group.sample_size(10);
    for (language, format) in [("TSDL", Format::Ctf1), ("CTF 2 JSON", Format::Ctf2)] {
        for event_types in [1_000, 10_000] {
            let text = many_types(format, event_types).expect("metadata");
            group.throughput(Throughput::BytesDecimal(text.len() as u64));
            let id = BenchmarkId::new(language, format!("{event_types} event types"));
            group.bench_function(id, |b| {
                b.iter(|| metadata::parse(black_box(text.as_bytes())).expect("a schema"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, parse);
criterion_main!(benches);
