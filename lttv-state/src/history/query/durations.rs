//! Total durations of values.

use std::ops::Range;

use hashbrown::HashMap;
use ltt_read::Timestamp;

use super::cursor::Cursor;
use super::history::History;
use crate::history::block::raw_value::RawValue;
use crate::history::error::HistoryError;
use crate::tree::Quark;
use crate::value::StateValue;

/// A value, with the total time for which attributes had it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValueDuration<'a> {
    /// The value.
    pub value: StateValue<'a>,
    /// The total time, in ns.
    pub time: u64,
    /// The number of intervals.
    pub count: u64,
}

impl History {
    /// Computes the total time of each value of an attribute in `range`, and the number
    /// of its intervals. Of an interval that extends beyond the range, only the time
    /// within it counts, but the interval counts as one. The values are in the order of
    /// their first occurrence.
    ///
    /// Blocks contain summaries of attributes with few distinct values. With these, only the
    /// intervals near the ends of the range are read, and the whole history takes about as
    /// long as a part of it.
    ///
    /// ```
    /// # use lttv_state::history::{Builder, HistoryError, Timestamp};
    /// let ns = Timestamp::from_ns;
    /// let mut builder = Builder::in_memory(ns(0));
    /// let light = builder.add("crossing/light")?;
    /// for cycle in 0..1_000_000 {
    ///     builder.set(light, ns(cycle * 60), "green")?;
    ///     builder.set(light, ns(cycle * 60 + 40), "red")?;
    /// }
    /// let history = builder.close(ns(60_000_000))?;
    /// let lights = history.durations(light, ns(0)..ns(60_000_000))?;
    /// assert_eq!((lights[0].value, lights[0].time), ("green".into(), 40_000_000));
    /// assert_eq!((lights[1].value, lights[1].time), ("red".into(), 20_000_000));
    /// # Ok::<(), HistoryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of [`intervals`](Self::intervals).
    pub fn durations(
        &self,
        quark: Quark,
        range: Range<Timestamp>,
    ) -> Result<Vec<ValueDuration<'_>>, HistoryError> {
        self.check_quark(quark)?;
        let mut sums = DurationSums::default();
        let Some((first, last)) = self.check_range(&range)? else { return Ok(sums.found) };
        sums.add_all(Cursor::new(self, quark, first)?, first, last)?;
        Ok(sums.found)
    }
}

/// Total durations by value, in the order in which the values first occur.
#[derive(Debug, Default)]
struct DurationSums<'h> {
    found: Vec<ValueDuration<'h>>,
    places: HashMap<(u8, u64), usize>,
}

impl<'h> DurationSums<'h> {
    /// Adds all intervals from a first to a last time, in ns; the cursor is at the first one.
    fn add_all(
        &mut self,
        mut cursor: Cursor<'h>,
        first: i64,
        last: i64,
    ) -> Result<(), HistoryError> {
        loop {
            match cursor.summary(last).filter(|_| cursor.start >= first) {
                Some(summary) => {
                    for entry in summary {
                        let entry = entry.ok_or_else(|| cursor.bad_value())?;
                        self.add(&cursor, entry.raw, entry.time, entry.count)?;
                    }
                    cursor.move_to_last_ended()?;
                }
                None => {
                    let (start, end) = (cursor.start.max(first), cursor.end.min(last));
                    let time = (end.wrapping_sub(start) as u64).saturating_add(1);
                    self.add(&cursor, cursor.raw()?, time, 1)?;
                }
            }
            if cursor.end >= last || !cursor.next()? {
                return Ok(());
            }
        }
    }

    fn add(
        &mut self,
        cursor: &Cursor<'h>,
        raw: RawValue,
        time: u64,
        count: u64,
    ) -> Result<(), HistoryError> {
        let place = match self.places.get(&(raw.kind as u8, raw.bits)) {
            Some(place) => *place,
            None => {
                self.found.push(ValueDuration { value: cursor.value_of(raw)?, time: 0, count: 0 });
                self.places.insert((raw.kind as u8, raw.bits), self.found.len() - 1);
                self.found.len() - 1
            }
        };
        let sum = &mut self.found[place];
        sum.time = sum.time.saturating_add(time);
        sum.count = sum.count.saturating_add(count);
        Ok(())
    }
}
