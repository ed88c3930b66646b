//! Outcomes of events: durations and counters.

use ltt_read::TracefileIndex;

use super::counts::Unmatched;
use super::family::Family;
use super::threads::ThreadId;

/// The CPU and the time of an event, and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    pub(super) cpu: u32,
    /// The place of the CPU in the kernel state.
    pub(super) place: usize,
    /// The time of delivery, in ns.
    pub(super) time: i64,
    pub(super) tracefile: TracefileIndex,
}

/// The key of wake-ups: a family, the thread that woke another one, that one, and the subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct WakerKey {
    pub(super) family: Family,
    pub(super) subject: u32,
    pub(super) waker: ThreadId,
    pub(super) thread: ThreadId,
}

/// A duration up to an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ended {
    pub(super) family: Family,
    pub(super) thread: ThreadId,
    pub(super) subject: u32,
    /// The begin and the end, in ns.
    pub(super) begin: i64,
    pub(super) time: i64,
    pub(super) cpu: u32,
    pub(super) tracefile: u32,
    /// The thread that ended it.
    pub(super) by: ThreadId,
    pub(super) more: Addition,
}

/// The figures that only some durations have.
#[derive(Debug, Clone, Copy)]
pub(super) enum Addition {
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
}

/// An outcome of an event. Times are in ns.
#[derive(Debug, Clone, Copy)]
pub(super) enum Outcome {
    Ended(Ended),
    /// One thread ended a duration of another.
    Woken {
        key: WakerKey,
        begin: i64,
        time: i64,
    },
    /// Something led to no duration.
    Count(fn(&mut Unmatched) -> &mut u64),
    /// A disk completed sectors.
    Completed {
        subject: u32,
        thread: ThreadId,
        sectors: u64,
    },
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

impl Outcome {
    /// Creates the outcome of a duration from `begin` to an event, of a family, a thread and a subject.
    #[inline]
    pub(super) fn sample(
        (family, thread, subject): (Family, ThreadId, u32),
        begin: i64,
        at: &At,
        by: ThreadId,
        more: Addition,
    ) -> Self {
        let (time, cpu, tracefile) = (at.time, at.cpu, at.tracefile.0 as u32);
        Outcome::Ended(Ended { family, thread, subject, begin, time, cpu, tracefile, by, more })
    }
}

/// The outcomes of a slice, in order.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) outcomes: Vec<Outcome>,
    /// The time of the last event, in ns.
    pub(super) last: Option<i64>,
    /// `true` while events count: not before a window, or while the state is computed again.
    pub(super) is_on: bool,
}

impl Log {
    /// Notes the time of an event, in ns.
    #[inline]
    pub(super) fn passed(&mut self, time: i64) {
        self.last = Some(time);
    }

    /// Adds an outcome, if events count.
    #[inline]
    pub(super) fn put(&mut self, outcome: Outcome) {
        if self.is_on {
            self.outcomes.push(outcome);
        }
    }

    /// Adds a duration from `begin`, in ns, to an event.
    #[inline]
    pub(super) fn sample(
        &mut self,
        family: Family,
        thread: ThreadId,
        subject: u32,
        begin: i64,
        at: &At,
    ) {
        self.sample_by(family, thread, subject, begin, at, ThreadId::NONE);
    }

    /// Adds a duration like [`sample`](Self::sample), which the thread `by` ended.
    #[inline]
    pub(super) fn sample_by(
        &mut self,
        family: Family,
        thread: ThreadId,
        subject: u32,
        begin: i64,
        at: &At,
        by: ThreadId,
    ) {
        let key = (family, thread, subject);
        self.put(Outcome::sample(key, begin, at, by, Addition::Nothing));
    }

    /// Adds a duration to those that one thread ended for another.
    #[inline]
    pub(super) fn woken(&mut self, key: WakerKey, begin: i64, at: &At) {
        self.put(Outcome::Woken { key, begin, time: at.time });
    }

    /// Counts what led to no duration.
    #[inline]
    pub(super) fn count(&mut self, counter: fn(&mut Unmatched) -> &mut u64) {
        self.put(Outcome::Count(counter));
    }

    /// Adds the time since the last change of the number of waiters of a futex.
    #[inline]
    pub(super) fn waiters_passed(&mut self, futex: u32, number: u32, since: i64, time: i64) {
        self.put(Outcome::WaitersPassed { futex, number, since, time });
    }
}
