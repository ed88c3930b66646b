//! Integer fields: base, width, and the labels of enumerations.

use ltt_read::schema::{DisplayBase, FieldClass, FieldKind, Integer};

use super::number::{self, HexCase};
use super::text::{Short, Text};

/// An integer of a signed or an unsigned field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value {
    Unsigned(u64),
    Signed(i64),
}

impl Value {
    /// Returns the value in a type that contains both ranges.
    pub(super) fn wide(self) -> i128 {
        match self {
            Value::Unsigned(v) => v.into(),
            Value::Signed(v) => v.into(),
        }
    }

    /// Returns the bits, sign-extended to 64.
    #[inline]
    pub(super) fn raw(self) -> u64 {
        match self {
            Value::Unsigned(v) => v,
            Value::Signed(v) => v.cast_unsigned(),
        }
    }

    /// Returns the value in base 10, if it has at most eight digits and no sign.
    #[inline(always)]
    pub(super) fn short_decimal(self) -> Option<Short> {
        // As an unsigned number, a negative one is too large.
        number::short_decimal(self.raw())
    }

    /// Appends the value in base 10.
    #[inline]
    pub(super) fn decimal(self, out: &mut Text) {
        match self {
            Value::Unsigned(v) => number::decimal(out, v),
            Value::Signed(v) => number::signed(out, v),
        }
    }

    /// Appends the value in its preferred base, with a prefix: `0x…` with whole nibbles,
    /// `0…` with whole octal digits, `0b…` with all bits. Negative values are in two's
    /// complement in these bases.
    #[inline]
    pub(super) fn write(self, out: &mut Text, base: DisplayBase, bits: u32, case: HexCase) {
        match base {
            DisplayBase::Decimal => self.decimal(out),
            DisplayBase::Hexadecimal => {
                out.append(b"0x");
                number::hexadecimal(out, self.raw() & nibbles_mask(bits), case);
            }
            DisplayBase::Octal => {
                let shown = match self {
                    Value::Signed(v) => v.cast_unsigned() & low_bits(bits.next_multiple_of(3)),
                    Value::Unsigned(v) => v,
                };
                out.push(b'0');
                number::octal(out, shown);
            }
            DisplayBase::Binary => {
                out.append(b"0b");
                number::binary(out, self.raw(), bits);
            }
        }
    }
}

/// Returns a mask of `bits` ones, rounded up to whole hexadecimal digits.
pub(super) fn nibbles_mask(bits: u32) -> u64 {
    low_bits(bits.next_multiple_of(4))
}

fn low_bits(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Returns the integer properties of a class and its length in bits: for a variable-length
/// integer the greatest possible length.
#[inline]
pub(super) fn properties(class: &FieldClass) -> Option<(&Integer, u32)> {
    match &class.kind {
        FieldKind::Integer(fixed, integer) => Some((integer, fixed.bits)),
        FieldKind::VarInteger(integer) => Some((integer, 64)),
        _ => None,
    }
}

/// Iterates over the labels of an enumeration for a value, in declaration order.
pub(super) fn labels(integer: &Integer, value: Value) -> impl Iterator<Item = &str> {
    let value = value.wide();
    integer
        .mappings
        .iter()
        .flat_map(|mappings| mappings.iter())
        .filter(move |m| m.ranges.iter().any(|&(low, high)| low <= value && value <= high))
        .map(|m| &*m.label)
}

/// Returns the labels of the bits of a value, in declaration order, if the enumeration is one of
/// flags: each label stands for one bit, and each bit of the value has a label. `None` otherwise, and
/// for a value with a label of its own.
pub(super) fn flags(integer: &Integer, value: Value) -> Option<Vec<&str>> {
    let mappings = integer.mappings.as_deref()?;
    let value = u64::try_from(value.wide()).ok().filter(|value| *value != 0)?;
    let mut known = 0;
    let mut names = Vec::new();
    for mapping in mappings {
        let [(low, high)] = *mapping.ranges else { return None };
        let bit = u64::try_from(low).ok().filter(|bit| low == high && bit.is_power_of_two())?;
        known |= bit;
        if value & bit != 0 {
            names.push(&*mapping.label);
        }
    }
    (value & !known == 0 && !value.is_power_of_two()).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: Value, base: DisplayBase, bits: u32) -> String {
        let mut out = Text::default();
        value.write(&mut out, base, bits, HexCase::Upper);
        out.to_string()
    }

    #[test]
    fn negative_values_in_other_bases() {
        use DisplayBase::{Binary, Hexadecimal, Octal};
        assert_eq!(text(Value::Signed(-1), Hexadecimal, 32), "0xFFFFFFFF");
        assert_eq!(text(Value::Signed(-1), Hexadecimal, 5), "0xFF");
        assert_eq!(text(Value::Signed(-1), Hexadecimal, 62), "0xFFFFFFFFFFFFFFFF");
        assert_eq!(text(Value::Signed(-1), Octal, 8), "0777");
        assert_eq!(text(Value::Signed(-1), Octal, 64), "01777777777777777777777");
        assert_eq!(text(Value::Signed(-2), Binary, 4), "0b1110");
    }

    #[test]
    fn positive_values_in_other_bases() {
        use DisplayBase::{Binary, Decimal, Hexadecimal, Octal};
        assert_eq!(text(Value::Unsigned(0), Octal, 32), "00");
        assert_eq!(text(Value::Unsigned(0o644), Octal, 16), "0644");
        assert_eq!(text(Value::Unsigned(0xC406043), Hexadecimal, 32), "0xC406043");
        assert_eq!(text(Value::Unsigned(2), Binary, 8), "0b00000010");
        assert_eq!(text(Value::Signed(-7), Decimal, 8), "-7");
    }

    #[test]
    fn enumerations_of_single_bits_have_the_labels_of_all_bits() {
        use ltt_read::schema::Mapping;
        let of = |labels: &[(&str, i128, i128)]| {
            let mapping = |(label, low, high): &(&str, i128, i128)| Mapping {
                label: (*label).into(),
                ranges: vec![(*low, *high)],
            };
            let mappings = labels.iter().map(mapping).collect();
            Integer { mappings: Some(mappings), ..Integer::default() }
        };
        let bits = of(&[("DISCARD", 1, 1), ("WRITE", 2, 2), ("READ", 4, 4)]);
        assert_eq!(flags(&bits, Value::Unsigned(6)), Some(vec!["WRITE", "READ"]));
        // A label of its own, no bit, and bits without a label.
        for value in [0, 4, 8, 12] {
            assert_eq!(flags(&bits, Value::Unsigned(value)), None, "{value}");
        }
        assert_eq!(flags(&bits, Value::Signed(-1)), None);
        let kinds = of(&[("A", 1, 1), ("B", 2, 3)]);
        assert_eq!(flags(&kinds, Value::Unsigned(3)), None);
    }
}
