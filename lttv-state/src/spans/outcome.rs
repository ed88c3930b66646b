//! Outcomes of events: durations and counters.

use ltt_read::TracefileIndex;

use super::counts::Unmatched;
use super::families::Families;
use super::family::Family;
use super::place::{Begin, EventPlace};
use super::span::{Completeness, Span};
use super::threads::ThreadId;
use crate::kernel::NameId;

/// The CPU and the time of an event, and its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At {
    pub(crate) cpu: u32,
    /// The place of the CPU in the kernel state.
    pub(crate) place: usize,
    /// The time of delivery, in ns.
    pub(crate) time: i64,
    pub(crate) tracefile: TracefileIndex,
    /// The place of the event, if places are recorded.
    pub(crate) event: Option<EventPlace>,
}

impl At {
    /// Returns what the event begins.
    #[inline]
    pub(crate) fn begin(&self) -> Begin {
        Begin { time: self.time, event: self.event }
    }
}

/// The key of wake-ups: a family, the thread that woke another one, that one, and the subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WakerKey {
    pub(crate) family: Family,
    pub(crate) subject: u32,
    pub(crate) waker: ThreadId,
    pub(crate) thread: ThreadId,
}

/// A duration up to an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ended {
    pub(crate) family: Family,
    pub(crate) thread: ThreadId,
    pub(crate) subject: u32,
    /// The begin and the end, in ns.
    pub(crate) begin: i64,
    pub(crate) time: i64,
    pub(crate) cpu: u32,
    pub(crate) tracefile: u32,
    /// The thread that ended it.
    pub(crate) by: ThreadId,
    pub(crate) more: Addition,
}

/// The figures that only some durations have.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Addition {
    Nothing,
    /// The error number and the bytes of a system call.
    Call {
        error: Option<u16>,
        bytes: u64,
    },
    /// The time of a handler without those that interrupted it, in ns.
    Handler {
        net: u64,
        was_interrupted: bool,
    },
    /// The sectors of a request to a disk.
    Request {
        sectors: u64,
    },
}

/// An outcome of an event. Times are in ns.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    Ended(Ended),
    /// One thread ended a duration of another.
    Woken {
        key: WakerKey,
        begin: i64,
        time: i64,
    },
    /// Something led to no duration.
    Count(fn(&mut Unmatched) -> &mut u64),
    /// A system call whose entry was not seen moved bytes.
    Moved {
        family: Family,
        thread: ThreadId,
        bytes: u64,
    },
    /// A disk had a number of requests since a time.
    DiskPassed {
        disk: u32,
        number: u32,
        since: i64,
        time: i64,
    },
    DiskHas {
        disk: u32,
        number: u32,
    },
    /// A futex had a number of waiters since a time.
    WaitersPassed {
        futex: u32,
        number: u32,
        since: i64,
        time: i64,
    },
    HasWaiters {
        futex: u32,
        number: u32,
    },
    /// A system call woke waiters of a futex.
    Wakes {
        futex: u32,
        woken: u64,
    },
}

/// A duration of a family, a thread and a subject, which an event ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending {
    pub(crate) family: Family,
    pub(crate) thread: ThreadId,
    pub(crate) subject: u32,
    pub(crate) begin: Begin,
    /// The thread that ended it.
    pub(crate) by: ThreadId,
    pub(crate) more: Addition,
    /// The file of a system call.
    pub(crate) file: NameId,
    /// The result of a system call.
    pub(crate) result: Option<i64>,
}

impl Ending {
    /// Creates the end of a duration.
    #[inline]
    pub(crate) fn new(family: Family, thread: ThreadId, subject: u32, begin: Begin) -> Self {
        let (by, more) = (ThreadId::NONE, Addition::Nothing);
        let (file, result) = (NameId::EMPTY, None);
        Ending { family, thread, subject, begin, by, more, file, result }
    }
}

/// The kind of results that are wanted of durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Figures.
    Figures,
    /// Spans.
    Spans,
    /// Figures of those spans that a selection takes.
    FiguresOfSpans,
}

/// The outcomes of a slice, in order.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) outcomes: Vec<Outcome>,
    /// The spans, if they are wanted. With outcomes, there is one for each that is [`Outcome::Ended`] or
    /// [`Outcome::Moved`].
    pub(crate) spans: Option<Vec<Span>>,
    /// `true` if outcomes are wanted.
    has_outcomes: bool,
    /// The number of spans whose threads have been looked up.
    pub(crate) looked_up: usize,
    /// The families whose durations are wanted.
    pub(crate) families: Families,
    /// The time of the last event, in ns.
    pub(crate) last: Option<i64>,
    /// `true` while events count: not before a window, or while the state is computed again.
    pub(crate) is_on: bool,
}

impl Log {
    /// Creates the log of a slice for families.
    pub(crate) fn new(families: Families, wanted: Wanted) -> Self {
        let (outcomes, looked_up, last) = Default::default();
        let spans = (wanted != Wanted::Figures).then(Vec::new);
        let has_outcomes = wanted != Wanted::Spans;
        Log { outcomes, spans, has_outcomes, looked_up, families, last, is_on: false }
    }

    /// Returns the number of spans so far.
    pub(crate) fn spans_so_far(&self) -> usize {
        self.spans.as_ref().map_or(0, Vec::len)
    }

    /// Returns `true` if spans are wanted of which not all was seen.
    pub(crate) fn shows_parts(&self) -> bool {
        self.spans.is_some() && !self.has_outcomes
    }

    /// Removes all outcomes and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.outcomes.clear();
        self.spans.iter_mut().for_each(Vec::clear);
        self.looked_up = 0;
        self.last = None;
    }

    /// Notes the time of an event, in ns.
    #[inline]
    pub(crate) fn passed(&mut self, time: i64) {
        self.last = Some(time);
    }

    /// Adds an outcome, if events count.
    #[inline]
    pub(crate) fn put(&mut self, outcome: Outcome) {
        if self.is_on && self.has_outcomes {
            self.outcomes.push(outcome);
        }
    }

    /// Adds a duration up to an event.
    #[inline]
    pub(crate) fn ended(&mut self, ending: Ending, at: &At) {
        if !self.is_on || !self.families.contains(ending.family) {
            return;
        }
        if let Some(spans) = &mut self.spans {
            spans.push(Span::new(&ending, at, Completeness::Whole));
            if !self.has_outcomes {
                return;
            }
        }
        let Ending { family, thread, subject, begin, by, more, .. } = ending;
        let (begin, time, cpu, tracefile) = (begin.time, at.time, at.cpu, at.tracefile.0 as u32);
        let ended = Ended { family, thread, subject, begin, time, cpu, tracefile, by, more };
        self.outcomes.push(Outcome::Ended(ended));
    }

    /// Adds a span of which not all was seen, if only spans are wanted.
    pub(crate) fn part(
        &mut self,
        ending: impl FnOnce() -> Ending,
        completeness: Completeness,
        at: &At,
    ) {
        if !self.is_on || !self.shows_parts() {
            return;
        }
        let (ending, families) = (ending(), self.families);
        let spans = self.spans.as_mut().filter(|_| families.contains(ending.family));
        spans.into_iter().for_each(|spans| spans.push(Span::new(&ending, at, completeness)));
    }

    /// Adds the bytes that a system call moved of which only the end was seen.
    #[cold]
    pub(crate) fn moved(&mut self, ending: Ending, bytes: u64, at: &At) {
        if !self.is_on || !self.has_outcomes || !self.families.contains(ending.family) {
            return;
        }
        if let Some(spans) = &mut self.spans {
            spans.push(Span::new(&ending, at, Completeness::NoBegin));
        }
        let Ending { family, thread, .. } = ending;
        self.outcomes.push(Outcome::Moved { family, thread, bytes });
    }

    /// Adds a duration to those that one thread ended for another.
    #[inline]
    pub(crate) fn woken(&mut self, key: WakerKey, begin: i64, at: &At) {
        self.put(Outcome::Woken { key, begin, time: at.time });
    }

    /// Counts what led to no duration.
    #[inline]
    pub(crate) fn count(&mut self, counter: fn(&mut Unmatched) -> &mut u64) {
        self.put(Outcome::Count(counter));
    }

    /// Adds the time since the last change of the number of waiters of a futex.
    #[inline]
    pub(crate) fn waiters_passed(&mut self, futex: u32, number: u32, since: i64, time: i64) {
        self.put(Outcome::WaitersPassed { futex, number, since, time });
    }
}
