//! The events that a part of a trace leaves open, since the stacks at its start are unknown.
//!
//! Exits from calls of the earlier part are kept, each with the root of the paths of the calls after
//! it: these calls belong to whatever call is innermost by then. An exit of a function that is not on
//! the stack of the part may end all calls of the part, or mean nothing. From there on, the events of
//! the thread are kept, to be applied when the earlier part is known.

use super::functions::RawCode;
use super::paths::PathId;
use super::tracker::Step;

/// The maximum number of exits and undecided events that a part keeps.
const MAX_KEPT: usize = 1 << 20;

/// An exit from a call of an earlier part.
#[derive(Debug, Clone, Copy)]
pub(super) struct EarlierExit {
    pub(super) code: Option<RawCode>,
    pub(super) time: i64,
}

/// A stretch of a thread between two exits from calls of the earlier part.
#[derive(Debug, Clone)]
pub(super) struct Base {
    /// The exit at its start; `None` for the first one.
    pub(super) exit: Option<EarlierExit>,
    /// The path of the remaining stack of the earlier part.
    pub(super) root: PathId,
    /// The times of its first and last event in ns, without the exit; `None` if it has no events.
    pub(super) events: Option<(i64, i64)>,
    /// The maximum number of calls of this part on the stack.
    pub(super) max_depth: usize,
}

impl Base {
    pub(super) fn new(exit: Option<EarlierExit>, root: PathId) -> Self {
        Base { exit, root, events: None, max_depth: 0 }
    }
}

/// An event whose meaning depends on the earlier part, or comes after such an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Undecided {
    pub(super) thread: u32,
    pub(super) step: Step,
    pub(super) time: i64,
}

/// The events that a part leaves open.
#[derive(Debug, Clone, Default)]
pub(super) struct Part {
    /// The bases of each thread.
    pub(super) threads: Vec<Bases>,
    pub(super) undecided: Vec<Undecided>,
    kept: usize,
    /// `true` if more events are undecided than are kept: the part cannot be added to another.
    pub(super) is_incomplete: bool,
}

/// The bases of a thread.
#[derive(Debug, Clone)]
pub(super) struct Bases {
    pub(super) all: Vec<Base>,
    is_undecided: bool,
}

impl Part {
    pub(super) fn add_thread(&mut self, base: Base) {
        self.threads.push(Bases { all: vec![base], is_undecided: false });
    }

    pub(super) fn add_base(&mut self, thread: usize, base: Base) {
        if self.has_room()
            && let Some(bases) = self.threads.get_mut(thread)
        {
            bases.all.push(base);
        }
    }

    fn has_room(&mut self) -> bool {
        self.kept += 1;
        self.is_incomplete |= self.kept > MAX_KEPT;
        !self.is_incomplete
    }

    /// Keeps an event that cannot be decided, and so all further ones of the thread.
    pub(super) fn leave_undecided(&mut self, event: Undecided) {
        if let Some(bases) = self.threads.get_mut(event.thread as usize) {
            bases.is_undecided = true;
        }
        if self.has_room() {
            self.undecided.push(event);
        }
    }

    /// Keeps an event if it comes after an undecided one of its thread. Returns `true` if so.
    #[inline]
    pub(super) fn note(&mut self, thread: usize, step: Step, time: i64) -> bool {
        let is_undecided = self.threads.get(thread).is_some_and(|bases| bases.is_undecided);
        if is_undecided {
            self.leave_undecided(Undecided { thread: thread as u32, step, time });
        }
        is_undecided
    }

    /// Takes note of an event after which a number of calls of this part are on the stack.
    #[inline]
    pub(super) fn reached(&mut self, thread: usize, depth: usize, time: i64) {
        let base = self.threads.get_mut(thread).and_then(|bases| bases.all.last_mut());
        if let Some(base) = base {
            base.max_depth = base.max_depth.max(depth);
            base.events = Some((base.events.map_or(time, |(first, _)| first), time));
        }
    }
}
