//! Encoding of fitted values to bits.

use super::bits::{BitWriter, leb128_length};
use super::error::{LocatedProblem, Problem};
use super::fit::encoded;
use super::float::{to_f16_bits, to_f128_bits};
use super::value::FieldValue;
use crate::schema::{
    BitOrder, ByteOrder, FieldClass, FieldKind, FixedLen, Length, Role, Roles, Str,
};

/// Roles whose values are known only at the end of the packet.
const LATE: [Role; 4] = [
    Role::PacketTotalLength,
    Role::PacketContentLength,
    Role::PacketEndTimestamp,
    Role::DiscardedEvents,
];
/// The bytes reserved for a variable-length integer that is known late.
const LATE_LEB128: usize = 10;

/// The position of a written integer field that has roles.
#[derive(Debug, Clone, Copy)]
pub(super) struct RoleField {
    pub(super) roles: Roles,
    pub(super) at: u64,
    size: Size,
}

#[derive(Debug, Clone, Copy)]
enum Size {
    Fixed(FixedLen),
    Leb128(usize),
}

impl RoleField {
    /// Returns the number of low clock bits that the field holds.
    pub(super) fn bits(&self) -> u32 {
        match self.size {
            Size::Fixed(f) => f.bits,
            Size::Leb128(bytes) => bytes as u32 * 7,
        }
    }

    /// Overwrites the field with another value, truncated to its size. `base` is added to
    /// the position, in bits.
    pub(super) fn overwrite(&self, w: &mut BitWriter, base: u64, value: u64) {
        match self.size {
            Size::Fixed(f) => w.overwrite(base + self.at, value, f),
            Size::Leb128(n) => w.overwrite_leb128(base + self.at, value.into(), n),
        }
    }

    /// Overwrites the field with another value, or returns an error if it does not fit.
    pub(super) fn overwrite_whole(&self, w: &mut BitWriter, value: u64) -> Result<(), Problem> {
        let bits = self.bits();
        if bits < 64 && value >> bits != 0 {
            return Err(Problem::DoesNotFit { value: value.into(), bits, signed: false });
        }
        self.overwrite(w, 0, value);
        Ok(())
    }
}

/// Appends a fitted value. Integers with roles are added to `role_fields`.
pub(super) fn encode(
    w: &mut BitWriter,
    class: &FieldClass,
    value: &FieldValue,
    role_fields: &mut Vec<RoleField>,
) -> Result<(), LocatedProblem> {
    w.align(class.align);
    match (&class.kind, value) {
        (FieldKind::Integer(f, i), v) => {
            if !i.roles.is_empty() {
                role_fields.push(RoleField {
                    roles: i.roles,
                    at: w.position(),
                    size: Size::Fixed(*f),
                });
            }
            w.put(number(v) as u64, *f)?;
        }
        (FieldKind::VarInteger(i), v) => {
            let length = match *v {
                FieldValue::Leb128 { bytes, .. } => usize::from(bytes),
                _ if LATE.into_iter().any(|r| i.roles.has(r)) => LATE_LEB128,
                _ => leb128_length(number(v), i.signed),
            };
            if !i.roles.is_empty() {
                let size = Size::Leb128(length);
                role_fields.push(RoleField { roles: i.roles, at: w.position(), size });
            }
            w.put_leb128(number(v), length);
        }
        (FieldKind::Bool(f, _) | FieldKind::BitArray(f) | FieldKind::BitMap(f, _), v) => {
            w.put(number(v) as u64, *f)?;
        }
        (FieldKind::Float(f), FieldValue::Float(x)) => float(w, *f, *x)?,
        (FieldKind::String(s), v) => string(w, s, v),
        (FieldKind::Blob(_), FieldValue::Bytes(bytes)) => w.put_bytes(bytes),
        (FieldKind::Array(a), FieldValue::Array(elements)) => {
            for (i, element) in elements.iter().enumerate() {
                encode(w, &a.element, element, role_fields).map_err(|e| e.at(i))?;
            }
        }
        (FieldKind::Struct(s), FieldValue::Struct(values)) => {
            for (member, value) in s.members.iter().zip(values) {
                encode(w, &member.class, value, role_fields).map_err(|e| e.within(&member.name))?;
            }
        }
        (FieldKind::Option(o), FieldValue::Option(content)) => {
            if let Some(content) = content {
                encode(w, &o.class, content, role_fields)?;
            }
        }
        (FieldKind::Variant(v), FieldValue::Variant { option, value }) => {
            let chosen = v.options.get(*option).ok_or(Problem::NoOption(*option))?;
            encode(w, &chosen.class, value, role_fields)?;
        }
        (_, other) => {
            let found = other.kind_name();
            return Err(Problem::Kind { expected: "a fitted value", found }.into());
        }
    }
    Ok(())
}

fn number(value: &FieldValue) -> i128 {
    value.number().unwrap_or(0)
}

/// Appends a floating-point number.
pub(super) fn float(w: &mut BitWriter, field: FixedLen, x: f64) -> Result<(), Problem> {
    match field.bits {
        16 => w.put(to_f16_bits(x).into(), field),
        32 => w.put((x as f32).to_bits().into(), field),
        64 => w.put(x.to_bits(), field),
        128 => {
            let bits = to_f128_bits(x);
            let (high, low) = ((bits >> 64) as u64, bits as u64);
            let half = FixedLen { bits: 64, ..field };
            let low_first =
                (field.byte_order == ByteOrder::Little) == (field.bit_order == BitOrder::Natural);
            let (first, second) = if low_first { (low, high) } else { (high, low) };
            w.put(first, half)?;
            w.put(second, half)
        }
        bits => Err(Problem::Size(bits)),
    }
}

fn string(w: &mut BitWriter, class: &Str, value: &FieldValue) {
    let bytes = encoded(class.encoding, value);
    w.put_bytes(&bytes);
    let padding = match class.length {
        Some(Length::Static(n)) => (n as usize).saturating_sub(bytes.len()),
        Some(Length::Dynamic(_)) => 0,
        None => class.encoding.unit_size() as usize,
    };
    w.put_bytes(&vec![0; padding]);
}

#[cfg(test)]
mod tests {
    use super::super::fit::fit;
    use super::*;
    use crate::schema::ByteOrder::{Big, Little};
    use crate::schema::{Dependency, Encoding, Integer};

    fn bytes(class: &FieldClass, value: FieldValue) -> Vec<u8> {
        let mut w = BitWriter::default();
        encode(&mut w, class, &fit(class, value).unwrap(), &mut Vec::new()).unwrap();
        w.bytes().to_vec()
    }

    #[test]
    fn members_are_aligned_from_the_start() {
        let class = FieldClass::structure([
            ("a", FieldClass::uint(8, Little)),
            ("b", FieldClass { align: 32, ..FieldClass::uint(16, Big) }),
            ("c", FieldClass::uint(3, Big)),
            ("d", FieldClass::string()),
        ]);
        let value = FieldValue::structure([1.into(), 0x0203.into(), 5.into(), "hé".into()]);
        let expected = [1, 0, 0, 0, 2, 3, 0xa0, b'h', 0xc3, 0xa9, 0];
        assert_eq!(bytes(&class, value), expected);
    }

    #[test]
    fn floats_of_all_sizes() {
        for (bits, order, expected) in [
            (16, Little, &[0x00, 0x3e][..]),
            (32, Big, &[0x3f, 0xc0, 0, 0]),
            (64, Little, &[0, 0, 0, 0, 0, 0, 0xf8, 0x3f]),
            (128, Big, &[0x3f, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (128, Little, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0xff, 0x3f]),
        ] {
            let field = FixedLen { bits, byte_order: order, bit_order: BitOrder::Natural };
            let class = FieldClass::new(FieldKind::Float(field), 8);
            assert_eq!(bytes(&class, 1.5.into()), expected);
        }
    }

    #[test]
    fn strings_end_as_their_class_says() {
        let class =
            |encoding, length| FieldClass::new(FieldKind::String(Str { encoding, length }), 8);
        let wide = class(Encoding::Utf16Be, None);
        assert_eq!(bytes(&wide, "ab".into()), [0, b'a', 0, b'b', 0, 0]);
        let fixed = class(Encoding::Utf8, Some(Length::Static(4)));
        assert_eq!(bytes(&fixed, "ab".into()), [b'a', b'b', 0, 0]);
        let dynamic = Length::Dynamic(Dependency::sibling("len"));
        assert_eq!(bytes(&class(Encoding::Utf32Be, Some(dynamic)), "a".into()), [0, 0, 0, b'a']);
    }

    #[test]
    fn late_variable_length_integers_are_padded() {
        let roles = Roles::from(Role::PacketContentLength);
        let late = FieldKind::VarInteger(Integer { roles, ..Integer::default() });
        let late = FieldClass::new(late, 8);
        let (mut w, mut role_fields) = (BitWriter::default(), Vec::new());
        encode(&mut w, &late, &FieldValue::Uint(0), &mut role_fields).unwrap();
        role_fields[0].overwrite_whole(&mut w, 300).unwrap();
        assert_eq!(w.bytes(), [0xac, 0x82, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0]);
    }
}
