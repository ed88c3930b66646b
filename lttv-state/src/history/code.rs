//! Values as plain numbers, and the texts and blobs that some stand for.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::value::Value;

/// The kind of a value, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[repr(u8)]
pub(super) enum Kind {
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
    pub(super) fn from_number(number: u8) -> Option<Kind> {
        use Kind::*;
        [Null, I32, I64, U64, F64, Str, Blob].get(usize::from(number)).copied()
    }

    pub(super) fn is_signed(self) -> bool {
        matches!(self, Kind::I32 | Kind::I64)
    }
}

/// A value as plain numbers: two values are equal if their codes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Code {
    pub(super) kind: Kind,
    /// The number, a signed one extended to 64 bits; the bits of a floating
    /// point number; the number of a text or blob in its pool.
    pub(super) bits: u64,
}

impl Code {
    pub(super) const NULL: Code = Code { kind: Kind::Null, bits: 0 };
}

/// Texts and blobs, each once, numbered from 0.
///
/// They stay in memory as long as a history grows, so that a text that is set
/// again is known by its number.
#[derive(Debug, Default)]
pub(super) struct Pool {
    bytes: Vec<u8>,
    /// Where each one ends in `bytes`.
    ends: Vec<u64>,
    by_bytes: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Pool {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn get(&self, id: u64) -> Option<&[u8]> {
        let id = usize::try_from(id).ok()?;
        let end = *self.ends.get(id)? as usize;
        let start = id.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        self.bytes.get(start..end)
    }

    /// None if there are too many.
    pub(super) fn intern(&mut self, bytes: &[u8]) -> Option<u64> {
        let hash = self.hasher.hash_one(bytes);
        let found = self.by_bytes.find(hash, |id| self.get(u64::from(*id)) == Some(bytes));
        if let Some(id) = found {
            return Some(u64::from(*id));
        }
        let id = self.push(bytes)?;
        let Pool { bytes: all, ends, by_bytes, hasher } = self;
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

    pub(super) fn code(&mut self, value: Value<'_>) -> Option<Code> {
        let (kind, bits) = match value {
            Value::Null => (Kind::Null, 0),
            Value::I32(v) => (Kind::I32, i64::from(v) as u64),
            Value::I64(v) => (Kind::I64, v as u64),
            Value::U64(v) => (Kind::U64, v),
            Value::F64(v) => (Kind::F64, v.to_bits()),
            Value::Str(v) => (Kind::Str, self.intern(v.as_bytes())?),
            Value::Blob(v) => (Kind::Blob, self.intern(v)?),
        };
        Some(Code { kind, bits })
    }

    /// The value of a code that this pool made.
    pub(super) fn value(&self, code: Code) -> Value<'_> {
        value_of(code, |id| self.get(id)).unwrap_or(Value::Null)
    }
}

/// What a code stands for, with the texts and blobs from `bytes`. None if
/// there is no such text, or it is none.
#[inline(always)]
pub(super) fn value_of<'a>(
    code: Code,
    bytes: impl FnOnce(u64) -> Option<&'a [u8]>,
) -> Option<Value<'a>> {
    // Kinds that are met often are told apart here. A jump to one of many places would be
    // guessed wrong more often than not.
    Some(match code.kind {
        Kind::I32 => Value::I32(code.bits as i32),
        Kind::Null => Value::Null,
        Kind::Str => Value::Str(std::str::from_utf8(bytes(code.bits)?).ok()?),
        _ => return other_value_of(code, bytes),
    })
}

#[inline(never)]
fn other_value_of<'a>(
    code: Code,
    bytes: impl FnOnce(u64) -> Option<&'a [u8]>,
) -> Option<Value<'a>> {
    Some(match code.kind {
        Kind::I64 => Value::I64(code.bits as i64),
        Kind::U64 => Value::U64(code.bits),
        Kind::F64 => Value::F64(f64::from_bits(code.bits)),
        Kind::Blob => Value::Blob(bytes(code.bits)?),
        Kind::Null | Kind::I32 | Kind::Str => return None,
    })
}
