//! Prepared range tests of integer fields: a load, a subtraction and a comparison each.

use super::field::Field;
use crate::format::SchemaId;
use crate::layout::program::Slot;
use crate::schema::EventTypeId;

/// A set of tests whether integer fields of one event type are in ranges, for
/// [`Event::all_in_range`](crate::Event::all_in_range).
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// use ltt_read::TracefileIndex;
/// use ltt_read::tuning::RangeTests;
/// use ltt_read::schema::Scope;
///
/// let switch = trace.event_types_named("sched_switch").next().expect("a kernel trace");
/// let field = |name| trace.field(switch, Scope::Payload, name).expect("a field of it");
/// let mut tests = RangeTests::default();
/// assert!(tests.add(&field("prev_tid"), 0, 0));
/// // A range that wraps: all integers except those from 0 to 19.
/// assert!(tests.add(&field("next_prio"), 20, -1i64 as u64));
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
    /// The event type of the fields, and the anchor that they have in common.
    of: Option<(SchemaId, EventTypeId, Slot)>,
    tests: Vec<Test>,
}

/// A test of a field in the little-endian word that starts at its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Test {
    /// The distance of that byte from the anchor.
    at: u8,
    /// The bits of the word that belong to the field. Differences are computed modulo
    /// this width and are therefore equal for signed and unsigned integers.
    mask: u64,
    low: u64,
    /// The difference between the greatest and the least integer in the range.
    size: u64,
}

impl RangeTests {
    /// The number of bytes from the anchor to the end of the last field's word.
    const BYTES: usize = u8::MAX as usize + 8;

    /// Adds a test whether a field is one of the integers from `low` to `high`, both included. Both
    /// are in the representation of [`Event::integer`]. If `low` is greater than `high`, the range
    /// wraps: it contains the integers from `low` to the field's greatest one and those from its
    /// least one to `high`.
    ///
    /// Returns `false` and adds nothing if the field is of another event type than those before it,
    /// if it cannot be read by one load (it is not an integer, is big-endian, is not in every event
    /// of its type, or may start within a byte), or if it is too far from the other fields.
    ///
    /// [`Event::integer`]: crate::Event::integer
    #[must_use]
    pub fn add(&mut self, field: &Field, low: u64, high: u64) -> bool {
        let of = (field.schema, field.event_type, field.place.anchor);
        let Some(test) = Test::new(field, low, high).filter(|_| self.of.is_none_or(|it| it == of))
        else {
            return false;
        };
        self.of = Some(of);
        self.tests.push(test);
        true
    }

    /// Returns `true` if there are no tests.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// Returns the event type of the tests; `None` if there are no tests.
    pub(crate) fn event_type(&self) -> Option<(SchemaId, EventTypeId)> {
        self.of.map(|(schema, event_type, _)| (schema, event_type))
    }

    /// Returns `true` if all tests hold for an event in the packet that starts at byte `begin` of
    /// the data.
    #[inline(always)]
    pub(crate) fn hold(&self, data: &[u8], begin: usize, slots: &[u64]) -> bool {
        let Some((.., anchor)) = self.of else { return true };
        let Some(anchor) = slots.get(anchor as usize) else { return false };
        let data = data.get(begin.wrapping_add((anchor / 8) as usize)..).unwrap_or(&[]);
        match data.first_chunk() {
            Some(bytes) => self.hold_in(bytes),
            None => self.hold_near_end(data),
        }
    }

    /// The case of few remaining bytes, which zeros are appended to.
    #[cold]
    #[inline(never)]
    fn hold_near_end(&self, data: &[u8]) -> bool {
        let mut bytes = [0; Self::BYTES];
        bytes[..data.len()].copy_from_slice(data);
        self.hold_in(&bytes)
    }

    /// Returns `true` if all tests hold in the bytes from the anchor on. No bounds check is needed,
    /// because there are enough bytes for every distance.
    #[inline(always)]
    fn hold_in(&self, bytes: &[u8; Self::BYTES]) -> bool {
        // Which of the tests fails first is hard to predict, so there is no branch on their results.
        self.tests.iter().fold(true, |all, test| {
            let word = bytes[test.at as usize..].first_chunk();
            all & test.holds(word.map_or(0, |word| u64::from_le_bytes(*word)))
        })
    }
}

impl Test {
    fn new(field: &Field, low: u64, high: u64) -> Option<Test> {
        let place = &field.place;
        let read = place.integer.filter(|read| read.is_little_endian())?;
        let is_at_byte = field.info().class().align >= 8 && place.offset.is_multiple_of(8);
        if !is_at_byte || !field.is_always_there() {
            return None;
        }
        let mask = u64::MAX >> (64 - read.bits());
        let at = u8::try_from(place.offset / 8).ok()?;
        Some(Test { at, mask, low, size: high.wrapping_sub(low) & mask })
    }

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
        let size = prop_oneof![Just(0), any::<u64>()];
        (any::<u8>(), mask, any::<u8>(), size).prop_map(|(at, mask, low, size)| Test {
            at,
            mask,
            low: low.into(),
            size: size & mask,
        })
    }

    proptest! {
        #[test]
        fn tests_are_comparisons_up_to_the_end_of_the_data(
            tests in prop::collection::vec(test(), 0..6),
            data in prop::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..600),
            begin in 0..300usize,
            anchor in 0..300usize,
        ) {
            let byte = |at: usize| data.get(at).copied().unwrap_or(0);
            let holds = |test: &Test| {
                let at = begin + anchor + usize::from(test.at);
                let value = u64::from_le_bytes(std::array::from_fn(|i| byte(at + i))) & test.mask;
                let (low, high) = (test.low, test.low.wrapping_add(test.size) & test.mask);
                match low <= high {
                    true => low <= value && value <= high,
                    false => low <= value || value <= high,
                }
            };
            let expected = tests.iter().all(holds);
            let tests = RangeTests { of: Some((SchemaId::default(), EventTypeId(0), 0)), tests };
            prop_assert_eq!(tests.hold(&data, begin, &[8 * anchor as u64]), expected);
        }
    }
}
