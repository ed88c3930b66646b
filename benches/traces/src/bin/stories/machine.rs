//! The imaginary machine: threads with steps, and a scheduler with time slices.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::path::Path;

use ltt_read::schema::EventTypeId;
use ltt_read::writer::{FieldValue, WriteError};
use lttv_traces::Random;

use super::recorder::{Context, Recorder, Types};

/// The longest time that a thread runs while others are ready, in ns.
const SLICE: u64 = 4_000_000;
const PRIORITY: i32 = 20;
/// States in switches.
const RUNNING: i64 = 0;
const WAITS: i64 = 1;
const DEAD: i64 = 32;
/// The soft interrupt of received packets.
const NET_RX: u32 = 3;
/// The soft interrupt that frees what no CPU uses any more.
const RCU: u32 = 9;
const NETWORK: i32 = 27;

/// An action of a thread.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// Runs for a number of ns.
    Work(u64),
    /// Opens a file.
    Open(&'static str),
    /// Starts a process with steps of its own.
    Fork(Vec<Step>),
    /// Becomes another program.
    Exec(&'static str),
    /// Waits for the end of a process that it started.
    Await,
    /// Waits for a message that arrives at a time.
    Receive(u64),
    /// Sends a message.
    Send,
}

/// A thread.
#[derive(Debug, Clone)]
pub(super) struct Thread {
    tid: u32,
    pid: u32,
    name: &'static str,
    namespace: u32,
    steps: VecDeque<Step>,
    /// The place of its parent among the threads.
    parent: Option<usize>,
    /// The CPU on which it ran last.
    cpu: usize,
    /// The number of its processes that have ended, and were not waited for.
    ended: u32,
    /// The number of messages that have arrived, and were not received.
    messages: u32,
    /// The call from which it returns when it runs again.
    call: Option<Call>,
    /// The time of its last switch.
    last: u64,
}

/// A system call in which a thread is off the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    /// The new process returns from the call that created it.
    Clone,
    Wait4,
    Receive,
}

impl Thread {
    /// Creates a thread that is the only one of its process.
    pub(super) fn new(tid: u32, name: &'static str, namespace: u32, steps: Vec<Step>) -> Self {
        Thread {
            tid,
            pid: tid,
            name,
            namespace,
            steps: steps.into(),
            parent: None,
            cpu: 0,
            ended: 0,
            messages: 0,
            call: None,
            last: 0,
        }
    }

    /// Sets the process.
    pub(super) fn of_process(mut self, pid: u32) -> Self {
        self.pid = pid;
        self
    }
}

/// An event of the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    /// The thread on a CPU has worked, or its slice ends.
    Continue(usize),
    /// An idle CPU notices that a thread is ready.
    Notice(usize),
    /// A thread starts that was not started by another one.
    Start(usize),
    /// A message for a thread arrives.
    Arrive(usize),
    /// The kernel frees what is left of a thread that has ended.
    Free(usize),
}

#[derive(Debug, Default, Clone)]
struct Cpu {
    running: Option<usize>,
    ready: VecDeque<usize>,
    /// The time of its last event.
    last: u64,
    /// The time at which the slice of the running thread ends.
    slice: u64,
}

pub(super) struct Machine {
    recorder: Recorder,
    random: Random,
    threads: Vec<Thread>,
    cpus: Vec<Cpu>,
    /// Times, numbers that keep the order of what happens at one time, and what happens.
    happenings: BinaryHeap<Reverse<(u64, u64, Happening)>>,
    number: u64,
    next_tid: u32,
}

impl Machine {
    /// Creates a machine whose recording is written to a folder.
    pub(super) fn create(
        directory: &Path,
        cpus: usize,
        host: &str,
        random: Random,
    ) -> Result<Self, WriteError> {
        Ok(Machine {
            recorder: Recorder::create(directory, cpus, host)?,
            random,
            threads: Vec::new(),
            cpus: vec![Cpu::default(); cpus],
            happenings: BinaryHeap::new(),
            number: 0,
            next_tid: 1202,
        })
    }

    /// Starts a thread at a time.
    pub(super) fn start(&mut self, thread: Thread, time: u64) {
        let number = self.threads.len();
        self.at(time, Happening::Start(number));
        for step in &thread.steps {
            if let Step::Receive(time) = step {
                self.at(*time, Happening::Arrive(number));
            }
        }
        self.threads.push(thread);
    }

    /// Runs the machine until a time, and ends the recording.
    pub(super) fn run(mut self, until: u64) -> Result<(), WriteError> {
        for number in 0..self.threads.len() {
            self.dump(number)?;
        }
        while let Some(Reverse((time, _, happening))) = self.happenings.pop() {
            if time > until {
                break;
            }
            match happening {
                Happening::Continue(cpu) => self.go_on(cpu, time)?,
                Happening::Notice(cpu) => self.notice(cpu, time)?,
                Happening::Start(thread) => _ = self.wake(0, time, thread)?,
                Happening::Arrive(thread) => self.arrive(time, thread)?,
                Happening::Free(thread) => self.free(time, thread)?,
            }
        }
        self.recorder.finish()
    }

    fn at(&mut self, time: u64, happening: Happening) {
        self.number += 1;
        self.happenings.push(Reverse((time, self.number, happening)));
    }

    /// Returns the thread that runs on a CPU, as events see it.
    fn context(&self, cpu: usize) -> Context {
        match self.cpus[cpu].running {
            Some(thread) => {
                let Thread { tid, name, namespace, .. } = self.threads[thread];
                Context { tid, name, namespace }
            }
            None => Context { tid: 0, name: IDLE[cpu], namespace: HOST },
        }
    }

    /// Records an event at a time, or at a later one if the CPU has recorded others. Returns its time.
    fn event(
        &mut self,
        cpu: usize,
        time: u64,
        of: impl FnOnce(&Types) -> EventTypeId,
        values: impl IntoIterator<Item = FieldValue>,
    ) -> Result<u64, WriteError> {
        let after = self.cpus[cpu].last + 150 + self.random.below(900);
        let time = time.max(after);
        self.cpus[cpu].last = time;
        let context = self.context(cpu);
        self.recorder.event(cpu, time, of, context, values)?;
        Ok(time)
    }

    /// Records the state of a thread at the start.
    fn dump(&mut self, number: usize) -> Result<(), WriteError> {
        let Thread { tid, pid, name, .. } = self.threads[number];
        // A thread of a program, in a system call, that waits.
        let values =
            [int(tid), int(pid), int(1), name.into(), int(0), int(1), int(0), int(5), 0_u32.into()];
        self.event(0, 0, |of| of.state, values)?;
        Ok(())
    }

    /// Makes a thread ready, on an idle CPU or the one with the fewest threads. Returns the time of the last event.
    fn wake(&mut self, from: usize, time: u64, thread: usize) -> Result<u64, WriteError> {
        let Thread { tid, name, cpu: last, call, .. } = self.threads[thread];
        let load = |cpu: usize| {
            let Cpu { running, ready, .. } = &self.cpus[cpu];
            (ready.len() + usize::from(running.is_some()), cpu != last, cpu)
        };
        let cpu = (0..self.cpus.len()).min_by_key(|cpu| load(*cpu)).unwrap_or(last);
        let values = |cpu: usize| [name.into(), int(tid), int(PRIORITY), int(cpu as u32)];
        // It is switched out on its CPU before it is woken up on another one.
        let mut time = time.max(self.threads[thread].last + 1_000);
        if call == Some(Call::Clone) {
            time = self.event(from, time, |of| of.wakeup_new, values(cpu))?;
        } else {
            time = self.event(from, time, |of| of.waking, values(last))?;
            if cpu != last {
                time = self.migrate(from, time, thread, cpu)?;
            }
            time = self.event(from, time, |of| of.wakeup, values(cpu))?;
        }
        self.threads[thread].cpu = cpu;
        self.cpus[cpu].ready.push_back(thread);
        let noticed = time + 4_000 + self.random.below(30_000);
        self.at(noticed, Happening::Notice(cpu));
        Ok(time)
    }

    fn migrate(
        &mut self,
        from: usize,
        time: u64,
        thread: usize,
        to: usize,
    ) -> Result<u64, WriteError> {
        let Thread { tid, name, cpu, .. } = self.threads[thread];
        let values = [name.into(), int(tid), int(PRIORITY), int(cpu as u32), int(to as u32)];
        self.threads[thread].cpu = to;
        self.event(from, time, |of| of.migrate, values)
    }

    /// A message arrives: the interrupt of the network wakes its thread up.
    fn arrive(&mut self, time: u64, thread: usize) -> Result<(), WriteError> {
        let mut now = self.event(0, time, |of| of.irq_entry, [int(NETWORK), "eth0".into()])?;
        now = self.event(0, now, |of| of.softirq_raise, [NET_RX.into()])?;
        now = self.event(0, now, |of| of.irq_exit, [int(NETWORK), int(1)])?;
        now = self.event(0, now, |of| of.softirq_entry, [NET_RX.into()])?;
        match self.threads[thread].call {
            Some(Call::Receive) if !self.is_ready(thread) => now = self.wake(0, now, thread)?,
            // It finds the message when it asks for the next one.
            _ => self.threads[thread].messages += 1,
        }
        self.event(0, now, |of| of.softirq_exit, [NET_RX.into()])?;
        Ok(())
    }

    fn is_ready(&self, thread: usize) -> bool {
        self.cpus.iter().any(|cpu| cpu.ready.contains(&thread))
    }

    fn notice(&mut self, cpu: usize, time: u64) -> Result<(), WriteError> {
        match self.cpus[cpu].running {
            None if !self.cpus[cpu].ready.is_empty() => self.switch(cpu, time, RUNNING),
            _ => Ok(()),
        }
    }

    /// Lets the next thread run on a CPU, perhaps one that is ready on another CPU.
    fn switch(&mut self, cpu: usize, time: u64, state: i64) -> Result<(), WriteError> {
        let mut time = time;
        if self.cpus[cpu].ready.is_empty() {
            let fullest =
                (0..self.cpus.len()).max_by_key(|cpu| (self.cpus[*cpu].ready.len(), Reverse(*cpu)));
            let is_busy = |cpu: &usize| self.cpus[*cpu].running.is_some();
            let found = fullest.filter(is_busy).and_then(|of| self.cpus[of].ready.pop_front());
            if let Some(thread) = found {
                time = self.migrate(cpu, time, thread, cpu)?;
                self.cpus[cpu].ready.push_back(thread);
            }
        }
        let next = self.cpus[cpu].ready.pop_front();
        let from = self.context(cpu);
        let (tid, name) = match next {
            Some(thread) => (self.threads[thread].tid, self.threads[thread].name),
            None => (0, IDLE[cpu]),
        };
        let values = [
            from.name.into(),
            int(from.tid),
            int(PRIORITY),
            FieldValue::from(state),
            name.into(),
            int(tid),
            int(PRIORITY),
        ];
        let time = self.event(cpu, time, |of| of.switch, values)?;
        let before = std::mem::replace(&mut self.cpus[cpu].running, next);
        for thread in before.into_iter().chain(next) {
            self.threads[thread].last = time;
        }
        self.cpus[cpu].slice = time + SLICE;
        let Some(thread) = next else { return Ok(()) };
        let returned = match self.threads[thread].call.take() {
            None => time,
            Some(Call::Clone) => {
                self.event(cpu, time, |of| of.clone_exit, [FieldValue::from(0_i64)])?
            }
            Some(Call::Wait4) => {
                self.event(cpu, time, |of| of.wait4_exit, [FieldValue::from(1_i64)])?
            }
            Some(Call::Receive) => {
                self.event(cpu, time, |of| of.epoll_wait_exit, [FieldValue::from(1_i64)])?
            }
        };
        self.go_on(cpu, returned)
    }

    /// Runs the steps of the thread on a CPU, until one of them takes time.
    fn go_on(&mut self, cpu: usize, time: u64) -> Result<(), WriteError> {
        let Some(thread) = self.cpus[cpu].running else { return Ok(()) };
        let mut now = time;
        loop {
            let Some(step) = self.threads[thread].steps.pop_front() else {
                return self.exit(cpu, now, thread);
            };
            now = match step {
                Step::Work(0) => now,
                Step::Work(left) => {
                    if now >= self.cpus[cpu].slice {
                        if !self.cpus[cpu].ready.is_empty() {
                            self.threads[thread].steps.push_front(step);
                            self.cpus[cpu].ready.push_back(thread);
                            return self.switch(cpu, now, RUNNING);
                        }
                        self.cpus[cpu].slice = now + SLICE;
                    }
                    let part = left.min(self.cpus[cpu].slice - now);
                    self.threads[thread].steps.push_front(Step::Work(left - part));
                    self.at(now + part, Happening::Continue(cpu));
                    return Ok(());
                }
                Step::Open(path) => {
                    let values = [int(-100), path.into(), int(0)];
                    now = self.event(cpu, now, |of| of.openat_entry, values)?;
                    self.event(cpu, now, |of| of.openat_exit, [FieldValue::from(3_i64)])?
                }
                Step::Send => {
                    now = self.event(cpu, now, |of| of.sendto_entry, [int(9), 1_480_u64.into()])?;
                    self.event(
                        cpu,
                        now + 4_000,
                        |of| of.sendto_exit,
                        [FieldValue::from(1_480_i64)],
                    )?
                }
                Step::Exec(path) => self.exec(cpu, now, thread, path)?,
                Step::Fork(steps) => self.fork(cpu, now, thread, steps)?,
                Step::Await => {
                    now = self.event(cpu, now, |of| of.wait4_entry, [int(-1), int(0)])?;
                    if self.threads[thread].ended == 0 {
                        self.threads[thread].call = Some(Call::Wait4);
                        return self.switch(cpu, now, WAITS);
                    }
                    self.threads[thread].ended -= 1;
                    self.event(cpu, now, |of| of.wait4_exit, [FieldValue::from(1_i64)])?
                }
                Step::Receive(_) => {
                    now =
                        self.event(cpu, now, |of| of.epoll_wait_entry, [int(5), int(64), int(-1)])?;
                    if self.threads[thread].messages == 0 {
                        self.threads[thread].call = Some(Call::Receive);
                        return self.switch(cpu, now, WAITS);
                    }
                    self.threads[thread].messages -= 1;
                    self.event(cpu, now, |of| of.epoll_wait_exit, [FieldValue::from(1_i64)])?
                }
            };
        }
    }

    fn exec(
        &mut self,
        cpu: usize,
        time: u64,
        thread: usize,
        path: &'static str,
    ) -> Result<u64, WriteError> {
        let now = self.event(cpu, time, |of| of.execve_entry, [path.into()])?;
        self.threads[thread].name = path.rsplit('/').next().unwrap_or(path);
        let tid = int(self.threads[thread].tid);
        let now = self.event(cpu, now + 90_000, |of| of.exec, [path.into(), tid.clone(), tid])?;
        self.event(cpu, now + 20_000, |of| of.execve_exit, [FieldValue::from(0_i64)])
    }

    fn fork(
        &mut self,
        cpu: usize,
        time: u64,
        parent: usize,
        steps: Vec<Step>,
    ) -> Result<u64, WriteError> {
        let Thread { tid, pid, name, namespace, .. } = self.threads[parent];
        let child = self.next_tid;
        self.next_tid += 1;
        let now = self.event(cpu, time, |of| of.clone_entry, [0x11_u64.into()])?;
        let values = [name.into(), int(tid), int(pid), name.into(), int(child), int(child)];
        let now = self.event(cpu, now + 60_000, |of| of.fork, values)?;
        let mut thread = Thread::new(child, name, namespace, steps);
        (thread.parent, thread.cpu, thread.call) = (Some(parent), cpu, Some(Call::Clone));
        self.threads.push(thread);
        let now = self.wake(cpu, now, self.threads.len() - 1)?;
        self.event(cpu, now, |of| of.clone_exit, [FieldValue::from(i64::from(child))])
    }

    fn exit(&mut self, cpu: usize, time: u64, thread: usize) -> Result<(), WriteError> {
        let Thread { tid, name, parent, .. } = self.threads[thread];
        let now = self.event(cpu, time, |of| of.exit_group_entry, [int(0)])?;
        let values = [name.into(), int(tid), int(PRIORITY)];
        let mut now = self.event(cpu, now + 30_000, |of| of.exit, values)?;
        match parent {
            Some(parent)
                if self.threads[parent].call == Some(Call::Wait4) && !self.is_ready(parent) =>
            {
                now = self.wake(cpu, now, parent)?;
            }
            Some(parent) => self.threads[parent].ended += 1,
            None => {}
        }
        let freed = now + 200_000 + self.random.below(2_000_000);
        self.at(freed, Happening::Free(thread));
        self.switch(cpu, now, DEAD)
    }

    fn free(&mut self, time: u64, thread: usize) -> Result<(), WriteError> {
        let Thread { tid, name, cpu, .. } = self.threads[thread];
        let time = self.event(cpu, time, |of| of.softirq_entry, [RCU.into()])?;
        let time = self.event(cpu, time, |of| of.free, [name.into(), int(tid), int(PRIORITY)])?;
        self.event(cpu, time, |of| of.softirq_exit, [RCU.into()])?;
        Ok(())
    }
}

/// The names of idle threads.
const IDLE: [&str; 4] = ["swapper/0", "swapper/1", "swapper/2", "swapper/3"];
/// The PID namespace outside of containers.
pub(super) const HOST: u32 = 4_026_531_836;

/// Returns the value of a field of 32 bits with a sign.
fn int(value: impl TryInto<i32>) -> FieldValue {
    // Numbers of threads and CPUs are small.
    FieldValue::from(value.try_into().unwrap_or(i32::MAX))
}
