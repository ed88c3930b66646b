//! How long each value lasted.

use std::ops::RangeInclusive;

use hashbrown::HashMap;

use super::code::Code;
use super::cursor::Cursor;
use super::error::Error;
use super::reader::History;
use crate::tree::Quark;
use crate::value::Value;

/// How long attributes had a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Duration<'a> {
    /// The value.
    pub value: Value<'a>,
    /// For how long in all, in ns.
    pub time: u64,
    /// In how many intervals.
    pub count: u64,
}

/// What numbers an attribute had.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Numbers {
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// The mean over time: one that lasted twice as long counts twice.
    pub mean: f64,
    /// For how long there was a number, in ns.
    pub time: u64,
    /// In how many intervals.
    pub count: u64,
}

impl History {
    /// How long an attribute had each of its values in `range`, in ns, and in
    /// how many intervals. What an interval has outside the range does not
    /// count, but the interval does. The values come in the order in which they
    /// first appear.
    ///
    /// Where an attribute has few different values, blocks have summaries of
    /// them: then only the intervals around the ends of the range are read, and
    /// the whole of a history takes about as long as a part of it.
    ///
    /// ```
    /// # use lttv_state::history::{Builder, Error};
    /// let mut builder = Builder::in_memory(0);
    /// let light = builder.add("crossing/light")?;
    /// for cycle in 0..1_000_000 {
    ///     builder.set(light, cycle * 60, "green")?;
    ///     builder.set(light, cycle * 60 + 40, "red")?;
    /// }
    /// let history = builder.close(59_999_999)?;
    /// let lights = history.durations(light, 0..=59_999_999)?;
    /// assert_eq!((lights[0].value, lights[0].time), ("green".into(), 40_000_000));
    /// assert_eq!((lights[1].value, lights[1].time), ("red".into(), 20_000_000));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`intervals`](Self::intervals).
    pub fn durations(
        &self,
        quark: Quark,
        range: RangeInclusive<i64>,
    ) -> Result<Vec<Duration<'_>>, Error> {
        self.durations_of(&[quark], range)
    }

    /// The same for several attributes together, such as all that fit a
    /// [pattern](crate::tree): how long were threads in each state, in all?
    ///
    /// # Errors
    ///
    /// As [`intervals`](Self::intervals).
    pub fn durations_of(
        &self,
        quarks: &[Quark],
        range: RangeInclusive<i64>,
    ) -> Result<Vec<Duration<'_>>, Error> {
        quarks.iter().try_for_each(|quark| self.check_quark(*quark))?;
        let mut sums = Sums::default();
        if range.is_empty() {
            return Ok(sums.found);
        }
        self.check_time(*range.start())?;
        self.check_time(*range.end())?;
        for quark in quarks {
            sums.add_all(Cursor::new(self, *quark, *range.start())?, &range)?;
        }
        Ok(sums.found)
    }

    /// What numbers an attribute had in `range`, in ns. Values that are no numbers
    /// do not count; `None` if it had no other ones. Numbers beyond 2⁵³ are
    /// rounded.
    ///
    /// ```
    /// # use lttv_state::history::{Builder, Error};
    /// # let mut builder = Builder::in_memory(0);
    /// # let frequency = builder.add("CPUs/0/Frequency")?;
    /// builder.set(frequency, 100, 800_000_000u64)?;
    /// builder.set(frequency, 175, 2_000_000_000u64)?;
    /// let history = builder.close(199)?;
    /// let numbers = history.numbers(frequency, 0..=199)?.unwrap();
    /// assert_eq!((numbers.min, numbers.max, numbers.mean), (8e8, 2e9, 1.1e9));
    /// assert_eq!((numbers.time, numbers.count), (100, 2));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`intervals`](Self::intervals).
    pub fn numbers(
        &self,
        quark: Quark,
        range: RangeInclusive<i64>,
    ) -> Result<Option<Numbers>, Error> {
        let mut all: Option<Numbers> = None;
        for Duration { value, time, count } in self.durations(quark, range)? {
            let Some(number) = value.as_f64() else { continue };
            let of = all.get_or_insert(Numbers {
                min: number,
                max: number,
                mean: 0.0,
                time: 0,
                count: 0,
            });
            (of.min, of.max) = (of.min.min(number), of.max.max(number));
            of.time = of.time.saturating_add(time);
            of.count = of.count.saturating_add(count);
            of.mean += (number - of.mean) * (time as f64 / of.time as f64);
        }
        Ok(all)
    }
}

/// Durations by value, in the order in which the values came.
#[derive(Debug, Default)]
struct Sums<'h> {
    found: Vec<Duration<'h>>,
    places: HashMap<(u8, u64), usize>,
}

impl<'h> Sums<'h> {
    /// All intervals in a range, of which a cursor is at the first.
    fn add_all(
        &mut self,
        mut cursor: Cursor<'h>,
        range: &RangeInclusive<i64>,
    ) -> Result<(), Error> {
        let (first, last) = (*range.start(), *range.end());
        loop {
            match cursor.summary(last).filter(|_| cursor.start >= first) {
                Some(summary) => {
                    for share in summary {
                        let share = share.ok_or_else(|| cursor.bad_value())?;
                        self.add(&cursor, share.code, share.time, share.count)?;
                    }
                    cursor.last_of_run()?;
                }
                None => {
                    let (start, end) = (cursor.start.max(first), cursor.end.min(last));
                    let time = (end.wrapping_sub(start) as u64).saturating_add(1);
                    self.add(&cursor, cursor.code()?, time, 1)?;
                }
            }
            if cursor.end >= last || !cursor.next()? {
                return Ok(());
            }
        }
    }

    fn add(&mut self, cursor: &Cursor<'h>, code: Code, time: u64, count: u64) -> Result<(), Error> {
        let place = match self.places.get(&(code.kind as u8, code.bits)) {
            Some(place) => *place,
            None => {
                self.found.push(Duration { value: cursor.value_of(code)?, time: 0, count: 0 });
                self.places.insert((code.kind as u8, code.bits), self.found.len() - 1);
                self.found.len() - 1
            }
        };
        let sum = &mut self.found[place];
        sum.time = sum.time.saturating_add(time);
        sum.count = sum.count.saturating_add(count);
        Ok(())
    }
}
