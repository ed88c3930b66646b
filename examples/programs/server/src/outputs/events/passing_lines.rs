//! The events that are lines of a table, in runs that are read at once.

use crate::dataset::Counted;

/// The greatest number of events that are read between two lines, rather than sought.
const GAP: u64 = 20_000;
/// The greatest number of lines in a run.
const LINES: usize = 4096;

/// Events to read, of which some or all are lines.
#[derive(Debug)]
pub(super) struct Run {
    /// The number of the first event.
    pub(super) event: u64,
    /// The number of events to read.
    pub(super) events: u64,
    /// The number of the next line.
    line: u64,
    /// The number of the next event.
    at: u64,
    /// The numbers of the events that are lines; `None` if all are.
    wanted: Option<std::vec::IntoIter<u64>>,
}

impl Run {
    fn of_all(start: u64, count: u64) -> Run {
        Run { event: start, events: count, line: start, at: start, wanted: None }
    }

    fn of_some(line: u64, numbers: Vec<u64>) -> Option<Run> {
        let (first, last) = (*numbers.first()?, *numbers.last()?);
        let events = last - first + 1;
        Some(Run { event: first, events, line, at: first, wanted: Some(numbers.into_iter()) })
    }

    /// Takes the next event, and returns the number of its line, if it is one.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u64> {
        let event = self.at;
        self.at += 1;
        if let Some(wanted) = &mut self.wanted {
            if wanted.as_slice().first() != Some(&event) {
                return None;
            }
            wanted.next();
        }
        self.line += 1;
        Some(self.line - 1)
    }
}

/// Divides lines into runs. With a filter, `passing` has the numbers of the events that pass.
pub(super) fn runs(
    passing: Option<&Counted>,
    start: u64,
    count: u64,
) -> impl Iterator<Item = Run> + '_ {
    let (mut line, end) = (start, start.saturating_add(count));
    std::iter::from_fn(move || {
        if line >= end {
            return None;
        }
        let Some(passing) = passing else {
            let run = Run::of_all(line, end - line);
            line = end;
            return Some(run);
        };
        let mut numbers: Vec<u64> = Vec::new();
        let number = |line| Some(passing.place(line)?.0.as_ns() as u64);
        while let Some(next) = (line + (numbers.len() as u64) < end && numbers.len() < LINES)
            .then(|| number(line + numbers.len() as u64))
            .flatten()
        {
            if numbers.last().is_some_and(|last| next - last > GAP) {
                break;
            }
            numbers.push(next);
        }
        let first = line;
        line += numbers.len() as u64;
        Run::of_some(first, numbers)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::TimeCounts;
    use ltt_read::Timestamp;

    #[test]
    fn each_passing_event_is_a_line_once() {
        let mut times = vec![TimeCounts::default(); 2];
        let numbers: Vec<u64> = (0..20_000).map(|at: u64| at * 3 + at / 100 * 100_000).collect();
        for (at, number) in numbers.iter().enumerate() {
            let place = Timestamp::from_ns(*number as i64);
            times[at % 2].push(Some(place), place);
        }
        times.iter_mut().for_each(TimeCounts::flush);
        let passing = Counted { times, is_complete: true };
        for (start, count) in [(0, 20_000), (99, 3), (150, 10_000), (19_999, 5), (20_000, 1)] {
            let mut lines = Vec::new();
            for mut run in runs(Some(&passing), start, count) {
                let first = run.event;
                for event in first..first + run.events {
                    lines.extend(run.next().map(|line| (line, event)));
                }
            }
            let expected = (start..start + count).filter(|line| *line < 20_000);
            let expected: Vec<_> = expected.map(|line| (line, numbers[line as usize])).collect();
            assert_eq!(lines, expected);
        }
    }

    #[test]
    fn without_a_filter_all_events_are_lines() {
        let mut all = runs(None, 7, 3);
        let mut run = all.next().unwrap();
        assert_eq!((run.event, run.events, all.next().is_none()), (7, 3, true));
        assert_eq!([run.next(), run.next(), run.next()], [Some(7), Some(8), Some(9)]);
    }
}
