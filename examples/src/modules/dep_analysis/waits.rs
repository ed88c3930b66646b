//! Sums of activities and waits of processes.

use std::collections::BTreeMap;

use lttv_state::kernel::{NameId, Serial, TraceState};

use super::episodes::Lives;
use super::path::{Step, critical_path};
use super::{Query, of_tid};
use crate::activity::{Doing, Waker};

/// The number, the total and the greatest of some durations, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Times {
    pub(super) count: u64,
    pub(super) total: u64,
    pub(super) longest: u64,
}

/// The time of a process in each kind of activity, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sums {
    pub(super) running: u64,
    pub(super) interrupted: u64,
    pub(super) ready: u64,
    pub(super) blocked: u64,
}

/// The results of a trace.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) lives: &'a Lives,
    pub(super) state: &'a TraceState,
    pub(super) query: Query,
    /// The processes with their sums, by decreasing time of running.
    pub(super) processes: Vec<(Serial, Sums)>,
    /// The details of the processes with the requested thread id.
    pub(super) details: Vec<Details>,
}

/// The details of one process.
#[derive(Debug)]
pub(super) struct Details {
    pub(super) process: Serial,
    pub(super) doings: BTreeMap<Doing, Times>,
    /// The times of waits, by system call and waker.
    pub(super) waits: BTreeMap<(NameId, Option<Waker>), Times>,
    pub(super) path: Vec<Step>,
}

impl Times {
    fn add(&mut self, time: u64) {
        self.count += 1;
        self.total += time;
        self.longest = self.longest.max(time);
    }
}

impl<'a> Found<'a> {
    pub(super) fn new(lives: &'a Lives, state: &'a TraceState, query: Query) -> Self {
        let asked = query.tid.into_iter().flat_map(|tid| of_tid(lives, tid));
        let details = asked.map(|process| Details::new(lives, process, query)).collect();
        let known = (0..).map(Serial).zip(&lives.of).filter(|(_, life)| life.tid.is_some());
        let sums = known.map(|(serial, life)| {
            let mut sums = Sums::default();
            for episode in life.between(query.begin, query.end) {
                *match episode.doing {
                    Doing::Runs(mode, _) if mode.is_interrupt() => &mut sums.interrupted,
                    Doing::Runs(..) => &mut sums.running,
                    Doing::Ready => &mut sums.ready,
                    Doing::Blocked(_) => &mut sums.blocked,
                    Doing::Unknown => continue,
                } += episode.time();
            }
            (serial, sums)
        });
        let mut processes: Vec<_> = sums.filter(|(_, sums)| *sums != Sums::default()).collect();
        processes.sort_by_key(|(serial, sums)| (std::cmp::Reverse(sums.running), *serial));
        Found { lives, state, query, processes, details }
    }

    /// Returns the label of a process: its name and thread id.
    pub(super) fn label(&self, process: Serial) -> String {
        let Some(life) = self.lives.of.get(process.index()) else { return "?".to_owned() };
        match (life.tid, self.state.name(life.name)) {
            (Some(0), _) => "idle".to_owned(),
            (Some(tid), "") => format!("({tid})"),
            (Some(tid), name) => format!("{name} ({tid})"),
            (None, _) => "unknown".to_owned(),
        }
    }

    /// Describes an activity.
    pub(super) fn doing(&self, doing: Doing) -> String {
        doing.label(self.state)
    }

    /// Describes a waker.
    pub(super) fn waker(&self, waker: Option<Waker>) -> String {
        match waker {
            None => "unknown".to_owned(),
            Some(waker) if waker.mode.is_interrupt() => {
                self.doing(Doing::Runs(waker.mode, waker.submode))
            }
            Some(waker) => self.label(waker.process),
        }
    }
}

impl Details {
    fn new(lives: &Lives, process: Serial, query: Query) -> Self {
        let Query { begin, end, .. } = query;
        let (mut doings, mut waits) = (BTreeMap::new(), BTreeMap::new());
        for episode in lives.of[process.index()].between(begin, end) {
            doings.entry(episode.doing).or_insert(Times::default()).add(episode.time());
            if let Doing::Blocked(submode) = episode.doing {
                // Wake-ups are summed by process, or by kind of interrupt.
                let waker = episode.waker.map(|waker| match waker.mode.is_interrupt() {
                    true => Waker { process: Serial(0), ..waker },
                    false => Waker { mode: Default::default(), submode: NameId::NONE, ..waker },
                });
                waits.entry((submode, waker)).or_insert(Times::default()).add(episode.time());
            }
        }
        let path = critical_path(lives, process, begin, end);
        Details { process, doings, waits, path }
    }

    /// Returns the time on the path of each process and activity, by decreasing time.
    pub(super) fn shares(&self) -> Vec<((Serial, Doing), Times)> {
        let mut shares: BTreeMap<_, Times> = BTreeMap::new();
        for step in &self.path {
            let share = shares.entry((step.process, step.episode.doing)).or_default();
            share.add(step.episode.time());
        }
        longest_first(shares)
    }
}

/// Sorts sums by decreasing time.
pub(super) fn longest_first<K: Ord>(sums: impl IntoIterator<Item = (K, Times)>) -> Vec<(K, Times)> {
    let mut sums: Vec<_> = sums.into_iter().collect();
    // A stable sort: equal times stay in key order.
    sums.sort_by_key(|(_, times)| std::cmp::Reverse(times.total));
    sums
}
