//! Traces from lines of text, one for each event, as Babeltrace prints them.

use std::collections::BTreeMap;
use std::sync::Arc;

use ltt_read::Trace;
use ltt_read::schema::{
    Array, ByteOrder, EnvValue, EventTypeId, FieldClass, FieldKind, Format, Length, Roles,
    StreamClassId,
};
use ltt_read::writer::{FieldValue, MemoryTrace, presets};

/// A value of a field.
#[derive(Debug, Clone)]
enum Value {
    Integer(i64),
    Text(String),
    /// Integers of 32 bits.
    Array(Vec<i64>),
}

/// An event: time in ns, name, CPU and fields.
type Line = (u64, String, u64, Vec<(String, Value)>);

const LOST: &str = "lost";

/// Parses a line such as `[0.000000010] host NAME: { cpu_id = 0 }, { field = 1, text = "a", pair = [3 4] }`.
fn parse(line: &str) -> Line {
    let (time, rest) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")).expect("time");
    let (seconds, ns) = time.split_once('.').expect("nanoseconds");
    let time = seconds.parse::<u64>().unwrap() * 1_000_000_000 + ns.parse::<u64>().unwrap();
    let (name, scopes) = rest.split_once(": {").expect("a name");
    let name = name.split_whitespace().next_back().expect("a name").to_owned();
    let fields: Vec<(String, Value)> = scopes
        .split(['{', '}', ','])
        .filter_map(|field| field.split_once('='))
        .map(|(name, value)| (name.trim().to_owned(), value_of(value.trim())))
        .collect();
    let cpu = fields.iter().find(|(name, _)| name == "cpu_id").map(|(_, value)| value.clone());
    let Some(Value::Integer(cpu)) = cpu else { panic!("{line} has no CPU") };
    let fields = fields.into_iter().filter(|(name, _)| name != "cpu_id").collect();
    (time, name, cpu as u64, fields)
}

fn value_of(text: &str) -> Value {
    if let Some(text) = text.strip_prefix('"') {
        return Value::Text(text.trim_end_matches('"').to_owned());
    }
    if let Some(elements) = text.strip_prefix('[') {
        let elements = elements.trim_end_matches(']').split_whitespace();
        return Value::Array(elements.map(|of| of.parse().expect("decimal")).collect());
    }
    match text.strip_prefix("0x") {
        Some(hex) => Value::Integer(i64::from_str_radix(hex, 16).expect("hexadecimal")),
        None => Value::Integer(
            text.parse::<i64>().unwrap_or_else(|_| text.parse::<u64>().expect("decimal") as i64),
        ),
    }
}

/// Writes events to memory and opens them as a kernel trace. An event `lost` stands for one that the
/// tracer lost on its CPU.
pub(crate) fn trace_of<'l>(lines: impl IntoIterator<Item = &'l str>) -> Arc<Trace> {
    trace_by("lttng-modules", lines, &[])
}

/// Writes events to memory as [`trace_of`] does, as those of a tracer with a name. It also describes the types of the
/// events in `others`, which it has not recorded.
pub(crate) fn trace_by<'l>(
    tracer: &str,
    lines: impl IntoIterator<Item = &'l str>,
    others: &[&str],
) -> Arc<Trace> {
    let lines: Vec<Line> = lines.into_iter().map(parse).collect();
    let others: Vec<Line> = others.iter().map(|line| parse(line)).collect();
    let mut schema = presets::lttng_kernel(Format::Ctf2);
    schema.clocks[0].offset_seconds = 0;
    let name = schema.env.iter_mut().find(|(key, _)| &**key == "tracer_name");
    name.expect("the preset names its tracer").1 = EnvValue::Str(tracer.into());
    let mut types: BTreeMap<&str, EventTypeId> = BTreeMap::new();
    for (_, name, _, fields) in lines.iter().chain(&others).filter(|line| line.1 != LOST) {
        types.entry(name).or_insert_with(|| {
            let classes = fields.iter().map(|(name, value)| {
                let class = match value {
                    Value::Integer(_) => FieldClass::sint(64, ByteOrder::Little),
                    Value::Text(_) => presets::text_array(16),
                    Value::Array(elements) => FieldClass::new(
                        FieldKind::Array(Array {
                            element: FieldClass::sint(32, ByteOrder::Little).into(),
                            length: Length::Static(elements.len() as u64),
                            roles: Roles::NONE,
                        }),
                        8,
                    ),
                };
                (name.as_str(), class)
            });
            schema.add_event_type(StreamClassId(0), name, FieldClass::structure(classes))
        });
    }
    let mut trace = MemoryTrace::new(schema);
    let mut cpus: Vec<u64> = lines.iter().map(|line| line.2).collect();
    cpus.sort_unstable();
    cpus.dedup();
    for cpu in cpus {
        let mut stream = trace
            .stream(StreamClassId(0), &format!("channel0_{cpu}"))
            .expect("a stream")
            .with_stream_id(cpu)
            .with_packet_context(FieldValue::fields([("cpu_id", cpu)]));
        let mut lost = 0;
        for (time, name, _, fields) in lines.iter().filter(|line| line.2 == cpu) {
            if name == LOST {
                lost += 1;
                stream.set_discarded(lost);
                stream.end_packet(*time).expect("valid");
                continue;
            }
            let values = fields.iter().map(|(name, value)| {
                let value = match value {
                    Value::Integer(value) => FieldValue::from(*value),
                    Value::Text(text) => FieldValue::from(text.as_str()),
                    Value::Array(of) => {
                        FieldValue::Array(of.iter().copied().map(FieldValue::from).collect())
                    }
                };
                (name.clone(), value)
            });
            stream.event(types[name.as_str()], *time, FieldValue::fields(values)).expect("valid");
        }
        trace.add(stream).expect("a stream");
    }
    trace.open().expect("a trace")
}
