//! Who runs where.

use super::{At, TraceState};
use crate::kernel::cpu::Cpu;
use crate::kernel::effect::Waited;
use crate::kernel::modes::{ExecutionMode, ProcessStatus};
use crate::kernel::names::NameId;
use crate::kernel::process::{Frame, Tid, since};
use crate::kernel::switched_out::SwitchedOut;
use crate::kernel::table::ProcessIx;

/// A CPU goes over from one process to another.
#[derive(Debug, Clone, Copy)]
pub(in crate::kernel) struct Switch<'n> {
    pub(in crate::kernel) previous: Tid,
    pub(in crate::kernel) next: Tid,
    pub(in crate::kernel) out: SwitchedOut,
    /// With its terminator, if it has one.
    pub(in crate::kernel) previous_name: Option<&'n [u8]>,
}

impl TraceState {
    /// A CPU goes over from one process to another, whose name is asked for if it is
    /// not known: with its terminator, if it has one.
    #[inline]
    pub(in crate::kernel) fn switch<'n>(
        &mut self,
        at: At,
        switch: Switch<'n>,
        next_name: impl FnOnce() -> Option<&'n [u8]>,
    ) {
        match self.previous(at, switch.previous) {
            Some(out) => {
                // It may have got another name while it ran.
                if let Some(name) = switch.previous_name {
                    self.rename_by_field(out, name);
                }
                self.switch_out(at, out, switch.out);
            }
            // There can be no such process; but there is one that runs now.
            None => self.lose_track(at),
        }
        let Some(next) = self.find_or_add(at.place, switch.next, at.time) else {
            self.cpus[at.place].running = self.cpus[at.place].nobody;
            return;
        };
        self.switch_in(at, next);
        if self.processes.get(next).name == NameId::EMPTY
            && let Some(name) = next_name()
        {
            self.rename_by_field(next, name);
        }
    }

    /// The process that is switched out, for sure: the event says so.
    fn previous(&mut self, at: At, tid: Tid) -> Option<ProcessIx> {
        let Switched { believed, nobody } = self.on_cpu(at.place);
        if self.processes.get(believed).tid == Some(tid) {
            return Some(believed);
        }
        if believed != nobody {
            self.anomalies.wrong_previous += 1;
            self.lose_track(at);
        }
        let ix = self.find_or_add(at.place, tid, at.time)?;
        self.take_from_other_cpu(at, ix);
        let status = self.processes.get(ix).status();
        if !matches!(status, ProcessStatus::Unnamed | ProcessStatus::Run | ProcessStatus::Exit) {
            self.forget(ix, at.time); // it went on unseen
        }
        // What was seen on this CPU meanwhile was its doing.
        if believed == nobody {
            let frames = std::mem::take(&mut self.processes.get_mut(nobody).stack);
            let functions = std::mem::take(&mut self.processes.get_mut(nobody).functions);
            let is_informed =
                frames.len() > 1 || frames.iter().any(|f| f.mode != ExecutionMode::Unknown);
            if is_informed && tid != 0 {
                let old = std::mem::take(&mut self.processes.get_mut(ix).stack);
                old.iter().for_each(|frame| self.release(frame));
                let process = self.processes.get_mut(ix);
                (process.stack, process.functions) = (frames, functions);
            } else {
                frames.iter().for_each(|frame| self.release(frame));
            }
        }
        self.forget(nobody, at.time);
        let process = self.processes.get_mut(ix);
        process.cpu = Some(at.cpu);
        let top = process.top_mut();
        if top.status != ProcessStatus::Run {
            // It has been running, nobody knows since when.
            (top.status, top.change) = (ProcessStatus::Run, at.time);
        }
        Some(ix)
    }

    fn switch_out(&mut self, at: At, ix: ProcessIx, out: SwitchedOut) {
        // Nothing comes on top of interrupts but others, and exceptions.
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
            self.farewell(ix);
        }
    }

    /// No interrupt lasts over a switch. (A soft interrupt can, in a kernel where it is
    /// a thread's work.)
    #[cold]
    fn leave_interrupt(&mut self, at: At, ix: ProcessIx) {
        let stack = &self.processes.get(ix).stack;
        if let Some(depth) = stack.iter().position(|frame| frame.mode == ExecutionMode::Irq) {
            self.unwind(ix, depth, at.time);
        }
    }

    fn switch_in(&mut self, at: At, ix: ProcessIx) {
        self.take_from_other_cpu(at, ix);
        let process = self.processes.get_mut(ix);
        process.count_wait(at.time);
        let running = if process.exiting { ProcessStatus::Exit } else { ProcessStatus::Run };
        let top = process.top_mut();
        (top.status, top.change) = (running, at.time);
        let waited = Waited {
            process: ix,
            blocked: std::mem::take(&mut process.blocked),
            ready: std::mem::take(&mut process.ready),
            since_wakeup: process.woken.take().map(|woken| since(woken, at.time)),
        };
        process.cpu = Some(at.cpu);
        self.effect.waited = Some(waited);
        self.cpus[at.place].running = ix;
    }

    /// A process that is on a CPU now cannot be on another.
    fn take_from_other_cpu(&mut self, at: At, ix: ProcessIx) {
        if let Some(place) = self.runs_on(ix).filter(|place| *place != at.place) {
            self.anomalies.running_twice += 1;
            let nobody = self.cpus[place].nobody;
            self.forget(nobody, at.time);
            self.cpus[place].running = nobody;
            self.forget(ix, at.time);
        }
    }

    /// A process was woken up.
    pub(in crate::kernel) fn wake(&mut self, at: At, tid: Tid, cpu: Option<u32>) {
        if tid == 0 {
            return;
        }
        let Some(mut ix) = self.find_or_add(at.place, tid, at.time) else { return };
        let status = self.processes.get(ix).status();
        if matches!(status, ProcessStatus::Dead | ProcessStatus::Zombie) {
            // Nothing wakes the dead: it is another one, whose birth was not seen.
            self.anomalies.reused_ids += 1;
            self.remove(ix, at.time);
            ix = self.processes.add(Some(tid), at.time);
        }
        self.effect.target = Some(ix);
        if self.runs_on(ix).is_some() {
            return; // it was about to wait, and does not
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

    /// A process is to run on another CPU from now on.
    pub(in crate::kernel) fn migrate(&mut self, at: At, tid: Tid, cpu: u32) {
        if tid == 0 {
            return;
        }
        let Some(ix) = self.find_or_add(at.place, tid, at.time) else { return };
        self.effect.target = Some(ix);
        if self.runs_on(ix).is_none() {
            self.processes.get_mut(ix).cpu = Some(cpu);
        }
    }

    /// Events of a CPU were lost: who runs there is not known any more, nor what
    /// became of those that wait for it.
    pub(in crate::kernel) fn gap(&mut self, at: At) {
        self.anomalies.gaps += 1;
        self.lose_track(at);
        self.cpus[at.place].pending_softirqs = 0;
        let places = self.processes.places() as u64;
        let Some(credit) = self.credit.checked_sub(places) else { return };
        self.credit = credit;
        let lost: Vec<_> = (self.processes.all())
            .filter(|(ix, process)| {
                process.cpu == Some(at.cpu) && process.tid.is_some() && self.runs_on(*ix).is_none()
            })
            .filter(|(_, process)| {
                let status = process.status();
                !matches!(status, ProcessStatus::Dead | ProcessStatus::Zombie)
            })
            .map(|(ix, _)| ix)
            .collect();
        lost.into_iter().for_each(|ix| self.forget(ix, at.time));
    }

    /// It is not known who runs on a CPU, since its last event.
    fn lose_track(&mut self, at: At) {
        let Switched { believed, nobody } = self.on_cpu(at.place);
        self.effect.rest().lost_since = Some(self.cpus[at.place].last);
        self.forget(believed, at.time);
        if believed != nobody {
            self.forget(nobody, at.time);
        }
        self.cpus[at.place].running = nobody;
    }

    /// Before the first event: a process is known to run on a CPU.
    pub(in crate::kernel) fn runs_at_begin(&mut self, cpu: u32, tid: Tid, name: &[u8]) {
        let time = self.begin;
        let place = self.add_cpu(cpu);
        if self.cpus[place].number != cpu {
            return; // it is not told apart from others
        }
        let Some(ix) = self.find_or_add(place, tid, time) else { return };
        if self.runs_on(ix).is_some() {
            return; // two CPUs claim it: one of their first switches came later
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

    fn on_cpu(&self, place: usize) -> Switched {
        let Cpu { running, nobody, .. } = self.cpus[place];
        Switched { believed: running, nobody }
    }
}

/// Who runs on a CPU as far as known, and who stands in there.
struct Switched {
    believed: ProcessIx,
    nobody: ProcessIx,
}
