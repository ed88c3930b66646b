//! Random values for field classes.

use std::ops::RangeInclusive;

use ltt_read::schema::{FieldClass, FieldKind, Integer, Length};
use ltt_read::writer::FieldValue;
use proptest::prelude::*;

use super::keys::Keys;

/// Generates values of a class, in the form that a reader returns. Length and selector
/// fields are left automatic, except for keys.
pub(crate) fn value_of(class: &FieldClass, keys: &Keys) -> BoxedStrategy<FieldValue> {
    match &class.kind {
        FieldKind::Integer(f, i) => integer(i, f.bits),
        FieldKind::VarInteger(i) => integer(i, 64),
        FieldKind::Bool(..) => any::<bool>().prop_map(FieldValue::Bool).boxed(),
        FieldKind::BitArray(f) | FieldKind::BitMap(f, _) => {
            let mask = u64::MAX >> (64 - f.bits);
            any::<u64>().prop_map(move |n| FieldValue::Bits(n & mask)).boxed()
        }
        FieldKind::Float(f) => match f.bits {
            16 => (-2048..=2048i16).prop_map(|n| FieldValue::Float(f64::from(n) / 4.0)).boxed(),
            32 => finite32().prop_map(FieldValue::from).boxed(),
            _ => finite64().prop_map(FieldValue::Float).boxed(),
        },
        FieldKind::String(s) => {
            if let Some(len) = s.length.as_ref().and_then(|l| keys.length(l)) {
                let ascii = prop::collection::vec(prop::char::range('a', 'z'), len as usize);
                return ascii
                    .prop_map(|chars| FieldValue::Str(chars.into_iter().collect()))
                    .boxed();
            }
            let room = match s.length {
                // There is space for characters of any size.
                Some(Length::Static(n)) => n as usize / 4,
                Some(Length::Dynamic(_)) => 3,
                None => 12,
            };
            text(room).prop_map(FieldValue::Str).boxed()
        }
        FieldKind::Blob(b) => {
            let size = size(&b.length, keys, 15);
            prop::collection::vec(any::<u8>(), size).prop_map(FieldValue::Bytes).boxed()
        }
        FieldKind::Array(a) => {
            let size = size(&a.length, keys, 5);
            prop::collection::vec(value_of(&a.element, keys), size)
                .prop_map(FieldValue::Array)
                .boxed()
        }
        FieldKind::Struct(s) => {
            let members = s.members.iter().map(|m| match keys.value(&m.name) {
                Some(key) => Just(key).boxed(),
                None if m.name.contains("_of") => Just(FieldValue::Auto).boxed(),
                None => value_of(&m.class, keys),
            });
            members.collect::<Vec<_>>().prop_map(FieldValue::Struct).boxed()
        }
        FieldKind::Option(o) => {
            let present = value_of(&o.class, keys).prop_map(FieldValue::present);
            match keys.option(&o.selector) {
                Some(1) => present.boxed(),
                Some(_) => Just(FieldValue::absent()).boxed(),
                None => prop_oneof![Just(FieldValue::absent()), present].boxed(),
            }
        }
        FieldKind::Variant(v) => {
            let option = |i: usize| {
                let content = value_of(&v.options[i].class, keys);
                content.prop_map(move |v| FieldValue::variant(i, v)).boxed()
            };
            match keys.option(&v.selector) {
                Some(i) => option(i),
                None => proptest::strategy::Union::new((0..v.options.len()).map(option)).boxed(),
            }
        }
        other => unreachable!("no values for {other:?}"),
    }
}

fn size(length: &Length, keys: &Keys, most: usize) -> RangeInclusive<usize> {
    match (length, keys.length(length)) {
        (Length::Static(n), _) => *n as usize..=*n as usize,
        (_, Some(n)) => n as usize..=n as usize,
        _ => 0..=most,
    }
}

/// Generates numbers of all magnitudes, including the extremes.
fn integer(class: &Integer, bits: u32) -> BoxedStrategy<FieldValue> {
    let numbers = prop_oneof![
        (any::<u64>(), 0..64u32).prop_map(|(n, shift)| n >> shift),
        Just(0),
        Just(u64::MAX),
        Just(1 << 63),
        Just(i64::MAX as u64),
    ];
    let signed = class.signed;
    let fit = move |n: u64| match signed {
        false => FieldValue::Uint(n & (u64::MAX >> (64 - bits))),
        // Sign-extends from the highest bit of the field.
        true => FieldValue::Sint((n << (64 - bits)) as i64 >> (64 - bits)),
    };
    numbers.prop_map(fit).boxed()
}

fn finite32() -> impl Strategy<Value = f32> {
    use prop::num::f32::*;
    POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO | INFINITE
}

fn finite64() -> impl Strategy<Value = f64> {
    use prop::num::f64::*;
    POSITIVE | NEGATIVE | NORMAL | SUBNORMAL | ZERO | INFINITE
}

/// Generates a text without null characters that fits in four times as many bytes.
fn text(room: usize) -> impl Strategy<Value = String> {
    let char = prop_oneof![
        4 => prop::char::range('\u{1}', '~'),
        1 => prop::char::range('à', 'ÿ'),
        1 => Just('€'),
        1 => Just('𝄞'),
    ];
    prop::collection::vec(char, 0..=room).prop_map(|chars| chars.into_iter().collect())
}

/// Returns `true` if a value that was read is the one that was written. Automatic ones
/// equal all values, because the fields that depend on them are compared. Floating-point
/// numbers are compared by their bits.
pub(crate) fn same(written: &FieldValue, read: &FieldValue) -> bool {
    match (written, read) {
        (FieldValue::Auto, _) => true,
        (FieldValue::Float(a), FieldValue::Float(b)) => a.to_bits() == b.to_bits(),
        (FieldValue::Struct(a), FieldValue::Struct(b))
        | (FieldValue::Array(a), FieldValue::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (FieldValue::Option(Some(a)), FieldValue::Option(Some(b))) => same(a, b),
        (
            FieldValue::Variant { option: i, value: a },
            FieldValue::Variant { option: j, value: b },
        ) => i == j && same(a, b),
        (a, b) => a == b,
    }
}
