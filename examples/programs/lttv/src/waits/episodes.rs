//! The activities of a thread, one after the other.

use lttv_common::activity::Doing;
use lttv_state::kernel::{NameId, Process, Tid};

use super::cause::{Cause, Waker};

/// A time span of one activity of a thread. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Episode {
    /// The start.
    pub begin: i64,
    /// The end.
    pub end: i64,
    /// The activity.
    pub doing: Doing,
    /// The waker, if a wake-up ended the episode.
    pub waker: Option<Waker>,
    /// `true` if the activity goes on after the end.
    pub is_open: bool,
}

/// The identity and the episodes of a thread.
#[derive(Debug, Clone, Default)]
pub struct ThreadLife {
    pub(super) tid: Option<Tid>,
    pub(super) pid: Option<Tid>,
    pub(super) name: NameId,
    pub(super) episodes: Vec<Episode>,
    doing: Doing,
    since: i64,
}

impl Episode {
    /// Returns the duration in ns.
    pub fn time(&self) -> u64 {
        self.end.abs_diff(self.begin.min(self.end))
    }

    /// Returns the cause of the wait; `None` if the thread was not blocked.
    pub fn cause(&self) -> Option<Cause> {
        matches!(self.doing, Doing::Blocked(_)).then_some(match self.waker {
            Some(waker) => waker.cause,
            None if self.is_open => Cause::Open,
            None => Cause::Unknown,
        })
    }

    /// Returns the part of the episode between two times; `None` if it is empty.
    pub(super) fn within(self, begin: i64, end: i64) -> Option<Episode> {
        let clipped = Episode { begin: self.begin.max(begin), end: self.end.min(end), ..self };
        // The waker at an end after the limit does not belong to the part.
        let waker = self.waker.filter(|_| self.end <= end);
        let is_open = self.is_open || self.end > end;
        (clipped.begin < clipped.end).then_some(Episode { waker, is_open, ..clipped })
    }
}

impl ThreadLife {
    /// Takes over the properties of the process. A change of its activity ends an episode.
    pub(super) fn update(&mut self, process: &Process, time: i64, waker: Option<Waker>) {
        (self.tid, self.name) = (process.tid(), process.name());
        self.pid = process.pid().or(self.pid);
        self.change(Doing::of(process), time, waker);
    }

    /// Starts another activity, unless it is the current one.
    pub(super) fn change(&mut self, doing: Doing, time: i64, waker: Option<Waker>) {
        match (self.doing, doing) {
            (then, now) if then == now => {}
            // A blocked thread cannot enter another system call: its name became known.
            (Doing::Blocked(_), Doing::Blocked(_)) => self.doing = doing,
            _ => {
                self.close(time, waker, false);
                (self.doing, self.since) = (doing, time);
            }
        }
    }

    /// Ends the current episode at the end of all. It remains open.
    pub(super) fn finish(&mut self, time: i64) {
        self.close(time, None, true);
        self.doing = Doing::Unknown;
    }

    fn close(&mut self, end: i64, waker: Option<Waker>, is_open: bool) {
        let (begin, doing) = (self.since, self.doing);
        if doing != Doing::Unknown && begin < end {
            self.episodes.push(Episode { begin, end, doing, waker, is_open });
        }
    }

    /// Returns the thread id; `None` if it is unknown.
    pub fn tid(&self) -> Option<Tid> {
        self.tid
    }

    /// Returns the id of the thread group; `None` if it is unknown.
    pub fn pid(&self) -> Option<Tid> {
        self.pid
    }

    /// Returns the last name of the thread.
    pub fn name(&self) -> NameId {
        self.name
    }

    /// Returns the episodes in order.
    pub fn episodes(&self) -> &[Episode] {
        &self.episodes
    }

    /// Iterates over the episodes between two times, clipped to these.
    pub fn between(&self, begin: i64, end: i64) -> impl Iterator<Item = Episode> {
        let first = self.episodes.partition_point(|episode| episode.end <= begin);
        let rest = self.episodes[first..].iter();
        rest.take_while(move |e| e.begin < end).filter_map(move |e| e.within(begin, end))
    }

    /// Keeps only the episodes between two times, clipped to these.
    pub fn clip(&mut self, begin: i64, end: i64) {
        self.episodes = self.between(begin, end).collect();
    }

    /// Returns `true` for the idle process of a CPU.
    pub fn is_idle(&self) -> bool {
        self.tid == Some(0)
    }
}
