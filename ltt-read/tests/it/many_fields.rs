//! Visits of structures that are larger than the range that is read without bounds
//! checks.

use std::error::Error;

use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, MemoryTrace, presets};
use ltt_read::{FieldInfo, TracefileIndex, Visitor};

const FIELDS: usize = 120;
const EVENTS: u64 = 50;

/// Returns integers of one to eight bytes in turn, signed and unsigned.
fn class(field: usize) -> FieldClass {
    let bits = [8, 16, 32, 64][field % 4];
    match field / 4 % 2 {
        0 => FieldClass::uint(bits, ByteOrder::Little),
        _ => FieldClass::sint(bits, ByteOrder::Little),
    }
}

/// Returns a number that is unique in the event and fits in a byte.
fn number(event: u64, field: usize) -> u64 {
    (event + field as u64) % 128
}

#[derive(Default)]
struct Numbers(Vec<(String, u64)>);

impl Numbers {
    fn push(&mut self, info: &FieldInfo, value: u64) {
        self.0.push((info.name().unwrap_or_default().to_owned(), value));
    }
}

impl Visitor for Numbers {
    fn uint(&mut self, info: &FieldInfo, value: u64) {
        self.push(info, value);
    }

    fn sint(&mut self, info: &FieldInfo, value: i64) {
        self.push(info, value as u64);
    }
}

#[test]
fn fields_far_from_the_start_are_visited_like_the_first_ones() -> Result<(), Box<dyn Error>> {
    let names: Vec<String> = (0..FIELDS).map(|field| format!("field_{field}")).collect();
    let name = |field: usize| names[field].as_str();
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    let fields = FieldClass::structure((0..FIELDS).map(|field| (name(field), class(field))));
    let event_type = schema.add_event_type(StreamClassId(0), "app:much", fields);
    let mut trace = MemoryTrace::new(schema);
    let mut stream = trace
        .stream(StreamClassId(0), "channel0_0")?
        .with_stream_id(0)
        .with_packet_context(FieldValue::fields([("cpu_id", 0_u64)]));
    for event in 0..EVENTS {
        let values = (0..FIELDS).map(|field| (name(field).to_owned(), number(event, field)));
        let values = FieldValue::fields(values);
        stream.event(event_type, event, values)?;
    }
    trace.add(stream)?;
    let trace = trace.open()?;

    // The last event ends at the end of the data.
    let mut cursor = trace.cursor(TracefileIndex(0));
    for event in 0..EVENTS {
        let read = cursor.next()?.ok_or("too few events")?;
        let mut numbers = Numbers::default();
        read.visit_body(&mut numbers);
        let expected = (0..FIELDS).map(|field| (name(field).to_owned(), number(event, field)));
        assert!(numbers.0.into_iter().eq(expected), "event {event}");
    }
    assert!(cursor.next()?.is_none());
    Ok(())
}
