//! A generated trace of LTTng's kernel tracer in which events follow realistic sequences.

use std::collections::VecDeque;
use std::path::Path;

use ltt_read::schema::{EventTypeId, FieldClass, Schema, StreamClassId};
use ltt_read::writer::WriteError;
use ltt_read::writer::presets::lttng_kernel;

use crate::payload::*;
use crate::{Cpus, Options, Random};

/// The number of threads of each CPU. They do not migrate.
const THREADS: u32 = 25;

/// Writes a kernel trace of typical sequences: compact event headers, about 26 bytes per
/// event.
///
/// The simulated kernel works in steps: a switch follows two events of RCU and one of run
/// time, a timer tick contains its interrupts, and a thread that blocks in a system call
/// returns to it when it is switched in. So most events are predictable from the previous
/// ones, and the shares of event types are about those in a recording of a busy machine: 6
/// in 100 events are switches. In [`kernel_like`](crate::kernel_like) each event is drawn at
/// random, and a third are switches.
///
/// # Errors
///
/// If a file cannot be written.
pub fn routine(dir: &Path, cpus: u32, events: u64, options: &Options) -> Result<(), WriteError> {
    let mut schema = lttng_kernel(options.format);
    let types = Types::add_to(&mut schema);
    let mut streams = Cpus::create(dir, schema, "channel0", cpus, options)?;
    let mut random = Random::new(options.seed);
    let mut states: Vec<Cpu> = (0..cpus.max(1)).map(Cpu::new).collect();
    for _ in 0..events {
        let (number, now) = streams.advance(&mut random);
        let cpu = &mut states[number];
        let (event, body) = loop {
            match cpu.queue.pop_front() {
                Some(next) => break next,
                None => cpu.queue_next(&types, &mut random, now),
            }
        };
        streams.streams[number].encoded_event(event, now, 8, &body)?;
    }
    streams.finish()
}

/// The event types of a system call.
#[derive(Clone, Copy)]
struct Syscall {
    entry: EventTypeId,
    exit: EventTypeId,
    /// The numbers of 64-bit integers in the payloads of entry and exit.
    fields: [usize; 2],
    /// The percentage of calls that block.
    waits: u64,
}

struct Types {
    switch: EventTypeId,
    waking: EventTypeId,
    wakeup: EventTypeId,
    stat_runtime: EventTypeId,
    rcu: EventTypeId,
    raise: EventTypeId,
    softirq_entry: EventTypeId,
    softirq_exit: EventTypeId,
    timer_start: EventTypeId,
    expire_entry: EventTypeId,
    expire_exit: EventTypeId,
    tick_entry: EventTypeId,
    tick_exit: EventTypeId,
    idle: EventTypeId,
    syscalls: [Syscall; 5],
}

impl Types {
    fn add_to(schema: &mut Schema) -> Self {
        let mut add = |name: &str, fields: Fields| {
            schema.add_event_type(StreamClassId(0), name, FieldClass::structure(fields))
        };
        let mut syscall = |name: &str, entry: &[&'static str], exit: &[&'static str], waits| {
            let fields = |names: &[&'static str]| names.iter().map(|n| (*n, address())).collect();
            Syscall {
                entry: add(&format!("syscall_entry_{name}"), fields(entry)),
                exit: add(&format!("syscall_exit_{name}"), fields(exit)),
                fields: [entry.len(), exit.len()],
                waits,
            }
        };
        let syscalls = [
            syscall("read", &["fd", "count"], &["ret", "buf"], 20),
            syscall("write", &["fd", "buf", "count"], &["ret"], 5),
            syscall("futex", &["uaddr", "op", "val", "utime"], &["ret", "uaddr"], 60),
            syscall("poll", &["timeout_msecs", "nfds"], &["ret", "nfds"], 30),
            syscall("sched_yield", &[], &["ret"], 0),
        ];
        Types {
            switch: add("sched_switch", switch_fields()),
            waking: add("sched_waking", woken_fields()),
            wakeup: add("sched_wakeup", woken_fields()),
            stat_runtime: add(
                "sched_stat_runtime",
                vec![("comm", name()), ("tid", int()), ("runtime", long()), ("vruntime", long())],
            ),
            rcu: add("rcu_utilization", vec![("s", FieldClass::string())]),
            raise: add("irq_softirq_raise", softirq_fields()),
            softirq_entry: add("irq_softirq_entry", softirq_fields()),
            softirq_exit: add("irq_softirq_exit", softirq_fields()),
            timer_start: add("timer_hrtimer_start", timer_fields()),
            expire_entry: add(
                "timer_hrtimer_expire_entry",
                vec![("hrtimer", address()), ("now", long()), ("function", address())],
            ),
            expire_exit: add("timer_hrtimer_expire_exit", vec![("hrtimer", address())]),
            tick_entry: add("x86_irq_vectors_local_timer_entry", vec![("vector", int())]),
            tick_exit: add("x86_irq_vectors_local_timer_exit", vec![("vector", int())]),
            idle: add("power_cpu_idle", vec![("state", word()), ("cpu_id", word())]),
            syscalls,
        }
    }
}

/// The state of a CPU, and its pending events.
struct Cpu {
    number: u32,
    /// The running thread; 0 while the CPU is idle.
    tid: u32,
    ready: Vec<u32>,
    blocked: Vec<u32>,
    /// The system call that each thread is blocked in.
    waiting: Vec<Option<Syscall>>,
    queue: VecDeque<(EventTypeId, Vec<u8>)>,
}

impl Cpu {
    fn new(number: u32) -> Self {
        let first = FIRST_TID + number * THREADS;
        Cpu {
            number,
            tid: 0,
            ready: Vec::new(),
            blocked: (first..first + THREADS).collect(),
            waiting: vec![None; THREADS as usize],
            queue: VecDeque::new(),
        }
    }

    /// Returns the system call that a thread is blocked in.
    fn waiting(&mut self, tid: u32) -> &mut Option<Syscall> {
        &mut self.waiting[(tid - FIRST_TID - self.number * THREADS) as usize]
    }

    fn push(&mut self, event: EventTypeId, write: impl FnOnce(&mut Vec<u8>)) {
        let mut body = Vec::new();
        write(&mut body);
        self.queue.push_back((event, body));
    }

    /// Queues the events of the next activity.
    fn queue_next(&mut self, types: &Types, random: &mut Random, now: u64) {
        match random.below(100) {
            0..6 => self.tick(types, random, now),
            6..20 => self.wake(types, random),
            20..24 => {
                let expires = now + random.below(1 << 22);
                self.start_timer(types, random, expires);
            }
            // An idle CPU switches to a ready thread soon.
            24..60 if self.tid == 0 => self.switch(types, random, true),
            24..30 => self.switch(types, random, true),
            _ if self.tid != 0 => self.syscall(types, random),
            _ => self.wake(types, random),
        }
    }

    fn tick(&mut self, types: &Types, random: &mut Random, now: u64) {
        const VECTOR: u32 = 236;
        let timer = pointer(random);
        self.push(types.tick_entry, |body| words(body, [VECTOR]));
        self.push(types.expire_entry, |body| longs(body, [timer, now, pointer(random)]));
        for vec in [1, 9] {
            self.push(types.raise, |body| words(body, [vec]));
        }
        self.rcu(types, "scheduler-tick");
        self.run_time(types, random);
        self.push(types.expire_exit, |body| longs(body, [timer]));
        self.start_timer(types, random, now + 4_000_000);
        self.push(types.tick_exit, |body| words(body, [VECTOR]));
        for vec in [1, 9] {
            self.push(types.softirq_entry, |body| words(body, [vec]));
            if vec == 9 {
                self.rcu(types, "RCU core");
            }
            self.push(types.softirq_exit, |body| words(body, [vec]));
        }
    }

    fn start_timer(&mut self, types: &Types, random: &mut Random, expires: u64) {
        self.push(types.timer_start, |body| timer(body, random, expires));
    }

    /// Queues the start and the end of an RCU activity.
    fn rcu(&mut self, types: &Types, what: &str) {
        for part in ["Start", "End"] {
            self.push(types.rcu, |body| body.extend(format!("{part} {what}\0").bytes()));
        }
    }

    fn run_time(&mut self, types: &Types, random: &mut Random) {
        let tid = self.tid;
        if tid != 0 {
            self.push(types.stat_runtime, |body| {
                comm(body, tid);
                words(body, [tid]);
                longs(body, [random.below(1 << 20), random.below(1 << 40)]);
            });
        }
    }

    fn wake(&mut self, types: &Types, random: &mut Random) {
        let Some(last) = self.blocked.len().checked_sub(1) else { return };
        let tid = self.blocked.swap_remove(random.below(last as u64 + 1) as usize);
        self.ready.push(tid);
        let cpu = self.number;
        for (event, of_current) in [(types.waking, true), (types.wakeup, false)] {
            self.push(event, |body| woken(body, tid, cpu));
            if of_current {
                self.run_time(types, random);
            }
        }
    }

    /// Queues a switch to another thread or to idle. `is_ready` is `true` if the previous
    /// thread could continue.
    fn switch(&mut self, types: &Types, random: &mut Random, is_ready: bool) {
        let next = match self.ready.len() {
            0 if self.tid == 0 || is_ready => return,
            0 => 0,
            count => self.ready.swap_remove(random.below(count as u64) as usize),
        };
        self.rcu(types, "context switch");
        self.run_time(types, random);
        let (previous, cpu) = (self.tid, self.number);
        let state = u64::from(!is_ready);
        if previous == 0 {
            self.push(types.idle, |body| words(body, [u32::MAX, cpu]));
        } else if is_ready {
            self.ready.push(previous);
        } else {
            self.blocked.push(previous);
        }
        self.push(types.switch, |body| switch(body, previous, state, next));
        self.tid = next;
        if next == 0 {
            self.push(types.idle, |body| words(body, [1, cpu]));
        } else if let Some(syscall) = self.waiting(next).take() {
            self.exit(&syscall, random);
        }
    }

    fn syscall(&mut self, types: &Types, random: &mut Random) {
        let syscall = random.pick(&types.syscalls);
        self.push(syscall.entry, |body| numbers(body, random, syscall.fields[0]));
        if random.below(100) < syscall.waits {
            let tid = self.tid;
            *self.waiting(tid) = Some(syscall);
            self.switch(types, random, false);
        } else {
            self.exit(&syscall, random);
        }
    }

    fn exit(&mut self, syscall: &Syscall, random: &mut Random) {
        self.push(syscall.exit, |body| numbers(body, random, syscall.fields[1]));
    }
}

fn numbers(body: &mut Vec<u8>, random: &mut Random, count: usize) {
    (0..count).for_each(|_| longs(body, [random.below(1 << 16)]));
}
