//! Integer fields that are read together, as bytes.

use super::Event;
use super::field::{Condition, Field};
use crate::base::bits::word;
use crate::format::SchemaId;
use crate::layout::FixedRead;
use crate::layout::program::{Len, Slot};
use crate::schema::{EventTypeId, Scope};

/// Integer fields of one event type that are read together, for [`Event::key`].
///
/// The bytes of a key identify an event by its values, for instance in a hash table. They do not
/// depend on the layout of the fields: the value of each one is written in big-endian order, in a
/// number of bytes that the caller chooses. Keys of several event types, also of several traces,
/// are therefore comparable.
///
/// Reading a key is faster than reading each field, above all for fields in variants: the
/// conditions that fields share are tested once, and adjacent fields in big-endian order are copied
/// together.
///
/// ```
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// use std::collections::HashMap;
///
/// use ltt_read::schema::Scope;
/// use ltt_read::TracefileIndex;
/// use ltt_read::tuning::KeyFields;
///
/// let switch = trace.event_types_named("sched_switch").next().expect("a kernel trace");
/// let field = |name| trace.field(switch, Scope::Payload, name).expect("a field of it");
/// let (prev, next) = (field("prev_tid"), field("next_tid"));
/// let tids = KeyFields::new([(&prev, 4), (&next, 4)]).expect("integers");
///
/// let (mut key, mut switches) = (Vec::new(), HashMap::<Vec<u8>, u64>::new());
/// let mut cursor = trace.cursor(TracefileIndex(0));
/// while let Some(event) = cursor.next()? {
///     key.clear();
///     if event.key(&tids, &mut key) {
///         let from = i32::from_be_bytes([key[0], key[1], key[2], key[3]]);
///         assert_eq!(event.integer(&prev), Some(from as u64));
///         *switches.entry(key.clone()).or_default() += 1;
///     }
/// }
/// # assert!(!switches.is_empty());
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct KeyFields {
    /// `None` if there are no fields.
    event_type: Option<(SchemaId, EventTypeId)>,
    /// The conditions under which an event has all fields, each one once.
    conditions: Box<[Condition]>,
    parts: Box<[Part]>,
    /// The length of a key.
    length: usize,
}

/// A part of a key of up to 8 bytes.
#[derive(Debug, Clone, Copy)]
struct Part {
    anchor: Slot,
    offset: u64,
    length: usize,
    /// The encoding of an integer; `None` if the bytes are copied.
    integer: Option<FixedRead>,
}

impl KeyFields {
    /// Creates the fields, each with the number of its bytes in the key. If an integer needs more
    /// bytes, its lowest ones are used; negative integers are in two's complement.
    ///
    /// Returns `None` if the fields are not all of one event type and [plain
    /// integers](Field::is_plain_integer) outside of the event header, or if a number of bytes is
    /// not from 1 to 8.
    pub fn new<'f>(fields: impl IntoIterator<Item = (&'f Field, usize)>) -> Option<Self> {
        let (mut event_type, mut conditions, mut parts) = (None, Vec::new(), Vec::new());
        for (field, length) in fields {
            let of = (field.schema, field.event_type);
            let is_other = *event_type.get_or_insert(of) != of;
            let is_header = field.scope == Scope::EventHeader;
            if is_other || is_header || !field.rest.is_empty() || !(1..=8).contains(&length) {
                return None;
            }
            for condition in &field.conditions {
                let always = matches!(condition, Condition::Longer { len: Len::Const(len), index } if index < len);
                if !always && !conditions.contains(condition) {
                    conditions.push(*condition);
                }
            }
            add_part(&mut parts, Part::new(field, length)?);
        }
        let length = parts.iter().map(|part| part.length).sum();
        Some(KeyFields { event_type, conditions: conditions.into(), parts: parts.into(), length })
    }
}

impl Part {
    fn new(field: &Field, length: usize) -> Option<Self> {
        let (place, read) = (&field.place, field.place.integer?);
        let at_byte = field.info().class().align >= 8 && place.offset.is_multiple_of(8);
        let big = read.is_big() || read.bits() == 8;
        let copied = at_byte && big && read.is_plain() && read.bits() == 8 * length as u32;
        let integer = (!copied).then_some(read);
        Some(Part { anchor: place.anchor, offset: place.offset, length, integer })
    }
}

/// Adds a part to others, or to the last one if both are copied together.
fn add_part(parts: &mut Vec<Part>, part: Part) {
    if let Some(last) = parts.last_mut()
        && last.integer.is_none()
        && part.integer.is_none()
        && last.anchor == part.anchor
        && last.offset.checked_add(8 * last.length as u64) == Some(part.offset)
        && last.length + part.length <= 8
    {
        last.length += part.length;
        return;
    }
    parts.push(part);
}

impl Event<'_> {
    /// Adds the bytes of several integer fields to `key`. Returns `false`, and adds nothing, if
    /// this event has another type or lacks one of the fields.
    pub fn key(&self, fields: &KeyFields, key: &mut Vec<u8>) -> bool {
        match fields.event_type {
            None => return true,
            Some((schema, of)) if !self.is_of(schema, of) => return false,
            Some(_) => {}
        }
        let slots = self.cursor.scratch().slots.as_slice();
        if !fields.conditions.iter().all(|condition| condition.holds(slots)) {
            return false;
        }
        let (data, begin) = self.cursor.data_and_begin();
        // Each part is written as 8 bytes, of which the next one overwrites those in excess.
        key.reserve(fields.length + 8);
        for part in &fields.parts {
            let pos = slots[part.anchor as usize].wrapping_add(part.offset);
            let bytes = match part.integer {
                None => word(data, begin.wrapping_add((pos / 8) as usize)).to_le_bytes(),
                Some(read) => {
                    let value = read.value(self.cursor.window().data, pos);
                    (value << (64 - 8 * part.length)).to_be_bytes()
                }
            };
            let end = key.len() + part.length;
            key.extend_from_slice(&bytes);
            key.truncate(end);
        }
        true
    }
}
