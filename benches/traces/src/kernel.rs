//! A generated trace of LTTng's kernel tracer: scheduling, interrupts, system calls.

use std::path::Path;

use ltt_read::schema::ByteOrder::Little;
use ltt_read::schema::{EventTypeId, FieldClass, Schema, StreamClassId};
use ltt_read::writer::WriteError;
use ltt_read::writer::presets::lttng_kernel;

use crate::payload::*;
use crate::{Cpus, Options, Random};

/// The number of threads, without idle ones.
const THREADS: u64 = 200;
/// An id too large for the compact header, as rare events have it.
const RARE_ID: u64 = 40;

/// Writes a kernel trace with compact event headers, about 40 bytes per event.
///
/// Threads enter and leave system calls in pairs, and CPUs do so with interrupts. A thread
/// runs on one CPU at a time, mostly on the same one; a blocked thread does not run before
/// it is woken up. Each event is drawn at random, which makes the sequence less predictable
/// than that of a real machine; see [`routine`](crate::routine()).
///
/// # Errors
///
/// If a file cannot be written.
pub fn kernel_like(
    dir: &Path,
    cpus: u32,
    events: u64,
    options: &Options,
) -> Result<(), WriteError> {
    let mut schema = lttng_kernel(options.format);
    let types = Types::add_to(&mut schema);
    let mut streams = Cpus::create(dir, schema, "channel0", cpus, options)?;
    let mut random = Random::new(options.seed);
    let mut states: Vec<Cpu> = (0..cpus.max(1)).map(Cpu::new).collect();
    let mut threads = Threads::new(states.len());
    let mut body = Vec::with_capacity(128);
    for _ in 0..events {
        let (cpu, now) = streams.advance(&mut random);
        body.clear();
        let event = states[cpu].step(&mut threads, &types, &mut random, now, &mut body);
        streams.streams[cpu].encoded_event(event, now, 8, &body)?;
    }
    streams.finish()
}

struct Types {
    switch: EventTypeId,
    wakeup: EventTypeId,
    irq_entry: EventTypeId,
    irq_exit: EventTypeId,
    softirq_raise: EventTypeId,
    softirq_entry: EventTypeId,
    softirq_exit: EventTypeId,
    timer_start: EventTypeId,
    page_alloc: EventTypeId,
    read_entry: EventTypeId,
    read_exit: EventTypeId,
    futex_entry: EventTypeId,
    futex_exit: EventTypeId,
    openat_entry: EventTypeId,
    openat_exit: EventTypeId,
    migrate: EventTypeId,
}

impl Types {
    fn add_to(schema: &mut Schema) -> Self {
        let mut add = |name: &str, fields: Fields| {
            schema.add_event_type(StreamClassId(0), name, FieldClass::structure(fields))
        };
        let types = Types {
            switch: add("sched_switch", switch_fields()),
            wakeup: add("sched_wakeup", woken_fields()),
            irq_entry: add(
                "irq_handler_entry",
                vec![("irq", int()), ("name", FieldClass::string())],
            ),
            irq_exit: add("irq_handler_exit", vec![("irq", int()), ("ret", int())]),
            softirq_raise: add("irq_softirq_raise", softirq_fields()),
            softirq_entry: add("irq_softirq_entry", softirq_fields()),
            softirq_exit: add("irq_softirq_exit", softirq_fields()),
            timer_start: add("timer_hrtimer_start", timer_fields()),
            page_alloc: add(
                "kmem_mm_page_alloc",
                vec![
                    ("page", address()),
                    ("pfn", address()),
                    ("order", word()),
                    ("gfp_flags", word()),
                    ("migratetype", int()),
                ],
            ),
            read_entry: add("syscall_entry_read", vec![("fd", word()), ("count", address())]),
            read_exit: add("syscall_exit_read", vec![("ret", long()), ("buf", address())]),
            futex_entry: add(
                "syscall_entry_futex",
                vec![
                    ("uaddr", address()),
                    ("op", int()),
                    ("val", word()),
                    ("utime", address()),
                    ("uaddr2", address()),
                    ("val3", word()),
                ],
            ),
            futex_exit: add(
                "syscall_exit_futex",
                vec![("ret", long()), ("uaddr", address()), ("uaddr2", address())],
            ),
            openat_entry: add(
                "syscall_entry_openat",
                vec![
                    ("dfd", int()),
                    ("filename", FieldClass::string()),
                    ("flags", int()),
                    ("mode", FieldClass::uint(16, Little)),
                ],
            ),
            openat_exit: add("syscall_exit_openat", vec![("ret", long())]),
            migrate: add(
                "sched_migrate_task",
                vec![
                    ("comm", name()),
                    ("tid", int()),
                    ("prio", int()),
                    ("orig_cpu", int()),
                    ("dest_cpu", int()),
                ],
            ),
        };
        schema.event_types[types.migrate.index()].id = RARE_ID;
        types
    }
}

/// The state of a CPU.
struct Cpu {
    number: u32,
    /// The running thread; 0 while the CPU is idle.
    tid: u32,
    interrupt: Option<Interrupt>,
}

/// The threads that do not run.
struct Threads {
    /// The system call of each thread, by number.
    syscalls: Vec<Option<Syscall>>,
    /// The threads that are ready, by CPU.
    ready: Vec<Vec<u32>>,
    /// The threads that are blocked, by CPU.
    blocked: Vec<Vec<u32>>,
}

impl Threads {
    fn new(cpus: usize) -> Self {
        let mut threads = Threads {
            syscalls: vec![None; THREADS as usize],
            ready: vec![Vec::new(); cpus],
            blocked: vec![Vec::new(); cpus],
        };
        for number in 0..THREADS as u32 {
            let cpu = number as usize % cpus;
            let is_ready = (number as usize / cpus).is_multiple_of(2);
            let lists = if is_ready { &mut threads.ready } else { &mut threads.blocked };
            lists[cpu].push(FIRST_TID + number);
        }
        threads
    }

    fn syscall(&mut self, tid: u32) -> &mut Option<Syscall> {
        &mut self.syscalls[(tid - FIRST_TID) as usize]
    }
}

/// Removes a random element.
fn take(random: &mut Random, from: &mut Vec<u32>) -> Option<u32> {
    let last = from.len().checked_sub(1)?;
    Some(from.swap_remove(random.below(last as u64 + 1) as usize))
}

#[derive(Clone, Copy)]
enum Syscall {
    Read,
    Futex,
    Openat,
}

#[derive(Clone, Copy)]
enum Interrupt {
    Hard(u32),
    Raised(u32),
    Soft(u32),
}

impl Cpu {
    fn new(number: u32) -> Self {
        Cpu { number, tid: 0, interrupt: None }
    }

    /// Encodes the payload of the next event.
    fn step(
        &mut self,
        threads: &mut Threads,
        types: &Types,
        random: &mut Random,
        now: u64,
        body: &mut Vec<u8>,
    ) -> EventTypeId {
        let cpu = self.number as usize;
        if let Some(interrupt) = self.interrupt {
            return self.interrupted(interrupt, types, random, body);
        }
        match random.below(100) {
            0..38 => {
                let next = match random.below(5) {
                    0 if self.tid != 0 => 0,
                    _ => match take(random, &mut threads.ready[cpu]) {
                        Some(next) => next,
                        None if self.tid != 0 => 0,
                        None => return page_alloc(types, random, body),
                    },
                };
                let state = if self.tid == 0 { 0 } else { random.below(5).saturating_sub(2) };
                let lists = if state == 0 { &mut threads.ready } else { &mut threads.blocked };
                if self.tid != 0 {
                    lists[cpu].push(self.tid);
                }
                switch(body, self.tid, state, next);
                self.tid = next;
                types.switch
            }
            38..54 => {
                let Some(tid) = take(random, &mut threads.blocked[cpu]) else {
                    return page_alloc(types, random, body);
                };
                threads.ready[cpu].push(tid);
                woken(body, tid, self.number);
                types.wakeup
            }
            54..59 => {
                let irq = 24 + random.below(4) as u32;
                words(body, [irq]);
                body.extend_from_slice(random.pick(&[b"eth0-rx\0" as &[u8], b"ahci\0"]));
                self.interrupt = Some(Interrupt::Hard(irq));
                types.irq_entry
            }
            59..62 => {
                let vec = random.below(10) as u32;
                words(body, [vec]);
                self.interrupt = Some(Interrupt::Raised(vec));
                types.softirq_raise
            }
            62..73 => {
                let expires = now + random.below(1 << 22);
                timer(body, random, expires);
                types.timer_start
            }
            79 => {
                let Some(tid) = take(random, &mut threads.ready[cpu]) else {
                    return page_alloc(types, random, body);
                };
                let to = random.below(threads.ready.len() as u64) as u32;
                threads.ready[to as usize].push(tid);
                comm(body, tid);
                words(body, [tid, 20, self.number, to]);
                types.migrate
            }
            80.. if self.tid != 0 => syscall(threads.syscall(self.tid), types, random, body),
            _ => page_alloc(types, random, body),
        }
    }

    fn interrupted(
        &mut self,
        interrupt: Interrupt,
        types: &Types,
        random: &mut Random,
        body: &mut Vec<u8>,
    ) -> EventTypeId {
        let (next, event, number) = match interrupt {
            Interrupt::Hard(irq) => (None, types.irq_exit, irq),
            Interrupt::Raised(vec) => (Some(Interrupt::Soft(vec)), types.softirq_entry, vec),
            Interrupt::Soft(vec) => (None, types.softirq_exit, vec),
        };
        words(body, [number]);
        if matches!(interrupt, Interrupt::Hard(_)) {
            words(body, [random.below(2) as u32]);
        }
        self.interrupt = next;
        event
    }
}

/// A thread enters a system call, or leaves its current one.
fn syscall(
    of: &mut Option<Syscall>,
    types: &Types,
    random: &mut Random,
    body: &mut Vec<u8>,
) -> EventTypeId {
    match of.take() {
        Some(Syscall::Read) => {
            longs(body, [random.below(4096), pointer(random)]);
            types.read_exit
        }
        Some(Syscall::Futex) => {
            longs(body, [0, pointer(random), 0]);
            types.futex_exit
        }
        Some(Syscall::Openat) => {
            longs(body, [random.below(64)]);
            types.openat_exit
        }
        None => match random.below(10) {
            0..5 => {
                *of = Some(Syscall::Read);
                words(body, [random.below(64) as u32]);
                longs(body, [4096]);
                types.read_entry
            }
            5..9 => {
                *of = Some(Syscall::Futex);
                longs(body, [pointer(random)]);
                words(body, [128, 1]);
                longs(body, [0, 0]);
                words(body, [0]);
                types.futex_entry
            }
            _ => {
                *of = Some(Syscall::Openat);
                words(body, [-100i32 as u32]);
                let paths = [b"/etc/ld.so.cache\0" as &[u8], b"/proc/self/maps\0", b"log\0"];
                body.extend_from_slice(random.pick(&paths));
                words(body, [0o100_000]);
                body.extend_from_slice(&0u16.to_le_bytes());
                types.openat_entry
            }
        },
    }
}

fn page_alloc(types: &Types, random: &mut Random, body: &mut Vec<u8>) -> EventTypeId {
    longs(body, [pointer(random), random.below(1 << 24)]);
    words(body, [0, 0x0cc0, 1]);
    types.page_alloc
}
