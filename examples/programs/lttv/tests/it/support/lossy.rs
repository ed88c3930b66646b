//! A kernel trace with losses.

use std::path::Path;

use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};

/// Writes a kernel trace with losses on CPU 1: 5 events from 1.1 to 3.1 ms, 3 packets from 3.1 to 5 ms.
pub(crate) fn kernel_trace(path: &Path) {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let int = || FieldClass::sint(32, ByteOrder::Little);
    let switch = FieldClass::structure([
        ("prev_comm", FieldClass::string()),
        ("prev_tid", int()),
        ("prev_state", int()),
        ("next_comm", FieldClass::string()),
        ("next_tid", int()),
    ]);
    let switch = schema.add_event_type(StreamClassId(0), "sched_switch", switch);
    // Declared, so that all commands accept the trace.
    for name in ["irq_handler_entry", "irq_handler_exit"] {
        schema.add_event_type(StreamClassId(0), name, FieldClass::structure([("irq", int())]));
    }
    for name in ["block_rq_issue", "block_rq_complete"] {
        let fields = [("dev", int()), ("sector", int()), ("nr_sector", int())];
        schema.add_event_type(StreamClassId(0), name, FieldClass::structure(fields));
    }
    let trace = TraceWriter::create(path, schema).unwrap();
    for cpu in 0..2u64 {
        let stream = trace.stream(StreamClassId(0), &format!("channel_{cpu}")).unwrap();
        let stream = stream.with_packet_context(FieldValue::fields([("cpu_id", cpu)]));
        let mut stream = stream.with_stream_id(cpu);
        for (packet, sequence) in [(0, 0), (1, 1), (2, if cpu == 1 { 5 } else { 2 })] {
            let begin = packet * 2_000_000 + 1_000_000;
            stream.set_packet_sequence(sequence);
            stream.begin_packet(begin).unwrap();
            for step in 0..10u64 {
                let tid = |of: u64| FieldValue::from(100 + cpu * 10 + of % 2);
                let values = ["a".into(), tid(step), 1.into(), "b".into(), tid(step + 1)];
                let time = begin + step * 10_000;
                stream.event(switch, time, FieldValue::structure(values)).unwrap();
            }
            stream.set_discarded(if cpu == 1 && packet > 0 { 5 } else { 0 });
            stream.end_packet(begin + 100_000).unwrap();
        }
        stream.finish().unwrap();
    }
}
