//! Comparisons of integer fields, made ready: a load, a difference, and one
//! comparison each.

use crate::bits::{whole_word_le, word_le};
use crate::field::Field;
use crate::layout::FixedRead;
use crate::layout::program::Slot;
use crate::schema::EventTypeId;

/// Whether an integer field is in a range: to be asked, with others of the same
/// type of events, by [`Event::all_in_range`](crate::Event::all_in_range).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeTest {
    event_type: EventTypeId,
    test: Test,
}

/// Tests of fields of one type of events, made ready to be asked of many of them.
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// use ltt_read::RangeTests;
/// use ltt_read::schema::Scope;
///
/// let switch = trace.event_types_named("sched_switch").next().expect("a kernel trace");
/// let field = |name| trace.field(switch, Scope::Payload, name).expect("a field of it");
/// let prev_tid = field("prev_tid").in_range(0, 0);
/// // From 20 up to the greatest, and on to −1: all but what is between.
/// let next_prio = field("next_prio").in_range(20, -1i64 as u64);
/// let tests: RangeTests = [prev_tid, next_prio].into_iter().flatten().collect();
///
/// let mut after_idle = 0;
/// let mut cursor = trace.cursor(0);
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
    /// The same, where it can be asked at once.
    near: Option<Near>,
}

/// A test of a field in the little-endian word that begins with its first bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Test {
    anchor: Slot,
    /// The field's first bit, from the anchor.
    offset: u64,
    /// The bits that are the field's: differences are modulo these, and therefore
    /// the same for both sorts of integers.
    mask: u64,
    low: u64,
    size: u64,
    /// Whether the field is at the begin of a byte.
    at_byte: bool,
}

/// A few tests of fields that are near each other, without a branch between them:
/// which of them fails first is hard to predict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Near {
    anchor: Slot,
    /// The first field's byte, from the anchor.
    first: usize,
    /// How far each field's byte is from that, and its test. Those that are missing
    /// hold always.
    tests: [(usize, Test); Near::MOST],
}

impl Field {
    /// Whether the field is one of the integers from `low` to `high`, both
    /// included. Both are as [`Event::integer`] gives them. If `low` is the greater
    /// one, they are the integers from `low` to the field's greatest, and those from
    /// its least to `high`.
    ///
    /// `None` if there is more to reading it than a load: it is no integer, or
    /// big-endian, not always there, or not known to lie within a word.
    ///
    /// [`Event::integer`]: crate::Event::integer
    pub fn in_range(&self, low: u64, high: u64) -> Option<RangeTest> {
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

/// All have to be of fields of one event type.
impl FromIterator<RangeTest> for RangeTests {
    fn from_iter<I: IntoIterator<Item = RangeTest>>(tests: I) -> Self {
        let tests: Vec<_> = tests.into_iter().collect();
        debug_assert!(tests.windows(2).all(|pair| pair[0].event_type == pair[1].event_type));
        let event_type = tests.first().map(|test| test.event_type);
        let tests: Box<[_]> = tests.iter().map(|test| test.test).collect();
        RangeTests { event_type, near: Near::new(&tests), tests }
    }
}

impl RangeTests {
    /// The type of the events that it is for; `None` without tests.
    pub(crate) fn event_type(&self) -> Option<EventTypeId> {
        self.event_type
    }

    /// Whether all hold of an event whose anchors are from byte `begin` of the data on,
    /// if that can be said without branches.
    #[inline(always)]
    pub(crate) fn hold_at_once(&self, data: &[u8], begin: usize, slots: &[u64]) -> Option<bool> {
        self.near.as_ref()?.hold(data, begin, slots)
    }

    /// Whether all hold.
    #[inline(always)]
    pub(crate) fn hold(&self, data: &[u8], begin: usize, slots: &[u64]) -> bool {
        let begin = 8 * begin as u64;
        let hold = self.hold_of(begin, slots, |bit| whole_word_le(data, bit));
        hold.unwrap_or_else(|| self.hold_near_end(data, begin, slots))
    }

    /// Apart: what calls nothing has more registers.
    #[cold]
    #[inline(never)]
    fn hold_near_end(&self, data: &[u8], begin: u64, slots: &[u64]) -> bool {
        let hold = self.hold_of(begin, slots, |bit| Some(word_le(data, bit)));
        hold.unwrap_or(false)
    }

    /// Given how to get at words; `None` if one cannot be had.
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

impl Near {
    const MOST: usize = 4;
    /// How far apart fields may begin, in bytes: all bits of a number are set.
    const FAR: usize = 63;
    /// From the first field to the end of the last one's word.
    const BYTES: usize = Self::FAR + 8;

    fn new(tests: &[Test]) -> Option<Near> {
        let anchor = tests.first()?.anchor;
        let is_near = |test: &Test| test.at_byte && test.anchor == anchor;
        if tests.len() > Self::MOST || !tests.iter().all(is_near) {
            return None;
        }
        let byte = |test: &Test| usize::try_from(test.offset / 8).ok();
        let first = byte(tests.iter().min_by_key(|test| test.offset)?)?;
        let mut near = Near { anchor, first, tests: [(0, Test::HOLDS); Self::MOST] };
        for (near, test) in near.tests.iter_mut().zip(tests) {
            *near = (byte(test)? - first, *test);
        }
        near.tests.iter().all(|(at, _)| *at <= Self::FAR).then_some(near)
    }

    /// `None` near the end of the data.
    #[inline(always)]
    fn hold(&self, data: &[u8], begin: usize, slots: &[u64]) -> Option<bool> {
        let anchor = begin.wrapping_add((*slots.get(self.anchor as usize)? / 8) as usize);
        let bytes = data.get(anchor.wrapping_add(self.first)..)?;
        let bytes = bytes.first_chunk::<{ Self::BYTES }>()?;
        let hold = self.tests.map(|(at, test)| {
            // Within the bytes whatever it is: so nothing is checked here.
            let word = bytes[at & Self::FAR..].first_chunk();
            test.holds(word.map_or(0, |word| u64::from_le_bytes(*word)))
        });
        Some(hold.iter().fold(true, |all, hold| all & hold))
    }
}

impl Test {
    /// One that holds of everything.
    const HOLDS: Test = Test { anchor: 0, offset: 0, mask: 0, low: 0, size: 0, at_byte: true };

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
                // Most begin with a byte.
                let offset = 8 * byte + bit / 2;
                let at_byte = offset.is_multiple_of(8);
                Test { anchor, offset, mask, low: low.into(), size: size & mask, at_byte }
            },
        )
    }

    proptest! {
        /// Asked at once, or one after the other: the same, up to the data's end.
        #[test]
        fn at_once_or_one_by_one(
            tests in prop::collection::vec(test(), 0..6),
            data in prop::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 80..200),
            begin in 0..200usize,
            between in 0..9u64,
        ) {
            let slots = [8, 8 + 8 * between];
            let tests = RangeTests { event_type: None, near: Near::new(&tests), tests: tests.into() };
            let one_by_one = tests.hold(&data, begin, &slots);
            prop_assert_eq!(one_by_one, tests.hold_near_end(&data, 8 * begin as u64, &slots));
            if let Some(at_once) = tests.hold_at_once(&data, begin, &slots) {
                prop_assert_eq!(at_once, one_by_one);
            }
        }
    }
}
