//! Values as plain integers, and the pool of texts and blobs that some of them refer to.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::tree::Quark;
use crate::value::StateValue;

/// The kind of a value, with the number that represents it in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(u8)]
pub(crate) enum Kind {
    #[default]
    Null,
    I32,
    I64,
    U64,
    F64,
    Str,
    Blob,
}

impl Kind {
    pub(crate) fn from_number(number: u8) -> Option<Kind> {
        use Kind::*;
        [Null, I32, I64, U64, F64, Str, Blob].get(usize::from(number)).copied()
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Kind::I32 | Kind::I64)
    }
}

/// A value as plain integers. Two values are equal if and only if their raw values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct RawValue {
    pub(crate) kind: Kind,
    /// The integer, sign-extended to 64 bits if it is signed; or the bits of a
    /// floating-point number; or the number of a text or blob, counted over the whole
    /// history.
    pub(crate) bits: u64,
}

impl RawValue {
    pub(crate) const NULL: RawValue = RawValue { kind: Kind::Null, bits: 0 };
}

/// An interval of an attribute with its raw value. Times are in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawInterval {
    pub(crate) quark: Quark,
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) raw: RawValue,
}

/// A pool that stores each distinct text and blob once and numbers them from 0.
///
/// It stays in memory while a history grows, so that a text that is set again gets the same
/// number.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextPool {
    bytes: Vec<u8>,
    /// The end of each text or blob in `bytes`.
    ends: Vec<u64>,
    by_bytes: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl TextPool {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn get(&self, id: u64) -> Option<&[u8]> {
        let id = usize::try_from(id).ok()?;
        let end = *self.ends.get(id)? as usize;
        let start = id.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        self.bytes.get(start..end)
    }

    /// Returns the number of a text or blob, which is added if it is new. `None` if the
    /// pool is full.
    pub(crate) fn intern(&mut self, bytes: &[u8]) -> Option<u64> {
        let hash = self.hasher.hash_one(bytes);
        let found = self.by_bytes.find(hash, |id| self.get(u64::from(*id)) == Some(bytes));
        if let Some(id) = found {
            return Some(u64::from(*id));
        }
        let id = self.push(bytes)?;
        let TextPool { bytes: all, ends, by_bytes, hasher } = self;
        by_bytes.insert_unique(hash, id, |id| {
            let id = *id as usize;
            let start = id.checked_sub(1).map_or(0, |before| ends[before] as usize);
            hasher.hash_one(&all[start..ends[id] as usize])
        });
        Some(id.into())
    }

    fn push(&mut self, bytes: &[u8]) -> Option<u32> {
        let id = u32::try_from(self.ends.len()).ok().filter(|id| *id != u32::MAX)?;
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len() as u64);
        Some(id)
    }

    pub(crate) fn encode(&mut self, value: StateValue<'_>) -> Option<RawValue> {
        let (kind, bits) = match value {
            StateValue::Null => (Kind::Null, 0),
            StateValue::I32(v) => (Kind::I32, i64::from(v) as u64),
            StateValue::I64(v) => (Kind::I64, v as u64),
            StateValue::U64(v) => (Kind::U64, v),
            StateValue::F64(v) => (Kind::F64, v.to_bits()),
            StateValue::Str(v) => (Kind::Str, self.intern(v.as_bytes())?),
            StateValue::Blob(v) => (Kind::Blob, self.intern(v)?),
        };
        Some(RawValue { kind, bits })
    }

    /// Returns the value that a raw value of this pool represents.
    pub(crate) fn value(&self, raw: RawValue) -> StateValue<'_> {
        value_of(raw, |id| self.get(id)).unwrap_or(StateValue::Null)
    }
}

/// Returns the value that `raw` represents, with texts and blobs returned by `bytes`.
/// `None` if there is no such text, or if it is not UTF-8.
#[inline(always)]
pub(crate) fn value_of<'a>(
    raw: RawValue,
    bytes: impl FnOnce(u64) -> Option<&'a [u8]>,
) -> Option<StateValue<'a>> {
    // The frequent kinds are tested first: an indirect jump for all kinds would often be
    // mispredicted.
    Some(match raw.kind {
        Kind::I32 => StateValue::I32(raw.bits as i32),
        Kind::Null => StateValue::Null,
        Kind::Str => StateValue::Str(std::str::from_utf8(bytes(raw.bits)?).ok()?),
        _ => return other_value_of(raw, bytes),
    })
}

#[inline(never)]
fn other_value_of<'a>(
    raw: RawValue,
    bytes: impl FnOnce(u64) -> Option<&'a [u8]>,
) -> Option<StateValue<'a>> {
    Some(match raw.kind {
        Kind::I64 => StateValue::I64(raw.bits as i64),
        Kind::U64 => StateValue::U64(raw.bits),
        Kind::F64 => StateValue::F64(f64::from_bits(raw.bits)),
        Kind::Blob => StateValue::Blob(bytes(raw.bits)?),
        Kind::Null | Kind::I32 | Kind::Str => return None,
    })
}
