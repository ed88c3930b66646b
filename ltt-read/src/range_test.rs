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
        let test = Test { anchor: place.anchor, offset: place.offset, mask, low, size };
        Some(RangeTest { event_type: self.event_type, test })
    }
}

/// All have to be of fields of one event type.
impl FromIterator<RangeTest> for RangeTests {
    fn from_iter<I: IntoIterator<Item = RangeTest>>(tests: I) -> Self {
        let tests: Vec<_> = tests.into_iter().collect();
        debug_assert!(tests.windows(2).all(|pair| pair[0].event_type == pair[1].event_type));
        RangeTests {
            event_type: tests.first().map(|test| test.event_type),
            tests: tests.iter().map(|test| test.test).collect(),
        }
    }
}

impl RangeTests {
    /// The type of the events that it is for; `None` without tests.
    pub(crate) fn event_type(&self) -> Option<EventTypeId> {
        self.event_type
    }

    /// Whether all hold of an event whose anchors are from bit `begin` of the data on.
    #[inline(always)]
    pub(crate) fn hold(&self, data: &[u8], begin: u64, slots: &[u64]) -> bool {
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

impl Test {
    #[inline(always)]
    fn holds(&self, word: u64) -> bool {
        word.wrapping_sub(self.low) & self.mask <= self.size
    }
}
