//! What each process did, one thing after the other.

use lttv_state::kernel::{
    ExecutionMode, NameId, ProcessIx, ProcessStatus, Serial, Tid, TraceState, Transition,
};

/// What a process does for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Doing {
    /// Nothing that is known; or it is gone.
    #[default]
    Unknown,
    /// It is on a CPU: in which mode, and in which system call, interrupt or
    /// exception.
    Runs(ExecutionMode, NameId),
    /// It waits for a CPU.
    Ready,
    /// It waits for something to happen, in a system call.
    Blocked(NameId),
}

/// A while during which a process does one thing. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Episode {
    pub(super) begin: i64,
    pub(super) end: i64,
    pub(super) doing: Doing,
    /// Who ended it, if it was ended by a wake-up.
    pub(super) waker: Option<Waker>,
}

/// Who wakes a process up: the process that runs there, or what interrupts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Waker {
    pub(super) process: Serial,
    pub(super) mode: ExecutionMode,
    pub(super) submode: NameId,
}

/// What is known of a process.
#[derive(Debug, Clone, Default)]
pub(super) struct Life {
    pub(super) tid: Option<Tid>,
    pub(super) name: NameId,
    pub(super) episodes: Vec<Episode>,
    doing: Doing,
    since: i64,
}

/// What is known of the processes of a trace.
#[derive(Debug, Default)]
pub(super) struct Lives {
    /// By serial number.
    pub(super) of: Vec<Life>,
    /// Who ran on each CPU after its last event.
    running: Vec<Option<(ProcessIx, Serial)>>,
    end: i64,
}

impl Episode {
    /// How long it was, in ns.
    pub(super) fn time(&self) -> u64 {
        self.end.saturating_sub(self.begin).max(0) as u64
    }

    /// The part of it that lies between two times; `None` if nothing does.
    pub(super) fn within(self, begin: i64, end: i64) -> Option<Episode> {
        let clipped = Episode { begin: self.begin.max(begin), end: self.end.min(end), ..self };
        // Who wakes up behind the end does not matter.
        let waker = self.waker.filter(|_| self.end <= end);
        (clipped.begin < clipped.end).then_some(Episode { waker, ..clipped })
    }
}

impl Lives {
    /// An event has been applied to the state.
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
        // Numbers may be anything; places are dense.
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
        let target = state.effect().target();
        if let Some((ix, target)) = target.and_then(|ix| Some((ix, state.process(ix)?))) {
            let by = (transition == Some(Transition::Wakeup) && ix != running).then(|| Waker {
                process: process.serial(),
                mode: process.mode(),
                submode: process.submode(),
            });
            self.follow(state, ix, target.serial(), time, by);
        }
    }

    /// Looks what a process does now.
    fn follow(
        &mut self,
        state: &TraceState,
        ix: ProcessIx,
        serial: Serial,
        time: i64,
        waker: Option<Waker>,
    ) {
        if self.of.len() <= serial.index() {
            self.of.resize(serial.index() + 1, Life::default());
        }
        let life = &mut self.of[serial.index()];
        // Its place may be another's by now.
        let process = state.process(ix).filter(|process| process.serial() == serial);
        let doing = process.map_or(Doing::Unknown, |process| {
            (life.tid, life.name) = (process.tid(), process.name());
            let (mode, submode) = (process.mode(), process.submode());
            match process.status() {
                ProcessStatus::Run | ProcessStatus::Exit => Doing::Runs(mode, submode),
                ProcessStatus::WaitCpu | ProcessStatus::WaitFork => Doing::Ready,
                ProcessStatus::Wait => Doing::Blocked(submode),
                ProcessStatus::Unnamed | ProcessStatus::Zombie | ProcessStatus::Dead => {
                    Doing::Unknown
                }
            }
        });
        life.change(doing, time, waker);
    }

    /// Ends what still goes on.
    pub(super) fn finish(&mut self) {
        let end = self.end;
        self.of.iter_mut().for_each(|life| life.change(Doing::Unknown, end, None));
    }
}

impl Life {
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

    /// Its episodes between two times, cut to these.
    pub(super) fn between(&self, begin: i64, end: i64) -> impl Iterator<Item = Episode> {
        let first = self.episodes.partition_point(|episode| episode.end <= begin);
        let rest = self.episodes[first..].iter();
        rest.take_while(move |e| e.begin < end).filter_map(move |e| e.within(begin, end))
    }

    /// Whether it is the idle process of a CPU.
    pub(super) fn is_idle(&self) -> bool {
        self.tid == Some(0)
    }
}
