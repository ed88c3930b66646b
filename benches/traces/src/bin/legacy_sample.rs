//! Generates the bundled trace of LTTng 0.x, format 2.6, of a small imaginary machine on
//! which a shell starts programs.
//!
//! ```sh
//! cargo run --release -p lttv-traces --bin legacy_sample -- examples/traces/legacy
//! ```
//!
//! Unlike in the traces for measurements, its events are consistent: a system call ends on
//! the CPU and in the process of its start, a sleeping process is woken up before it runs, and
//! a forked process executes a program, exits and is freed.

use std::collections::VecDeque;
use std::error::Error;

use ltt_read::legacy::{LegacyMarker, LegacyWriter};
use ltt_read::writer::{FieldValue, WriteError};
use lttv_traces::Random;

const EVENTS: u64 = 8000;
const CPUS: usize = 2;
const SHELL: i32 = 1840;
const PROGRAMS: [&str; 4] = ["/bin/ls", "/usr/bin/make", "/usr/bin/cc1", "/bin/grep"];
const FILES: [&str; 4] = ["/etc/ld.so.cache", "/lib/libc.so.6", "Makefile", "/proc/meminfo"];
/// The numbers and names of system calls (of 32-bit x86).
const READ: (u32, &str) = (3, "sys_read");
const CALLS: [(u32, &str); 8] = [
    READ,
    (1, "sys_exit"),
    (2, "sys_fork"),
    (4, "sys_write"),
    (5, "sys_open"),
    (6, "sys_close"),
    (11, "sys_execve"),
    (7, "sys_waitpid"),
];
const TIMER: u32 = 0;
const DISK: u32 = 14;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("the directory to write to is missing")?;
    let mut machine = Machine::new()?;
    machine.dump_state()?;
    while machine.events < EVENTS {
        machine.step()?;
    }
    machine.writer.write_to(directory)?;
    Ok(())
}

struct Machine {
    writer: LegacyWriter,
    markers: Markers,
    random: Random,
    /// The current time in ticks.
    now: u64,
    events: u64,
    /// The running process of each CPU; `None` if it is idle.
    cpus: [Option<Process>; CPUS],
    ready: VecDeque<Process>,
    /// The processes that wait for the disk.
    asleep: VecDeque<Process>,
    next_pid: i32,
}

#[derive(Clone, Copy)]
struct Process {
    pid: i32,
    /// `true` within a system call.
    calls: bool,
    /// The number of steps before it exits; `None` for the shell, which does not.
    steps: Option<u32>,
    /// `true` after the fork, until it executes its program.
    is_new: bool,
}

/// Defines a struct of markers and declares them: channel, name, format of each.
macro_rules! markers {
    ($($field:ident: $channel:literal $name:literal $format:literal,)*) => {
        struct Markers { $($field: LegacyMarker,)* }

        impl Markers {
            fn declare(writer: &mut LegacyWriter) -> Result<Self, WriteError> {
                Ok(Markers { $($field: writer.marker($channel, $name, $format)?,)* })
            }
        }
    };
}

markers! {
    schedule: "kernel" "sched_schedule" "prev_pid %d next_pid %d prev_state #2d%ld",
    wakeup: "kernel" "sched_try_wakeup" "pid %d cpu_id %u state %lu",
    fork: "kernel" "process_fork" "parent_pid %d child_pid %d child_tgid %d",
    exit: "kernel" "process_exit" "pid %d",
    free: "kernel" "process_free" "pid %d",
    syscall_entry: "kernel" "syscall_entry" "ip #p%ld syscall_id #2u%u",
    syscall_exit: "kernel" "syscall_exit" "ret %ld",
    irq_entry: "kernel" "irq_entry" "ip %lu handler %p irq_id #2u%u kernel_mode #1u%u",
    irq_exit: "kernel" "irq_exit" "handled #1u%u",
    softirq_raise: "kernel" "softirq_raise" "softirq_id #1u%lu",
    softirq_entry: "kernel" "softirq_entry" "softirq_id #1u%lu",
    softirq_exit: "kernel" "softirq_exit" "softirq_id #1u%lu",
    fault_entry: "kernel" "page_fault_entry"
        "ip #p%ld address #p%lu trap_id #2u%u write_access #1u%u",
    fault_exit: "kernel" "page_fault_exit" "res %d",
    exec: "fs" "exec" "filename %s",
    open: "fs" "open" "fd %d filename %s",
    close: "fs" "close" "fd %u",
    read: "fs" "read" "count %zu fd %u",
    write: "fs" "write" "count %zu fd %u",
    process_state: "task_state" "process_state"
        "pid %d parent_pid %d name %s type %d mode %d submode %d status %d tgid %d",
    interrupt: "irq_state" "interrupt" "name %s action %s irq_id %u",
    syscall: "syscall_state" "sys_call_table" "id %d address %p symbol %s",
    softirq: "softirq_state" "softirq_vec" "id %d address %p symbol %s",
    dump_end: "global_state" "statedump_end" "MARK_NOARGS",
}

impl Machine {
    fn new() -> Result<Self, WriteError> {
        let now = 60 << 30;
        let mut writer =
            LegacyWriter::new().with_sub_buffer_size(1 << 14).with_clock(1_985_412_000, now);
        let markers = Markers::declare(&mut writer)?;
        let shell = Process { pid: SHELL, calls: false, steps: None, is_new: false };
        Ok(Machine {
            writer,
            markers,
            random: Random::new(2010),
            now,
            events: 0,
            cpus: [None; CPUS],
            ready: VecDeque::from([shell]),
            asleep: VecDeque::new(),
            next_pid: SHELL + 1,
        })
    }

    fn event(
        &mut self,
        cpu: usize,
        marker: impl FnOnce(&Markers) -> LegacyMarker,
        values: &[FieldValue],
    ) -> Result<(), WriteError> {
        self.now += 200 + self.random.below(4000);
        self.events += 1;
        self.writer.event(cpu as u32, marker(&self.markers), self.now, values)
    }

    /// Writes the state at the start of the recording.
    fn dump_state(&mut self) -> Result<(), WriteError> {
        let processes = [(1, 0, "init", 0), (2, 0, "kthreadd", 1), (SHELL, 1, "bash", 0)];
        for (pid, parent, name, kind) in processes {
            let values = [pid, parent].map(FieldValue::from).into_iter();
            let rest = [kind, 5, 0, 5, pid].map(FieldValue::from);
            let values: Vec<_> = values.chain([name.into()]).chain(rest).collect();
            self.event(0, |m| m.process_state, &values)?;
        }
        for (number, action) in [(TIMER, "timer"), (DISK, "ata_piix")] {
            let values = ["IO-APIC".into(), action.into(), number.into()];
            self.event(0, |m| m.interrupt, &values)?;
        }
        for (number, name) in CALLS {
            let address = 0xc010_0000u32 + 0x100 * number;
            let symbol = format!("{name}+0x0/0x80");
            let values = [number.into(), address.into(), symbol.as_str().into()];
            self.event(0, |m| m.syscall, &values)?;
        }
        for (number, name) in [(1u32, "run_timer_softirq"), (4, "blk_done_softirq")] {
            let address = 0xc015_0000u32 + 0x100 * number;
            let symbol = format!("{name}+0x0/0x100");
            let values = [number.into(), address.into(), symbol.as_str().into()];
            self.event(0, |m| m.softirq, &values)?;
        }
        self.event(0, |m| m.dump_end, &[])
    }

    /// Simulates the next step on a random CPU.
    fn step(&mut self) -> Result<(), WriteError> {
        let cpu = self.random.below(CPUS as u64) as usize;
        let Some(process) = self.cpus[cpu] else { return self.idle(cpu) };
        if process.is_new {
            return self.execute(cpu, process);
        }
        if process.calls {
            // It was switched out in the call, and now runs again.
            return self.end_call(cpu, 4096);
        }
        match (process.steps, self.random.below(100)) {
            (Some(0), _) => self.exit(cpu, process),
            (None, 0..=29) if self.ready.len() + self.asleep.len() < 6 => self.fork(cpu, process),
            (_, 0..=69) => self.use_file(cpu),
            (_, 70..=84) => self.fault(cpu),
            (_, 85..=94) => self.interrupt(cpu, TIMER),
            _ if self.ready.is_empty() => Ok(()),
            _ => self.switch(cpu, 0),
        }
    }

    fn idle(&mut self, cpu: usize) -> Result<(), WriteError> {
        self.now += self.random.below(400_000);
        let number = if self.asleep.is_empty() { TIMER } else { DISK };
        self.interrupt(cpu, number)?;
        if self.ready.is_empty() { Ok(()) } else { self.switch(cpu, 0) }
    }

    /// Writes an interrupt and the soft interrupt that it raises. The disk's interrupt wakes a
    /// process up.
    fn interrupt(&mut self, cpu: usize, number: u32) -> Result<(), WriteError> {
        let in_kernel = u32::from(self.cpus[cpu].is_none());
        let soft = [if number == DISK { 4u32 } else { 1 }.into()];
        let values = [0xc01a_2b3cu32, 0xc010_5650, number, in_kernel].map(FieldValue::from);
        self.event(cpu, |m| m.irq_entry, &values)?;
        self.event(cpu, |m| m.softirq_raise, &soft)?;
        self.event(cpu, |m| m.irq_exit, &[1u32.into()])?;
        self.event(cpu, |m| m.softirq_entry, &soft)?;
        if number == DISK
            && let Some(process) = self.asleep.pop_front()
        {
            let values = [process.pid.into(), (cpu as u32).into(), 1u32.into()];
            self.event(cpu, |m| m.wakeup, &values)?;
            self.ready.push_back(process);
        }
        self.event(cpu, |m| m.softirq_exit, &soft)
    }

    /// Switches to the next process; `state` is that of the previous one.
    fn switch(&mut self, cpu: usize, state: i32) -> Result<(), WriteError> {
        let next = self.ready.pop_front();
        let pid = |process: Option<Process>| process.map_or(0, |process| process.pid);
        let from = self.cpus[cpu];
        if pid(from) == pid(next) {
            return Ok(());
        }
        self.event(cpu, |m| m.schedule, &[pid(from), pid(next), state].map(FieldValue::from))?;
        if let Some(process) = from {
            match state {
                0 => self.ready.push_back(process),
                1 => self.asleep.push_back(process),
                _ => {}
            }
        }
        self.cpus[cpu] = next;
        Ok(())
    }

    fn begin_call(&mut self, cpu: usize, number: u32) -> Result<(), WriteError> {
        if let Some(process) = &mut self.cpus[cpu] {
            process.calls = true;
            process.steps = process.steps.map(|steps| steps.saturating_sub(1));
        }
        self.event(cpu, |m| m.syscall_entry, &[0xb7f2_c422u32.into(), number.into()])
    }

    fn end_call(&mut self, cpu: usize, result: i32) -> Result<(), WriteError> {
        if let Some(process) = &mut self.cpus[cpu] {
            process.calls = false;
        }
        self.event(cpu, |m| m.syscall_exit, &[result.into()])
    }

    /// Opens a file, reads or writes, and closes it. Some reads wait for the disk.
    fn use_file(&mut self, cpu: usize) -> Result<(), WriteError> {
        let count = [(512 << self.random.below(4)).into(), 3u32.into()];
        match self.random.below(8) {
            0 | 1 => {
                let name = self.random.pick(&FILES);
                self.begin_call(cpu, 5)?;
                self.event(cpu, |m| m.open, &[3.into(), name.into()])?;
                self.end_call(cpu, 3)
            }
            2 | 3 => {
                self.begin_call(cpu, 6)?;
                self.event(cpu, |m| m.close, &[3u32.into()])?;
                self.end_call(cpu, 0)
            }
            4 => {
                self.begin_call(cpu, 4)?;
                self.event(cpu, |m| m.write, &count)?;
                self.end_call(cpu, 512)
            }
            5 => {
                self.begin_call(cpu, READ.0)?;
                self.event(cpu, |m| m.read, &count)?;
                self.switch(cpu, 1)
            }
            _ => {
                self.begin_call(cpu, READ.0)?;
                self.event(cpu, |m| m.read, &count)?;
                self.end_call(cpu, 512)
            }
        }
    }

    fn fault(&mut self, cpu: usize) -> Result<(), WriteError> {
        let address = 0x0805_0000 + 4 * self.random.below(1 << 12) as u32;
        let values = [0x0804_8f80u32, address, 14, 1].map(FieldValue::from);
        self.event(cpu, |m| m.fault_entry, &values)?;
        self.event(cpu, |m| m.fault_exit, &[512.into()])
    }

    fn fork(&mut self, cpu: usize, parent: Process) -> Result<(), WriteError> {
        let pid = self.next_pid;
        self.next_pid += 1;
        let steps = Some(3 + self.random.below(60) as u32);
        self.begin_call(cpu, 2)?;
        self.event(cpu, |m| m.fork, &[parent.pid, pid, pid].map(FieldValue::from))?;
        self.ready.push_back(Process { pid, calls: true, steps, is_new: true });
        self.end_call(cpu, pid)
    }

    fn execute(&mut self, cpu: usize, process: Process) -> Result<(), WriteError> {
        let name = self.random.pick(&PROGRAMS);
        // First, the fork returns in the child.
        self.end_call(cpu, 0)?;
        self.cpus[cpu] = Some(Process { calls: false, is_new: false, ..process });
        self.begin_call(cpu, 11)?;
        self.event(cpu, |m| m.exec, &[name.into()])?;
        self.end_call(cpu, 0)
    }

    fn exit(&mut self, cpu: usize, process: Process) -> Result<(), WriteError> {
        const DEAD: i32 = 64;
        self.begin_call(cpu, 1)?;
        self.event(cpu, |m| m.exit, &[process.pid.into()])?;
        self.switch(cpu, DEAD)?;
        self.event(cpu, |m| m.free, &[process.pid.into()])
    }
}
