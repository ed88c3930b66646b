//! Copying a trace to memory: packets as they are, events as bytes, events field by field, and events
//! as records. Times are per event, and per byte for packets.

use std::io::{self, Write};
use std::sync::Arc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ltt_read::schema::Format;
use ltt_read::writer::{Record, Retargeted, StreamCopier, StreamWriter, Transfer, WriteError};
use ltt_read::{Cursor, Event, Trace};
use lttv_benches::bench_events;
use lttv_traces::{Input, Kind};

fn convert(c: &mut Criterion) {
    for (name, kind) in
        [("kernel-like", Kind::Kernel), ("UST-like", Kind::Ust), ("LTTng 0.x", Kind::Legacy)]
    {
        let dir = Input::new(kind, bench_events()).cached().expect("a trace");
        let trace = Trace::open(&dir).expect("a trace");
        let schema = Retargeted::new(trace.schema(), Format::Ctf1).schema;
        let transfer = Arc::new(Transfer::new(&trace, schema));
        let mut group = c.benchmark_group(format!("copy, {name}"));
        group.sample_size(10);
        // Formats before CTF have other packets and bodies, so their events go field by field.
        if kind != Kind::Legacy {
            let bytes = trace.tracefiles().iter().map(|file| file.size()).sum();
            group.throughput(Throughput::Bytes(bytes));
            group.bench_function("packets as they are", |b| {
                b.iter(|| all(&trace, &transfer, u64::MAX, packets));
            });
            group.throughput(Throughput::Elements(bench_events()));
            group.bench_function("events as bytes, to packets of 64 KiB", |b| {
                b.iter(|| {
                    all(&trace, &transfer, 1 << 16, |copier, cursor| {
                        events(copier, cursor, |copier, event| copier.event(event).map(drop))
                    })
                });
            });
        }
        group.throughput(Throughput::Elements(bench_events()));
        group.bench_function("events field by field", |b| {
            b.iter(|| {
                all(&trace, &transfer, u64::MAX, |copier, cursor| {
                    events(copier, cursor, |copier, event| {
                        copier.event_with(event, |encoder| event.visit_body(encoder)).map(drop)
                    })
                })
            });
        });
        group.bench_function("events as records", |b| {
            b.iter(|| {
                all(&trace, &transfer, u64::MAX, |copier, cursor| {
                    events(copier, cursor, |copier, event| {
                        copier.event_as(event, Record::of(event))
                    })
                })
            });
        });
        group.finish();
    }
}

/// A buffer to which everything is written, again and again: each byte is copied, as it would
/// be to a file in the page cache.
struct Scratch {
    bytes: Box<[u8]>,
}

impl Scratch {
    fn new() -> Self {
        Scratch { bytes: vec![0; 1 << 20].into() }
    }
}

impl Write for Scratch {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let copied = data.len().min(self.bytes.len());
        self.bytes[..copied].copy_from_slice(&data[..copied]);
        std::hint::black_box(&mut self.bytes);
        Ok(copied)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Copies all tracefiles of a trace. Returns the number of packets that were written.
fn all(
    trace: &Arc<Trace>,
    transfer: &Arc<Transfer>,
    packet_limit: u64,
    mut copy: impl FnMut(&mut StreamCopier<Scratch>, &mut Cursor) -> Result<(), WriteError>,
) -> u64 {
    let mut written = 0;
    for mut cursor in trace.cursors() {
        let class = cursor.tracefile().stream_class().expect("one class");
        let stream = StreamWriter::new(transfer.target().clone(), class, "stream", Scratch::new());
        let stream = stream.expect("a stream").with_packet_limit(packet_limit);
        let mut copier = StreamCopier::new(transfer, class, stream);
        while cursor.next_packet().expect("a sound trace") {
            copy(&mut copier, &mut cursor).expect("a copy");
        }
        written += copier.into_stream().expect("a whole stream").packets();
    }
    written
}

fn packets(copier: &mut StreamCopier<Scratch>, cursor: &mut Cursor) -> Result<(), WriteError> {
    copier.packet(cursor).map(|is_copied| assert!(is_copied))
}

fn events(
    copier: &mut StreamCopier<Scratch>,
    cursor: &mut Cursor,
    mut copy: impl FnMut(&mut StreamCopier<Scratch>, &Event<'_>) -> Result<(), WriteError>,
) -> Result<(), WriteError> {
    while cursor.advance_in_packet().expect("a sound trace") {
        copy(copier, &cursor.event())?;
    }
    Ok(())
}

criterion_group!(benches, convert);
criterion_main!(benches);
