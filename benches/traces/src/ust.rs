//! A generated trace of LTTng's user-space tracer: contexts, text, sequences, numbers of all
//! kinds.

use std::path::Path;

use ltt_read::schema::ByteOrder::Little;
use ltt_read::schema::{EventTypeId, FieldClass, Schema, StreamClassId};
use ltt_read::writer::WriteError;
use ltt_read::writer::presets::{
    double, enumeration, lttng_ust, sequence, text_array, text_sequence,
};

use crate::{Cpus, Options, Random};

const MESSAGES: [&[u8]; 4] = [
    b"cache miss\0",
    b"request done in time\0",
    b"retrying after timeout of the upstream server\0",
    b"ok\0",
];

/// Writes a user-space trace with large event headers and contexts `vpid` and `vtid`, about
/// 36 bytes per event.
///
/// # Errors
///
/// If a file cannot be written.
pub fn ust_like(dir: &Path, cpus: u32, events: u64, options: &Options) -> Result<(), WriteError> {
    let mut schema = lttng_ust(options.format);
    let types = Types::add_to(&mut schema);
    let mut streams = Cpus::create(dir, schema, "channel0", cpus, options)?;
    let mut random = Random::new(options.seed);
    let mut body = Vec::with_capacity(256);
    for count in 0..events {
        let (cpu, now) = streams.advance(&mut random);
        body.clear();
        let (vpid, thread) = (4000, random.below(16) as u32);
        put(&mut body, &[u32::to_le_bytes(vpid), u32::to_le_bytes(vpid + 1 + thread)]);
        let event = types.step(&mut random, count, &mut body);
        streams.streams[cpu].encoded_event(event, now, 8, &body)?;
    }
    streams.finish()
}

struct Types {
    tick: EventTypeId,
    function_entry: EventTypeId,
    function_exit: EventTypeId,
    log: EventTypeId,
    metric: EventTypeId,
    packet: EventTypeId,
    samples: EventTypeId,
    task: EventTypeId,
}

impl Types {
    fn add_to(schema: &mut Schema) -> Self {
        let int = || FieldClass::sint(32, Little);
        let word = || FieldClass::uint(32, Little);
        let pointer = || FieldClass::uint(64, Little);
        let mut add = |name: &str, fields: Vec<(&str, FieldClass)>| {
            schema.add_event_type(StreamClassId(0), name, FieldClass::structure(fields))
        };
        let levels = [("ERROR", 0, 0), ("WARNING", 1, 1), ("INFO", 2, 2), ("DEBUG", 3, 7)];
        Types {
            tick: add("app:tick", vec![("count", FieldClass::uint(64, Little))]),
            function_entry: add(
                "lttng_ust_cyg_profile:func_entry",
                vec![("addr", pointer()), ("call_site", pointer())],
            ),
            function_exit: add(
                "lttng_ust_cyg_profile:func_exit",
                vec![("addr", pointer()), ("call_site", pointer())],
            ),
            log: add(
                "app:log",
                vec![
                    ("level", enumeration(8, levels)),
                    ("line", int()),
                    ("message", FieldClass::string()),
                ],
            ),
            metric: add(
                "app:metric",
                vec![
                    ("name", FieldClass::string()),
                    ("value", double()),
                    ("share", double()),
                    ("count", word()),
                ],
            ),
            packet: add(
                "app:packet",
                vec![
                    ("port", FieldClass::uint(16, Little)),
                    ("data_length", FieldClass::uint(8, Little)),
                    ("data", sequence("data_length", FieldClass::uint(8, Little))),
                ],
            ),
            samples: add(
                "app:samples",
                vec![
                    ("values_length", FieldClass::uint(16, Little)),
                    ("values", sequence("values_length", int())),
                    ("text_length", FieldClass::uint(8, Little)),
                    ("text", text_sequence("text_length")),
                ],
            ),
            task: add(
                "app:task_switch",
                vec![
                    ("prev_name", text_array(16)),
                    ("prev_id", int()),
                    ("next_name", text_array(16)),
                    ("next_id", int()),
                ],
            ),
        }
    }

    /// Encodes the payload of the next event.
    fn step(&self, random: &mut Random, count: u64, body: &mut Vec<u8>) -> EventTypeId {
        match random.below(100) {
            0..15 => {
                put(body, &[count.to_le_bytes()]);
                self.tick
            }
            choice @ 15..55 => {
                put(body, &[code(random), code(random)]);
                if choice % 2 == 0 { self.function_entry } else { self.function_exit }
            }
            55..72 => {
                body.push(random.below(8) as u8);
                put(body, &[u32::to_le_bytes(random.below(2000) as u32)]);
                body.extend_from_slice(random.pick(&MESSAGES));
                self.log
            }
            72..84 => {
                let names = [b"latency\0" as &[u8], b"queue depth\0"];
                body.extend_from_slice(random.pick(&names));
                let value = random.below(1 << 30) as f64 / 1024.0;
                put(body, &[value.to_le_bytes(), (value / (value + 1.0)).to_le_bytes()]);
                put(body, &[u32::to_le_bytes(random.below(100) as u32)]);
                self.metric
            }
            84..91 => {
                let length = random.below(64) as usize;
                put(body, &[u16::to_le_bytes(8080)]);
                body.push(length as u8);
                let bytes = random.next().to_le_bytes();
                body.extend(bytes.iter().cycle().take(length));
                self.packet
            }
            91..96 => {
                let length = random.below(12) as u16;
                put(body, &[length.to_le_bytes()]);
                for _ in 0..length {
                    put(body, &[u32::to_le_bytes(random.next() as u32)]);
                }
                let text = &b"sampled by timer"[..random.below(17) as usize];
                body.push(text.len() as u8);
                body.extend_from_slice(text);
                self.samples
            }
            _ => {
                for _ in 0..2 {
                    let id = random.below(10) as u8;
                    let mut name = *b"task-0\0\0\0\0\0\0\0\0\0\0";
                    name[5] += id;
                    body.extend_from_slice(&name);
                    put(body, &[u32::to_le_bytes(id.into())]);
                }
                self.task
            }
        }
    }
}

fn code(random: &mut Random) -> [u8; 8] {
    (0x5555_5555_0000 | random.below(1 << 16)).to_le_bytes()
}

fn put<const N: usize>(body: &mut Vec<u8>, values: &[[u8; N]]) {
    body.extend(values.as_flattened());
}
