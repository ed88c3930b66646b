//! A timeline under construction: the current state of a thread, and its past.

use super::super::cause::{Cause, PackedSource};
use super::super::columns::Column;
use super::super::graph::TimelineId;
use super::super::interval::{Form, StoredInterval};
use crate::kernel::{NameId, Tid};

/// The intervals of a timeline.
pub(in crate::waits) type Intervals = Column<StoredInterval, 128>;

/// The activity of a thread now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::waits) enum Status {
    /// Named by no event before.
    #[default]
    Unseen,
    /// Forked, and not woken yet.
    New,
    Running,
    Preempted,
    Woken,
    Blocked,
    Unknown,
    /// At the end of its life.
    Ended,
}

/// A thread, or the idle task of a CPU.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::waits) struct Actor {
    /// The index of the trace.
    pub(in crate::waits) trace: u32,
    pub(in crate::waits) tid: Tid,
    pub(in crate::waits) pid: Option<Tid>,
    pub(in crate::waits) name: NameId,
    pub(in crate::waits) status: Status,
    /// The start of the open interval, in ns.
    pub(in crate::waits) since: i64,
    /// The number of the CPU on which it runs, or ran last.
    pub(in crate::waits) cpu: u32,
    /// The index of that CPU among those of the trace.
    pub(in crate::waits) place: u32,
    /// The system call in which it is blocked.
    call: NameId,
    /// `true` while only state dumps and wake-ups have named it: it may have run since the start.
    pub(in crate::waits) may_have_run: bool,
    /// The time of a wake-up while it was running, since it was switched in.
    pub(in crate::waits) woken_early: Option<i64>,
    /// The time at which the trace first mentions it: for a forked thread that of the fork.
    pub(in crate::waits) start: i64,
    /// The thread that forked it, which is known only if the trace has the fork.
    pub(in crate::waits) parent: Option<TimelineId>,
    /// The time at which its life ended.
    pub(in crate::waits) ended: Option<i64>,
    /// The start of the first interval, and of the last one that is closed.
    pub(in crate::waits) first_start: i64,
    last_start: i64,
    pub(in crate::waits) intervals: Intervals,
}

impl Actor {
    pub(super) fn new(trace: usize, tid: Tid, place: usize, time: i64) -> Self {
        Actor {
            trace: trace as u32,
            tid,
            pid: None,
            name: NameId::EMPTY,
            status: Status::Unseen,
            since: time,
            cpu: 0,
            place: place as u32,
            call: NameId::EMPTY,
            may_have_run: true,
            woken_early: None,
            start: time,
            parent: None,
            ended: None,
            first_start: time,
            last_start: i64::MIN,
            intervals: Intervals::default(),
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.tid == 0
    }

    /// Closes the open interval, unless it is empty. Returns `true` if it was not.
    #[inline]
    pub(super) fn close(&mut self, time: i64, form: Form) -> bool {
        let is_some = time > self.since;
        if is_some {
            if self.intervals.len() == 0 {
                self.first_start = self.since;
            }
            self.last_start = self.since;
            self.intervals.push(StoredInterval::new(time, form, self.call));
        }
        self.since = time;
        is_some
    }

    /// Closes the open interval as what the thread was doing.
    #[inline]
    pub(super) fn close_as_is(&mut self, time: i64) {
        self.close(time, self.form(Cause::Unknown));
    }

    /// Removes all intervals. Returns the last one.
    pub(super) fn forget_past(&mut self) -> Option<StoredInterval> {
        let last = std::mem::take(&mut self.intervals).last()?;
        self.first_start = self.last_start;
        Some(last)
    }

    /// Replaces all that was noted since a time: the thread has run on a CPU.
    pub(super) fn ran_since(&mut self, begin: i64, cpu: u32) {
        self.intervals = Intervals::default();
        (self.since, self.cpu) = (begin, cpu);
        self.set(Status::Running);
    }

    /// Starts an interval.
    #[inline]
    pub(super) fn set(&mut self, status: Status) {
        (self.status, self.call) = (status, NameId::EMPTY);
    }

    /// Starts an interval in which the thread is blocked in a system call.
    #[inline]
    pub(super) fn block(&mut self, call: NameId) {
        (self.status, self.call) = (Status::Blocked, call);
    }

    /// Returns `true` if the thread was woken up in the last interval, before it was blocked.
    pub(super) fn was_woken_early(&self) -> bool {
        self.woken_early.is_some_and(|time| self.intervals.len() > 0 && self.last_start < time)
    }

    /// Returns `true` if a time is that of the first event that mentions the thread, which was not
    /// a fork: further events of that time may have come earlier by chance.
    pub(super) fn is_first_seen_at(&self, time: i64) -> bool {
        self.start == time && self.parent.is_none()
    }

    /// Returns the wait that ended at a time, if it is the last interval: another event of that
    /// time may still show its cause.
    pub(super) fn wait_until(&mut self, time: i64) -> Option<&mut StoredInterval> {
        let is_first_seen = self.is_first_seen_at(time);
        let last = self.intervals.last_mut()?;
        let is_wait = match last.form() {
            Form::Blocked(..) | Form::Linked(..) => true,
            Form::Unknown => is_first_seen,
            _ => false,
        };
        (last.end == time && is_wait).then_some(last)
    }

    /// Returns the form of the open interval. `cause` is that of a wait.
    pub(in crate::waits) fn form(&self, cause: Cause) -> Form {
        match self.status {
            Status::Running => Form::Running(self.cpu),
            Status::Preempted => Form::Preempted,
            // A new thread is able to run, even if its first wake-up is not in the trace.
            Status::Woken | Status::New => Form::Woken,
            Status::Blocked => Form::Blocked(cause, PackedSource::default()),
            Status::Unknown | Status::Unseen => Form::Unknown,
            Status::Ended => Form::Gap,
        }
    }

    /// Returns the intervals and the open one, up to a time, in ns.
    pub(in crate::waits) fn intervals_until(&self, end: i64) -> (i64, Intervals) {
        let mut copy = Actor { intervals: self.intervals.clone(), ..*self };
        if !matches!(self.status, Status::Unseen | Status::Ended) {
            copy.close(end, self.form(Cause::Open));
        }
        (copy.first_start, copy.intervals)
    }
}
