//! The simulated system of CPUs and threads.

use lttv_state::history::{Builder, HistoryError, Timestamp};
use lttv_state::tree::Quark;
use lttv_state::value::StateValue;

/// The first time.
pub const START: Timestamp = Timestamp::from_ns(1_000_000_000);

/// The size of the system, and the length of the simulation.
#[derive(Debug, Clone, Copy)]
pub struct System {
    /// The number of CPUs.
    pub cpus: u32,
    /// The number of threads.
    pub threads: u32,
    /// The number of events, each of which makes some changes.
    pub events: u32,
}

/// A receiver of changes.
pub trait Sink {
    /// The error of the receiver.
    type Error;
    /// Changes the value of an attribute at a time.
    fn change(
        &mut self,
        quark: u32,
        time: Timestamp,
        value: StateValue<'_>,
    ) -> Result<(), Self::Error>;
}

impl Sink for Builder {
    type Error = HistoryError;
    fn change(
        &mut self,
        quark: u32,
        time: Timestamp,
        value: StateValue<'_>,
    ) -> Result<(), HistoryError> {
        self.set(Quark::from_index(quark), time, value)
    }
}

/// The numbers of attributes.
mod quarks {
    use super::System;

    pub(super) const CURRENT_THREAD: u32 = 1;
    pub(super) const IRQS: u32 = 2;
    pub(super) const SOFT_IRQS: u32 = 3;
    pub(super) const FREQUENCY: u32 = 4;
    pub(super) const PPID: u32 = 1;
    pub(super) const EXEC_NAME: u32 = 2;
    pub(super) const PRIO: u32 = 3;
    pub(super) const SYSTEM_CALL: u32 = 4;
    pub(super) const CPU_RQ: u32 = 5;

    impl System {
        /// Returns the attribute with the status of a CPU.
        pub fn cpu(&self, cpu: u32) -> u32 {
            1 + 5 * cpu
        }

        /// Returns the attribute with the status of a thread.
        pub fn thread(&self, thread: u32) -> u32 {
            2 + 5 * self.cpus + 6 * thread
        }

        /// Returns the number of attributes.
        pub fn attributes(&self) -> u32 {
            2 + 5 * self.cpus + 6 * self.threads
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32 % n
    }
}

#[derive(Clone, Copy)]
struct Cpu {
    current: Option<u32>,
    irq: u32,
    soft_irq: u32,
}

#[derive(Clone, Copy)]
struct Thread {
    status: i32,
    system_call: Option<u32>,
    on_cpu: bool,
}

struct Simulation<'s, S> {
    system: System,
    sink: &'s mut S,
    changes: u64,
    time: Timestamp,
    cpus: Vec<Cpu>,
    threads: Vec<Thread>,
    random: Random,
    system_calls: Vec<String>,
}

impl System {
    /// Adds all attributes, in the order of their numbers.
    pub fn add_attributes(&self, builder: &mut Builder) -> Result<(), HistoryError> {
        let cpus = builder.add("CPUs")?;
        for cpu in 0..self.cpus {
            let cpu = builder.add_child(cpus, &cpu.to_string())?;
            for name in ["Current_thread", "IRQs", "Soft_IRQs", "Frequency"] {
                builder.add_child(cpu, name)?;
            }
        }
        let threads = builder.add("Threads")?;
        for thread in 0..self.threads {
            let thread = builder.add_child(threads, &(1000 + thread).to_string())?;
            let names = ["PPID", "Exec_name", "Prio", "System_call", "Current_cpu_rq"];
            for name in names {
                builder.add_child(thread, name)?;
            }
        }
        Ok(())
    }

    /// Makes all changes. Returns their number and the last time.
    pub fn run<S: Sink>(&self, sink: &mut S) -> Result<(u64, Timestamp), S::Error> {
        let mut simulation = Simulation {
            system: *self,
            sink,
            changes: 0,
            time: START,
            cpus: vec![Cpu { current: None, irq: 0, soft_irq: 0 }; self.cpus as usize],
            threads: vec![
                Thread { status: 0, system_call: None, on_cpu: false };
                self.threads as usize
            ],
            random: Random(0x9E37_79B9_7F4A_7C15),
            system_calls: (0..40).map(|i| format!("sys_{i}")).collect(),
        };
        simulation.run()?;
        Ok((simulation.changes, simulation.time))
    }

    /// Builds a history. Returns the number of changes and the last time.
    pub fn build(&self, builder: &mut Builder) -> Result<(u64, Timestamp), HistoryError> {
        self.add_attributes(builder)?;
        self.run(builder)
    }
}

impl<S: Sink> Simulation<'_, S> {
    fn emit<'v>(&mut self, quark: u32, value: impl Into<StateValue<'v>>) -> Result<(), S::Error> {
        self.changes += 1;
        self.sink.change(quark, self.time, value.into())
    }

    fn cpu_status(&mut self, cpu: u32, status: i32) -> Result<(), S::Error> {
        self.emit(self.system.cpu(cpu), status)
    }

    fn status(&mut self, thread: u32, status: i32) -> Result<(), S::Error> {
        self.threads[thread as usize].status = status;
        self.emit(self.system.thread(thread), status)
    }

    fn run(&mut self) -> Result<(), S::Error> {
        for cpu in 0..self.system.cpus {
            self.cpu_status(cpu, 0)?;
            self.emit(self.system.cpu(cpu) + quarks::CURRENT_THREAD, 0)?;
            self.emit(self.system.cpu(cpu) + quarks::FREQUENCY, 2_000_000_000i64)?;
        }
        for thread in 0..self.system.threads {
            let at = self.system.thread(thread);
            self.status(thread, 1)?;
            let parent = if thread == 0 { 1 } else { 1000 + thread as i32 / 10 };
            self.emit(at + quarks::PPID, parent)?;
            let name = format!("proc-{}", thread % 97);
            self.emit(at + quarks::EXEC_NAME, name.as_str())?;
            self.emit(at + quarks::PRIO, 20)?;
        }
        for event in 0..self.system.events {
            self.time = self.time.saturating_add(1 + u64::from(self.random.below(2000)));
            let cpu = self.random.below(self.system.cpus);
            match self.random.below(100) {
                0..45 => self.system_call(cpu)?,
                45..75 => self.schedule(cpu)?,
                75..87 => self.irq(cpu)?,
                87..95 => self.soft_irq(cpu)?,
                95..99 => self.wake_up()?,
                _ => self.rename()?,
            }
            if event & 63 == 63 {
                let frequency = 800_000_000 + 100_000_000 * i64::from(self.random.below(30));
                self.emit(self.system.cpu(cpu) + quarks::FREQUENCY, frequency)?;
            }
        }
        Ok(())
    }

    fn system_call(&mut self, cpu: u32) -> Result<(), S::Error> {
        let Some(thread) = self.cpus[cpu as usize].current else { return self.schedule(cpu) };
        let at = self.system.thread(thread) + quarks::SYSTEM_CALL;
        if self.threads[thread as usize].system_call.is_none() {
            let call = self.random.below(40);
            self.threads[thread as usize].system_call = Some(call);
            self.changes += 1;
            let name = StateValue::Str(&self.system_calls[call as usize]);
            self.sink.change(at, self.time, name)?;
            self.status(thread, 3)?;
            self.cpu_status(cpu, 4)
        } else {
            self.threads[thread as usize].system_call = None;
            self.emit(at, StateValue::Null)?;
            self.status(thread, 2)?;
            self.cpu_status(cpu, 2)
        }
    }

    fn running(&self, thread: u32) -> i32 {
        if self.threads[thread as usize].system_call.is_none() { 2 } else { 3 }
    }

    fn schedule(&mut self, cpu: u32) -> Result<(), S::Error> {
        if let Some(previous) = self.cpus[cpu as usize].current {
            self.threads[previous as usize].on_cpu = false;
            let status = if self.random.below(4) != 0 { 1 } else { 5 };
            self.status(previous, status)?;
            self.emit(self.system.thread(previous) + quarks::CPU_RQ, StateValue::Null)?;
        }
        let mut next = None;
        if self.random.below(5) != 0 {
            let most = self.random.below(self.system.threads);
            let mut thread = self.random.below(most + 1);
            while self.threads[thread as usize].on_cpu {
                thread = (thread + 1) % self.system.threads;
            }
            next = Some(thread);
        }
        self.cpus[cpu as usize].current = next;
        let current = self.system.cpu(cpu) + quarks::CURRENT_THREAD;
        let Some(next) = next else {
            self.emit(current, 0)?;
            return self.cpu_status(cpu, 0);
        };
        self.threads[next as usize].on_cpu = true;
        self.emit(current, 1000 + next as i32)?;
        self.status(next, self.running(next))?;
        self.emit(self.system.thread(next) + quarks::CPU_RQ, cpu as i32)?;
        let calls = self.threads[next as usize].system_call.is_some();
        self.cpu_status(cpu, if calls { 4 } else { 2 })
    }

    fn restored(&self, cpu: u32) -> i32 {
        let cpu = self.cpus[cpu as usize];
        match cpu {
            Cpu { irq: 1.., .. } => 16,
            Cpu { soft_irq: 1.., .. } => 8,
            Cpu { current: None, .. } => 0,
            Cpu { current: Some(thread), .. } => 2 * (self.running(thread) - 1),
        }
    }

    fn irq(&mut self, cpu: u32) -> Result<(), S::Error> {
        let before = self.cpus[cpu as usize].irq;
        let now = if before == 0 { 1 + self.random.below(32) } else { 0 };
        self.cpus[cpu as usize].irq = now;
        self.interrupt(cpu, quarks::IRQS, now, 16)
    }

    fn soft_irq(&mut self, cpu: u32) -> Result<(), S::Error> {
        let before = self.cpus[cpu as usize].soft_irq;
        let now = if before == 0 { 1 + self.random.below(10) } else { 0 };
        self.cpus[cpu as usize].soft_irq = now;
        self.interrupt(cpu, quarks::SOFT_IRQS, now, 8)
    }

    fn interrupt(&mut self, cpu: u32, which: u32, now: u32, status: i32) -> Result<(), S::Error> {
        let number = (now > 0).then_some(now as i32);
        self.emit(self.system.cpu(cpu) + which, number)?;
        self.cpu_status(cpu, if now > 0 { status } else { self.restored(cpu) })?;
        match self.cpus[cpu as usize].current {
            None => Ok(()),
            Some(thread) => self.status(thread, if now > 0 { 4 } else { self.running(thread) }),
        }
    }

    fn wake_up(&mut self) -> Result<(), S::Error> {
        let thread = self.random.below(self.system.threads);
        let Thread { status, on_cpu, .. } = self.threads[thread as usize];
        if !on_cpu && status == 1 { self.status(thread, 5) } else { Ok(()) }
    }

    fn rename(&mut self) -> Result<(), S::Error> {
        let thread = self.random.below(self.system.threads);
        let at = self.system.thread(thread);
        if self.random.below(4) == 0 {
            let name = format!("proc-{}", self.random.below(2000));
            self.emit(at + quarks::EXEC_NAME, name.as_str())
        } else {
            let priority = 20 + self.random.below(40) as i32;
            self.emit(at + quarks::PRIO, priority)
        }
    }
}
