//! A generated trace of programs whose functions are instrumented, with their allocations.

use std::path::Path;

use ltt_read::schema::ByteOrder::Little;
use ltt_read::schema::{EventTypeId, FieldClass, Schema, StreamClassId};
use ltt_read::writer::WriteError;
use ltt_read::writer::presets::lttng_ust;

use crate::{Cpus, Options, Random};

/// The threads of each CPU.
const THREADS: u64 = 4;
/// The threads of each process.
const OF_PROCESS: u64 = 8;
/// The maximum number of calls on a stack.
const DEPTH: usize = 24;
/// The address of the first function, and the distance between functions.
const CODE: (u64, u64) = (0x40_1000, 0x40);
/// The number of functions.
const FUNCTIONS: u64 = 300;

/// Writes a user-space trace of programs that enter and leave functions, and allocate and free
/// memory: of ten events, nine are entries and exits. Each process has a state dump.
///
/// # Errors
///
/// If a file cannot be written.
pub fn calls_like(dir: &Path, cpus: u32, events: u64, options: &Options) -> Result<(), WriteError> {
    let mut schema = lttng_ust(options.format);
    let types = Types::add_to(&mut schema);
    let mut streams = Cpus::create(dir, schema, "channel0", cpus, options)?;
    let mut random = Random::new(options.seed);
    let count = u64::from(cpus.max(1)) * THREADS;
    let mut threads: Vec<Thread> = (0..count).map(Thread::new).collect();
    let mut body = Vec::with_capacity(256);
    for _ in 0..events {
        let (cpu, now) = streams.advance(&mut random);
        // Most events of a CPU are of the thread that it runs.
        let run = now / 1_000_000 % THREADS;
        let thread = &mut threads[cpu * THREADS as usize + run as usize];
        body.clear();
        let (process, id) = (thread.process(), thread.id());
        put(&mut body, &[u32::to_le_bytes(process as u32), u32::to_le_bytes(id as u32)]);
        let event = types.step(thread, &mut random, &mut body);
        streams.streams[cpu].encoded_event(event, now, 8, &body)?;
    }
    streams.finish()
}

/// A thread: its number, the functions that it is in, and its blocks.
struct Thread {
    number: u64,
    is_dumped: bool,
    stack: Vec<u64>,
    blocks: Vec<u64>,
    next: u64,
}

impl Thread {
    fn new(number: u64) -> Self {
        let is_dumped = !number.is_multiple_of(OF_PROCESS);
        Thread { number, is_dumped, stack: Vec::new(), blocks: Vec::new(), next: 0 }
    }

    fn process(&self) -> u64 {
        4_000 + self.number / OF_PROCESS * 100
    }

    fn id(&self) -> u64 {
        self.process() + self.number % OF_PROCESS
    }
}

struct Types {
    bin_info: EventTypeId,
    entry: EventTypeId,
    exit: EventTypeId,
    malloc: EventTypeId,
    free: EventTypeId,
}

impl Types {
    fn add_to(schema: &mut Schema) -> Self {
        let word = || FieldClass::uint(64, Little);
        let mut add = |name: &str, fields: Vec<(&str, FieldClass)>| {
            schema.add_event_type(StreamClassId(0), name, FieldClass::structure(fields))
        };
        let call = || vec![("addr", word()), ("call_site", word())];
        Types {
            bin_info: add(
                "lttng_ust_statedump:bin_info",
                vec![
                    ("baddr", word()),
                    ("memsz", word()),
                    ("path", FieldClass::string()),
                    ("is_pic", FieldClass::uint(8, Little)),
                ],
            ),
            entry: add("lttng_ust_cyg_profile:func_entry", call()),
            exit: add("lttng_ust_cyg_profile:func_exit", call()),
            malloc: add("lttng_ust_libc:malloc", vec![("size", word()), ("ptr", word())]),
            free: add("lttng_ust_libc:free", vec![("ptr", word())]),
        }
    }

    /// Encodes the payload of the next event of a thread.
    fn step(&self, thread: &mut Thread, random: &mut Random, body: &mut Vec<u8>) -> EventTypeId {
        if !std::mem::replace(&mut thread.is_dumped, true) {
            put(body, &[0x40_0000_u64.to_le_bytes(), 0x1_0000_u64.to_le_bytes()]);
            body.extend_from_slice(b"/usr/bin/shop\0\0");
            return self.bin_info;
        }
        match random.below(20) {
            0 if !thread.stack.is_empty() => {
                let block = 0x7f00_0000_0000 + (thread.number << 32) + thread.next * 16;
                thread.next += 1;
                thread.blocks.push(block);
                put(body, &[(16_u64 << random.below(10)).to_le_bytes(), block.to_le_bytes()]);
                return self.malloc;
            }
            // Some blocks stay.
            1 if thread.blocks.len() > 4 => {
                let at = random.below(thread.blocks.len() as u64) as usize;
                put(body, &[thread.blocks.swap_remove(at).to_le_bytes()]);
                return self.free;
            }
            _ => {}
        }
        let depth = thread.stack.len();
        let enters = depth < 2 || depth < DEPTH && random.below(100) < 49;
        if enters {
            let caller = thread.stack.last().copied().unwrap_or(0);
            // Each function calls a few others.
            let callee =
                if depth == 0 { 1 } else { (caller * 7 + 3 + random.below(4)) % FUNCTIONS };
            thread.stack.push(callee);
            put(body, &[code(callee), code(caller)]);
            return self.entry;
        }
        let callee = thread.stack.pop().unwrap_or(0);
        put(body, &[code(callee), code(thread.stack.last().copied().unwrap_or(0))]);
        self.exit
    }
}

fn code(function: u64) -> [u8; 8] {
    (CODE.0 + CODE.1 * function).to_le_bytes()
}

fn put<const N: usize>(body: &mut Vec<u8>, values: &[[u8; N]]) {
    body.extend(values.as_flattened());
}
