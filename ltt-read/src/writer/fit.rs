//! Fitting of values to field classes.
//!
//! A fitted value has the shape of its class: members are in order and numbers in range.
//! Automatic values may remain.

use std::borrow::Cow;

use super::error::{LocatedProblem, Problem};
use super::value::FieldValue;
use crate::schema::{Encoding, FieldClass, FieldKind, Integer, Length, Str, Struct};

/// The maximum nesting of classes and values; bounds every recursion of the writer.
pub(super) const DEPTH: usize = 64;
/// The maximum length of static-length strings in bytes; shorter ones are padded.
const LONGEST: u64 = 1 << 28;
/// The maximum number of elements or bytes of an automatic array or blob.
const AUTO_ELEMENTS: u64 = 1 << 16;

type Fitted = Result<FieldValue, LocatedProblem>;

/// Returns `true` if a class is nested at most [`DEPTH`] deep.
pub(super) fn shallow(class: &FieldClass) -> bool {
    fn within(class: &FieldClass, depth: usize) -> bool {
        depth > 0
            && match &class.kind {
                FieldKind::Array(a) => within(&a.element, depth - 1),
                FieldKind::Struct(s) => s.members.iter().all(|m| within(&m.class, depth - 1)),
                FieldKind::Option(o) => within(&o.class, depth - 1),
                FieldKind::Variant(v) => v.options.iter().all(|o| within(&o.class, depth - 1)),
                _ => true,
            }
    }
    within(class, DEPTH)
}

/// Converts a value to the shape of its class.
pub(super) fn fit(class: &FieldClass, value: FieldValue) -> Fitted {
    fit_at(class, value, 0)
}

fn fit_at(class: &FieldClass, value: FieldValue, depth: usize) -> Fitted {
    if depth > DEPTH {
        return Err(Problem::TooDeep.into());
    }
    let depth = depth + 1;
    match (&class.kind, value) {
        (FieldKind::Integer(f, i), v) => integer(v, i, f.bits),
        (FieldKind::VarInteger(i), FieldValue::Leb128 { value, bytes }) if !i.signed => {
            let room = u32::from(bytes) * 7;
            match (1..=10).contains(&bytes) && (room >= 64 || value >> room == 0) {
                true => Ok(FieldValue::Leb128 { value, bytes }),
                false => Err(does_not_fit(value.into(), room, false)),
            }
        }
        (FieldKind::VarInteger(i), v) => integer(v, i, 64),
        (FieldKind::Bool(..), v @ (FieldValue::Bool(_) | FieldValue::Auto)) => Ok(v),
        (FieldKind::BitArray(f) | FieldKind::BitMap(f, _), v) => match v {
            FieldValue::Auto => Ok(FieldValue::Bits(0)),
            FieldValue::Bits(n) | FieldValue::Uint(n) => {
                unsigned_fits(n, f.bits)?;
                Ok(FieldValue::Bits(n))
            }
            FieldValue::Sint(n) => match u64::try_from(n) {
                Ok(n) if unsigned_fits(n, f.bits).is_ok() => Ok(FieldValue::Bits(n)),
                _ => Err(does_not_fit(n.into(), f.bits, false)),
            },
            other => Err(kind("bits", &other)),
        },
        (FieldKind::Float(f), v) => match (f.bits, v) {
            (16 | 32 | 64 | 128, FieldValue::Auto) => Ok(FieldValue::Float(0.0)),
            (16 | 32 | 64 | 128, v @ FieldValue::Float(_)) => Ok(v),
            (16 | 32 | 64 | 128, other) => Err(kind("a floating-point number", &other)),
            (bits, _) => Err(Problem::Size(bits).into()),
        },
        (FieldKind::String(s), v) => string(s, v),
        (FieldKind::Blob(b), FieldValue::Auto) => match b.length {
            Length::Static(n) if n > AUTO_ELEMENTS => Err(count(n, 0)),
            Length::Static(n) => Ok(FieldValue::Bytes(vec![0; n as usize])),
            Length::Dynamic(_) => Ok(FieldValue::Bytes(Vec::new())),
        },
        (FieldKind::Blob(b), FieldValue::Bytes(bytes)) => match b.length {
            Length::Static(n) if n != bytes.len() as u64 => Err(count(n, bytes.len())),
            _ => Ok(FieldValue::Bytes(bytes)),
        },
        (FieldKind::Array(a), v) => {
            let elements = match (v, &a.length) {
                (FieldValue::Array(elements), Length::Static(n)) if elements.len() as u64 != *n => {
                    return Err(count(*n, elements.len()));
                }
                (FieldValue::Array(elements), _) => elements,
                (FieldValue::Auto, Length::Static(n)) if *n > AUTO_ELEMENTS => {
                    return Err(count(*n, 0));
                }
                (FieldValue::Auto, Length::Static(n)) => vec![FieldValue::Auto; *n as usize],
                (FieldValue::Auto, Length::Dynamic(_)) => Vec::new(),
                (other, _) => return Err(kind("an array", &other)),
            };
            let fitted = elements.into_iter().enumerate();
            let fitted = fitted.map(|(i, v)| fit_at(&a.element, v, depth).map_err(|e| e.at(i)));
            Ok(FieldValue::Array(fitted.collect::<Result<_, _>>()?))
        }
        (FieldKind::Struct(s), v) => {
            let values = members(s, v)?.into_iter().zip(&s.members);
            let fitted =
                values.map(|(v, m)| fit_at(&m.class, v, depth).map_err(|e| e.within(&m.name)));
            Ok(FieldValue::Struct(fitted.collect::<Result<_, _>>()?))
        }
        (FieldKind::Option(_), v @ (FieldValue::Auto | FieldValue::Option(None))) => {
            drop(v);
            Ok(FieldValue::Option(None))
        }
        (FieldKind::Option(o), FieldValue::Option(Some(content))) => {
            Ok(FieldValue::present(fit_at(&o.class, *content, depth)?))
        }
        (FieldKind::Variant(v), value) => {
            let (option, content) = match value {
                FieldValue::Variant { option, value } => (option, *value),
                FieldValue::Auto => (0, FieldValue::Auto),
                other => return Err(kind("a variant", &other)),
            };
            let chosen = v.options.get(option).ok_or(Problem::NoOption(option))?;
            let content = fit_at(&chosen.class, content, depth)
                .map_err(|e| e.within(chosen.name.as_deref().unwrap_or("?")))?;
            Ok(FieldValue::variant(option, content))
        }
        (FieldKind::Bool(..), other) => Err(kind("a boolean", &other)),
        (FieldKind::Blob(_), other) => Err(kind("bytes", &other)),
        (FieldKind::Option(_), other) => Err(kind("an option", &other)),
    }
}

fn kind(expected: &'static str, found: &FieldValue) -> LocatedProblem {
    Problem::Kind { expected, found: found.kind_name() }.into()
}

fn count(expected: u64, found: usize) -> LocatedProblem {
    Problem::Count { expected, found: found as u64 }.into()
}

fn does_not_fit(value: i128, bits: u32, signed: bool) -> LocatedProblem {
    Problem::DoesNotFit { value, bits, signed }.into()
}

/// Returns the least and greatest number of an integer class.
pub(super) fn range_of(signed: bool, bits: u32) -> (i128, i128) {
    let bits = bits.clamp(1, 64);
    match signed {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}

fn unsigned_fits(value: u64, bits: u32) -> Result<(), LocatedProblem> {
    integer_of(value.into(), false, bits).map(drop)
}

/// Converts a number to the value of an integer class.
pub(super) fn integer_of(number: i128, signed: bool, bits: u32) -> Fitted {
    let (low, high) = range_of(signed, bits);
    if bits > 64 {
        return Err(Problem::Size(bits).into());
    }
    if !(low..=high).contains(&number) {
        return Err(does_not_fit(number, bits, signed));
    }
    // The number is in range, so the casts are lossless.
    Ok(if signed { FieldValue::Sint(number as i64) } else { FieldValue::Uint(number as u64) })
}

fn integer(value: FieldValue, class: &Integer, bits: u32) -> Fitted {
    match value {
        FieldValue::Auto => Ok(value),
        FieldValue::Uint(n) => integer_of(n.into(), class.signed, bits),
        FieldValue::Sint(n) => integer_of(n.into(), class.signed, bits),
        // In place of which a format may have integers only.
        FieldValue::Bool(_) | FieldValue::Bits(_) => {
            integer_of(value.number().unwrap_or(0), class.signed, bits)
        }
        other => Err(kind("an integer", &other)),
    }
}

/// Returns the members of a structure value, in order.
fn members(class: &Struct, value: FieldValue) -> Result<Vec<FieldValue>, LocatedProblem> {
    match value {
        FieldValue::Auto => Ok(vec![FieldValue::Auto; class.members.len()]),
        FieldValue::Struct(values) if values.len() == class.members.len() => Ok(values),
        FieldValue::Struct(values) => Err(count(class.members.len() as u64, values.len())),
        FieldValue::Fields(fields) => {
            let mut values = vec![FieldValue::Auto; class.members.len()];
            for (name, value) in fields {
                let index = class.members.iter().position(|m| *m.name == *name);
                let index = index.ok_or_else(|| Problem::NoMember(name.into_owned()))?;
                values[index] = value;
            }
            Ok(values)
        }
        other => Err(kind("a structure", &other)),
    }
}

fn string(class: &Str, value: FieldValue) -> Fitted {
    let value = match value {
        FieldValue::Auto => FieldValue::Str(String::new()),
        v @ (FieldValue::Str(_) | FieldValue::Bytes(_)) => v,
        other => return Err(kind("text", &other)),
    };
    let bytes = encoded(class.encoding, &value);
    match class.length {
        Some(Length::Static(n)) if n > LONGEST || bytes.len() as u64 > n => {
            Err(count(n, bytes.len()))
        }
        None => {
            let unit = class.encoding.unit_size() as usize;
            let units = bytes.chunks(unit);
            let valid = units.clone().all(|u| u.len() == unit && u.iter().any(|&b| b != 0));
            if valid { Ok(value) } else { Err(Problem::NullInText.into()) }
        }
        _ => Ok(value),
    }
}

/// Returns the bytes of a string value, without terminator or padding.
pub(super) fn encoded(encoding: Encoding, value: &FieldValue) -> Cow<'_, [u8]> {
    let text = match value {
        FieldValue::Bytes(bytes) => return Cow::Borrowed(bytes),
        FieldValue::Str(text) => text,
        _ => return Cow::Borrowed(&[]),
    };
    let utf16 = |unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect();
    let utf32 = |unit: fn(u32) -> [u8; 4]| text.chars().flat_map(|c| unit(c.into())).collect();
    Cow::Owned(match encoding {
        Encoding::Utf8 => return Cow::Borrowed(text.as_bytes()),
        Encoding::Utf16Be => utf16(u16::to_be_bytes),
        Encoding::Utf16Le => utf16(u16::to_le_bytes),
        Encoding::Utf32Be => utf32(u32::to_be_bytes),
        Encoding::Utf32Le => utf32(u32::to_le_bytes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ByteOrder::Little;

    #[test]
    fn members_by_name_and_by_order() {
        let class = FieldClass::structure([
            ("a", FieldClass::uint(8, Little)),
            ("b", FieldClass::sint(16, Little)),
        ]);
        let expected = FieldValue::structure([FieldValue::Uint(1), FieldValue::Sint(-2)]);
        let by_name = FieldValue::fields([("b", -2), ("a", 1)]);
        assert_eq!(fit(&class, by_name).unwrap(), expected);
        assert_eq!(fit(&class, FieldValue::structure([1.into(), (-2).into()])).unwrap(), expected);
        assert!(fit(&class, FieldValue::fields([("c", 1)])).is_err());
        assert!(fit(&class, FieldValue::structure([1.into()])).is_err());
        assert!(fit(&class, FieldValue::fields([("a", 256)])).is_err());
        assert!(fit(&class, FieldValue::fields([("b", 32768)])).is_err());
    }

    #[test]
    fn extremes_of_64_bits() {
        assert_eq!(range_of(false, 64), (0, u64::MAX.into()));
        assert_eq!(range_of(true, 64), (i64::MIN.into(), i64::MAX.into()));
    }

    #[test]
    fn null_terminated_text() {
        let wide = FieldClass::new(
            FieldKind::String(Str { encoding: Encoding::Utf16Le, length: None }),
            8,
        );
        assert!(fit(&wide, "aé𝄞".into()).is_ok());
        assert!(fit(&wide, "a\0".into()).is_err());
        assert!(fit(&wide, FieldValue::Bytes(vec![1, 0, 2])).is_err());
        assert_eq!(&*encoded(Encoding::Utf16Be, &"é".into()), [0, 0xe9]);
        assert_eq!(&*encoded(Encoding::Utf32Le, &"𝄞".into()), [0x1e, 0xd1, 1, 0]);
    }
}
