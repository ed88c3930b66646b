//! The stacks of all threads of a trace, as events change them.

use super::binaries::Binaries;
use super::collector::Collector;
use super::functions::{Functions, RawCode, SectionNames};
use super::part::{Base, EarlierExit, Part, Undecided};
use super::paths::{PathId, Paths};
use super::thread::ThreadIndex;

/// The maximum number of calls on a stack.
pub(super) const MAX_DEPTH: usize = 1 << 14;
/// The maximum number of calls on all stacks of a trace.
pub(super) const MAX_FRAMES: usize = 1 << 22;

/// The time of the last event of a thread of a part before its first event: no time counts from
/// there.
pub(super) const NO_EVENT: i64 = i64::MAX;

/// A call that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) code: RawCode,
    pub(super) path: PathId,
    /// The time of the entry in ns.
    pub(super) entered: i64,
}

/// The stack of a thread.
#[derive(Debug, Clone)]
pub(super) struct Stack {
    /// The path of the empty stack.
    pub(super) root: PathId,
    pub(super) frames: Vec<Frame>,
    /// The number of calls that did not fit on the stack and have not ended.
    pub(super) excess: u64,
    /// The time of the thread's last entry or exit, in ns.
    pub(super) last: i64,
}

impl Stack {
    /// Returns the path of the innermost call, or of the empty stack.
    #[inline]
    pub(super) fn path(&self) -> PathId {
        self.frames.last().map_or(self.root, |frame| frame.path)
    }

    /// Returns the stack of the same thread without any calls.
    pub(super) fn emptied(&self) -> Self {
        Stack { root: self.root, frames: Vec::new(), excess: 0, last: self.last }
    }
}

/// The stacks of a trace.
#[derive(Debug, Clone, Default)]
pub(super) struct Tracker {
    pub(super) functions: Functions,
    pub(super) sections: SectionNames,
    pub(super) paths: Paths,
    pub(super) index: ThreadIndex,
    /// The stacks, by number of the thread.
    pub(super) stacks: Vec<Stack>,
    pub(super) binaries: Binaries,
    /// The number of frames of all stacks.
    pub(super) frames: usize,
    /// The events left open by a part, whose stacks start with unknown calls.
    pub(super) part: Option<Box<Part>>,
}

/// An entry to or an exit from a call. An exit without a code is one from the innermost call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Enter(RawCode),
    Exit(Option<RawCode>),
}

impl Tracker {
    /// Adds the stacks of threads that are new in the index, at a time.
    #[inline]
    pub(super) fn update_threads(&mut self, time: i64) {
        if self.stacks.len() < self.index.all().len() {
            self.add_stacks(time);
        }
    }

    #[cold]
    fn add_stacks(&mut self, time: i64) {
        let new = self.index.all().len() - self.stacks.len();
        for _ in 0..new {
            let root = self.paths.add_root();
            let mut stack = Stack { root, frames: Vec::new(), excess: 0, last: time };
            if let Some(part) = &mut self.part {
                stack.last = NO_EVENT;
                part.add_thread(Base::new(None, root));
            }
            self.stacks.push(stack);
        }
    }

    /// Sets the stacks of the first threads, and empties those of the others.
    pub(super) fn set_stacks(&mut self, stacks: Vec<Stack>) {
        let others = self.stacks.iter().skip(stacks.len()).map(Stack::emptied);
        self.stacks = stacks.iter().cloned().chain(others.collect::<Vec<_>>()).collect();
        self.frames = self.stacks.iter().map(|stack| stack.frames.len()).sum();
    }

    /// Applies an entry or exit of a thread, and passes what it means to collectors.
    #[inline]
    pub(super) fn step(
        &mut self,
        thread: usize,
        step: Step,
        time: i64,
        collectors: &mut [Collector],
    ) {
        if let Some(part) = &mut self.part
            && part.note(thread, step, time)
        {
            return;
        }
        match step {
            Step::Enter(code) => self.enter(thread, code, time, collectors),
            Step::Exit(code) => self.exit(thread, code, time, collectors),
        }
    }

    #[inline]
    fn enter(&mut self, thread: usize, code: RawCode, time: i64, collectors: &mut [Collector]) {
        let Some(of) = self.stacks.get_mut(thread) else { return };
        let caller = of.path();
        if !of.frames.is_empty() || self.part.is_some() {
            for collector in collectors.iter_mut() {
                collector.charge(caller, of.last, time);
            }
        }
        of.last = time;
        if of.excess > 0 || of.frames.len() >= MAX_DEPTH || self.frames >= MAX_FRAMES {
            of.excess += 1;
            collectors.iter_mut().for_each(|collector| collector.too_deep(thread));
            return;
        }
        let (functions, index) = (&mut self.functions, &self.index);
        let path = self.paths.child(caller, code, || {
            let process = index.all().get(thread).and_then(|(key, _)| key.process);
            functions.find_or_add(process, code)
        });
        of.frames.push(Frame { code, path, entered: time });
        self.frames += 1;
        let depth = of.frames.len();
        collectors.iter_mut().for_each(|collector| collector.entered(thread, depth));
        if let Some(part) = &mut self.part {
            part.reached(thread, depth, time);
        }
    }

    #[inline]
    fn exit(
        &mut self,
        thread: usize,
        code: Option<RawCode>,
        time: i64,
        collectors: &mut [Collector],
    ) {
        let Some(of) = self.stacks.get_mut(thread) else { return };
        let closed = match (of.frames.last(), code) {
            _ if of.excess > 0 => 0,
            (None, _) => return self.exit_at_empty_stack(thread, code, time, collectors),
            (Some(top), Some(code)) if top.code != code => {
                let at = of.frames.iter().rposition(|frame| frame.code == code);
                let Some(at) = at else {
                    return self.exit_not_on_stack(thread, code, time, collectors);
                };
                of.frames.len() - at
            }
            _ => 1,
        };
        let path = of.path();
        for collector in collectors.iter_mut() {
            collector.charge(path, of.last, time);
        }
        of.last = time;
        if let Some(part) = &mut self.part {
            part.reached(thread, 0, time);
        }
        if closed == 0 {
            of.excess -= 1;
            return;
        }
        for left in (0..closed).rev() {
            let Some(frame) = of.frames.pop() else { break };
            self.frames -= 1;
            let depth = of.frames.len();
            for collector in collectors.iter_mut() {
                collector.completed(thread, depth, &frame, time, left > 0);
            }
        }
    }

    #[cold]
    fn exit_at_empty_stack(
        &mut self,
        thread: usize,
        code: Option<RawCode>,
        time: i64,
        collectors: &mut [Collector],
    ) {
        let Some(part) = &mut self.part else {
            collectors.iter_mut().for_each(|collector| collector.exit_at_empty_stack(thread));
            return;
        };
        // The call began before this part.
        let of = &mut self.stacks[thread];
        of.root = self.paths.add_root();
        let exit = Some(EarlierExit { code, time });
        part.add_base(thread, Base::new(exit, of.root));
        of.last = NO_EVENT;
    }

    #[cold]
    fn exit_not_on_stack(
        &mut self,
        thread: usize,
        code: RawCode,
        time: i64,
        collectors: &mut [Collector],
    ) {
        match &mut self.part {
            // If the function is on the stack of the earlier part, all calls of this part end.
            Some(part) => part.leave_undecided(Undecided {
                thread: thread as u32,
                step: Step::Exit(Some(code)),
                time,
            }),
            None => collectors.iter_mut().for_each(|collector| collector.exit_not_on_stack(thread)),
        }
    }
}
