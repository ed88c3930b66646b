//! Reading one stream after the other: only headers, two fields, every field, event by event and as
//! columns; and a decoder written by hand for comparison. Times are per event.

use std::path::Path;
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ltt_read::Trace;
use ltt_read::columns::Columns;
use ltt_read::schema::{EventTypeId, FieldKind, Scope};
use lttv_benches::{Sums, bench_events, each_event, first_two_integers, sum_plain, sum_ust_like};
use lttv_traces::{Input, Kind};

type ByHand = fn(&[u8]) -> Option<(u64, Sums)>;

fn iterate(c: &mut Criterion) {
    let kinds = [
        ("kernel-like", Kind::Kernel),
        ("UST-like", Kind::Ust),
        ("one type of 40 B", Kind::Plain),
        ("LTTng 0.x", Kind::Legacy),
    ];
    for (name, kind) in kinds {
        let dir = Input::new(kind, bench_events()).cached().expect("a trace");
        let trace = Trace::open(&dir).expect("a trace");
        let mut group = c.benchmark_group(format!("stream after stream, {name}"));
        group.sample_size(20).throughput(Throughput::Elements(bench_events()));
        group.bench_function("headers and sizes only", |b| b.iter(|| types_and_times(&trace)));
        group.bench_function("headers and sizes only, as columns", |b| {
            b.iter(|| types_and_times_as_columns(&trace));
        });
        let handles = first_two_integers(&trace);
        group.bench_function("two integers through handles", |b| {
            b.iter(|| {
                let mut sums = Sums::default();
                let each = each_event(&trace, |event| {
                    for field in &handles[event.type_id().index()] {
                        sums.integer(event.integer(field).unwrap_or(0));
                    }
                });
                each.map(|()| sums).expect("sound tracefiles")
            });
        });
        group.bench_function("every field", |b| {
            b.iter(|| {
                let mut sums = Sums::default();
                each_event(&trace, |event| sums.add(event)).expect("sound tracefiles");
                sums
            });
        });
        // The numbers of one type, which is all that there is in one of the traces.
        let mut columns = columns_of_most_frequent(&trace);
        group.bench_function("numbers of the most frequent type, as columns", |b| {
            b.iter(|| sum_of_columns(&trace, &mut columns));
        });
        let by_hand: Option<ByHand> = match kind {
            Kind::Ust => Some(sum_ust_like),
            Kind::Plain => Some(sum_plain),
            Kind::Kernel | Kind::Routine | Kind::Calls | Kind::Legacy => None,
        };
        if let Some(by_hand) = by_hand {
            let files = files(&trace);
            group.bench_function("every field, decoder written by hand", |b| {
                b.iter(|| {
                    let sums = |file: &Vec<u8>| by_hand(file).expect("a sound file");
                    files
                        .iter()
                        .map(sums)
                        .fold((0, 0), |all, (events, sums)| (all.0 + events, all.1 ^ sums.integers))
                });
            });
        }
        group.finish();
    }
}

fn types_and_times(trace: &Arc<Trace>) -> (u64, i64) {
    let (mut types, mut times) = (0, 0i64);
    let each = each_event(trace, |event| {
        types += event.type_id().index() as u64;
        times ^= event.timestamp().map_or(0, |time| time.as_ns());
    });
    each.map(|()| (types, times)).expect("sound tracefiles")
}

fn types_and_times_as_columns(trace: &Arc<Trace>) -> (u64, i64) {
    let (mut types, mut times) = (0, 0i64);
    let mut columns = Columns::of_all_types();
    for mut cursor in trace.cursors() {
        while cursor.read_columns(&mut columns, ROWS).expect("a sound tracefile") > 0 {
            types += columns.types().iter().map(|id| id.index() as u64).sum::<u64>();
            times = columns.times().iter().fold(times, |all, time| all ^ time);
            columns.clear();
        }
    }
    (types, times)
}

/// The number of events read at a time: their columns stay near the processor.
const ROWS: u64 = 1 << 11;

/// Returns columns for the numbers in the payload of the most frequent event type.
fn columns_of_most_frequent(trace: &Arc<Trace>) -> Columns {
    let mut counts = vec![0; trace.schema().event_types.len()];
    each_event(trace, |event| counts[event.type_id().index()] += 1).expect("sound tracefiles");
    let most = (0..counts.len()).max_by_key(|id| counts[*id]).expect("an event type");
    let id = EventTypeId(most as u32);
    let payload = trace.event_type(id).payload.as_ref().map(|payload| &payload.kind);
    let Some(FieldKind::Struct(payload)) = payload else { return Columns::of_all_types() };
    let fields = payload.members.iter();
    let fields = fields.filter_map(|member| trace.field(id, Scope::Payload, &member.name));
    let fields = fields.filter(|field| field.is_plain_integer());
    Columns::new(trace, id, fields).expect("numbers")
}

fn sum_of_columns(trace: &Arc<Trace>, columns: &mut Columns) -> Sums {
    let mut sums = Sums::default();
    for mut cursor in trace.cursors() {
        while cursor.read_columns(columns, ROWS).expect("a sound tracefile") > 0 {
            sums.add_columns(columns);
            columns.clear();
        }
    }
    sums
}

fn files(trace: &Trace) -> Vec<Vec<u8>> {
    let paths = trace.tracefiles().iter().flat_map(|tracefile| tracefile.files());
    paths.map(|path: &Path| std::fs::read(path).expect("a file")).collect()
}

criterion_group!(benches, iterate);
criterion_main!(benches);
