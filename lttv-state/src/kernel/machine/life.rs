//! Birth, change and end of processes.

use std::sync::Arc;

use smallvec::smallvec;

use super::{At, TraceState};
use crate::kernel::modes::{ExecutionMode, ProcessStatus, ProcessType};
use crate::kernel::names::NameId;
use crate::kernel::process::{Frame, TID_END, Tid};
use crate::kernel::table::ProcessIx;

/// A process is born.
#[derive(Debug, Clone, Copy)]
pub(in crate::kernel) struct Birth {
    /// The parent, if the event tells; it is the one that runs.
    pub(in crate::kernel) parent: Option<Tid>,
    pub(in crate::kernel) child: Tid,
    /// Its thread group.
    pub(in crate::kernel) pid: Option<Tid>,
}

impl TraceState {
    /// A process is born. Gives it; `None` if there can be no such process.
    pub(in crate::kernel) fn fork(&mut self, at: At, birth: Birth) -> Option<ProcessIx> {
        let current = self.current(at);
        let parent = match birth.parent {
            // Who runs is only supposed; the event is sure.
            Some(tid) if self.processes.get(current).tid != Some(tid) => {
                self.find_or_add(at.place, tid, at.time)
            }
            _ => Some(current),
        };
        if !(1..TID_END).contains(&birth.child) {
            self.anomalies.impossible_numbers += 1;
            return None;
        }
        let ix = match self.processes.find(birth.child) {
            Some(ix) if self.runs_on(ix).is_some() => {
                // Its CPU's clock is ahead.
                self.anomalies.forks_of_running += 1;
                ix
            }
            known => {
                if let Some(ix) = known {
                    self.anomalies.reused_ids += 1;
                    self.remove(ix, at.time);
                }
                let ix = self.processes.add(Some(birth.child), at.time);
                self.processes.get_mut(ix).stack = smallvec![
                    Frame::new(ExecutionMode::User, NameId::NONE, ProcessStatus::Run, at.time),
                    Frame::new(
                        ExecutionMode::Syscall,
                        NameId::NONE,
                        ProcessStatus::WaitFork,
                        at.time
                    ),
                ];
                ix
            }
        };
        self.effect.target = Some(ix);
        let group = self.possible(birth.pid);
        let parent = parent.map(|parent| self.processes.get(parent)).filter(|p| p.tid.is_some());
        let inherited = parent.map(|p| (p.tid, p.pid, p.kind, p.name, p.brand, p.files.clone()));
        let process = self.processes.get_mut(ix);
        process.creation = Some(at.time);
        process.pid = group;
        if let Some((tid, pid, kind, name, brand, files)) = inherited {
            process.parent = tid;
            process.kind = kind;
            (process.name, process.brand) = (name, brand);
            let is_thread = group.is_some() && group == pid;
            process.files = if is_thread { Arc::default() } else { files };
            if kind == Some(ProcessType::Kernel) && process.stack.len() == 2 {
                kernel_thread(process.stack.as_mut_slice());
                process.stack.remove(0);
            }
        }
        Some(ix)
    }

    /// A process turns out to be a thread of the kernel.
    pub(in crate::kernel) fn kernel_thread(&mut self, at: At, tid: Tid) {
        let Some(ix) = self.find_or_add(at.place, tid, at.time) else { return };
        self.effect.target = Some(ix);
        if self.processes.get(ix).status() == ProcessStatus::Dead {
            return;
        }
        let process = self.processes.get_mut(ix);
        process.kind = Some(ProcessType::Kernel);
        process.stack.truncate(1);
        kernel_thread(process.stack.as_mut_slice());
    }

    /// A process begins to exit.
    pub(in crate::kernel) fn exit(&mut self, at: At, tid: Tid) {
        let tid = self.possible(Some(tid)).filter(|tid| *tid != 0);
        let Some(ix) = tid.and_then(|tid| self.processes.find(tid)) else { return };
        self.effect.target = Some(ix);
        let runs = self.runs_on(ix).is_some();
        let process = self.processes.get_mut(ix);
        process.exiting = true;
        let top = process.top_mut();
        if runs {
            top.charge(at.time);
        }
        top.status = ProcessStatus::Exit;
    }

    /// What the kernel kept of a process is freed.
    pub(in crate::kernel) fn free(&mut self, tid: Tid) {
        let tid = self.possible(Some(tid)).filter(|tid| *tid != 0);
        let Some(ix) = tid.and_then(|tid| self.processes.find(tid)) else { return };
        self.effect.target = Some(ix);
        self.farewell(ix);
    }

    /// One of two signs that a process is gone: with both, it is.
    pub(super) fn farewell(&mut self, ix: ProcessIx) {
        let process = self.processes.get_mut(ix);
        process.farewells += 1;
        if process.farewells < 2 {
            return;
        }
        let time = process.top().change;
        self.remove(ix, time);
    }

    /// A process is gone. If it ran, nobody knows who does now.
    pub(super) fn remove(&mut self, ix: ProcessIx, time: i64) {
        if let Some(place) = self.runs_on(ix) {
            let nobody = self.cpus[place].nobody;
            if self.effect.cpu == Some(self.cpus[place].number) {
                self.effect.rest().lost_since.get_or_insert(time);
            }
            self.forget(nobody, time);
            self.cpus[place].running = nobody;
        }
        let frames = std::mem::take(&mut self.processes.get_mut(ix).stack);
        frames.iter().for_each(|frame| self.release(frame));
        self.processes.get_mut(ix).stack = frames;
        self.effect.rest().gone.push(self.processes.get(ix).clone());
        self.processes.remove(ix);
    }

    /// A process executes another program from now on. Its id changes if it was
    /// not the first of its thread group, which it then becomes.
    pub(in crate::kernel) fn exec(&mut self, at: At, name: &[u8], tid: Option<(Tid, Tid)>) {
        let ix = self.current(at);
        if let Some((old, new)) = tid
            && old != new
            // Idle threads are not renumbered: each CPU keeps its own.
            && old != 0
            && (1..TID_END).contains(&new)
            && self.processes.get(ix).tid == Some(old)
        {
            if let Some(leader) = self.processes.find(new) {
                self.remove(leader, at.time);
            }
            self.processes.renumber(ix, new);
        }
        if self.processes.get(ix).tid == Some(0) {
            return;
        }
        self.rename(ix, name);
        let process = self.processes.get_mut(ix);
        process.brand = NameId::EMPTY;
        if process.kind == Some(ProcessType::Kernel) {
            // A helper that the kernel started: it has code of its own from now on.
            process.kind = Some(ProcessType::User);
            let status = process.status();
            let user = Frame::new(ExecutionMode::User, NameId::NONE, status, at.time);
            process.stack.insert(0, user);
        }
    }

    /// The process that runs gives itself a name as a thread.
    pub(in crate::kernel) fn brand(&mut self, at: At, name: &[u8]) {
        let brand = self.intern(name);
        let ix = self.current(at);
        self.processes.get_mut(ix).brand = brand;
    }
}

/// All that a thread of the kernel does is done in the kernel.
fn kernel_thread(stack: &mut [Frame]) {
    for frame in stack {
        (frame.mode, frame.submode) = (ExecutionMode::Syscall, NameId::NONE);
    }
}
