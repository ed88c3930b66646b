//! A trace of calls of functions.

use std::collections::BTreeMap;
use std::path::Path;

use ltt_read::schema::ByteOrder::Little;
use ltt_read::schema::{FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, Record, TraceWriter, presets};

/// The state of the stack of a thread from a time on.
pub(crate) type Stack = (i64, Vec<u64>);

/// Writes a trace of calls of functions, one event for each random number. Returns the stacks of its
/// threads over time.
pub(crate) fn write_calls(
    dir: &Path,
    numbers: impl IntoIterator<Item = i64>,
) -> BTreeMap<u64, Vec<Stack>> {
    let mut schema = presets::lttng_ust(Format::Ctf1);
    schema.clocks[0].offset_seconds = 0;
    let channel = StreamClassId(0);
    let call = || FieldClass::structure([("addr", FieldClass::uint(64, Little))]);
    let entry = schema.add_event_type(channel, "lttng_ust_cyg_profile_fast:func_entry", call());
    let none = FieldClass::structure([]);
    let exit = schema.add_event_type(channel, "lttng_ust_cyg_profile_fast:func_exit", none);
    let trace = TraceWriter::create(dir, schema).unwrap();
    let stream = trace.stream(channel, "channel0_0").unwrap();
    let mut stream = stream.with_packet_context(FieldValue::fields([("cpu_id", 0_u64)]));
    let mut stacks: BTreeMap<u64, Vec<Stack>> = BTreeMap::new();
    let mut now = 1_000;
    for number in numbers {
        let thread = 101 + number as u64 % 3;
        let of = stacks.entry(thread).or_default();
        let mut stack = of.last().map_or(Vec::new(), |(_, stack)| stack.clone());
        let enters = stack.is_empty() || stack.len() < 9 && (number >> 8) % 2 == 0;
        let address = 0x1000 + (number as u64 >> 16) % 40;
        now += 1 + (number >> 20) % 3_000;
        let mut record = Record::new(if enters { entry } else { exit }, now as u64);
        record.common_context = FieldValue::fields([("vpid", 100_u64), ("vtid", thread)]);
        match enters {
            true => {
                stack.push(address);
                record.payload = FieldValue::fields([("addr", address)]);
            }
            false => _ = stack.pop(),
        }
        stream.record(record).unwrap();
        of.push((now, stack));
    }
    stream.finish().unwrap();
    stacks
}
