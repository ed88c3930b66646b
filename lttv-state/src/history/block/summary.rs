//! Summaries of column chunks: the total time and number of intervals of each distinct
//! value. Questions about durations then do not have to read long chunks.
//!
//! Chunks of few distinct values have a summary, after all other parts:
//!
//! ```text
//! u8      number of distinct values, 1 to 16
//! for each, in the order in which they first occur:
//! varint  symbol
//! varint  total time in ns
//! varint  number of intervals
//! ```
//! A summary does not include the open value.

use super::bits::{ByteReader, put_varint};
use super::raw_value::RawValue;
use super::symbols::{SymbolEncoder, Symbols};

/// The greatest number of distinct values in a summary.
const MAX_VALUES: usize = 16;

/// The least number of intervals for each distinct value, which keeps summaries small
/// beside their chunks.
const INTERVALS_PER_VALUE: usize = 24;

/// The total time and the number of intervals of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SummaryEntry {
    pub(crate) raw: RawValue,
    /// The total time, in ns.
    pub(crate) time: u64,
    pub(crate) count: u64,
}

/// Computes the summary of a chunk. `None` if it has too many distinct values.
pub(crate) fn of(start: i64, ends: &[i64], values: &[RawValue]) -> Option<Vec<SummaryEntry>> {
    let max_values = (ends.len() / INTERVALS_PER_VALUE).min(MAX_VALUES);
    let mut entries: Vec<SummaryEntry> = Vec::new();
    let mut from = start;
    for (end, raw) in ends.iter().zip(values) {
        let time = (end.wrapping_sub(from) as u64).wrapping_add(1);
        match entries.iter().position(|entry| entry.raw == *raw) {
            Some(at) => {
                entries[at].time = entries[at].time.saturating_add(time);
                entries[at].count += 1;
            }
            None if entries.len() == max_values => return None,
            None => entries.push(SummaryEntry { raw: *raw, time, count: 1 }),
        }
        from = end.wrapping_add(1);
    }
    (!entries.is_empty()).then_some(entries)
}

/// Appends a summary.
pub(crate) fn write(out: &mut Vec<u8>, entries: &[SummaryEntry], encoder: &SymbolEncoder) {
    out.push(entries.len() as u8);
    for entry in entries {
        for number in [encoder.symbol(entry.raw), entry.time, entry.count] {
            put_varint(out, number);
        }
    }
}

/// An iterator over the entries of a stored summary. It yields `None` for a damaged entry.
#[derive(Debug, Clone)]
pub(crate) struct Summary<'d> {
    bytes: ByteReader<'d>,
    remaining: u8,
    symbols: Symbols<'d>,
}

impl<'d> Summary<'d> {
    pub(crate) fn read(data: &'d [u8], at: usize, symbols: Symbols<'d>) -> Summary<'d> {
        let mut bytes = ByteReader::new(data, at);
        let remaining = bytes.u8().min(MAX_VALUES as u8);
        Summary { bytes, remaining, symbols }
    }
}

impl Iterator for Summary<'_> {
    type Item = Option<SummaryEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        self.remaining = self.remaining.checked_sub(1)?;
        let raw = self.symbols.decode(self.bytes.varint());
        let (time, count) = (self.bytes.varint(), self.bytes.varint());
        Some(raw.map(|raw| SummaryEntry { raw, time, count }))
    }
}
