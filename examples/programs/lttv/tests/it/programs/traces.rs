//! Traces that the tests generate.

use std::fs;
use std::path::Path;

use ltt_read::schema::{ByteOrder, EnvValue, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, TraceWriter, presets};

/// Control characters of each kind.
pub(crate) const HOSTILE: &str = "\x1b[31m\r\x07\u{7f}\u{9b}1m\u{202e}\u{2066}\u{61c}é";

/// Returns a name with control characters.
pub(crate) fn hostile(name: &str) -> String {
    format!("{name}{HOSTILE}")
}

/// Writes a kernel trace with control characters in every name and text, including the names of
/// the trace and of a tracefile. One of its packets is damaged, and events were lost.
pub(crate) fn hostile_kernel(path: &Path) {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let text = |text: String| EnvValue::Str(text);
    schema.env.retain(|(name, _)| &**name != "hostname");
    schema.env.push(("hostname".into(), text(hostile("host"))));
    schema.env.push(("procname".into(), text(hostile("proc"))));
    schema.env.push((hostile("env").into(), text(hostile("value"))));
    let channel = StreamClassId(0);
    let int = || FieldClass::sint(32, ByteOrder::Little);
    let switch = schema.add_event_type(
        channel,
        "sched_switch",
        FieldClass::structure([
            ("prev_comm", FieldClass::string()),
            ("prev_tid", int()),
            ("prev_state", int()),
            ("next_comm", FieldClass::string()),
            ("next_tid", int()),
        ]),
    );
    let label = hostile("label");
    let field = hostile("field");
    let event = schema.add_event_type(
        channel,
        &hostile("event"),
        FieldClass::structure([
            (&*field, FieldClass::string()),
            ("labelled", presets::enumeration(8, [(&*label, 1, 1)])),
        ]),
    );
    let trace = TraceWriter::create(path, schema).unwrap();
    let name = format!("{}_0", hostile("channel"));
    let mut stream = trace.stream(channel, &name).unwrap();
    for packet in 0..2 {
        stream.begin_packet(packet * 1_000_000).unwrap();
        for step in 1..10 {
            let time = packet * 1_000_000 + step * 1000;
            let process = |tid: u64| [hostile("process").into(), FieldValue::from(tid)];
            let [prev_comm, prev_tid] = process(100 + step % 2);
            let [next_comm, next_tid] = process(100 + (step + 1) % 2);
            let values = [prev_comm, prev_tid, 1.into(), next_comm, next_tid];
            stream.event(switch, time, FieldValue::structure(values)).unwrap();
            let mut bytes = hostile("text").into_bytes();
            bytes.extend(b"\xff\xc3");
            let values = [FieldValue::Bytes(bytes), 1.into()];
            stream.event(event, time + 10, FieldValue::structure(values)).unwrap();
        }
        stream.set_discarded(packet * 5);
        stream.end_packet(packet * 1_000_000 + 100_000).unwrap();
    }
    stream.finish().unwrap();
    // Cut the last packet off.
    let file = path.join(&name);
    let mut bytes = fs::read(&file).unwrap();
    bytes.truncate(bytes.len() - 20);
    fs::write(&file, bytes).unwrap();
}

/// Writes a trace with invalid metadata, which its error quotes.
pub(crate) fn hostile_metadata(path: &Path) {
    fs::create_dir_all(path).unwrap();
    let metadata = format!("/* CTF 1.8 */\ntrace {{ major = 1; \"{}\" = 5; }};\n", hostile("q"));
    fs::write(path.join("metadata"), metadata).unwrap();
}

const TINY: &str = "/* CTF 1.8 */
typealias integer { size = 8; } := uint8_t;
typealias integer { size = 32; } := uint32_t;
clock { name = monotonic; freq = 1000000000; };
typealias integer { size = 8; map = clock.monotonic.value; } := time_t;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; }; };
stream {
    packet.context := struct { uint32_t content_size; uint32_t packet_size; };
    event.header := struct { uint8_t id; time_t timestamp; };
};
event { name = only; id = 0; fields := struct { uint8_t value; }; };
event {
    name = sched_switch;
    id = 1;
    fields := struct { uint8_t prev_tid; uint8_t next_tid; uint8_t prev_state; };
};
event { name = irq_handler_entry; id = 2; fields := struct { uint8_t irq; }; };
event { name = irq_handler_exit; id = 3; fields := struct { uint8_t irq; }; };
event { name = block_rq_issue; id = 4; fields := struct { uint8_t dev; uint8_t sector; }; };
event { name = block_rq_complete; id = 5; fields := struct { uint8_t dev; uint8_t sector; }; };
";

/// Writes a trace in which all packets but the first one are damaged.
pub(crate) fn damaged_packets(path: &Path, count: u32) {
    fs::create_dir_all(path).unwrap();
    fs::write(path.join("metadata"), TINY).unwrap();
    let mut stream = Vec::new();
    for packet in 0..=count {
        stream.extend(0xc1fc_1fc1u32.to_le_bytes());
        // Two events.
        stream.extend(144u32.to_le_bytes());
        stream.extend(144u32.to_le_bytes());
        let id = if packet == 0 { 0 } else { 9 };
        stream.extend([id, 1, 7, id, 200, 7]);
    }
    fs::write(path.join("stream_0"), stream).unwrap();
}
