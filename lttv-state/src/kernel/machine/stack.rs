//! Execution stacks: entering and leaving system calls, interrupts and
//! exceptions.

use super::{At, TraceState};
use crate::kernel::effect::Ended;
use crate::kernel::modes::{ExecutionMode, ProcessStatus};
use crate::kernel::names::NameId;
use crate::kernel::process::{Frame, since};
use crate::kernel::resources::unpack;
use crate::kernel::table::ProcessIx;

/// Deeper than any kernel nests.
pub(in crate::kernel) const MAX_DEPTH: usize = 32;

impl TraceState {
    /// A system call begins. It can only do so in user code, so what else there is
    /// on the stack has ended unseen.
    #[inline]
    pub(in crate::kernel) fn syscall_entry(&mut self, at: At, name: NameId) {
        let ix = self.current(at);
        let process = self.processes.get(ix);
        if process.tid == Some(0) {
            return; // LTTV's rule; the idle process calls nothing
        }
        if process.stack.len() > 1 {
            self.unwind(ix, 1, at.time);
        }
        let process = self.processes.get_mut(ix);
        let base = process.top_mut();
        if base.mode == ExecutionMode::Unknown {
            (base.mode, base.submode) = (ExecutionMode::User, NameId::NONE);
        }
        process.enter(ExecutionMode::Syscall, name, 0, at.time);
    }

    /// A system call ends. Gives its name, if its begin was seen.
    #[inline]
    pub(in crate::kernel) fn syscall_exit(&mut self, at: At) -> Option<NameId> {
        let ix = self.current(at);
        if self.processes.get(ix).tid == Some(0) {
            return None;
        }
        let name = self.pop(at, ExecutionMode::Syscall);
        if name.is_none() {
            self.returned_to_user(ix, at.time);
        }
        name
    }

    /// A system call of which the begin was not seen is over: user code goes on.
    #[cold]
    fn returned_to_user(&mut self, ix: ProcessIx, time: i64) {
        let process = self.processes.get_mut(ix);
        if let [base] = process.stack.as_mut_slice()
            && base.mode == ExecutionMode::Unknown
        {
            (base.mode, base.submode) = (ExecutionMode::User, NameId::NONE);
            base.charge(time);
        }
    }

    /// The process that runs enters something.
    #[inline]
    pub(super) fn push(&mut self, at: At, mode: ExecutionMode, submode: NameId, source: u32) {
        let ix = self.current(at);
        if self.processes.get(ix).stack.len() >= MAX_DEPTH {
            self.unwind(ix, 1, at.time);
        }
        self.processes.get_mut(ix).enter(mode, submode, source, at.time);
    }

    /// The process that runs leaves the innermost of a mode. What is within it, has
    /// ended unseen. Gives its submode; `None`, and nothing happens, if it is in none.
    #[inline]
    pub(super) fn pop(&mut self, at: At, mode: ExecutionMode) -> Option<NameId> {
        let ix = self.current(at);
        match self.processes.get_mut(ix).leave(mode, at.time) {
            Some(frame) => Some(self.left(ix, frame, at.time)),
            None => self.pop_from_within(ix, mode, at.time),
        }
    }

    /// The process that runs has left a frame. Gives its submode.
    #[inline]
    fn left(&mut self, ix: ProcessIx, frame: Frame, time: i64) -> NameId {
        self.release(&frame);
        let Frame { mode, submode, cpu_time, .. } = frame;
        let source = has_source(mode).then(|| unpack(frame.source));
        let elapsed = since(frame.entry, time);
        self.effect.ended = Some(Ended { process: ix, mode, submode, source, elapsed, cpu_time });
        submode
    }

    /// As [`pop`](Self::pop), where that is not the innermost frame.
    #[cold]
    fn pop_from_within(&mut self, ix: ProcessIx, mode: ExecutionMode, time: i64) -> Option<NameId> {
        let stack = &self.processes.get(ix).stack;
        let Some(depth) = stack.iter().rposition(|frame| frame.mode == mode).filter(|d| *d > 0)
        else {
            self.anomalies.unmatched_exits += 1;
            return None;
        };
        self.unwind(ix, depth + 1, time);
        let frame = self.processes.get_mut(ix).leave(mode, time)?;
        Some(self.left(ix, frame, time))
    }

    /// Leaves all but the outermost frames of a running process, which ended
    /// unseen.
    pub(super) fn unwind(&mut self, ix: ProcessIx, depth: usize, time: i64) {
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
            self.release(&frame);
            self.anomalies.unmatched_entries += 1;
        }
    }

    /// Nothing is known any more of what a process does.
    pub(super) fn forget(&mut self, ix: ProcessIx, time: i64) {
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
        process.stack.push(Frame::new(mode, submode, ProcessStatus::Unnamed, time));
        frames.iter().for_each(|frame| self.release(frame));
    }

    /// What a frame kept busy is so no longer.
    #[inline]
    pub(super) fn release(&mut self, frame: &Frame) {
        if has_source(frame.mode) {
            let (kind, number) = unpack(frame.source);
            self.journal.note(frame.source);
            if let Some(source) = self.sources[kind as usize].get_mut(number as usize) {
                source.running = source.running.saturating_sub(1);
            }
        }
    }

    /// A function of a program begins.
    pub(in crate::kernel) fn function_entry(&mut self, at: At, function: u64) {
        let ix = self.current(at);
        let functions = &mut self.processes.get_mut(ix).functions;
        if functions.len() < MAX_FUNCTIONS {
            functions.push(function);
        }
    }

    /// A function of a program ends: one that is not the current one is ignored.
    pub(in crate::kernel) fn function_exit(&mut self, at: At, function: u64) {
        let ix = self.current(at);
        if self.processes.get(ix).functions.last() == Some(&function) {
            self.processes.get_mut(ix).functions.pop();
        } else {
            self.anomalies.unmatched_exits += 1;
        }
    }
}

/// Whether frames of a mode tell which interrupt or exception they are of.
fn has_source(mode: ExecutionMode) -> bool {
    mode.is_interrupt() || mode == ExecutionMode::Trap
}

/// How deep calls are followed.
pub(in crate::kernel) const MAX_FUNCTIONS: usize = 4096;
