//! Execution stacks: entering and leaving system calls, interrupts and
//! exceptions.

use super::{At, TraceState};
use crate::kernel::effect::Ended;
use crate::kernel::modes::{ExecutionMode, ProcessStatus};
use crate::kernel::names::NameId;
use crate::kernel::process::{Frame, since};
use crate::kernel::resources::unpack;
use crate::kernel::table::ProcessIndex;

/// The maximum depth of an execution stack: kernels nest less deeply.
pub(in crate::kernel) const MAX_DEPTH: usize = 32;

impl TraceState {
    /// Enters a system call. System calls start in user code only, so the exits of all
    /// nested frames on the stack were lost.
    #[inline]
    pub(in crate::kernel) fn syscall_entry(&mut self, at: At, name: NameId) {
        let ix = self.current(at);
        let process = self.processes.get(ix);
        if process.tid == Some(0) {
            return; // as in LTTV: the idle process makes no system calls
        }
        // A recorder of `raw_syscalls` and `syscalls` has two events of the same entry.
        let top = process.top();
        let is_same = top.mode == ExecutionMode::Syscall && top.submode == name;
        if process.stack.len() > 1 {
            self.unwind(ix, 1, at.time);
        }
        let process = self.processes.get_mut(ix);
        if !is_same {
            process.opening = NameId::EMPTY;
        }
        let base = process.top_mut();
        if base.mode == ExecutionMode::Unknown {
            (base.mode, base.submode) = (ExecutionMode::User, NameId::NONE);
        }
        process.enter(ExecutionMode::Syscall, name, 0, at.time);
    }

    /// Leaves a system call, of the given name if the exit has one. Returns the name of the call that
    /// returned; `None` if no entry was seen.
    #[inline]
    pub(in crate::kernel) fn syscall_exit(
        &mut self,
        at: At,
        own: Option<NameId>,
    ) -> Option<NameId> {
        let ix = self.current(at);
        if self.processes.get(ix).tid == Some(0) {
            return None;
        }
        if own.is_some_and(|own| self.leaves_another(ix, own, at.time)) {
            return own;
        }
        let name = self.pop(at, ExecutionMode::Syscall);
        if name.is_none() {
            self.returned_to_user(ix, at.time);
        }
        name
    }

    /// Returns `true` if a process is in a system call of another name than that of the exit: its own
    /// exit and the entry of the other call were lost. It is then left without an end.
    fn leaves_another(&mut self, ix: ProcessIndex, own: NameId, time: i64) -> bool {
        let stack = &self.processes.get(ix).stack;
        let of_call = |frame: &Frame| frame.mode == ExecutionMode::Syscall;
        let Some(depth) = stack.iter().rposition(of_call).filter(|depth| *depth > 0) else {
            return false;
        };
        let open = stack[depth].submode;
        if open == own || open == NameId::UNKNOWN || open == NameId::NONE {
            return false;
        }
        self.processes.get_mut(ix).opening = NameId::EMPTY;
        self.anomalies.unmatched_exits += 1;
        self.unwind(ix, depth, time);
        true
    }

    /// Applies the end of a system call whose entry was not seen: the process continues in
    /// user mode.
    #[cold]
    fn returned_to_user(&mut self, ix: ProcessIndex, time: i64) {
        let process = self.processes.get_mut(ix);
        if let [base] = process.stack.as_mut_slice()
            && base.mode == ExecutionMode::Unknown
        {
            (base.mode, base.submode) = (ExecutionMode::User, NameId::NONE);
            base.charge(time);
        }
    }

    /// Pushes a frame on the stack of the running process.
    #[inline]
    pub(super) fn push(&mut self, at: At, mode: ExecutionMode, submode: NameId, source: u32) {
        let ix = self.current(at);
        if self.processes.get(ix).stack.len() >= MAX_DEPTH {
            self.unwind(ix, 1, at.time);
        }
        self.processes.get_mut(ix).enter(mode, submode, source, at.time);
    }

    /// Pops the innermost frame of a mode from the stack of the running process. The exits
    /// of frames nested in it were lost. Returns the frame's submode; `None`, and nothing
    /// changes, if there is no such frame.
    #[inline]
    pub(super) fn pop(&mut self, at: At, mode: ExecutionMode) -> Option<NameId> {
        let ix = self.current(at);
        match self.processes.get_mut(ix).leave(mode, at.time) {
            Some(frame) => Some(self.note_ended(ix, frame, at.time)),
            None => self.pop_outer(ix, mode, at.time),
        }
    }

    /// Notes that the running process left a frame, and returns the frame's submode.
    #[inline]
    fn note_ended(&mut self, ix: ProcessIndex, frame: Frame, time: i64) -> NameId {
        self.release_source(&frame);
        let Frame { mode, submode, cpu_time, .. } = frame;
        let source = mode.has_source().then(|| unpack(frame.source));
        let elapsed = since(frame.entry, time);
        self.effect.ended = Some(Ended { process: ix, mode, submode, source, elapsed, cpu_time });
        submode
    }

    /// Pops the innermost frame of a mode together with the frames nested in it.
    #[cold]
    fn pop_outer(&mut self, ix: ProcessIndex, mode: ExecutionMode, time: i64) -> Option<NameId> {
        let stack = &self.processes.get(ix).stack;
        let Some(depth) = stack.iter().rposition(|frame| frame.mode == mode).filter(|d| *d > 0)
        else {
            self.anomalies.unmatched_exits += 1;
            return None;
        };
        self.unwind(ix, depth + 1, time);
        let frame = self.processes.get_mut(ix).leave(mode, time)?;
        Some(self.note_ended(ix, frame, time))
    }

    /// Drops the frames of a running process from a depth on, except the outermost frame.
    /// Their exits were lost.
    pub(super) fn unwind(&mut self, ix: ProcessIndex, depth: usize, time: i64) {
        if self.processes.get(ix).stack.len() <= depth {
            return;
        }
        self.processes.get_mut(ix).top_mut().charge(time);
        while self.processes.get(ix).stack.len() > depth.max(1) {
            let process = self.processes.get_mut(ix);
            let Some(frame) = process.stack.pop() else { return };
            let status = frame.status;
            let outer = process.top_mut();
            outer.cpu_time = outer.cpu_time.wrapping_add(frame.cpu_time);
            (outer.change, outer.status) = (time, status);
            self.release_source(&frame);
            self.anomalies.unmatched_entries += 1;
        }
    }

    /// Resets a process to an unknown state.
    pub(super) fn reset_to_unknown(&mut self, ix: ProcessIndex, time: i64) {
        let process = self.processes.get_mut(ix);
        let frames = std::mem::take(&mut process.stack);
        let is_idle = process.tid == Some(0);
        process.functions.clear();
        process.opening = NameId::EMPTY;
        (process.woken, process.blocked, process.ready) = (None, 0, 0);
        let (mode, submode) = if is_idle {
            (ExecutionMode::Syscall, NameId::NONE)
        } else {
            (ExecutionMode::Unknown, NameId::UNKNOWN)
        };
        process.stack.push(Frame::new(mode, submode, ProcessStatus::Unknown, time));
        frames.iter().for_each(|frame| self.release_source(frame));
    }

    /// Decrements the number of running handlers of a frame's interrupt or exception.
    #[inline]
    pub(super) fn release_source(&mut self, frame: &Frame) {
        if frame.mode.has_source() {
            let (kind, number) = unpack(frame.source);
            self.journal.record(frame.source);
            if let Some(source) = self.sources[kind as usize].get_mut(number as usize) {
                source.running = source.running.saturating_sub(1);
            }
        }
    }

    /// Enters a function of a program.
    pub(in crate::kernel) fn function_entry(&mut self, at: At, function: u64) {
        let ix = self.current(at);
        let functions = &mut self.processes.get_mut(ix).functions;
        if functions.len() < MAX_FUNCTIONS {
            functions.push(function);
        }
    }

    /// Leaves a function of a program. Exits of functions other than the current one are
    /// ignored.
    pub(in crate::kernel) fn function_exit(&mut self, at: At, function: u64) {
        let ix = self.current(at);
        if self.processes.get(ix).functions.last() == Some(&function) {
            self.processes.get_mut(ix).functions.pop();
        } else {
            self.anomalies.unmatched_exits += 1;
        }
    }
}

/// The maximum depth of the stack of program functions.
pub(in crate::kernel) const MAX_FUNCTIONS: usize = 4096;
