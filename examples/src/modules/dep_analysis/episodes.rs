//! The activities of each process over time.

use lttv_state::kernel::{NameId, ProcessIndex, Serial, Tid, TraceState, Transition};

use crate::activity::{Doing, Waker};

/// A time span of one activity of a process. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Episode {
    pub(super) begin: i64,
    pub(super) end: i64,
    pub(super) doing: Doing,
    /// The waker, if a wake-up ended the episode.
    pub(super) waker: Option<Waker>,
}

/// The identity and the episodes of a process.
#[derive(Debug, Clone, Default)]
pub(super) struct ProcessLife {
    pub(super) tid: Option<Tid>,
    pub(super) name: NameId,
    pub(super) episodes: Vec<Episode>,
    doing: Doing,
    since: i64,
}

/// The episodes of all processes of a trace.
#[derive(Debug, Default)]
pub(super) struct Lives {
    /// The processes, by serial number.
    pub(super) of: Vec<ProcessLife>,
    /// The running process of each CPU after its last event.
    running: Vec<Option<(ProcessIndex, Serial)>>,
    end: i64,
}

impl Episode {
    /// Returns the duration in ns.
    pub(super) fn time(&self) -> u64 {
        self.end.saturating_sub(self.begin).max(0) as u64
    }

    /// Returns the part of the episode between two times; `None` if it is empty.
    pub(super) fn within(self, begin: i64, end: i64) -> Option<Episode> {
        let clipped = Episode { begin: self.begin.max(begin), end: self.end.min(end), ..self };
        // The waker at an end past the limit does not belong to the part.
        let waker = self.waker.filter(|_| self.end <= end);
        (clipped.begin < clipped.end).then_some(Episode { waker, ..clipped })
    }
}

impl Lives {
    /// Records an event after it has been applied to the state.
    pub(super) fn event(
        &mut self,
        state: &TraceState,
        transition: Option<Transition>,
        cpu: u32,
        time: i64,
    ) {
        self.end = self.end.max(time);
        let Some(running) = state.cpu(cpu).map(|cpu| cpu.running()) else { return };
        let Some(process) = state.process(running) else { return };
        // CPU numbers are arbitrary; indices are dense.
        let Some(at) = state.cpu_index(cpu) else { return };
        if self.running.len() <= at {
            self.running.resize(at + 1, None);
        }
        let now = Some((running, process.serial()));
        let before = std::mem::replace(&mut self.running[at], now);
        if let Some((ix, serial)) = before.filter(|_| before != now) {
            self.follow(state, ix, serial, time, None);
        }
        self.follow(state, running, process.serial(), time, None);
        let target = state.effect().subject();
        if let Some((ix, target)) = target.and_then(|ix| Some((ix, state.process(ix)?))) {
            let by = (transition == Some(Transition::Wakeup) && ix != running)
                .then(|| Waker::of(process));
            self.follow(state, ix, target.serial(), time, by);
        }
    }

    /// Updates the activity of a process.
    fn follow(
        &mut self,
        state: &TraceState,
        ix: ProcessIndex,
        serial: Serial,
        time: i64,
        waker: Option<Waker>,
    ) {
        if self.of.len() <= serial.index() {
            self.of.resize(serial.index() + 1, ProcessLife::default());
        }
        let life = &mut self.of[serial.index()];
        // Another process may have reused the slot.
        let process = state.process(ix).filter(|process| process.serial() == serial);
        let doing = process.map_or(Doing::Unknown, |process| {
            (life.tid, life.name) = (process.tid(), process.name());
            Doing::of(process)
        });
        life.change(doing, time, waker);
    }

    /// Ends the episodes that are still open.
    pub(super) fn finish(&mut self) {
        let end = self.end;
        self.of.iter_mut().for_each(|life| life.change(Doing::Unknown, end, None));
    }
}

impl ProcessLife {
    fn change(&mut self, doing: Doing, time: i64, waker: Option<Waker>) {
        if doing == self.doing {
            return;
        }
        if self.doing != Doing::Unknown && self.since < time {
            let (begin, doing) = (self.since, self.doing);
            self.episodes.push(Episode { begin, end: time, doing, waker });
        }
        (self.doing, self.since) = (doing, time);
    }

    /// Iterates over the episodes between two times, clipped to these.
    pub(super) fn between(&self, begin: i64, end: i64) -> impl Iterator<Item = Episode> {
        let first = self.episodes.partition_point(|episode| episode.end <= begin);
        let rest = self.episodes[first..].iter();
        rest.take_while(move |e| e.begin < end).filter_map(move |e| e.within(begin, end))
    }

    /// Returns `true` for the idle process of a CPU.
    pub(super) fn is_idle(&self) -> bool {
        self.tid == Some(0)
    }
}
