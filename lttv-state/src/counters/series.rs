//! The values of one counter and key over time.

use std::sync::Arc;

use ltt_read::{Timestamp, TraceIndex};

use super::figures::CounterFigures;
use super::number::Number;

/// The value of a field in a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum KeyPart {
    /// The event has no such field.
    Missing,
    Integer(i128),
    Text(Arc<str>),
}

/// Intervals of a length in ns, from a time on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Intervals {
    pub(super) start: i64,
    pub(super) length: u64,
}

impl Intervals {
    /// Returns the number of the interval that contains a time, and the times in ns of its begin and end.
    fn at(self, time: i64) -> (u64, i64, i64) {
        let number = time.saturating_sub(self.start).max(0).unsigned_abs() / self.length;
        let begin = self.start.saturating_add_unsigned(number.saturating_mul(self.length));
        (number, begin, begin.saturating_add_unsigned(self.length))
    }
}

/// The figures of an interval in which there is an event, or the begin or end of the window.
#[derive(Debug, Clone)]
struct Cell {
    interval: u64,
    figures: CounterFigures,
    /// The value at the end of what was seen of the interval.
    level: Number,
}

/// The values of a counter with the same key, in the window.
#[derive(Debug, Clone)]
pub struct Series {
    pub(super) trace: TraceIndex,
    pub(super) counter: u32,
    pub(super) key: Box<[KeyPart]>,
    labels: Arc<[String]>,
    /// The value since `since`, in ns.
    level: Option<Number>,
    since: i64,
    figures: CounterFigures,
    cells: Vec<Cell>,
    length: u64,
    /// The times in ns from which on each value holds, if they are wanted.
    changes: Vec<(i64, Number)>,
}

impl Series {
    pub(super) fn new(
        trace: TraceIndex,
        counter: u32,
        key: Box<[KeyPart]>,
        labels: Arc<[String]>,
    ) -> Self {
        let (level, since, figures, cells, length, changes) = Default::default();
        Series { trace, counter, key, labels, level, since, figures, cells, length, changes }
    }

    /// Returns the trace.
    pub fn trace(&self) -> TraceIndex {
        self.trace
    }

    /// Returns the index of the counter among those of the settings.
    pub fn counter(&self) -> usize {
        self.counter as usize
    }

    /// Iterates over the labels of the key with their values as texts; `None` if the events lack the field.
    pub fn keys(&self) -> impl Iterator<Item = (&str, Option<String>)> {
        self.labels.iter().zip(&self.key).map(|(label, part)| {
            let text = match part {
                KeyPart::Missing => None,
                KeyPart::Integer(number) => Some(number.to_string()),
                KeyPart::Text(text) => Some(text.to_string()),
            };
            (&**label, text)
        })
    }

    /// Returns the figures of the window.
    pub fn figures(&self) -> &CounterFigures {
        &self.figures
    }

    /// Iterates over the [intervals](super::CounterSettings::every) from the first to the last one in which the value
    /// is known, by number from 0.
    pub fn intervals(&self) -> impl Iterator<Item = (u64, CounterFigures)> {
        let mut level = None;
        let mut next = self.cells.first().map_or(0, |cell| cell.interval);
        self.cells.iter().flat_map(move |cell| {
            let gap = (next..cell.interval).map({
                let (length, level) = (self.length, level);
                move |interval| {
                    let figures = level.map(|level| CounterFigures::of(level, length));
                    (interval, figures.unwrap_or_default())
                }
            });
            (next, level) = (cell.interval + 1, Some(cell.level));
            gap.chain([(cell.interval, cell.figures)])
        })
    }

    /// Iterates over the [values](super::CounterSettings::with_changes) in the window, each with the time from which on
    /// it holds: that of its event, or the begin of the window.
    pub fn changes(&self) -> impl Iterator<Item = (Timestamp, Number)> {
        self.changes.iter().map(|(time, value)| (Timestamp::from_ns(*time), *value))
    }

    /// Adds the value at the begin of the window to the changes, if it is known and there are none.
    pub(super) fn begin_changes(&mut self, begin: i64) {
        if let Some(level) = self.level.filter(|_| self.changes.is_empty()) {
            self.changes.push((begin, level));
        }
    }

    /// Adds the value since the last event to the changes.
    pub(super) fn change(&mut self) {
        self.changes.extend(self.level.map(|level| (self.since, level)));
    }

    /// Adds the value of an event, which may be an increment, before the window or in it. Returns the number of
    /// cells that were added.
    pub(super) fn event(
        &mut self,
        (value, is_delta): (Number, bool),
        time: i64,
        counts: Option<i64>,
        intervals: Option<Intervals>,
    ) -> usize {
        let level = match self.level.filter(|_| is_delta) {
            Some(level) => level.plus(value),
            None if is_delta => Number::ZERO.plus(value),
            None => value,
        };
        let before = self.cells.len();
        if let Some(begin) = counts {
            self.advance(time, begin, intervals);
            self.figures.event(level);
            if let Some(intervals) = intervals {
                let (number, ..) = intervals.at(time);
                let cell = self.cell(number, level, intervals.length);
                cell.figures.event(level);
                cell.level = level;
            }
        }
        (self.level, self.since) = (Some(level), time);
        self.cells.len() - before
    }

    /// Counts the time up to a time of the window, which begins at another one, in ns.
    pub(super) fn advance(&mut self, time: i64, begin: i64, intervals: Option<Intervals>) {
        let Some(level) = self.level else { return };
        let from = self.since.max(begin);
        let duration = |from: i64, to: i64| if to > from { to.abs_diff(from) } else { 0 };
        let passed = duration(from, time);
        if passed == 0 {
            return;
        }
        self.figures.pass(level, passed);
        self.since = time;
        let Some(intervals) = intervals else { return };
        let (number, _, end) = intervals.at(from);
        let until = end.min(time);
        self.cell(number, level, intervals.length).figures.pass(level, duration(from, until));
        if time > end {
            // The value held for all of the intervals between. One that begins now is not among them.
            let (number, begin, _) = intervals.at(time.saturating_sub(1));
            let cell = self.cell(number, level, intervals.length);
            cell.figures.pass(level, duration(begin, time));
        }
    }

    /// Returns the cell of an interval, which is not before the last one.
    fn cell(&mut self, interval: u64, level: Number, length: u64) -> &mut Cell {
        self.length = length;
        let is_new = self.cells.last().is_none_or(|last| last.interval < interval);
        if is_new {
            let figures = CounterFigures::default();
            self.cells.push(Cell { interval, figures, level });
        }
        let last = self.cells.len() - 1;
        &mut self.cells[last]
    }
}
