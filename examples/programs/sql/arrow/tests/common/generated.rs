//! Small traces with equal times, clocks that go back and damage.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ltt_read::Trace;
use ltt_read::schema::{ByteOrder, EventTypeId, FieldClass, Format, Schema, StreamClassId};
use ltt_read::writer::{FieldValue, StreamWriter, metadata_text, presets};
use lttv_context::Traceset;

/// A generator of numbers, the same in each run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// Returns a number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % limit.max(1)
    }
}

/// The properties of a generated trace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) goes_back: bool,
    pub(crate) is_damaged: bool,
    pub(crate) events: u64,
}

/// Creates a traceset of two traces with two tracefiles each. Events of the types `even` and `odd`
/// have a field `number`, those of the former also a text.
pub(crate) fn traceset(seed: u64, shape: Shape) -> Traceset {
    let trace = |(metadata, files): (String, Files)| {
        Trace::from_memory(metadata.as_bytes(), files).expect("a trace")
    };
    Traceset::from(traces(seed, shape).into_iter().map(trace).collect::<Vec<_>>())
}

/// Writes the traces of a traceset to directories below `folder`.
pub(crate) fn write(folder: &Path, seed: u64, shape: Shape) {
    for (number, (metadata, files)) in traces(seed, shape).into_iter().enumerate() {
        let folder = folder.join(format!("trace-{number}"));
        fs::create_dir_all(&folder).expect("a directory");
        fs::write(folder.join("metadata"), metadata).expect("a file");
        for (name, bytes) in files {
            fs::write(folder.join(name), bytes).expect("a file");
        }
    }
}

/// The names and contents of tracefiles.
type Files = Vec<(String, Vec<u8>)>;

/// Returns the metadata and the tracefiles of two traces.
fn traces(seed: u64, shape: Shape) -> Vec<(String, Files)> {
    let mut numbers = Numbers(seed);
    let schema = schema();
    let metadata = metadata_text(&schema).expect("metadata");
    let mut next = 0;
    let mut files =
        |_| (0..2).map(|file| stream(&schema, file, &mut next, &mut numbers, shape)).collect();
    (0..2).map(|trace| (metadata.clone(), files(trace))).collect()
}

fn schema() -> Arc<Schema> {
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let number = || ("number", FieldClass::uint(32, ByteOrder::Little));
    let small = || ("small", FieldClass::sint(8, ByteOrder::Little));
    let text = FieldClass::structure([number(), small(), ("text", FieldClass::string())]);
    schema.add_event_type(StreamClassId(0), "even", text);
    schema.add_event_type(StreamClassId(0), "odd", FieldClass::structure([number(), small()]));
    Arc::new(schema)
}

fn stream(
    schema: &Arc<Schema>,
    file: u64,
    next: &mut u64,
    numbers: &mut Numbers,
    shape: Shape,
) -> (String, Vec<u8>) {
    let name = format!("chan_{file}");
    let writer = StreamWriter::new(Arc::clone(schema), StreamClassId(0), &name, Vec::new());
    let mut writer =
        writer.expect("a stream").with_stream_id(file).with_packet_limit(512).with_padding();
    let mut now = 1000u64;
    let mut left = shape.events / 4;
    while left > 0 {
        let in_packet = (1 + numbers.below(6)).min(left);
        left -= in_packet;
        writer.begin_packet(now).expect("a packet");
        let mut end = now;
        for _ in 0..in_packet {
            now += numbers.below(4) * 10;
            if shape.goes_back && numbers.below(5) == 0 {
                now -= numbers.below(30).min(now - 1);
            }
            end = end.max(now);
            let (number, small) = (*next, numbers.below(256) as i64 - 128);
            *next += 1;
            if number % 2 == 0 {
                let texts = ["", "a", "a longer text than twelve bytes", "é"];
                let text = texts[numbers.below(4) as usize];
                let fields = FieldValue::structure([number.into(), small.into(), text.into()]);
                writer.event(EventTypeId(0), now, fields).expect("an event");
            } else {
                let fields = FieldValue::structure([number.into(), small.into()]);
                writer.event(EventTypeId(1), now, fields).expect("an event");
            }
        }
        writer.end_packet(end).expect("a packet");
    }
    let mut bytes = writer.finish().expect("a file");
    if shape.is_damaged && bytes.len() > 1100 {
        // The content size of the third packet becomes larger than the packet.
        let packet = 1024;
        let magic_and_ids = 64;
        for byte in &mut bytes[packet + magic_and_ids..packet + 512] {
            *byte = 0xff;
        }
    }
    (name, bytes)
}
