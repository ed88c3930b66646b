//! Context switches, wake-ups, migrations and gaps.

use std::mem;

use super::{At, TraceState};
use crate::kernel::cpu::Cpu;
use crate::kernel::effect::{LossOnCpu, LostWait, Wait};
use crate::kernel::modes::{ExecutionMode, ProcessStatus};
use crate::kernel::names::NameId;
use crate::kernel::process::{Frame, Tid, since};
use crate::kernel::switched_out::SwitchedOut;
use crate::kernel::table::ProcessIndex;

/// A context switch, from the fields of its event.
#[derive(Debug, Clone, Copy)]
pub(in crate::kernel) struct Switch<'n> {
    pub(in crate::kernel) previous: Tid,
    pub(in crate::kernel) next: Tid,
    pub(in crate::kernel) out: SwitchedOut,
    /// The name of the previous process, with its terminator if it has one.
    pub(in crate::kernel) previous_name: Option<&'n [u8]>,
    /// The name of the next process, with its terminator if it has one.
    pub(in crate::kernel) next_name: Option<&'n [u8]>,
}

impl TraceState {
    /// Applies a context switch.
    #[inline]
    pub(in crate::kernel) fn switch(&mut self, at: At, switch: Switch<'_>) {
        let previous = self.previous(at, switch.previous);
        match previous {
            Some(out) => {
                // The process may have changed its name while it ran.
                if let Some(name) = switch.previous_name {
                    self.rename_by_field(out, name);
                }
                self.switch_out(at, out, switch.out);
            }
            // The id is out of range; but some process runs now.
            None => self.mark_running_unknown(at, self.cpus[at.place].last),
        }
        let Some(next) = self.find_or_add(at.place, switch.next, at.time) else {
            self.cpus[at.place].running = self.cpus[at.place].unknown_process;
            return;
        };
        self.switch_in(at, next, previous);
        // It may have been renamed since its last event.
        if let Some(name) = switch.next_name {
            self.rename_by_field(next, name);
        }
    }

    /// Returns the process that is switched out according to the event, and makes it the
    /// one that ran. `None` if its id is out of range.
    fn previous(&mut self, at: At, tid: Tid) -> Option<ProcessIndex> {
        let CpuProcesses { running, unknown } = self.on_cpu(at.place);
        if self.processes.get(running).tid == Some(tid) {
            return Some(running);
        }
        if running != unknown {
            self.anomalies.wrong_previous += 1;
            self.mark_running_unknown(at, self.cpus[at.place].last);
        }
        let ix = self.find_or_add(at.place, tid, at.time)?;
        self.take_from_other_cpu(at, ix);
        let status = self.processes.get(ix).status();
        if !matches!(status, ProcessStatus::Unknown | ProcessStatus::Run | ProcessStatus::Exit) {
            // It ran without being traced.
            self.lose_wait(ix, at.cpu);
            self.reset_to_unknown(ix, at.time);
        }
        if running == unknown {
            self.take_unknown_frames(at.place, ix);
        }
        self.reset_to_unknown(unknown, at.time);
        let process = self.processes.get_mut(ix);
        process.cpu = Some(at.cpu);
        let top = process.top_mut();
        if top.status != ProcessStatus::Run {
            // It has been running since an unknown time.
            (top.status, top.change) = (ProcessStatus::Run, at.time);
        }
        Some(ix)
    }

    /// Moves what events on a CPU told of its unknown process, since the last known switch, to the
    /// process that has turned out to be it.
    fn take_unknown_frames(&mut self, place: usize, ix: ProcessIndex) {
        let unknown = self.processes.get_mut(self.cpus[place].unknown_process);
        let (frames, functions) =
            (mem::take(&mut unknown.stack), mem::take(&mut unknown.functions));
        let has_known_frames =
            frames.len() > 1 || frames.iter().any(|f| f.mode != ExecutionMode::Unknown);
        if has_known_frames && self.processes.get(ix).tid != Some(0) {
            let old = mem::take(&mut self.processes.get_mut(ix).stack);
            old.iter().for_each(|frame| self.release_source(frame));
            let process = self.processes.get_mut(ix);
            (process.stack, process.functions) = (frames, functions);
        } else {
            frames.iter().for_each(|frame| self.release_source(frame));
        }
    }

    /// Makes a process the running one of a CPU whose running process is unknown, because a state
    /// dump says so. Returns `false` if the CPU runs another process or the process runs on another
    /// CPU.
    pub(super) fn runs_by_dump(&mut self, cpu: u32, ix: ProcessIndex, time: i64) -> bool {
        let place = self.add_cpu(cpu);
        let CpuProcesses { running, unknown } = self.on_cpu(place);
        if self.cpus[place].number != cpu || running != unknown || self.runs_on(ix).is_some() {
            return running == ix;
        }
        self.take_unknown_frames(place, ix);
        self.reset_to_unknown(unknown, time);
        let process = self.processes.get_mut(ix);
        process.cpu = Some(cpu);
        process.top_mut().status = ProcessStatus::Run;
        self.cpus[place].running = ix;
        true
    }

    /// Makes a process the running one of the event's CPU because contexts of the event say so.
    /// Nothing tells which process ran since the CPU's last event: that time is no process's.
    pub(in crate::kernel) fn runs_by_context(
        &mut self,
        at: At,
        tid: Tid,
        pid: Option<Tid>,
        name: Option<&[u8]>,
    ) {
        let CpuProcesses { running, unknown } = self.on_cpu(at.place);
        self.effect.rare_mut().unseen_since = Some(self.cpus[at.place].last);
        let Some(ix) = self.find_or_add(at.place, tid, at.time) else {
            self.cpus[at.place].running = unknown;
            return;
        };
        if running != ix {
            // It was switched out at an unknown time, for an unknown reason.
            if self.processes.get(running).mode().is_interrupt() {
                self.leave_interrupt(at, running);
            }
            let top = self.processes.get_mut(running).top_mut();
            (top.status, top.change) = (ProcessStatus::Unknown, at.time);
            if let Some(place) = self.runs_on(ix) {
                self.cpus[place].running = self.cpus[place].unknown_process;
            }
            self.cpus[at.place].running = ix;
        }
        let pid = self.valid_tid(pid);
        let process = self.processes.get_mut(ix);
        process.cpu = Some(at.cpu);
        process.pid = pid.or(process.pid);
        let running = if process.exiting { ProcessStatus::Exit } else { ProcessStatus::Run };
        for frame in &mut process.stack {
            frame.change = at.time;
        }
        process.top_mut().status = running;
        if let Some(name) = name {
            self.rename_by_field(ix, name);
        }
    }

    /// Applies the fields of a switch event about the previous process.
    fn switch_out(&mut self, at: At, ix: ProcessIndex, out: SwitchedOut) {
        // Only interrupts and exceptions nest within interrupts.
        let mode = self.processes.get(ix).mode();
        if mode.is_interrupt() || mode == ExecutionMode::Trap {
            self.leave_interrupt(at, ix);
        }
        let process = self.processes.get_mut(ix);
        let top = process.top_mut();
        top.charge(at.time);
        top.status = out.status();
        process.cpu = Some(at.cpu);
        let is_idle = process.tid == Some(0);
        if is_idle {
            process.top_mut().status = ProcessStatus::Wait;
        } else if matches!(out, SwitchedOut::Zombie | SwitchedOut::Dead) {
            self.note_exit_sign(ix);
        }
    }

    /// Leaves interrupts, none of which lasts over a switch. (Softirqs can, in a kernel
    /// that handles them in threads.)
    #[cold]
    fn leave_interrupt(&mut self, at: At, ix: ProcessIndex) {
        let stack = &self.processes.get(ix).stack;
        if let Some(depth) = stack.iter().position(|frame| frame.mode == ExecutionMode::Irq) {
            self.unwind(ix, depth, at.time);
        }
    }

    /// Makes a process the running one of the event's CPU after another one, and notes how
    /// long it waited.
    fn switch_in(&mut self, at: At, ix: ProcessIndex, previous: Option<ProcessIndex>) {
        self.take_from_other_cpu(at, ix);
        let process = self.processes.get_mut(ix);
        process.count_wait(at.time);
        let running = if process.exiting { ProcessStatus::Exit } else { ProcessStatus::Run };
        let top = process.top_mut();
        (top.status, top.change) = (running, at.time);
        let waited = Wait {
            process: ix,
            previous,
            blocked: mem::take(&mut process.blocked),
            ready: mem::take(&mut process.ready),
            since_wakeup: process.woken.take().map(|woken| since(woken, at.time)),
        };
        process.cpu = Some(at.cpu);
        self.effect.waited = Some(waited);
        self.cpus[at.place].running = ix;
    }

    /// Removes a process from any CPU other than the event's, since it cannot run on both.
    fn take_from_other_cpu(&mut self, at: At, ix: ProcessIndex) {
        if let Some(place) = self.runs_on(ix).filter(|place| *place != at.place) {
            self.anomalies.running_twice += 1;
            self.effect.rare_mut().left_other_cpu = true;
            let unknown = self.cpus[place].unknown_process;
            self.reset_to_unknown(unknown, at.time);
            self.cpus[place].running = unknown;
            self.reset_to_unknown(ix, at.time);
        }
    }

    /// Applies a wake-up of a process. `name` is its name, with its terminator if it has one.
    pub(in crate::kernel) fn wake(
        &mut self,
        at: At,
        tid: Tid,
        cpu: Option<u32>,
        name: Option<&[u8]>,
    ) {
        if tid == 0 {
            return;
        }
        let Some(mut ix) = self.find_or_add(at.place, tid, at.time) else { return };
        let status = self.processes.get(ix).status();
        if matches!(status, ProcessStatus::Dead | ProcessStatus::Zombie) {
            // Dead processes are not woken up: this is another process, whose fork was not
            // seen.
            self.anomalies.reused_ids += 1;
            self.remove(ix, at.time);
            ix = self.processes.add(Some(tid), at.time);
        }
        self.effect.target = Some(ix);
        if let Some(name) = name {
            self.rename_by_field(ix, name);
        }
        if self.runs_on(ix).is_some() {
            return; // it was about to wait and continues to run
        }
        let process = self.processes.get_mut(ix);
        if cpu.is_some() {
            process.cpu = cpu;
        }
        process.woken.get_or_insert(at.time);
        if process.status() != ProcessStatus::WaitCpu {
            process.count_wait(at.time);
            let top = process.top_mut();
            (top.status, top.change) = (ProcessStatus::WaitCpu, at.time);
        }
    }

    /// Applies a change of the name of a process. `pid` is its thread group, if that is known.
    pub(in crate::kernel) fn renamed(&mut self, at: At, tid: Tid, name: &[u8], pid: Option<Tid>) {
        if tid == 0 {
            return;
        }
        if let Some(ix) = self.find_or_add(at.place, tid, at.time) {
            self.rename_by_field(ix, name);
            if let Some(pid) = self.valid_tid(pid) {
                self.processes.get_mut(ix).pid = Some(pid);
            }
        }
    }

    /// Applies a migration of a process to another CPU. `name` is its name, with its terminator if it
    /// has one.
    pub(in crate::kernel) fn migrate(&mut self, at: At, tid: Tid, cpu: u32, name: Option<&[u8]>) {
        if tid == 0 {
            return;
        }
        let Some(ix) = self.find_or_add(at.place, tid, at.time) else { return };
        self.effect.target = Some(ix);
        if let Some(name) = name {
            self.rename_by_field(ix, name);
        }
        if self.runs_on(ix).is_none() {
            self.processes.get_mut(ix).cpu = Some(cpu);
        }
    }

    /// Applies a loss of events of a CPU since a time. The running process of the CPU becomes unknown, and
    /// so do the states of processes that ran last on this CPU or wait for it.
    pub(in crate::kernel) fn gap(&mut self, at: At, since: i64) {
        self.anomalies.gaps += 1;
        self.mark_running_unknown(at, since);
        self.cpus[at.place].pending_softirqs = 0;
        self.lose_waiting(at);
    }

    /// Applies the end of a loss of events of a CPU that began before: what ran there in the meantime is unknown.
    pub(in crate::kernel) fn end_gap(&mut self, at: At) {
        self.mark_running_unknown(at, self.cpus[at.place].last);
        if let Some(loss) = self.effect.rare_mut().losses.last_mut() {
            loss.is_told_again = true;
        }
        self.lose_waiting(at);
    }

    /// Resets the states of processes that ran last on a CPU or wait for it, and adds them to the last loss.
    fn lose_waiting(&mut self, at: At) {
        let places = self.processes.places() as u64;
        let Some(scan_budget) = self.scan_budget.checked_sub(places) else { return };
        self.scan_budget = scan_budget;
        let Some(mut loss) = self.effect.rare_mut().losses.pop() else { return };
        let ran = loss.processes.len();
        self.add_waiting(&mut loss);
        loss.processes[ran..].iter().for_each(|ix| self.reset_to_unknown(*ix, at.time));
        self.effect.rare_mut().losses.push(loss);
    }

    /// Adds the processes that ran last on the CPU of a loss or wait for it, with their waits.
    pub(super) fn add_waiting(&self, loss: &mut LossOnCpu) {
        for ix in self.waiting_on(loss.cpu) {
            let process = self.processes.process(ix);
            loss.add(ix, process.serial(), process.waiting_until(loss.since));
        }
    }

    /// Notes that a process waited for a CPU up to its last status, after which nothing tells what it did.
    pub(super) fn lose_wait(&mut self, ix: ProcessIndex, cpu: u32) {
        let process = self.processes.get(ix);
        let wait = LostWait::new(process.serial, cpu, (process.blocked, process.ready));
        if wait.is_some() {
            self.effect.rare_mut().lost_waits.extend(wait);
        }
    }

    /// Returns the processes that ran last on a CPU or wait for it.
    fn waiting_on(&self, cpu: u32) -> impl Iterator<Item = ProcessIndex> + '_ {
        (self.processes.all())
            .filter(move |(ix, process)| {
                process.cpu() == Some(cpu) && process.tid().is_some() && self.runs_on(*ix).is_none()
            })
            .filter(|(_, process)| {
                let status = process.status();
                !matches!(status, ProcessStatus::Dead | ProcessStatus::Zombie)
            })
            .map(|(ix, _)| ix)
    }

    /// Marks the running process of a CPU as unknown since a time.
    fn mark_running_unknown(&mut self, at: At, since: i64) {
        let CpuProcesses { running, unknown } = self.on_cpu(at.place);
        let mut loss = LossOnCpu::new(at.place, at.cpu, since);
        loss.processes.push(running);
        self.effect.rare_mut().losses.push(loss);
        self.reset_to_unknown(running, at.time);
        if running != unknown {
            self.reset_to_unknown(unknown, at.time);
        }
        self.cpus[at.place].running = unknown;
    }

    /// Sets the process that runs on a CPU before the first event.
    pub(in crate::kernel) fn set_initial_running(&mut self, cpu: u32, tid: Tid, name: &[u8]) {
        let time = self.begin;
        let place = self.add_cpu(cpu);
        if self.cpus[place].number != cpu {
            return; // the CPU shares an entry with others
        }
        let Some(ix) = self.find_or_add(place, tid, time) else { return };
        if self.runs_on(ix).is_some() {
            return; // first switches of two CPUs name it, one of them later
        }
        let process = self.processes.get_mut(ix);
        if process.tid != Some(0) {
            process.stack.clear();
            let (mode, submode) = (ExecutionMode::Unknown, NameId::UNKNOWN);
            process.stack.push(Frame::new(mode, submode, ProcessStatus::Run, time));
        }
        process.top_mut().status = ProcessStatus::Run;
        process.cpu = Some(cpu);
        self.rename(ix, name);
        self.cpus[place].running = ix;
    }

    fn on_cpu(&self, place: usize) -> CpuProcesses {
        let Cpu { running, unknown_process, .. } = self.cpus[place];
        CpuProcesses { running, unknown: unknown_process }
    }
}

/// The process that runs on a CPU as far as known, and the CPU's placeholder.
struct CpuProcesses {
    running: ProcessIndex,
    unknown: ProcessIndex,
}
