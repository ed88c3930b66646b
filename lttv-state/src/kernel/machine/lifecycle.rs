//! Fork, exec, exit and removal of processes.

use std::sync::Arc;

use smallvec::smallvec;

use super::{At, TraceState};
use crate::kernel::cpu::Cpu;
use crate::kernel::effect::LossOnCpu;
use crate::kernel::modes::{ExecutionMode, ProcessStatus, ProcessType};
use crate::kernel::names::NameId;
use crate::kernel::process::{Frame, ProcessRecord, TID_END, Tid};
use crate::kernel::table::ProcessIndex;

/// A process to be created by a fork.
#[derive(Debug, Clone, Copy)]
pub(in crate::kernel) struct NewProcess {
    /// The parent's id, if the event contains it; otherwise the parent is the running
    /// process.
    pub(in crate::kernel) parent: Option<Tid>,
    /// The id of the parent's thread group, if the event contains it.
    pub(in crate::kernel) parent_pid: Option<Tid>,
    pub(in crate::kernel) child: Tid,
    /// The id of the child's thread group.
    pub(in crate::kernel) pid: Option<Tid>,
}

impl TraceState {
    /// Creates a process and returns it; `None` if its id is out of range.
    pub(in crate::kernel) fn fork(&mut self, at: At, new: NewProcess) -> Option<ProcessIndex> {
        let current = self.current(at);
        let parent = match new.parent {
            // The running process is only assumed; the event's field is certain.
            Some(tid) if self.processes.get(current).tid != Some(tid) => {
                self.find_or_add(at.place, tid, at.time)
            }
            _ => Some(current),
        };
        if !(1..TID_END).contains(&new.child) {
            self.anomalies.impossible_numbers += 1;
            return None;
        }
        let ix = match self.processes.find(new.child) {
            Some(ix) if self.runs_on(ix).is_some() => {
                // The clock of the child's CPU is ahead.
                self.anomalies.forks_of_running += 1;
                ix
            }
            Some(ix) if self.is_same_fork(ix, new) => ix,
            known => {
                if let Some(ix) = known {
                    self.anomalies.reused_ids += 1;
                    self.remove(ix, at.time);
                }
                let ix = self.processes.add(Some(new.child), at.time);
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
        let group = self.valid_tid(new.pid);
        let told = self.valid_tid(new.parent_pid);
        let parent = parent.map(|parent| self.processes.get(parent)).filter(|p| p.tid.is_some());
        let known = told.or(parent.and_then(|parent| parent.pid));
        let is_thread = group.is_some() && group == known;
        let names = |p: &ProcessRecord| (p.name, p.brand, p.executable);
        let inherited = parent.map(|p| (p.tid, p.parent, p.kind, names(p), p.files.clone()));
        let waits_for_fork = self.tells_ends_of_forks;
        let process = self.processes.get_mut(ix);
        (process.creation, process.waits_for_fork) = (Some(at.time), waits_for_fork);
        process.pid = group.or(process.pid);
        if let Some((tid, grandparent, kind, names, files)) = inherited {
            // The parent of a thread is that of its process, as in a state dump. Without the parent's
            // process in the event it is the thread that forks, as in LTTV.
            process.parent = match told {
                Some(_) if is_thread => grandparent,
                _ => told.or(tid),
            };
            process.kind = kind;
            (process.name, process.brand, process.executable) = names;
            process.files = if is_thread { Arc::default() } else { files };
            if kind == Some(ProcessType::Kernel) && process.stack.len() == 2 {
                kernel_thread(process.stack.as_mut_slice());
                process.stack.remove(0);
            }
        }
        if self.processes.get(ix).name == NameId::EMPTY
            && let Some(known) = self.known_threads.clone().get(new.child)
        {
            self.rename(ix, &known.name);
        }
        Some(ix)
    }

    /// Returns `true` if a process was created by the fork that an event tells again: perf has a record of each fork,
    /// which tells the thread group, and may have the event of the kernel, which does not.
    fn is_same_fork(&self, ix: ProcessIndex, new: NewProcess) -> bool {
        let process = self.processes.get(ix);
        process.creation.is_some()
            && process.top().status == ProcessStatus::WaitFork
            && process.pid.is_some() != new.pid.is_some()
    }

    /// Marks a process as a kernel thread.
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

    /// Marks a process as exiting.
    pub(in crate::kernel) fn exit(&mut self, at: At, tid: Tid, name: Option<&[u8]>) {
        let tid = self.valid_tid(Some(tid)).filter(|tid| *tid != 0);
        let Some(ix) = tid.and_then(|tid| self.processes.find(tid)) else { return };
        self.effect.target = Some(ix);
        if let Some(name) = name {
            self.rename_by_field(ix, name);
        }
        let runs = self.runs_on(ix).is_some();
        let process = self.processes.get_mut(ix);
        process.exiting = true;
        let top = process.top_mut();
        if runs {
            top.charge(at.time);
        }
        top.status = ProcessStatus::Exit;
    }

    /// Notes that the kernel freed its data of a process.
    pub(in crate::kernel) fn free(&mut self, tid: Tid) {
        let tid = self.valid_tid(Some(tid)).filter(|tid| *tid != 0);
        let Some(ix) = tid.and_then(|tid| self.processes.find(tid)) else { return };
        self.effect.target = Some(ix);
        self.note_exit_sign(ix);
    }

    /// Notes one of the two signs that a process is gone, and removes it with the second
    /// one.
    pub(super) fn note_exit_sign(&mut self, ix: ProcessIndex) {
        let process = self.processes.get_mut(ix);
        process.exit_signs += 1;
        if process.exit_signs < 2 {
            return;
        }
        let time = process.top().change;
        self.remove(ix, time);
    }

    /// Removes a process. If it was running, the running process of its CPU is unknown
    /// afterwards.
    pub(super) fn remove(&mut self, ix: ProcessIndex, time: i64) {
        if let Some(place) = self.runs_on(ix) {
            let Cpu { unknown_process: unknown, number: cpu, .. } = self.cpus[place];
            let is_told = self.effect.losses().iter().any(|loss| loss.place == place);
            if self.effect.cpu == Some(cpu) && !is_told {
                self.effect.rare_mut().losses.push(LossOnCpu::new(place, cpu, time));
            }
            self.reset_to_unknown(unknown, time);
            self.cpus[place].running = unknown;
        }
        if let Some(cpu) = self.effect.cpu {
            self.lose_wait(ix, cpu);
        }
        let frames = std::mem::take(&mut self.processes.get_mut(ix).stack);
        frames.iter().for_each(|frame| self.release_source(frame));
        self.processes.get_mut(ix).stack = frames;
        self.effect.rare_mut().gone.push(self.processes.process(ix).clone());
        self.processes.remove(ix);
    }

    /// Applies an exec of the running process. `tid` is its old and new id: if it was not
    /// the first thread of its group, it becomes that one and takes its id.
    pub(in crate::kernel) fn exec(
        &mut self,
        at: At,
        (name, file): (&[u8], &[u8]),
        tid: Option<(Tid, Tid)>,
    ) {
        let ix = self.current(at);
        if let Some((old, new)) = tid
            && old != new
            // Idle threads keep their id: each CPU has its own.
            && old != 0
            && (1..TID_END).contains(&new)
            && self.processes.get(ix).tid == Some(old)
        {
            self.take_files_of_group(ix);
            if let Some(leader) = self.processes.find(new) {
                self.remove(leader, at.time);
            }
            self.processes.renumber(ix, new);
        }
        if self.processes.get(ix).tid == Some(0) {
            return;
        }
        self.close_on_exec(ix);
        self.rename(ix, name);
        let executable = self.intern(file);
        let process = self.processes.get_mut(ix);
        process.brand = NameId::EMPTY;
        process.executable = executable;
        if process.kind == Some(ProcessType::Kernel) {
            // A user-mode helper started by the kernel: it runs user code from here on.
            process.kind = Some(ProcessType::User);
            let status = process.status();
            let user = Frame::new(ExecutionMode::User, NameId::NONE, status, at.time);
            process.stack.insert(0, user);
        }
    }

    /// Sets the thread brand of the running process.
    pub(in crate::kernel) fn brand(&mut self, at: At, name: &[u8]) {
        let brand = self.intern(name);
        let ix = self.current(at);
        self.processes.get_mut(ix).brand = brand;
    }
}

/// Sets the frames of a kernel thread, which executes in the kernel only.
fn kernel_thread(stack: &mut [Frame]) {
    for frame in stack {
        (frame.mode, frame.submode) = (ExecutionMode::Syscall, NameId::NONE);
    }
}
