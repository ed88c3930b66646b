//! Prepared range tests of integer fields: a load, a subtraction and a comparison each.

use super::field::Field;
use crate::base::bits::{whole_word_le, word_le};
use crate::layout::FixedRead;
use crate::layout::program::Slot;
use crate::schema::EventTypeId;

/// A test whether an integer field is in a range. A set of tests for one event type is
/// collected into [`RangeTests`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeTest {
    event_type: EventTypeId,
    test: Test,
}

/// A set of range tests for fields of one event type, for
/// [`Event::all_in_range`](crate::Event::all_in_range).
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// use ltt_read::{RangeTests, TracefileIndex};
/// use ltt_read::schema::Scope;
///
/// let switch = trace.event_types_named("sched_switch").next().expect("a kernel trace");
/// let field = |name| trace.field(switch, Scope::Payload, name).expect("a field of it");
/// let prev_tid = field("prev_tid").range_test(0, 0);
/// // A range that wraps: all integers except those from 0 to 19.
/// let next_prio = field("next_prio").range_test(20, -1i64 as u64);
/// let tests: RangeTests = [prev_tid, next_prio].into_iter().flatten().collect();
///
/// let mut after_idle = 0;
/// let mut cursor = trace.cursor(TracefileIndex(0));
/// while let Some(event) = cursor.next()? {
///     if event.type_id() == switch && event.all_in_range(&tests) {
///         assert_eq!(event.field("prev_tid").and_then(|tid| tid.as_i64()), Some(0));
///         after_idle += 1;
///     }
/// }
/// # assert!(after_idle > 0);
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RangeTests {
    event_type: Option<EventTypeId>,
    tests: Box<[Test]>,
    /// The tests in a form without branches, if their fields are close to each other.
    vector: Option<VectorTests>,
}

/// A test of a field in the little-endian word that starts at its first bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Test {
    anchor: Slot,
    /// The field's first bit, counted from the anchor.
    offset: u64,
    /// The bits of the word that belong to the field. Differences are computed modulo
    /// this width and are therefore equal for signed and unsigned integers.
    mask: u64,
    low: u64,
    /// The difference between the greatest and the least integer in the range.
    size: u64,
    /// `true` if the field starts at a byte boundary.
    at_byte: bool,
}

/// Tests of fields that are close to each other, combined without branches, because which
/// of them fails first is hard to predict.
#[derive(Debug, Clone, PartialEq, Eq)]
struct VectorTests {
    anchor: Slot,
    /// The byte of the first field, counted from the anchor.
    first: usize,
    lanes: Lanes,
    /// The tests of more than 32 bits, and those beyond the number of lanes.
    others: Box<[(u8, Test)]>,
}

/// Four tests of at most 32 bits in the lanes of a vector, for SIMD instructions. Unused
/// lanes always hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(align(16))]
struct Lanes {
    /// The distance of each field's byte from the first one, in bytes.
    at: [u8; 4],
    low: [u32; 4],
    mask: [u32; 4],
    /// [`Test::size`] with the highest bit flipped, for a signed comparison: SSE2 has no
    /// unsigned one.
    size: [i32; 4],
}

impl Field {
    /// Creates a test whether the field is one of the integers from `low` to `high`, both
    /// included. Both are in the representation of [`Event::integer`]. If `low` is
    /// greater than `high`, the range wraps: it contains the integers from `low` to the
    /// field's greatest one and those from its least one to `high`.
    ///
    /// Returns `None` if the field cannot be read by one load: if it is not an integer,
    /// is big-endian, is not in every event of its type, or may cross the end of a 64-bit
    /// word.
    ///
    /// [`Event::integer`]: crate::Event::integer
    pub fn range_test(&self, low: u64, high: u64) -> Option<RangeTest> {
        let place = &self.place;
        let aligned = self.info().class().align >= 8 && place.offset.is_multiple_of(8);
        let fits = |read: &FixedRead| read.bits() <= if aligned { 64 } else { 57 };
        let read = place.integer.filter(|read| self.is_always_there() && fits(read))?;
        if !read.is_little_endian() {
            return None;
        }
        let mask = u64::MAX >> (64 - read.bits());
        let size = high.wrapping_sub(low) & mask;
        let at_byte = aligned;
        let test = Test { anchor: place.anchor, offset: place.offset, mask, low, size, at_byte };
        Some(RangeTest { event_type: self.event_type, test })
    }
}

/// Collects tests, which must all be of fields of one event type.
impl FromIterator<RangeTest> for RangeTests {
    fn from_iter<I: IntoIterator<Item = RangeTest>>(tests: I) -> Self {
        let tests: Vec<_> = tests.into_iter().collect();
        debug_assert!(tests.windows(2).all(|pair| pair[0].event_type == pair[1].event_type));
        let event_type = tests.first().map(|test| test.event_type);
        let tests: Box<[_]> = tests.iter().map(|test| test.test).collect();
        RangeTests { event_type, vector: VectorTests::new(&tests), tests }
    }
}

impl RangeTests {
    /// Returns the event type of the tests; `None` if there are no tests.
    pub(crate) fn event_type(&self) -> Option<EventTypeId> {
        self.event_type
    }

    /// Returns whether all tests hold, computed without branches, for an event in the
    /// packet that starts at byte `begin` of the data. `None` if this is not possible.
    #[inline(always)]
    pub(crate) fn hold_vectorized(&self, data: &[u8], begin: usize, slots: &[u64]) -> Option<bool> {
        self.vector.as_ref()?.hold(data, begin, slots)
    }

    /// Returns `true` if all tests hold, tested one after the other.
    #[inline(always)]
    pub(crate) fn hold(&self, data: &[u8], begin: usize, slots: &[u64]) -> bool {
        let begin = 8 * begin as u64;
        let hold = self.hold_of(begin, slots, |bit| whole_word_le(data, bit));
        hold.unwrap_or_else(|| self.hold_near_end(data, begin, slots))
    }

    /// The case of a word that crosses the end of the data, in a function of its own: a
    /// function without calls has more free registers.
    #[cold]
    #[inline(never)]
    fn hold_near_end(&self, data: &[u8], begin: u64, slots: &[u64]) -> bool {
        let hold = self.hold_of(begin, slots, |bit| Some(word_le(data, bit)));
        hold.unwrap_or(false)
    }

    /// Returns whether all tests hold, given a function that reads words; `None` if a
    /// word cannot be read.
    #[inline(always)]
    fn hold_of(
        &self,
        begin: u64,
        slots: &[u64],
        word: impl Fn(u64) -> Option<u64>,
    ) -> Option<bool> {
        for test in &self.tests {
            let anchor = begin.wrapping_add(*slots.get(test.anchor as usize)?);
            if !test.holds(word(anchor.wrapping_add(test.offset))?) {
                return Some(false);
            }
        }
        Some(true)
    }
}

impl VectorTests {
    /// The number of bytes from the first field to the end of the last field's word.
    const BYTES: usize = u8::MAX as usize + 8;

    fn new(tests: &[Test]) -> Option<VectorTests> {
        let anchor = tests.first()?.anchor;
        if !tests.iter().all(|test| test.at_byte && test.anchor == anchor) {
            return None;
        }
        let first = tests.iter().map(|test| test.offset / 8).min()?;
        let (mut lanes, mut used, mut others) = (Lanes::HOLD, 0, Vec::new());
        for test in tests {
            let at = u8::try_from(test.offset / 8 - first).ok()?;
            match lanes.set(used, at, test) {
                Some(()) => used += 1,
                None => others.push((at, *test)),
            }
        }
        Some(VectorTests {
            anchor,
            first: usize::try_from(first).ok()?,
            lanes,
            others: others.into(),
        })
    }

    /// Returns whether all tests hold; `None` if the event is close to the end of the
    /// data.
    #[inline(always)]
    fn hold(&self, data: &[u8], begin: usize, slots: &[u64]) -> Option<bool> {
        let anchor = begin.wrapping_add((*slots.get(self.anchor as usize)? / 8) as usize);
        let bytes = data.get(anchor.wrapping_add(self.first)..)?.first_chunk()?;
        let lanes = self.lanes.hold(bytes);
        if self.others.is_empty() {
            return Some(lanes);
        }
        Some(self.others.iter().fold(lanes, |all, (at, test)| {
            let word = bytes[*at as usize..].first_chunk();
            all & test.holds(word.map_or(0, |word| u64::from_le_bytes(*word)))
        }))
    }
}

impl Lanes {
    const SIGN: u32 = 1 << 31;
    const HOLD: Lanes = Lanes { at: [0; 4], low: [0; 4], mask: [0; 4], size: [i32::MAX; 4] };

    /// Sets the test of a lane. Returns `None` if the test has too many bits or the lane
    /// does not exist.
    fn set(&mut self, lane: usize, at: u8, test: &Test) -> Option<()> {
        let mask = u32::try_from(test.mask).ok()?;
        *self.at.get_mut(lane)? = at;
        self.low[lane] = test.low as u32;
        self.mask[lane] = mask;
        self.size[lane] = (test.size as u32 ^ Self::SIGN) as i32;
        Some(())
    }

    /// Returns `true` if all tests hold. No bounds check is needed, because the array is
    /// long enough for every value of a `u8` index.
    #[inline(always)]
    fn hold(&self, bytes: &[u8; VectorTests::BYTES]) -> bool {
        let words = self.at.map(|at| {
            let word = bytes[at as usize..].first_chunk();
            word.map_or(0, |word| u32::from_le_bytes(*word))
        });
        let mut fail = [false; 4];
        for (lane, fail) in fail.iter_mut().enumerate() {
            let above = words[lane].wrapping_sub(self.low[lane]) & self.mask[lane];
            *fail = (above ^ Self::SIGN) as i32 > self.size[lane];
        }
        !fail.iter().fold(false, |any, fail| any | fail)
    }
}

impl Test {
    #[inline(always)]
    fn holds(&self, word: u64) -> bool {
        word.wrapping_sub(self.low) & self.mask <= self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn test() -> impl Strategy<Value = Test> {
        let mask = prop_oneof![Just(0xffu64), Just(0xffff_ffff), Just(u64::MAX)];
        let place = (0..2u32, 0..70u64, 0..3u64);
        (place, mask, any::<u8>(), prop_oneof![Just(0), any::<u64>()]).prop_map(
            |((anchor, byte, bit), mask, low, size)| {
                // Most fields start at a byte boundary.
                let offset = 8 * byte + bit / 2;
                let at_byte = offset.is_multiple_of(8);
                Test { anchor, offset, mask, low: low.into(), size: size & mask, at_byte }
            },
        )
    }

    proptest! {
        /// Vectorized and sequential tests agree, up to the end of the data.
        #[test]
        fn vectorized_tests_agree_with_sequential_ones(
            tests in prop::collection::vec(test(), 0..6),
            data in prop::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 300..600),
            begin in 0..600usize,
            between in 0..9u64,
        ) {
            let slots = [8, 8 + 8 * between];
            let tests = RangeTests { event_type: None, vector: VectorTests::new(&tests), tests: tests.into() };
            let sequential = tests.hold(&data, begin, &slots);
            prop_assert_eq!(sequential, tests.hold_near_end(&data, 8 * begin as u64, &slots));
            if let Some(vectorized) = tests.hold_vectorized(&data, begin, &slots) {
                prop_assert_eq!(vectorized, sequential);
            }
        }
    }
}
