//! How long each value lasted.

use std::ops::RangeInclusive;

use super::code::Code;
use super::cursor::Spot;
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
        let mut found: Vec<(Code, Spot<'_>, u64, u64)> = Vec::new();
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let (first, last) = (*range.start(), *range.end());
        self.check_time(first)?;
        self.check_time(last)?;
        let mut places = hashbrown::HashMap::new();
        let mut at = Some(self.spot(quark, first, self.block_at(first))?);
        while let Some(spot) = at {
            let (start, end) = spot.span(self);
            if start > last {
                break;
            }
            let code = spot.code(self)?;
            let time = end.min(last).wrapping_sub(start.max(first)) as u64;
            let place = *places.entry((code.kind as u8, code.bits)).or_insert_with(|| {
                found.push((code, spot, 0, 0));
                found.len() - 1
            });
            let (_, _, sum, count) = &mut found[place];
            *sum = sum.saturating_add(time).saturating_add(1);
            *count += 1;
            at = if end >= last { None } else { spot.next(self)? };
        }
        let values = found.into_iter();
        values
            .map(|(_, spot, time, count)| Ok(Duration { value: spot.value(self)?, time, count }))
            .collect()
    }
}
