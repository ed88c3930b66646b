//! Sums of what processes did, and of what they waited for.

use std::collections::BTreeMap;

use lttv_state::kernel::{NameId, Serial, TraceState};

use super::episodes::{Doing, Lives, Waker};
use super::path::{Step, critical_path};
use super::{Question, of_tid};

/// How often something was, how long in all, and how long at most; in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Times {
    pub(super) count: u64,
    pub(super) total: u64,
    pub(super) longest: u64,
}

/// How long a process did what, in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sums {
    pub(super) running: u64,
    pub(super) interrupted: u64,
    pub(super) ready: u64,
    pub(super) blocked: u64,
}

/// What is told of a trace.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) lives: &'a Lives,
    pub(super) state: &'a TraceState,
    pub(super) question: Question,
    /// Those who ran longest, first.
    pub(super) processes: Vec<(Serial, Sums)>,
    /// All about the processes that were asked for.
    pub(super) details: Vec<Details>,
}

/// All about a process.
#[derive(Debug)]
pub(super) struct Details {
    pub(super) process: Serial,
    pub(super) doings: BTreeMap<Doing, Times>,
    /// By where it waited, and who woke it up.
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
    pub(super) fn new(lives: &'a Lives, state: &'a TraceState, question: Question) -> Self {
        let asked = question.tid.into_iter().flat_map(|tid| of_tid(lives, tid));
        let details = asked.map(|process| Details::new(lives, process, question)).collect();
        let known = (0..).map(Serial).zip(&lives.of).filter(|(_, life)| life.tid.is_some());
        let sums = known.map(|(serial, life)| {
            let mut sums = Sums::default();
            for episode in life.between(question.begin, question.end) {
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
        Found { lives, state, question, processes, details }
    }

    /// What a process is called: its name and id.
    pub(super) fn label(&self, process: Serial) -> String {
        let Some(life) = self.lives.of.get(process.index()) else { return "?".to_owned() };
        match (life.tid, self.state.name(life.name)) {
            (Some(0), _) => "idle".to_owned(),
            (Some(tid), "") => format!("({tid})"),
            (Some(tid), name) => format!("{name} ({tid})"),
            (None, _) => "unknown".to_owned(),
        }
    }

    /// What somebody does, in words.
    pub(super) fn doing(&self, doing: Doing) -> String {
        let named = |what: &str, name| match self.state.name(name) {
            "" | "NONE" | "UNKNOWN" => what.to_owned(),
            name => format!("{what} {name}"),
        };
        match doing {
            Doing::Unknown => "unknown".to_owned(),
            Doing::Runs(mode, submode) => named(mode.as_str(), submode),
            Doing::Ready => "ready".to_owned(),
            Doing::Blocked(submode) => named("blocked in", submode),
        }
    }

    /// Who or what woke somebody up, in words.
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
    fn new(lives: &Lives, process: Serial, question: Question) -> Self {
        let Question { begin, end, .. } = question;
        let (mut doings, mut waits) = (BTreeMap::new(), BTreeMap::new());
        for episode in lives.of[process.index()].between(begin, end) {
            doings.entry(episode.doing).or_insert(Times::default()).add(episode.time());
            if let Doing::Blocked(submode) = episode.doing {
                // Whatever a process did when it woke this one up, it is the same.
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

    /// How long each process and each of its doings was on the path, the longest
    /// first.
    pub(super) fn shares(&self) -> Vec<((Serial, Doing), Times)> {
        let mut shares: BTreeMap<_, Times> = BTreeMap::new();
        for step in &self.path {
            let share = shares.entry((step.process, step.episode.doing)).or_default();
            share.add(step.episode.time());
        }
        longest_first(shares)
    }
}

/// Sums, those with the longest time first.
pub(super) fn longest_first<K: Ord>(sums: impl IntoIterator<Item = (K, Times)>) -> Vec<(K, Times)> {
    let mut sums: Vec<_> = sums.into_iter().collect();
    // Those of one time stay in order.
    sums.sort_by_key(|(_, times)| std::cmp::Reverse(times.total));
    sums
}
