//! Traces of programs, written for tests.
#![allow(dead_code)] // each test uses its part

use ltt_read::schema::ByteOrder::Little;
use ltt_read::schema::{EventTypeId, FieldClass, Format, StreamClassId};
use ltt_read::writer::{FieldValue, MemoryTrace, Record, presets};
use lttv_context::Traceset;

/// The event types of programs, with the fields of their payloads.
const TYPES: [(&str, &[&str]); 16] = [
    ("lttng_ust_cyg_profile:func_entry", &["addr", "call_site"]),
    ("lttng_ust_cyg_profile:func_exit", &["addr", "call_site"]),
    ("lttng_ust_cyg_profile_fast:func_entry", &["addr"]),
    ("lttng_ust_cyg_profile_fast:func_exit", &[]),
    ("app:begin", &["id"]),
    ("app:end", &["id"]),
    ("lttng_ust_libc:malloc", &["size", "ptr"]),
    ("lttng_ust_libc:calloc", &["nmemb", "size", "ptr"]),
    ("lttng_ust_libc:realloc", &["in_ptr", "size", "ptr"]),
    ("lttng_ust_libc:free", &["ptr"]),
    ("lttng_ust_libc:memalign", &["alignment", "size", "ptr"]),
    ("lttng_ust_libc:posix_memalign", &["out_ptr", "alignment", "size", "result"]),
    ("lttng_ust_lib:unload", &["baddr"]),
    ("lttng_ust_statedump:start", &[]),
    ("lttng_ust_statedump:bin_info", &["baddr", "memsz", "path", "is_pic"]),
    ("lttng_ust_statedump:end", &[]),
];

/// An event of a program.
#[derive(Debug, Clone)]
pub(crate) struct UstEvent {
    pub(crate) time: u64,
    pub(crate) cpu: u64,
    pub(crate) vpid: i64,
    pub(crate) vtid: i64,
    pub(crate) name: &'static str,
    pub(crate) fields: Vec<(&'static str, i64)>,
    /// The path in the event, if it has one.
    pub(crate) path: String,
}

impl UstEvent {
    pub(crate) fn new(
        time: u64,
        thread: (u64, i64, i64),
        name: &'static str,
        fields: &[(&'static str, i64)],
    ) -> Self {
        let (cpu, vpid, vtid) = thread;
        let path = String::new();
        UstEvent { time, cpu, vpid, vtid, name, fields: fields.to_vec(), path }
    }
}

/// Writes a trace of events in order of time, with packets of at most a number of bytes.
pub(crate) fn ust_trace(events: &[UstEvent], packet: u64) -> Traceset {
    let mut schema = presets::lttng_ust(Format::Ctf1);
    schema.clocks[0].offset_seconds = 0;
    for (name, fields) in TYPES {
        let class = |field: &str| match field {
            "path" => FieldClass::string(),
            _ => FieldClass::uint(64, Little),
        };
        let fields = fields.iter().map(|field| (*field, class(field)));
        schema.add_event_type(StreamClassId(0), name, FieldClass::structure(fields));
    }
    let mut trace = MemoryTrace::new(schema);
    let mut cpus: Vec<u64> = events.iter().map(|event| event.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    for cpu in cpus {
        let mut stream = trace
            .stream(StreamClassId(0), &format!("channel0_{cpu}"))
            .expect("a stream class")
            .with_stream_id(cpu)
            .with_packet_limit(packet)
            .with_packet_context(FieldValue::fields([("cpu_id", cpu)]));
        for event in events.iter().filter(|event| event.cpu == cpu) {
            let id = TYPES.iter().position(|(name, _)| *name == event.name).expect("a known type");
            let mut record = Record::new(EventTypeId(id as u32), event.time);
            record.common_context =
                FieldValue::fields([("vpid", event.vpid), ("vtid", event.vtid)]);
            let fields = event.fields.iter();
            let fields = fields.map(|(name, value)| (*name, FieldValue::from(*value as u64)));
            let path = (!event.path.is_empty()).then(|| ("path", event.path.as_str().into()));
            record.payload = FieldValue::fields(fields.chain(path).collect::<Vec<_>>());
            stream.record(record).expect("an event");
        }
        trace.add(stream).expect("a stream");
    }
    std::iter::once(trace.open().expect("a sound trace")).collect()
}

/// Returns a small positive integer in the text of a recorded event.
pub(crate) fn number(text: &str) -> i64 {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).expect("a number") as i64,
        None => text.parse().expect("a number"),
    }
}

/// Reads events in the text form of babeltrace2.
pub(crate) fn parse_events(lines: &[String]) -> Vec<UstEvent> {
    let parse = |line: &String| {
        let (time, rest) = line.strip_prefix('[').expect("a time").split_once(']').expect("it");
        let (seconds, ns) = time.split_once('.').expect("a fraction");
        let time = number(seconds) as u64 * 1_000_000_000 + ns.parse::<u64>().expect("ns");
        let (head, scopes) = rest.split_once(": { ").expect("fields");
        let name = head.trim().split(' ').next_back().expect("a name");
        let name = TYPES.iter().find(|(known, _)| *known == name).expect("a known type").0;
        let scopes: Vec<Vec<(String, i64)>> = scopes
            .split("}, {")
            .map(|scope| {
                let fields = scope.trim_matches(|c: char| "{} ".contains(c)).split(", ");
                let fields = fields.filter_map(|field| field.split_once(" = "));
                fields.map(|(name, value)| (name.to_owned(), number(value))).collect()
            })
            .collect();
        let of = |scope: usize, name: &str| {
            scopes[scope].iter().find(|(of, _)| of == name).expect("a field").1
        };
        let known = TYPES.iter().flat_map(|(_, fields)| fields.iter());
        let known: Vec<&'static str> = known.copied().collect();
        let fields = scopes.get(2).into_iter().flatten().map(|(name, value)| {
            (*known.iter().find(|known| **known == name.as_str()).expect("a field"), *value)
        });
        UstEvent {
            time,
            cpu: of(0, "cpu_id") as u64,
            vpid: of(1, "vpid"),
            vtid: of(1, "vtid"),
            name,
            fields: fields.collect(),
            path: String::new(),
        }
    };
    lines.iter().map(parse).collect()
}
