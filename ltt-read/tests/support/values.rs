//! Random values for field classes.

use ltt_read::schema::{FieldClass, FieldKind, Integer, Length};
use ltt_read::writer::Value;
use proptest::prelude::*;

/// Any value of a class, in the form in which a reader would give it. Length
/// and selector fields are left automatic.
pub(crate) fn value_of(class: &FieldClass) -> BoxedStrategy<Value> {
    match &class.kind {
        FieldKind::Integer(f, i) => integer(i, f.bits),
        FieldKind::VarInteger(i) => integer(i, 64),
        FieldKind::Bool(..) => any::<bool>().prop_map(Value::Bool).boxed(),
        FieldKind::BitArray(f) | FieldKind::BitMap(f, _) => {
            let mask = u64::MAX >> (64 - f.bits);
            any::<u64>().prop_map(move |n| Value::Bits(n & mask)).boxed()
        }
        FieldKind::Float(f) => match f.bits {
            16 => (-2048..=2048i16).prop_map(|n| Value::Float(f64::from(n) / 4.0)).boxed(),
            32 => finite32().prop_map(Value::from).boxed(),
            _ => finite64().prop_map(Value::Float).boxed(),
        },
        FieldKind::String(s) => {
            let room = match s.length {
                // Room for characters of any size.
                Some(Length::Static(n)) => n as usize / 4,
                Some(Length::Dynamic(_)) => 3,
                None => 12,
            };
            text(room).prop_map(Value::Str).boxed()
        }
        FieldKind::Blob(b) => {
            let size = match b.length {
                Length::Static(n) => n as usize..=n as usize,
                Length::Dynamic(_) => 0..=15,
            };
            prop::collection::vec(any::<u8>(), size).prop_map(Value::Bytes).boxed()
        }
        FieldKind::Array(a) => {
            let size = match a.length {
                Length::Static(n) => n as usize..=n as usize,
                Length::Dynamic(_) => 0..=5,
            };
            prop::collection::vec(value_of(&a.element), size).prop_map(Value::Array).boxed()
        }
        FieldKind::Struct(s) => {
            let members = s.members.iter().map(|m| match m.name.contains("_of") {
                true => Just(Value::Auto).boxed(),
                false => value_of(&m.class),
            });
            members.collect::<Vec<_>>().prop_map(Value::Struct).boxed()
        }
        FieldKind::Option(o) => {
            let present = value_of(&o.class).prop_map(Value::present);
            prop_oneof![Just(Value::absent()), present].boxed()
        }
        FieldKind::Variant(v) => {
            let options = v.options.iter().enumerate().map(|(i, option)| {
                value_of(&option.class).prop_map(move |v| Value::variant(i, v)).boxed()
            });
            proptest::strategy::Union::new(options).boxed()
        }
        other => unreachable!("no values for {other:?}"),
    }
}

/// Numbers of all magnitudes, with the extremes among them.
fn integer(class: &Integer, bits: u32) -> BoxedStrategy<Value> {
    let numbers = prop_oneof![
        (any::<u64>(), 0..64u32).prop_map(|(n, shift)| n >> shift),
        Just(0),
        Just(u64::MAX),
        Just(1 << 63),
        Just(i64::MAX as u64),
    ];
    let signed = class.signed;
    let fit = move |n: u64| match signed {
        false => Value::Uint(n & (u64::MAX >> (64 - bits))),
        // Sign-extended from the top bit of the field.
        true => Value::Sint((n << (64 - bits)) as i64 >> (64 - bits)),
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

/// Text without null characters that has room in so many times four bytes.
fn text(room: usize) -> impl Strategy<Value = String> {
    let char = prop_oneof![
        4 => prop::char::range('\u{1}', '~'),
        1 => prop::char::range('à', 'ÿ'),
        1 => Just('€'),
        1 => Just('𝄞'),
    ];
    prop::collection::vec(char, 0..=room).prop_map(|chars| chars.into_iter().collect())
}

/// Whether a value that was read is the one that was written. Automatic ones
/// are equal to all: what depends on them is compared. Floating-point numbers
/// are compared by their bits.
pub(crate) fn same(written: &Value, read: &Value) -> bool {
    match (written, read) {
        (Value::Auto, _) => true,
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Value::Struct(a), Value::Struct(b)) | (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Option(Some(a)), Value::Option(Some(b))) => same(a, b),
        (Value::Variant { option: i, value: a }, Value::Variant { option: j, value: b }) => {
            i == j && same(a, b)
        }
        (a, b) => a == b,
    }
}
