//! Spans: single things that took time.

use ltt_read::{Timestamp, TraceIndex};

use super::family::Family;
use super::outcome::{At, Ending};
use super::place::EventPlace;
use super::threads::ThreadId;
use crate::kernel::{NameId, Tid};

/// Something that took time: a system call, a run on a CPU, a wait, an interrupt, a request to a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Span {
    /// The family that the span belongs to.
    pub family: Family,
    /// The parts of it that were seen.
    pub completeness: Completeness,
    /// The trace.
    pub trace: TraceIndex,
    /// The time of its begin; that of its end if the begin was not seen.
    pub begin: Timestamp,
    /// The time of its end. If that was not seen, the time up to which it may have lasted.
    pub end: Timestamp,
    /// The CPU of the event that ended it.
    pub cpu: u32,
    /// The thread: of a call, run or wait. The one that a handler interrupted; the one that issued a request to
    /// a disk.
    pub thread: SpanThread,
    /// The waker, which ended a wait: of [`WakeUp`](Family::WakeUp), [`Blocked`](Family::Blocked) and
    /// [`Futex`](Family::Futex).
    pub waker: Waker,
    /// The file of a system call: that of its descriptor, or that it opened. [`NameId::EMPTY`] if there is none,
    /// or if it is unknown.
    pub file: NameId,
    /// The result of a system call; `None` if it is unknown.
    pub result: Option<i64>,
    /// The event that began it; `None` if it was not seen.
    pub first: Option<EventPlace>,
    /// The event that ended it; `None` if it was not seen.
    pub last: Option<EventPlace>,
    /// The number of what the family divides: of the name of a system call, of a handler, of a disk.
    pub(crate) subject: u32,
    /// The threads by number, until they are looked up.
    pub(crate) ids: (ThreadId, ThreadId),
}

/// The parts of a span that were seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Completeness {
    /// Both were seen.
    Whole,
    /// Its end was seen, but not its begin.
    NoBegin,
    /// Its begin was seen, but not its end: it follows the end of the window, or was lost.
    NoEnd,
    /// Both were seen. Events between them were lost, so that the end may be that of another one.
    Lost,
}

impl Completeness {
    /// Returns the key in results, such as `no-begin`.
    pub const fn key(self) -> &'static str {
        match self {
            Completeness::Whole => "whole",
            Completeness::NoBegin => "no-begin",
            Completeness::NoEnd => "no-end",
            Completeness::Lost => "lost",
        }
    }
}

/// The thread of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SpanThread {
    /// The id of the thread; `None` if it is unknown, 0 if the CPU is idle.
    pub tid: Option<Tid>,
    /// The id of its process; `None` if it is unknown.
    pub pid: Option<Tid>,
    /// Its name at the end of the span; [`NameId::EMPTY`] if it is unknown.
    pub comm: NameId,
}

/// The end of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Waker {
    /// Unknown, or not applicable.
    #[default]
    Unknown,
    /// The handler of an interrupt.
    Interrupt,
    /// A thread.
    Thread(SpanThread),
}

impl Span {
    /// Creates the span of a duration that an event ends.
    pub(crate) fn new(ending: &Ending, at: &At, completeness: Completeness) -> Self {
        let Ending { family, thread, subject, begin, by, file, result, .. } = *ending;
        let has_end = completeness != Completeness::NoEnd;
        let begin_time = if begin.is_known() { begin.time } else { at.time };
        Span {
            family,
            completeness,
            trace: TraceIndex(0),
            begin: Timestamp::from_ns(begin_time),
            end: Timestamp::from_ns(at.time.max(begin_time)),
            cpu: at.cpu,
            thread: SpanThread::default(),
            waker: Waker::Unknown,
            file,
            result,
            first: begin.event,
            last: at.event.filter(|_| has_end),
            subject,
            ids: (thread, by),
        }
    }

    /// Returns the duration in ns; `None` if the begin or the end was not seen.
    pub fn duration(&self) -> Option<u64> {
        let is_known = matches!(self.completeness, Completeness::Whole | Completeness::Lost);
        is_known.then(|| self.end.since(self.begin))
    }

    /// Returns the number of the error that a system call returned.
    pub fn error(&self) -> Option<u16> {
        let error = self.result.filter(|result| (-4095..0).contains(result))?;
        Some(error.unsigned_abs() as u16)
    }
}
