//! Digests of intervals.

use lttv_state::history::Interval;
use lttv_state::value::StateValue;

const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// A digest of intervals, by FNV-1a.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Digest {
    /// The digest of the intervals in any order.
    pub sum: u64,
    /// The digest of the intervals in their order.
    pub sequence: u64,
    /// The number of intervals.
    pub count: u64,
}

impl Digest {
    /// Adds an interval to the digest.
    pub fn add(&mut self, interval: &Interval<'_>) {
        let hash = hash(interval);
        self.sum = self.sum.wrapping_add(hash);
        self.sequence = (self.sequence ^ hash).wrapping_mul(PRIME);
        self.count += 1;
    }
}

fn hash(interval: &Interval<'_>) -> u64 {
    let quark = interval.quark.index() as u64;
    // The digests contain the last time of each interval instead of its end.
    let last = interval.end.as_ns() - 1;
    let parts = [interval.start.as_ns() as u64, last as u64, quark, code(interval.value)];
    parts.iter().fold(BASIS, |hash, part| {
        let hash = (hash ^ part).wrapping_mul(PRIME);
        hash ^ hash >> 32
    })
}

fn code(value: StateValue<'_>) -> u64 {
    match value {
        StateValue::Null => 0,
        StateValue::I32(v) => (i64::from(v) << 3) as u64 | 1,
        StateValue::I64(v) => (v << 3) as u64 | 2,
        StateValue::Str(v) => fnv(v.as_bytes()) << 3 | 3,
        StateValue::F64(v) => v.to_bits() << 3 | 4,
        StateValue::U64(v) => v << 3 | 5,
        StateValue::Blob(v) => fnv(v) << 3 | 6,
    }
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}
