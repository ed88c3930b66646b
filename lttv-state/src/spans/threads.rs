//! The threads of a trace, with the open durations of each.

use hashbrown::HashMap;
use ltt_read::Timestamp;

use super::family::Family;
use super::place::Begin;
use crate::kernel::{NameId, Serial, Tid};

/// The maximum number of threads that are told apart.
const MAX_THREADS: u32 = 1 << 20;

/// The number of a thread in the results of a trace, in the order of first appearance. Threads
/// that had the same [`Tid`] one after the other have different numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct ThreadId(pub(crate) u32);

impl ThreadId {
    /// No thread: unknown, or not applicable.
    pub const NONE: ThreadId = ThreadId(0xff_ffff);
    /// An interrupt handler, whatever thread it interrupted; for wake-ups on an idle CPU one that was not recorded,
    /// since the idle task wakes no others.
    pub const INTERRUPT: ThreadId = ThreadId(0xff_fffe);
    /// All threads beyond the limit of those that are told apart.
    pub const OTHERS: ThreadId = ThreadId(0xff_fffd);

    /// Returns the number as an index into [`threads`](crate::latency::TraceLatency::threads), unless it
    /// is one of the constants.
    pub fn index(self) -> Option<usize> {
        (self < Self::OTHERS).then_some(self.0 as usize)
    }
}

/// A thread as results describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct ThreadFacts {
    /// The kernel's id of the thread.
    pub tid: Tid,
    /// The id of the process; `None` if it is unknown.
    pub pid: Option<Tid>,
    /// The last name of the thread; empty if it is unknown.
    pub name: NameId,
    /// The serial number of the thread in the kernel state; `None` if only its id is known.
    pub(crate) serial: Option<Serial>,
}

/// A time that is `i64::MIN` if there is none.
pub(crate) const NEVER: i64 = i64::MIN;

/// The state of a thread: its open durations.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ThreadState {
    pub(crate) phase: Phase,
    /// The begin of the phase; of [`Woken`](Phase::Woken) the first wake-up since the thread last ran.
    pub(crate) since: Begin,
    /// The CPU that the thread was woken for.
    pub(crate) woken_for: u32,
    /// The thread that woke it last.
    pub(crate) waker: ThreadId,
    /// The time of the last wake-up.
    pub(crate) last_woken: i64,
    /// The place of the CPU that the thread last ran on.
    pub(crate) ran_on: u32,
    pub(crate) call: OpenCall,
    /// `true` if the event that ended the last call named none; `None` since a call began.
    pub(crate) exit_was_raw: Option<bool>,
}

/// The activity of a thread, as far as switches and wake-ups tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Phase {
    Unknown,
    Runs,
    /// Waiting for a CPU since it was switched out.
    Preempted,
    /// Waiting for something to happen.
    Blocked,
    /// Waiting for a CPU since it was woken.
    Woken,
}

impl Phase {
    /// Returns the family of the spans that the phase is; `None` if it is unknown.
    pub(crate) fn family(self) -> Option<Family> {
        match self {
            Phase::Unknown => None,
            Phase::Runs => Some(Family::Run),
            Phase::Preempted => Some(Family::Preemption),
            Phase::Blocked => Some(Family::Blocked),
            Phase::Woken => Some(Family::WakeUp),
        }
    }
}

impl ThreadState {
    /// Begins a phase.
    #[inline]
    pub(crate) fn enter(&mut self, phase: Phase, since: Begin) {
        (self.phase, self.since) = (phase, since);
    }
}

/// A system call that has not returned.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct OpenCall {
    /// The entry; [`Begin::NEVER`] if no call is open.
    pub(crate) begin: Begin,
    pub(crate) name: NameId,
    /// The place of the CPU of the entry.
    pub(crate) place: u32,
    /// `true` if the event names no call, but has its number.
    pub(crate) is_raw: bool,
    pub(crate) detail: Detail,
}

/// The purpose of an open system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Detail {
    Nothing,
    File(NameId),
    /// The files that are copied from and to.
    Copy(NameId, NameId),
    Wait(u32),
    Wake(u32),
}

impl OpenCall {
    pub(crate) const NONE: OpenCall = OpenCall {
        begin: Begin::NEVER,
        name: NameId::EMPTY,
        place: 0,
        is_raw: false,
        detail: Detail::Nothing,
    };

    pub(crate) fn is_open(&self) -> bool {
        self.begin.is_known()
    }
}

impl Default for ThreadState {
    fn default() -> Self {
        ThreadState {
            phase: Phase::Unknown,
            since: Begin::NEVER,
            woken_for: 0,
            waker: ThreadId::NONE,
            last_woken: NEVER,
            ran_on: u32::MAX,
            call: OpenCall::NONE,
            exit_was_raw: None,
        }
    }
}

/// The threads of a trace, by number.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Threads {
    /// The number plus 1 of each thread of the kernel state, by serial number; 0 for none.
    by_serial: Vec<u32>,
    /// Threads that the kernel state does not know, by id.
    by_tid: HashMap<Tid, ThreadId>,
    pub(crate) states: Vec<ThreadState>,
    pub(crate) facts: Vec<ThreadFacts>,
    /// The state that the threads beyond the limit share, in which nothing stays open.
    others: ThreadState,
}

impl Threads {
    /// Returns the number of a thread of the kernel state, which is added if it is new.
    #[inline]
    pub(crate) fn of_serial(&mut self, serial: Serial, tid: Tid) -> ThreadId {
        match self.by_serial.get(serial.index()) {
            Some(number) if *number != 0 => ThreadId(number - 1),
            _ => self.add_serial(serial, tid),
        }
    }

    #[cold]
    fn add_serial(&mut self, serial: Serial, tid: Tid) -> ThreadId {
        let id = self.add(tid, Some(serial));
        if id != ThreadId::OTHERS {
            if self.by_serial.len() <= serial.index() {
                self.by_serial.resize(serial.index() + 1, 0);
            }
            self.by_serial[serial.index()] = id.0 + 1;
        }
        id
    }

    /// Returns the number of a thread of which only the id is known.
    pub(crate) fn of_tid(&mut self, tid: Tid) -> ThreadId {
        if let Some(id) = self.by_tid.get(&tid) {
            return *id;
        }
        let id = self.add(tid, None);
        if id != ThreadId::OTHERS {
            self.by_tid.insert(tid, id);
        }
        id
    }

    fn add(&mut self, tid: Tid, serial: Option<Serial>) -> ThreadId {
        let id = self.states.len() as u32;
        if id >= MAX_THREADS {
            return ThreadId::OTHERS;
        }
        self.states.push(ThreadState::default());
        self.facts.push(ThreadFacts { tid, pid: None, name: NameId::EMPTY, serial });
        ThreadId(id)
    }

    /// Returns the number of a thread of the kernel state; `None` if it has none.
    pub(crate) fn find(&self, serial: Serial) -> Option<ThreadId> {
        self.by_serial.get(serial.index())?.checked_sub(1).map(ThreadId)
    }

    /// Returns the state of a thread.
    #[inline]
    pub(crate) fn at(&mut self, id: ThreadId) -> &mut ThreadState {
        match self.states.get_mut(id.0 as usize) {
            Some(state) => state,
            None => {
                self.others = ThreadState::default();
                &mut self.others
            }
        }
    }

    /// Returns `true` if all numbers are those of threads.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn is_valid(&self) -> bool {
        let count = self.states.len();
        count == self.facts.len()
            && count <= MAX_THREADS as usize
            && self.by_serial.iter().all(|number| *number as usize <= count)
            && self.by_tid.values().all(|id| (id.0 as usize) < count)
    }

    /// Returns the number of bytes of memory of these threads.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.by_serial)
            + size_of_val(&*self.states)
            + size_of_val(&*self.facts)
            + self.by_tid.len() * size_of::<(Tid, ThreadId)>()
    }
}

/// Returns a time in ns as a timestamp.
pub(crate) fn at_ns(time: i64) -> Timestamp {
    Timestamp::from_ns(time)
}
