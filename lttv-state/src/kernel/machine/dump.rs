//! State dumps: processes, files and names that a tracer records when tracing starts.

use std::collections::HashMap;
use std::sync::Arc;

use super::{At, TraceState};
use crate::kernel::modes::{ExecutionMode, ProcessStatus, ProcessType};
use crate::kernel::names::NameId;
use crate::kernel::process::{Frame, Tid};
use crate::kernel::table::ProcessIndex;

/// A process in a state dump.
#[derive(Debug, Clone, Copy)]
pub(in crate::kernel) struct Dumped<'a> {
    pub(in crate::kernel) tid: Tid,
    pub(in crate::kernel) pid: Option<Tid>,
    pub(in crate::kernel) parent: Option<Tid>,
    pub(in crate::kernel) name: &'a [u8],
    pub(in crate::kernel) kind: Option<ProcessType>,
    pub(in crate::kernel) status: Option<ProcessStatus>,
    pub(in crate::kernel) cpu: Option<u32>,
    pub(in crate::kernel) files: Option<u64>,
}

/// The maximum number of kernel probes with symbols.
pub(in crate::kernel) const MAX_PROBES: usize = 1 << 14;
/// The exclusive upper limit of system call numbers with names.
pub(in crate::kernel) const MAX_SYSCALLS: usize = 1 << 16;
/// The maximum number of file tables that are distinguished during a dump.
pub(in crate::kernel) const MAX_FILE_TABLES: usize = 1 << 16;

impl TraceState {
    /// Applies a dumped process. Information from earlier events takes precedence.
    pub(in crate::kernel) fn dumped(&mut self, at: At, dumped: Dumped<'_>) {
        let (pid, parent) = (self.valid_tid(dumped.pid), self.valid_tid(dumped.parent));
        let dumped = Dumped { pid, parent, ..dumped };
        let is_running = matches!(dumped.status, Some(ProcessStatus::Run | ProcessStatus::Exit));
        let runs_on = dumped.cpu.filter(|_| is_running);
        if dumped.tid == 0 {
            if let Some(cpu) = runs_on {
                let place = self.add_cpu(cpu);
                self.runs_by_dump(cpu, self.cpus[place].idle, at.time);
            }
            for cpu in 0..self.cpus.len() {
                self.describe(self.cpus[cpu].idle, &dumped);
            }
            return;
        }
        let is_new = self.processes.find(dumped.tid).is_none();
        let Some(ix) = self.find_or_add(at.place, dumped.tid, at.time) else { return };
        self.effect.target = Some(ix);
        self.describe(ix, &dumped);
        let runs = runs_on.is_some_and(|cpu| self.runs_by_dump(cpu, ix, at.time));
        let process = self.processes.get_mut(ix);
        if process.cpu.is_none() {
            process.cpu = dumped.cpu;
        }
        process.exiting |= dumped.status == Some(ProcessStatus::Exit);
        let top = process.top_mut();
        if let Some(status) = dumped.status
            && (runs || is_new || top.status == ProcessStatus::Unknown)
        {
            // If events tell of another process on its CPU, it is ready to run at most.
            let status = if is_running && !runs { ProcessStatus::WaitCpu } else { status };
            (top.status, top.change) = (status, at.time);
        }
        if let Some(files) = dumped.files
            && self.file_tables.len() < MAX_FILE_TABLES
        {
            self.file_tables.insert(files, ix);
        }
    }

    /// Sets the names, ids and kind of a process to those in a dump.
    fn describe(&mut self, ix: ProcessIndex, dumped: &Dumped<'_>) {
        self.rename(ix, dumped.name);
        let process = self.processes.get_mut(ix);
        process.pid = dumped.pid.or(process.pid);
        process.parent = dumped.parent.or(process.parent);
        process.kind = dumped.kind.or(process.kind);
    }

    /// Ends the state dump. Processes without events so far get the state that they must be
    /// in: a kernel thread is in the kernel; any other process that does not run is in a
    /// system call, unless it waits for a CPU.
    pub(in crate::kernel) fn dump_end(&mut self, at: At) {
        self.file_tables = HashMap::new();
        let all: Vec<_> =
            self.processes.all().filter(|(_, p)| p.tid().is_some()).map(|(ix, _)| ix).collect();
        for ix in all {
            if self.processes.get(ix).stack[0].mode == ExecutionMode::Unknown {
                self.infer_state(ix, at.time);
            }
        }
    }

    /// Sets the state of a process without events at the end of a dump.
    fn infer_state(&mut self, ix: ProcessIndex, time: i64) {
        let runs = self.runs_on(ix).is_some();
        let process = self.processes.get_mut(ix);
        if runs {
            process.top_mut().charge(time);
        } else if process.stack.len() == 1 {
            // What the dump said of the process held up to here.
            process.count_wait(time);
        }
        let is_kernel = process.kind == Some(ProcessType::Kernel);
        let is_alone = process.stack.len() == 1;
        let base = &mut process.stack[0];
        (base.entry, base.change, base.submode) = (time, time, NameId::NONE);
        if is_kernel {
            base.mode = ExecutionMode::Syscall;
            if base.status == ProcessStatus::Unknown {
                base.status = ProcessStatus::Wait;
            }
            return;
        }
        base.mode = ExecutionMode::User;
        let status = base.status;
        if is_alone && status != ProcessStatus::WaitCpu && !runs {
            base.status = ProcessStatus::Run;
            let status = match status {
                ProcessStatus::Zombie | ProcessStatus::Dead | ProcessStatus::Exit => status,
                _ => ProcessStatus::Wait,
            };
            process.stack.push(Frame::new(ExecutionMode::Syscall, NameId::NONE, status, time));
        } else if status == ProcessStatus::Unknown {
            base.status = ProcessStatus::Run;
        }
    }

    /// Sets the symbol at the address of a kernel probe.
    pub(in crate::kernel) fn name_probe(&mut self, address: u64, symbol: &[u8]) {
        let symbol = self.intern(symbol);
        let probes = Arc::make_mut(&mut self.probes);
        match probes.binary_search_by_key(&address, |probe| probe.0) {
            Ok(at) => probes[at].1 = symbol,
            Err(at) if probes.len() < MAX_PROBES => probes.insert(at, (address, symbol)),
            Err(_) => {}
        }
    }

    /// Sets the name of a system call.
    pub(in crate::kernel) fn name_syscall(&mut self, number: u64, name: &[u8]) {
        let Some(at) = usize::try_from(number).ok().filter(|at| *at < MAX_SYSCALLS) else { return };
        let name = self.intern(name);
        let syscalls = Arc::make_mut(&mut self.syscalls);
        if syscalls.len() <= at {
            syscalls.resize(at + 1, NameId::EMPTY);
        }
        syscalls[at] = name;
    }

    /// Returns the name of the system call of a number. Without a name in a dump it is that of the
    /// machine, or else `syscall NUMBER`; `UNKNOWN` if the number is out of range.
    pub(in crate::kernel) fn syscall_name(&mut self, number: u64) -> NameId {
        let Some(at) = usize::try_from(number).ok().filter(|at| *at < MAX_SYSCALLS) else {
            // For example the private system calls of ARM.
            if number < 1 << 20 {
                return self.intern(format!("syscall {number}").as_bytes());
            }
            self.anomalies.impossible_numbers += 1;
            return NameId::UNKNOWN;
        };
        match self.syscalls.get(at) {
            Some(name) if *name != NameId::EMPTY => *name,
            _ => {
                match self.known_calls.and_then(|known| known.get(at)) {
                    Some(name) => self.name_syscall(number, name.as_bytes()),
                    None => self.name_syscall(number, format!("syscall {number}").as_bytes()),
                }
                self.syscalls[at]
            }
        }
    }
}
