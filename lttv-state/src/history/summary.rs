//! How long each value of a run lasted, so that long runs need not be read for it.
//!
//! Runs of few different values have one, behind all else:
//!
//! ```text
//! u8      how many values
//! varint  symbol, varint ns, varint intervals: of each, by first appearance
//! ```
//! What is behind the last interval does not count.

use super::bits::{Bytes, put_varint};
use super::code::Code;
use super::symbols::{Plan, Symbols};

/// No more values than this.
const MAX_VALUES: usize = 16;

/// So many intervals at least for each value, so that summaries take little space
/// beside what they sum up.
const INTERVALS_PER_VALUE: usize = 24;

/// How long a value lasted in all, and in how many intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    pub(super) code: Code,
    /// In ns.
    pub(super) time: u64,
    pub(super) count: u64,
}

/// The shares of a run's values, if that is worth storing.
pub(super) fn of(start: i64, ends: &[i64], codes: &[Code]) -> Option<Vec<Share>> {
    let most = (ends.len() / INTERVALS_PER_VALUE).min(MAX_VALUES);
    let mut shares: Vec<Share> = Vec::new();
    let mut from = start;
    for (end, code) in ends.iter().zip(codes) {
        let time = (end.wrapping_sub(from) as u64).wrapping_add(1);
        match shares.iter().position(|share| share.code == *code) {
            Some(at) => {
                shares[at].time = shares[at].time.saturating_add(time);
                shares[at].count += 1;
            }
            None if shares.len() == most => return None,
            None => shares.push(Share { code: *code, time, count: 1 }),
        }
        from = end.wrapping_add(1);
    }
    (!shares.is_empty()).then_some(shares)
}

/// Appends what [`Summary`] reads.
pub(super) fn write(out: &mut Vec<u8>, shares: &[Share], plan: &Plan) {
    out.push(shares.len() as u8);
    for share in shares {
        for number in [plan.symbol(share.code), share.time, share.count] {
            put_varint(out, number);
        }
    }
}

/// The shares of a run, one after the other; None for one that cannot be.
#[derive(Debug, Clone)]
pub(super) struct Summary<'d> {
    bytes: Bytes<'d>,
    left: u8,
    symbols: Symbols<'d>,
}

impl<'d> Summary<'d> {
    pub(super) fn read(data: &'d [u8], at: usize, symbols: Symbols<'d>) -> Summary<'d> {
        let mut bytes = Bytes::new(data, at);
        let left = bytes.u8().min(MAX_VALUES as u8);
        Summary { bytes, left, symbols }
    }
}

impl Iterator for Summary<'_> {
    type Item = Option<Share>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let code = self.symbols.decode(self.bytes.varint());
        let (time, count) = (self.bytes.varint(), self.bytes.varint());
        Some(code.map(|code| Share { code, time, count }))
    }
}
