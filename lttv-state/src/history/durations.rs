//! How long each value lasted.

use std::ops::RangeInclusive;

use super::cursor::Cursor;
use super::error::Error;
use super::reader::History;
use crate::tree::Quark;
use crate::value::Value;

/// How long an attribute had a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duration<'a> {
    /// The value.
    pub value: Value<'a>,
    /// For how long in all, in ns.
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
    /// # Errors
    ///
    /// As [`intervals`](Self::intervals).
    pub fn durations(
        &self,
        quark: Quark,
        range: RangeInclusive<i64>,
    ) -> Result<Vec<Duration<'_>>, Error> {
        self.check_quark(quark)?;
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let (first, last) = (*range.start(), *range.end());
        self.check_time(first)?;
        self.check_time(last)?;
        let mut cursor = Cursor::new(self, quark, first)?;
        let mut found: Vec<Duration<'_>> = Vec::new();
        let mut places = hashbrown::HashMap::new();
        loop {
            let code = cursor.code()?;
            let place = match places.get(&(code.kind as u8, code.bits)) {
                Some(place) => *place,
                None => {
                    found.push(Duration { value: cursor.value_of(code)?, time: 0, count: 0 });
                    places.insert((code.kind as u8, code.bits), found.len() - 1);
                    found.len() - 1
                }
            };
            let (start, end) = (cursor.start.max(first), cursor.end.min(last));
            let time = (end.wrapping_sub(start) as u64).saturating_add(1);
            found[place].time = found[place].time.saturating_add(time);
            found[place].count += 1;
            if cursor.end >= last || !cursor.next()? {
                return Ok(found);
            }
        }
    }
}
