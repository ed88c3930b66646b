//! Building a history, and querying a file in the page cache. See `measure_history` for files,
//! memory, first answers, and the correctness of answers.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lttv_benches::states::{Query, QueryBatch, START, WORKLOADS, Workload};
use lttv_state::history::{Builder, History, Settings, Timestamp};

/// Builds a history in a temporary file.
fn built(workload: &Workload) -> (tempfile::TempDir, History) {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("history");
    let mut builder = Builder::create(path, START, Settings::default()).expect("a file");
    let (_, last) = workload.system.build(&mut builder).expect("changes");
    let history = builder.close(last.saturating_add(1)).expect("a history");
    (dir, history)
}

/// Measures making and storing changes.
fn build(c: &mut Criterion) {
    let mut group = c.benchmark_group("build a history in a file, per change");
    group.sample_size(10);
    for workload in &WORKLOADS {
        group.throughput(Throughput::Elements(workload.expected.changes));
        group.bench_function(workload.name, |b| b.iter(|| built(workload)));
    }
    group.finish();
}

/// Measures only making changes, for comparison.
fn changes(c: &mut Criterion) {
    struct Nowhere;
    impl lttv_benches::states::Sink for Nowhere {
        type Error = std::convert::Infallible;
        fn change(
            &mut self,
            quark: u32,
            time: Timestamp,
            value: lttv_state::value::StateValue<'_>,
        ) -> Result<(), Self::Error> {
            black_box((quark, time, value));
            Ok(())
        }
    }
    let mut group = c.benchmark_group("make changes and store nothing, per change");
    group.sample_size(10);
    for workload in &WORKLOADS {
        group.throughput(Throughput::Elements(workload.expected.changes));
        group.bench_function(workload.name, |b| b.iter(|| workload.system.run(&mut Nowhere)));
    }
    group.finish();
}

/// Measures all queries of a kind, per query.
fn ask(c: &mut Criterion) {
    for workload in &WORKLOADS {
        let (_dir, history) = built(workload);
        let mut group = c.benchmark_group(format!("ask {}, per question", workload.name));
        group.sample_size(10);
        for query in Query::ALL {
            let batch = QueryBatch::of(query, &workload.system, &history);
            group.throughput(Throughput::Elements(batch.queries.len() as u64));
            group.bench_function(BenchmarkId::from_parameter(query.name()), |b| {
                b.iter(|| {
                    for arguments in &batch.queries {
                        let answer = batch.run(&history, arguments, |interval| {
                            black_box(interval);
                        });
                        answer.expect("an answer");
                    }
                });
            });
        }
        group.finish();
    }
}

criterion_group!(benches, build, changes, ask);
criterion_main!(benches);
