//! Reading a time range enters only the packets that it needs.

use std::path::Path;
use std::sync::Arc;

use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};
use ltt_read::{Timestamp, Trace, TracefileIndex};
use lttv_context::{Bounds, Traceset, TracesetContext};
use lttv_filter::{Expression, Filters};

const CPUS: u64 = 4;
const EVENTS: u64 = 20_000;

/// Writes one event per 100 ns on each CPU, in packets of some hundred events.
fn write(dir: &Path) {
    let mut schema = presets::lttng_kernel(Format::Ctf1);
    let fields = FieldClass::structure([("n", FieldClass::uint(64, ByteOrder::Little))]);
    let tick = schema.add_event_type(StreamClassId(0), "tick", fields);
    assert_eq!(tick, EventTypeId(0));
    let trace = TraceWriter::create(dir, schema).expect("a directory").with_index();
    for cpu in 0..CPUS {
        let stream = trace.stream(StreamClassId(0), &format!("c_{cpu}")).expect("a stream");
        let stream = stream.with_packet_context(FieldValue::fields([("cpu_id", cpu)]));
        let mut stream = stream.with_stream_id(cpu).with_packet_limit(4096);
        for n in 0..EVENTS {
            let value = FieldValue::structure([n.into()]);
            stream.event(tick, n * 100 + cpu, value).expect("an event");
        }
        stream.finish().expect("a file");
    }
}

/// Returns the number of packets with events in `begin..end`, by the index.
fn needed(trace: &Arc<Trace>, begin: Timestamp, end: Timestamp) -> u64 {
    let entries =
        (0..trace.tracefiles().len()).flat_map(|t| trace.packet_index(TracefileIndex(t)).entries());
    entries.filter(|packet| packet.end >= begin && packet.start < end).count() as u64
}

#[test]
fn a_time_range_enters_only_its_packets() {
    let dir = tempfile::tempdir().expect("a directory");
    write(dir.path());
    let traceset = Traceset::open(dir.path()).expect("the trace just written");
    let trace = &traceset.traces()[0];
    let packets: usize =
        (0..4).map(|t| trace.packet_index(TracefileIndex(t)).entries().len()).sum();
    assert!(packets > 200, "{packets}");
    let origin = 1_600_000_000_000_000_000;
    let at = |n: u64| Timestamp::from_ns(origin + n as i64 * 100);

    for (first, last) in [(10_000, 10_500), (0, 1), (19_000, 20_000), (5_000, 5_000)] {
        let mut context = TracesetContext::new(&traceset);
        context.seek_time(at(first));
        let read = context.read(&Bounds::all().until(at(last))).expect("bounds have no position");
        assert_eq!(read.events, (last - first) * CPUS);
        // Each CPU's next event has to be read before the end is certain, and it may be in the next
        // packet.
        let most = needed(trace, at(first), at(last)) + CPUS;
        let entered = context.merge().packets_entered();
        assert!(entered <= most, "{entered} packets, not {most}, of {packets}");
        // Seeking a position enters only the packets that contain it.
        let position = context.position();
        context.seek_time(Timestamp::MIN);
        let before = context.merge().packets_entered();
        context.seek_position(&position).expect("a position of this traceset");
        assert!(context.read(&Bounds::all().events(1)).is_ok());
        assert!(context.merge().packets_entered() - before <= 2 * CPUS);
    }

    // A check skips times and tracefiles in which no event can pass.
    let of = |expression: String| {
        let expression = Expression::parse(&expression).expect("a sound expression");
        Filters::new(&expression, traceset.traces()).expect("known fields")
    };
    for (from, to) in [(10_000, 10_500), (0, 1), (19_000, 20_000)] {
        let (begin, end) = (at(from), at(to));
        let times = format!("event.time >= {}ns && event.time < {}ns", begin.as_ns(), end.as_ns());
        for (filters, cpus) in [
            (of(times.clone()), CPUS),
            (of(format!("{times} && tracefile.cpu == 2")), 1),
            (of(format!("{times} && event.name == nothing")), 0),
        ] {
            let mut context = TracesetContext::new(&traceset);
            context.set_filter(&filters);
            let read = context.read(&Bounds::all()).expect("bounds have no position");
            let by_filter = {
                let mut matches = filters.read();
                let passed = std::iter::from_fn(|| matches.next().map(drop)).count() as u64;
                (passed, matches.merge().packets_entered())
            };
            assert_eq!((read.events, context.merge().packets_entered()), by_filter);
            assert_eq!(read.events, (to - from) * cpus);
            let most = if cpus == 0 { 0 } else { needed(trace, begin, end) * cpus / CPUS + cpus };
            let entered = context.merge().packets_entered();
            assert!(entered <= most, "{entered} packets, not {most}, of {packets}");
        }
    }

    // Creating a context reads nothing.
    let context = TracesetContext::new(&traceset);
    assert_eq!(context.merge().packets_entered(), 0);
}
