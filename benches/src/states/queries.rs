//! Pseudo-random queries of a workload's states.

use std::ops::{ControlFlow, Range};

use lttv_state::history::{History, HistoryError, Interval, Timestamp};
use lttv_state::tree::Quark;

use super::{Digest, System};

/// A kind of query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Query {
    /// The values of all attributes at a time.
    Full,
    /// The value of a random attribute at a time.
    Single,
    /// The status of a thread at a time.
    Status,
    /// The status of 200 threads at 1000 times over the whole history.
    Wide,
    /// The status of all threads at 1000 times within a hundredth of the history.
    Window,
    /// All intervals of the status of all threads within a thousandth of the history.
    Range,
    /// The intervals of a CPU's status within a hundredth of the history, in time order.
    Row,
    /// The intervals of a CPU's status in several windows, in any order.
    Rows,
}

impl Query {
    /// All kinds.
    pub const ALL: [Query; 8] = [
        Query::Full,
        Query::Single,
        Query::Status,
        Query::Wide,
        Query::Window,
        Query::Range,
        Query::Row,
        Query::Rows,
    ];

    /// Returns a short name.
    pub fn name(self) -> &'static str {
        match self {
            Query::Full => "F",
            Query::Single => "S",
            Query::Status => "S2",
            Query::Wide => "D1",
            Query::Window => "D2",
            Query::Range => "D3",
            Query::Row => "H",
            Query::Rows => "H2",
        }
    }
}

/// The parameters of a query.
#[derive(Debug, Clone)]
pub enum QueryArguments {
    /// All attributes at a time.
    State(Timestamp),
    /// One attribute at a time.
    One(Quark, Timestamp),
    /// Some attributes (an index into [`QueryBatch::rows`]) at some times.
    Times(usize, Vec<Timestamp>),
    /// Some attributes (an index into [`QueryBatch::rows`]) over a time range.
    Range(usize, Range<Timestamp>),
}

/// A list of queries of one kind.
#[derive(Debug)]
pub struct QueryBatch {
    /// The lists of attributes that the queries refer to.
    pub rows: Vec<Vec<Quark>>,
    /// The queries.
    pub queries: Vec<QueryArguments>,
}

struct Random(u64);

impl Random {
    fn next(&mut self, n: u64) -> i64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) % n) as i64
    }
}

impl QueryBatch {
    /// Creates the queries of a kind for the history of a workload.
    pub fn of(query: Query, system: &System, history: &History) -> QueryBatch {
        let start = history.start().as_ns();
        let span = history.end().since(history.start());
        let ns = Timestamp::from_ns;
        let window = span / 100;
        let status = |i: u32| Quark::from_index(system.thread(i));
        let threads = |count: u32| (0..count.min(system.threads)).map(status).collect::<Vec<_>>();
        let windows = |count: usize| {
            let mut random = Random(0x5EED_0004);
            (0..count).map(move |_| start + random.next(span - window))
        };
        let mut random;
        let (row, queries): (Vec<Quark>, Vec<QueryArguments>) = match query {
            Query::Full => {
                random = Random(0x5EED_0001);
                (
                    Vec::new(),
                    (0..200)
                        .map(|_| QueryArguments::State(ns(start + random.next(span))))
                        .collect(),
                )
            }
            Query::Single => {
                random = Random(0x5EED_0002);
                let one = |_| {
                    let time = ns(start + random.next(span));
                    let quark = random.next(system.attributes().into());
                    QueryArguments::One(Quark::from_index(quark as u32), time)
                };
                (Vec::new(), (0..10_000).map(one).collect())
            }
            Query::Status => {
                random = Random(0x5EED_0003);
                let one = |_| {
                    let time = ns(start + random.next(span));
                    QueryArguments::One(status(random.next(system.threads.into()) as u32), time)
                };
                (Vec::new(), (0..10_000).map(one).collect())
            }
            Query::Wide => {
                let step = (span as i64 - 1) / 999;
                let times: Vec<_> = (0..1000).map(|i| ns(start + i * step)).collect();
                (threads(200), (0..5).map(|_| QueryArguments::Times(0, times.clone())).collect())
            }
            Query::Window => {
                let times =
                    |w: i64| (0..1000).map(|k| ns(w + k * (window as i64 - 1) / 999)).collect();
                (
                    threads(u32::MAX),
                    windows(20).map(|w| QueryArguments::Times(0, times(w))).collect(),
                )
            }
            Query::Range => {
                let range =
                    |w: i64| QueryArguments::Range(0, ns(w)..ns(w + span as i64 / 1000 + 1));
                (threads(u32::MAX), windows(20).map(range).collect())
            }
            Query::Row | Query::Rows => {
                let count = if query == Query::Row { 5 } else { 20 };
                let range = |w: i64| QueryArguments::Range(0, ns(w)..ns(w + window as i64 + 1));
                (vec![Quark::from_index(system.cpu(0))], windows(count).map(range).collect())
            }
        };
        QueryBatch { rows: vec![row], queries }
    }

    /// Runs a query, and calls `found` for each interval of the answer.
    pub fn run<'h>(
        &self,
        history: &'h History,
        arguments: &QueryArguments,
        mut found: impl FnMut(&Interval<'h>),
    ) -> Result<(), HistoryError> {
        let mut each = |interval| {
            found(&interval);
            ControlFlow::Continue(())
        };
        let _all = match arguments {
            QueryArguments::State(time) => history.for_each_at(*time, each)?,
            QueryArguments::One(quark, time) => each(history.at(*quark, *time)?),
            QueryArguments::Times(row, times) => {
                history.for_each_at_times(&self.rows[*row], times, each)?
            }
            QueryArguments::Range(row, range) if self.rows[*row].len() == 1 => {
                for interval in history.intervals(self.rows[*row][0], range.clone())? {
                    found(&interval?);
                }
                ControlFlow::Continue(())
            }
            QueryArguments::Range(row, range) => {
                history.for_each_in(&self.rows[*row], range.clone(), 1, each)?
            }
        };
        Ok(())
    }

    /// Runs all queries, and returns the digest of their answers.
    pub fn digest(&self, history: &History) -> Result<Digest, HistoryError> {
        let mut digest = Digest::default();
        for arguments in &self.queries {
            self.run(history, arguments, |interval| digest.add(interval))?;
        }
        Ok(digest)
    }
}
