//! Integer fields: base, width, and the labels of enumerations.

use ltt_read::schema::{DisplayBase, FieldClass, FieldKind, Integer};

use crate::text::number::{self, HexCase};
use crate::text::{Short, Text};

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
}
