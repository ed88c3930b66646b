//! A model of a Linux machine, written for simplicity rather than speed: it compares names,
//! searches maps, and shares no code with the crate. It is for LTTng 2.x traces without
//! lost events.

use std::collections::BTreeMap;

use ltt_read::{Event, Merge, Trace};
use std::sync::Arc;

/// The state of a thread.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Thread {
    pub(crate) name: String,
    pub(crate) pid: Option<i64>,
    pub(crate) ppid: Option<i64>,
    pub(crate) status: &'static str,
    /// The mode of the thread by its own activity; `None` if unknown.
    pub(crate) base: Option<Base>,
    /// The system call that it is in.
    pub(crate) call: Option<String>,
    pub(crate) cpu: Option<u64>,
    pub(crate) exiting: bool,
    pub(crate) gone: u8,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Base {
    User,
    Kernel,
}

/// The state of a machine. Idle threads have the number of their CPU, counted down from -1.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    pub(crate) running: BTreeMap<u64, i64>,
    pub(crate) threads: BTreeMap<i64, Thread>,
    /// The interrupts by CPU, the innermost last: mode and name.
    pub(crate) interrupts: BTreeMap<u64, Vec<(&'static str, String)>>,
    /// The names of interrupts, by number.
    pub(crate) irq_names: BTreeMap<i64, String>,
    is_new_kernel: bool,
    /// The threads that the dump marks as part of the kernel.
    promised: std::collections::BTreeSet<i64>,
}

pub(crate) fn idle(cpu: u64) -> i64 {
    -1 - cpu as i64
}

fn number(event: &Event<'_>, name: &str) -> Option<i64> {
    event.field(name)?.as_i64()
}

fn text(event: &Event<'_>, name: &str) -> Option<String> {
    Some(event.field(name)?.as_str()?.to_str_lossy().into_owned())
}

pub(crate) fn cpu_of(event: &Event<'_>) -> u64 {
    let context = event.scope(ltt_read::schema::Scope::PacketContext).expect("a packet context");
    context.get("cpu_id").and_then(|cpu| cpu.as_u64()).expect("a CPU")
}

impl Machine {
    /// Creates a machine before the first event of a trace, with the processes that its
    /// first switches switch out.
    pub(crate) fn before(trace: &Arc<Trace>) -> Self {
        let release = trace.schema().env_str("kernel_release").unwrap_or("9.9").to_owned();
        let numbers: Vec<u32> = release.split('.').take(2).filter_map(|n| n.parse().ok()).collect();
        let mut machine = Machine { is_new_kernel: numbers >= vec![4, 14], ..Machine::default() };
        let mut merge = Merge::new(std::slice::from_ref(trace));
        while let Some(event) = merge.next() {
            let cpu = cpu_of(&event);
            if event.event_type().name() == "sched_switch" && !machine.running.contains_key(&cpu) {
                let tid = machine.tid(cpu, number(&event, "prev_tid").unwrap());
                let thread = machine.thread(tid, cpu);
                thread.name = text(&event, "prev_comm").unwrap();
                (thread.status, thread.cpu) = ("RUN", Some(cpu));
                machine.running.insert(cpu, tid);
            }
        }
        machine
    }

    fn tid(&self, cpu: u64, tid: i64) -> i64 {
        if tid == 0 { idle(cpu) } else { tid }
    }

    fn thread(&mut self, tid: i64, _cpu: u64) -> &mut Thread {
        self.threads.entry(tid).or_insert_with(|| Thread {
            base: (tid < 0).then_some(Base::Kernel),
            ..Thread::default()
        })
    }

    fn runs(&self, tid: i64) -> bool {
        self.running.values().any(|running| *running == tid)
    }

    /// Returns the mode and submode of a thread.
    pub(crate) fn doing(&self, tid: i64) -> (&'static str, String) {
        let thread = &self.threads[&tid];
        let cpu = self.running.iter().find(|(_, running)| **running == tid).map(|(cpu, _)| cpu);
        let interrupt = cpu.and_then(|cpu| self.interrupts.get(cpu)?.last());
        if let Some((mode, name)) = interrupt {
            return (mode, name.clone());
        }
        match (&thread.call, thread.base) {
            (Some(call), _) => ("SYSCALL", call.clone()),
            (None, Some(Base::Kernel)) => ("SYSCALL", "NONE".to_owned()),
            (None, Some(Base::User)) => ("USER_MODE", "NONE".to_owned()),
            (None, None) => ("MODE_UNKNOWN", "UNKNOWN".to_owned()),
        }
    }

    pub(crate) fn step(&mut self, event: &Event<'_>) {
        let cpu = cpu_of(event);
        let name = event.event_type().name();
        let current = self.running.get(&cpu).copied();
        let enter = |machine: &mut Machine, mode, name: String| {
            machine.interrupts.entry(cpu).or_default().push((mode, name));
        };
        let leave = |machine: &mut Machine, mode| {
            let interrupts = machine.interrupts.entry(cpu).or_default();
            if let Some(at) = interrupts.iter().rposition(|(of, _)| *of == mode) {
                interrupts.truncate(at);
            }
        };
        match name {
            "sched_switch" => {
                let out = self.tid(cpu, number(event, "prev_tid").unwrap());
                let state = number(event, "prev_state").unwrap();
                self.interrupts.remove(&cpu);
                let is_new = self.is_new_kernel;
                let thread = self.thread(out, cpu);
                thread.name = text(event, "prev_comm").unwrap();
                thread.cpu = Some(cpu);
                thread.status = match (is_new, state) {
                    _ if out < 0 => "WAIT",
                    (_, 0) | (true, 0x100..) => "WAIT_CPU",
                    (false, 1024 | 2048 | 4096) => "WAIT_CPU",
                    (true, 0x10) => "DEAD",
                    (true, 0x20) => "ZOMBIE",
                    (false, 16 | 32 | 64) => "DEAD",
                    _ => "WAIT",
                };
                if matches!(thread.status, "DEAD" | "ZOMBIE") {
                    thread.gone += 1;
                    if thread.gone == 2 {
                        self.threads.remove(&out);
                    }
                }
                let next = self.tid(cpu, number(event, "next_tid").unwrap());
                let thread = self.thread(next, cpu);
                thread.status = if thread.exiting { "EXIT" } else { "RUN" };
                thread.cpu = Some(cpu);
                thread.name = text(event, "next_comm").unwrap();
                self.running.insert(cpu, next);
            }
            "sched_wakeup" | "sched_wakeup_new" | "sched_waking" => {
                let tid = number(event, "tid").unwrap();
                if tid != 0 && !self.runs(tid) {
                    let target = number(event, "target_cpu").map(|cpu| cpu as u64);
                    let thread = self.thread(tid, cpu);
                    (thread.status, thread.cpu) = ("WAIT_CPU", target);
                }
                if tid != 0 {
                    self.thread(tid, cpu).name = text(event, "comm").unwrap();
                }
            }
            "sched_migrate_task" => {
                let tid = number(event, "tid").unwrap();
                let to = number(event, "dest_cpu").map(|cpu| cpu as u64);
                if tid != 0 {
                    self.thread(tid, cpu).name = text(event, "comm").unwrap();
                    if !self.runs(tid) {
                        self.thread(tid, cpu).cpu = to;
                    }
                }
            }
            "sched_process_fork" => {
                let child = number(event, "child_tid").unwrap();
                let (pid, parent_pid) = (number(event, "child_pid"), number(event, "parent_pid"));
                let parent_tid = number(event, "parent_tid");
                let parent = self.threads.get(&parent_tid.unwrap()).cloned();
                let parent_pid = parent_pid.or(parent.as_ref().and_then(|parent| parent.pid));
                let is_thread = pid.is_some() && pid == parent_pid;
                let is_kernel = parent.as_ref().is_some_and(|p| p.base == Some(Base::Kernel));
                let thread = Thread {
                    name: text(event, "child_comm").unwrap(),
                    pid,
                    ppid: match is_thread {
                        true => parent.and_then(|parent| parent.ppid),
                        false => parent_pid.or(parent_tid),
                    },
                    status: "WAIT_FORK",
                    base: Some(if is_kernel { Base::Kernel } else { Base::User }),
                    call: (!is_kernel).then(|| "NONE".to_owned()),
                    ..Thread::default()
                };
                self.threads.insert(child, thread);
            }
            "sched_process_exit" => {
                if let Some(thread) = self.threads.get_mut(&number(event, "tid").unwrap()) {
                    (thread.status, thread.exiting) = ("EXIT", true);
                    thread.name = text(event, "comm").unwrap_or(std::mem::take(&mut thread.name));
                }
            }
            "sched_process_free" => {
                let tid = number(event, "tid").unwrap();
                if let Some(thread) = self.threads.get_mut(&tid) {
                    thread.gone += 1;
                    if thread.gone == 2 {
                        self.threads.remove(&tid);
                    }
                }
            }
            "sched_process_exec" => {
                let file = text(event, "filename").unwrap();
                let command: String = file.rsplit('/').next().unwrap().chars().take(15).collect();
                let tid = current.expect("it runs");
                if let Some(told) = number(event, "tid") {
                    assert_eq!(tid, told);
                }
                let thread = self.thread(tid, cpu);
                thread.name = command;
                if thread.base == Some(Base::Kernel) {
                    (thread.base, thread.call) = (Some(Base::User), Some("NONE".to_owned()));
                }
            }
            "irq_handler_entry" => {
                let irq = number(event, "irq").unwrap();
                let told = text(event, "name").unwrap();
                let first = self.irq_names.entry(irq).or_insert(told.clone()).clone();
                enter(self, "IRQ", if told.is_empty() { first } else { told });
            }
            "irq_handler_exit" => leave(self, "IRQ"),
            "irq_softirq_entry" | "softirq_entry" => {
                let vec = number(event, "vec").unwrap();
                let label = event.field("name").is_some();
                let names = [
                    "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED",
                    "HRTIMER", "RCU",
                ];
                let name =
                    if label { names[vec as usize].to_owned() } else { format!("softirq {vec}") };
                enter(self, "SOFTIRQ", name);
            }
            "irq_softirq_exit" | "softirq_exit" => leave(self, "SOFTIRQ"),
            "x86_exceptions_page_fault_user" => {
                let is_interrupted = self.interrupts.get(&cpu).is_some_and(|i| !i.is_empty());
                if let Some(tid) = current
                    && !is_interrupted
                {
                    let thread = self.thread(tid, cpu);
                    if thread.call.is_none() {
                        thread.base.get_or_insert(Base::User);
                    }
                }
            }
            "lttng_statedump_interrupt" => {
                let action = text(event, "action").unwrap();
                if !action.is_empty() {
                    self.irq_names.insert(number(event, "irq").unwrap(), action);
                }
            }
            "lttng_statedump_process_state" => {
                let tid = number(event, "tid").unwrap();
                let is_kernel = number(event, "type") == Some(1);
                let status = match number(event, "status").unwrap() {
                    1 | 2 => "WAIT_CPU",
                    3 => "EXIT",
                    4 => "ZOMBIE",
                    5 => "WAIT",
                    6 => "RUN",
                    7 => "DEAD",
                    _ => "",
                };
                let on = number(event, "cpu").map(|cpu| cpu as u64);
                if let (3 | 6, Some(on)) = (number(event, "status").unwrap(), on) {
                    let tid = self.tid(on, tid);
                    self.running.entry(on).or_insert(tid);
                }
                let thread = self.thread(tid, cpu);
                if thread.status.is_empty() {
                    thread.status = status;
                }
                thread.cpu = thread.cpu.or(on);
                thread.name = text(event, "name").unwrap();
                (thread.pid, thread.ppid) = (number(event, "pid"), number(event, "ppid"));
                // This takes effect at the end of the dump.
                if thread.base.is_none() && is_kernel {
                    self.promised.insert(tid);
                }
            }
            "lttng_statedump_end" => {
                let running: Vec<i64> = self.running.values().copied().collect();
                for (tid, thread) in &mut self.threads {
                    if thread.base.is_some() {
                        continue;
                    }
                    if self.promised.contains(tid) {
                        thread.base = Some(Base::Kernel);
                        if thread.status.is_empty() {
                            thread.status = "WAIT";
                        }
                        continue;
                    }
                    thread.base = Some(Base::User);
                    if thread.status != "WAIT_CPU" && !running.contains(tid) {
                        thread.call = Some("NONE".to_owned());
                        if !matches!(thread.status, "ZOMBIE" | "DEAD") {
                            thread.status = "WAIT";
                        }
                    } else if thread.status.is_empty() {
                        thread.status = "RUN";
                    }
                }
            }
            _ => self.calls(event, name, cpu, current),
        }
    }

    fn calls(&mut self, event: &Event<'_>, name: &str, cpu: u64, current: Option<i64>) {
        let vector = name.strip_prefix("x86_irq_vectors_");
        if let Some(vector) = vector.and_then(|vector| vector.strip_suffix("_entry")) {
            let interrupts = self.interrupts.entry(cpu).or_default();
            return interrupts.push(("IRQ", vector.to_owned()));
        }
        if vector.is_some_and(|vector| vector.ends_with("_exit")) {
            let interrupts = self.interrupts.entry(cpu).or_default();
            if let Some(at) = interrupts.iter().rposition(|(mode, _)| *mode == "IRQ") {
                interrupts.truncate(at);
            }
            return;
        }
        let Some(tid) = current.filter(|tid| *tid > 0) else { return };
        let without = |prefixes: &[&str]| {
            prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).map(str::to_owned)
        };
        if let Some(call) =
            without(&["syscall_entry_", "compat_syscall_entry_", "compat_sys_", "sys_"])
        {
            self.interrupts.remove(&cpu);
            let thread = self.thread(tid, cpu);
            thread.base.get_or_insert(Base::User);
            thread.call = match number(event, "id") {
                Some(id) if call == "unknown" => Some(format!("syscall {id}")),
                _ => Some(call),
            };
        } else if name == "exit_syscall"
            || without(&["syscall_exit_", "compat_syscall_exit_"]).is_some()
        {
            let thread = self.thread(tid, cpu);
            if thread.call.is_some() {
                self.interrupts.remove(&cpu);
                let thread = self.thread(tid, cpu);
                thread.call = None;
            } else if self.interrupts.get(&cpu).is_none_or(|i| i.is_empty()) {
                self.thread(tid, cpu).base.get_or_insert(Base::User);
            }
        }
    }
}
