//! Comparisons of integer fields, made ready: a load, a difference, and one
//! comparison each.

use crate::bits::word_le;
use crate::field::Field;
use crate::layout::FixedRead;
use crate::layout::program::Slot;
use crate::schema::EventTypeId;

/// Whether an integer field is in a range: to be asked, with others of the same
/// type of events, by [`Event::all_in_range`](crate::Event::all_in_range).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeTest {
    event_type: EventTypeId,
    anchor: Slot,
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
    groups: Box<[Group]>,
}

/// The tests of fields that have one anchor.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    anchor: Slot,
    tests: Box<[Test]>,
}

/// A test of a field in the little-endian word that its first bit is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Test {
    /// The word's first byte, from the anchor.
    byte: u32,
    /// The field's first bit in it.
    shift: u32,
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
        let shift = (place.offset & 7) as u32;
        let aligned = self.info().class().align >= 8;
        let fits = |read: &FixedRead| match read.bits() {
            bits if bits <= 57 => true,
            bits => aligned && bits + shift <= 64,
        };
        let read = place.integer.filter(|read| self.is_always_there() && fits(read))?;
        if !read.is_little_endian() {
            return None;
        }
        let ones = u64::MAX >> (64 - read.bits());
        let test = Test {
            byte: (place.offset >> 3).try_into().ok()?,
            shift,
            mask: ones << shift,
            low: low << shift,
            size: (high.wrapping_sub(low) & ones) << shift,
        };
        Some(RangeTest { event_type: self.event_type, anchor: place.anchor, test })
    }
}

/// All have to be of fields of one event type.
impl FromIterator<RangeTest> for RangeTests {
    fn from_iter<I: IntoIterator<Item = RangeTest>>(tests: I) -> Self {
        let tests: Vec<_> = tests.into_iter().collect();
        debug_assert!(tests.windows(2).all(|pair| pair[0].event_type == pair[1].event_type));
        let group = |group: &[RangeTest]| Group {
            anchor: group[0].anchor,
            tests: group.iter().map(|test| test.test).collect(),
        };
        RangeTests {
            event_type: tests.first().map(|test| test.event_type),
            groups: tests.chunk_by(|a, b| a.anchor == b.anchor).map(group).collect(),
        }
    }
}

impl RangeTests {
    /// The type of the events that it is for; `None` without tests.
    pub(crate) fn event_type(&self) -> Option<EventTypeId> {
        self.event_type
    }

    #[inline(always)]
    pub(crate) fn hold(&self, data: &[u8], slots: &[u64]) -> bool {
        self.hold_at_bytes(data, slots).unwrap_or_else(|| self.hold_anywhere(data, slots))
    }

    /// `None` if an anchor is between bytes, or a word is not within the data. (It
    /// calls nothing, for the sake of the registers.)
    #[inline(always)]
    fn hold_at_bytes(&self, data: &[u8], slots: &[u64]) -> Option<bool> {
        for group in &self.groups {
            let anchor = *slots.get(group.anchor as usize)?;
            if anchor & 7 != 0 {
                return None;
            }
            let data = data.get((anchor >> 3) as usize..)?;
            for test in &group.tests {
                let byte = test.byte as usize;
                let word = data.get(byte..byte.wrapping_add(8))?.as_array()?;
                if !test.holds(u64::from_le_bytes(*word)) {
                    return Some(false);
                }
            }
        }
        Some(true)
    }

    #[cold]
    #[inline(never)]
    fn hold_anywhere(&self, data: &[u8], slots: &[u64]) -> bool {
        self.groups.iter().all(|group| {
            let Some(anchor) = slots.get(group.anchor as usize) else { return false };
            group.tests.iter().all(|test| {
                let offset = u64::from(test.byte) * 8 + u64::from(test.shift);
                test.holds(word_le(data, anchor.wrapping_add(offset)) << test.shift)
            })
        })
    }
}

impl Test {
    #[inline(always)]
    fn holds(&self, word: u64) -> bool {
        word.wrapping_sub(self.low) & self.mask <= self.size
    }
}
