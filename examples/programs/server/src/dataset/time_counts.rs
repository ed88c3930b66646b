//! Counting events by their times, where clocks may go back.

use ltt_read::Timestamp;
use lttv_common::cache::{push_part, take_part};
use lttv_requests::views::EventTimes;

/// The number of times that are sorted at once.
const RUN: usize = 1 << 15;

/// The numbers of events by time: by the time of delivery, by which they are in order, and by
/// their own times.
#[derive(Debug, Clone, Default)]
pub struct TimeCounts {
    delivered: EventTimes,
    moved: Moved,
    /// The least and the greatest time of an event, in ns.
    span: Option<(i64, i64)>,
}

impl TimeCounts {
    /// Adds the next event, with its own time, if it has one, and that of its delivery.
    #[inline]
    pub fn push(&mut self, time: Option<Timestamp>, delivery: Timestamp) {
        self.delivered.push(delivery);
        self.moved.push(time, delivery);
        let Some(time) = time else { return };
        let ns = time.as_ns();
        self.span = match self.span {
            None => Some((ns, ns)),
            Some((first, last)) => Some((first.min(ns), last.max(ns))),
        };
    }

    /// Includes the last events in queries.
    pub fn flush(&mut self) {
        self.delivered.flush();
        self.moved.flush();
    }

    /// Returns the number of events.
    pub fn len(&self) -> u64 {
        self.delivered.len()
    }

    /// Returns `true` if there are no events.
    pub fn is_empty(&self) -> bool {
        self.delivered.is_empty()
    }

    /// Returns the least and the greatest time of the events so far, in ns.
    pub fn span(&self) -> Option<(i64, i64)> {
        self.span
    }

    /// Returns the number of events whose own time is before a time.
    pub fn before(&self, time: Timestamp) -> u64 {
        self.moved.before(time, self.delivered.before(time))
    }

    /// Returns the number of events that are delivered before a time.
    pub fn delivered_before(&self, time: Timestamp) -> u64 {
        self.delivered.before(time)
    }

    /// Returns the time of delivery of an event by its number.
    pub fn delivery_time(&self, number: u64) -> Option<Timestamp> {
        self.delivered.get(number)
    }

    /// Adds the stored form to bytes, which [`from_bytes`](Self::from_bytes) reads. The last events have
    /// to be included.
    pub(super) fn to_bytes(&self, bytes: &mut Vec<u8>) {
        let mut part = Vec::new();
        self.delivered.to_bytes(&mut part);
        push_part(bytes, &part);
        for times in [&self.moved.own, &self.moved.delivered] {
            part.clear();
            times.joined().to_bytes(&mut part);
            push_part(bytes, &part);
        }
        let span =
            self.span.map(|(first, last)| [first.to_le_bytes(), last.to_le_bytes()].concat());
        push_part(bytes, &span.unwrap_or_default());
    }

    /// Reads the stored form. Returns `None` if the bytes are no such form.
    pub(super) fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let rest = &mut bytes;
        let delivered = EventTimes::from_bytes(take_part(rest)?)?;
        let own = SortedTimes::from(EventTimes::from_bytes(take_part(rest)?)?);
        let of_moved = SortedTimes::from(EventTimes::from_bytes(take_part(rest)?)?);
        let span = match take_part(rest)? {
            [] => None,
            span => {
                let (first, last) = span.split_at_checked(8)?;
                let ns = |bytes: &[u8]| Some(i64::from_le_bytes(bytes.try_into().ok()?));
                Some((ns(first)?, ns(last)?))
            }
        };
        let moved = Moved { own, delivered: of_moved };
        (moved.own.len() <= moved.delivered.len()
            && moved.delivered.len() <= delivered.len()
            && (span.is_none() || !delivered.is_empty()))
        .then_some(TimeCounts { delivered, moved, span })
    }
}

/// The events whose own time is before that of their delivery, since a clock went back, and those without a time.
#[derive(Debug, Clone, Default)]
pub(super) struct Moved {
    own: SortedTimes,
    delivered: SortedTimes,
}

impl Moved {
    /// Adds an event, if its times differ.
    #[inline]
    pub(super) fn push(&mut self, time: Option<Timestamp>, delivery: Timestamp) {
        if time.is_none_or(|time| time < delivery) {
            self.delivered.push(delivery);
            time.into_iter().for_each(|time| self.own.push(time));
        }
    }

    /// Includes the last events in queries.
    pub(super) fn flush(&mut self) {
        self.own.flush();
        self.delivered.flush();
    }

    /// Returns the number of events whose own time is before a time, given the number of those that are
    /// delivered before it.
    pub(super) fn before(&self, time: Timestamp, delivered: u64) -> u64 {
        (delivered + self.own.before(time)).saturating_sub(self.delivered.before(time))
    }
}

/// Times that come in any order, packed in a few sorted runs.
#[derive(Debug, Clone, Default)]
struct SortedTimes {
    /// Each is longer than the next one.
    runs: Vec<EventTimes>,
    open: Vec<Timestamp>,
}

impl From<EventTimes> for SortedTimes {
    fn from(times: EventTimes) -> Self {
        SortedTimes { runs: vec![times], open: Vec::new() }
    }
}

impl SortedTimes {
    fn push(&mut self, time: Timestamp) {
        self.open.push(time);
        if self.open.len() == RUN {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.open.is_empty() {
            return;
        }
        self.open.sort_unstable();
        let mut run = packed(self.open.drain(..));
        while let Some(last) = self.runs.pop_if(|last| last.len() <= run.len()) {
            run = merged(&last, &run);
        }
        self.runs.push(run);
    }

    fn len(&self) -> u64 {
        self.runs.iter().map(EventTimes::len).sum::<u64>() + self.open.len() as u64
    }

    fn before(&self, time: Timestamp) -> u64 {
        // Those that are not sorted yet are few.
        let open = self.open.iter().filter(|of| **of < time).count() as u64;
        self.runs.iter().map(|run| run.before(time)).sum::<u64>() + open
    }

    /// Returns all times in one run.
    fn joined(&self) -> EventTimes {
        let mut runs = self.runs.iter().rev();
        let last = runs.next().cloned().unwrap_or_default();
        runs.fold(last, |all, run| merged(run, &all))
    }
}

fn packed(times: impl Iterator<Item = Timestamp>) -> EventTimes {
    let mut packed = EventTimes::new();
    times.for_each(|time| packed.push(time));
    packed.flush();
    packed
}

/// Merges two sorted runs.
fn merged(a: &EventTimes, b: &EventTimes) -> EventTimes {
    let all = |of: &EventTimes| (0..of.len()).map_while(|at| of.get(at)).collect::<Vec<_>>();
    // Runs are sorted, so that this merges them.
    let mut times = all(a);
    times.extend(all(b));
    times.sort();
    packed(times.into_iter())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of events whose clock often goes back, some of which have none, with the times of their delivery.
    fn times(count: i64) -> Vec<(Option<Timestamp>, Timestamp)> {
        let mut latest = i64::MIN;
        let one = |at: i64| {
            let time = at * 10 - if at % 7 < 3 { at % 1000 * 50 } else { 0 };
            latest = latest.max(time);
            ((at % 11 != 0).then_some(Timestamp::from_ns(time)), Timestamp::from_ns(latest))
        };
        (0..count).map(one).collect()
    }

    fn counts(times: &[(Option<Timestamp>, Timestamp)]) -> TimeCounts {
        let mut counts = TimeCounts::default();
        times.iter().for_each(|(time, delivery)| counts.push(*time, *delivery));
        counts.flush();
        counts
    }

    #[test]
    fn events_are_counted_by_their_own_times_after_clocks_go_back() {
        for count in [0, 1, 5, 1000, 300_000] {
            let all = times(count);
            let counts = counts(&all);
            let mut bytes = Vec::new();
            counts.to_bytes(&mut bytes);
            let stored = TimeCounts::from_bytes(&bytes).unwrap();
            let step = (count / 50).max(1);
            for probe in (-60_000..count * 10 + 20).step_by(10 * step as usize) {
                let probe = Timestamp::from_ns(probe);
                let own = all.iter().filter(|(time, _)| time.is_some_and(|time| time < probe));
                let own = own.count() as u64;
                let delivered = all.iter().filter(|(_, time)| *time < probe).count() as u64;
                for counts in [&counts, &stored] {
                    assert_eq!(counts.before(probe), own, "{count}, {probe}");
                    assert_eq!(counts.delivered_before(probe), delivered, "{count}, {probe}");
                }
            }
            assert_eq!((stored.len(), stored.span()), (count as u64, counts.span()));
        }
    }

    #[test]
    fn damaged_forms_are_refused() {
        let mut bytes = Vec::new();
        counts(&times(1000)).to_bytes(&mut bytes);
        for length in 0..bytes.len() {
            assert!(TimeCounts::from_bytes(&bytes[..length]).is_none(), "{length}");
        }
    }
}
