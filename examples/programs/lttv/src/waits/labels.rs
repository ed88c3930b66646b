//! Names of threads, activities and wakers in results.

use lttv_common::activity::{self, Doing};
use lttv_state::kernel::{NameId, Serial, TraceState};

use super::cause::Waker;
use super::episodes::{Episode, ThreadLife};
use super::lives::Lives;

/// The names of the threads of a trace, of their activities and wakers.
#[derive(Debug, Clone, Copy)]
pub struct Labels<'a> {
    /// The threads.
    pub lives: &'a Lives,
    /// The state, which contains all names.
    pub state: &'a TraceState,
}

impl<'a> Labels<'a> {
    /// Returns the command of a thread: its name, `idle` for the idle process of a CPU.
    pub fn command(&self, life: &ThreadLife) -> &'a str {
        if life.is_idle() { "idle" } else { self.state.name(life.name()) }
    }

    /// Returns the label of a thread: its command and thread id.
    pub fn thread(&self, thread: Serial) -> String {
        let Some(life) = self.lives.thread(thread) else { return "?".to_owned() };
        activity::thread_label(life.tid(), self.state.name(life.name()))
    }

    /// Returns the name of a system call, interrupt or exception; `None` without one.
    pub fn name(&self, name: NameId) -> Option<&'a str> {
        activity::name_of(self.state, name)
    }

    /// Describes an activity.
    pub fn doing(&self, doing: Doing) -> String {
        doing.label(self.state)
    }

    /// Describes a waker.
    pub fn waker(&self, waker: Waker) -> String {
        match waker.is_interrupt() {
            true => self.doing(Doing::Runs(waker.mode, waker.submode)),
            false => self.thread(waker.thread),
        }
    }

    /// Describes the waker that ended an episode, if one did.
    pub fn waker_of(&self, episode: &Episode) -> Option<String> {
        episode.waker.map(|waker| self.waker(waker))
    }
}
