//! Values that the writer fills in by role, and the clock value that a reader keeps.

use super::bits::leb128_length;
use super::value::FieldValue;
use crate::base::uuid::Uuid;
use crate::schema::{FieldClass, FieldKind, Role, Roles, StreamClass};

/// The magic number of packet headers.
pub(super) const PACKET_MAGIC: u64 = 0xC1FC_1FC1;

/// Returns the clock value after an update from a field of `bits` bits, as a reader
/// computes it: the least value not before `before` that ends in these bits.
pub(super) fn clock_after(before: u64, bits: u32, low: u64) -> u64 {
    if bits >= 64 {
        return low;
    }
    let mask = (1 << bits) - 1;
    let same_epoch = before & !mask | low & mask;
    if same_epoch < before { same_epoch.wrapping_add(mask + 1) } else { same_epoch }
}

/// Calls a function for every integer field with roles, in decoding order. The function
/// gets the length in bits, or `None` if it is variable. Of variants and options, only
/// the content of the value is visited.
pub(super) fn for_each_role(
    class: &FieldClass,
    value: &mut FieldValue,
    each: &mut impl FnMut(Roles, Option<u32>, &mut FieldValue),
) {
    match (&class.kind, value) {
        (FieldKind::Integer(f, i), v) if !i.roles.is_empty() => each(i.roles, Some(f.bits), v),
        (FieldKind::VarInteger(i), v) if !i.roles.is_empty() => each(i.roles, None, v),
        (FieldKind::Struct(s), FieldValue::Struct(values)) => {
            for (member, value) in s.members.iter().zip(values) {
                for_each_role(&member.class, value, each);
            }
        }
        (FieldKind::Array(a), FieldValue::Array(elements)) => {
            for element in elements {
                for_each_role(&a.element, element, each);
            }
        }
        (FieldKind::Option(o), FieldValue::Option(Some(content))) => {
            for_each_role(&o.class, content, each);
        }
        (FieldKind::Variant(v), FieldValue::Variant { option, value }) => {
            if let Some(chosen) = v.options.get(*option) {
                for_each_role(&chosen.class, value, each);
            }
        }
        _ => {}
    }
}

/// Sets an automatic timestamp to the low bits of a clock value. A field of variable
/// length gets as many bytes as a reader needs to decode the clock value.
pub(super) fn fill_timestamp(
    clock: u64,
    timestamp: u64,
    bits: Option<u32>,
    value: &mut FieldValue,
) {
    let low_bits =
        |bits: u32| if bits >= 64 { timestamp } else { timestamp & ((1u64 << bits) - 1) };
    if *value != FieldValue::Auto {
        return;
    }
    *value = match bits {
        Some(bits) => FieldValue::Uint(low_bits(bits)),
        None => {
            let decodes = |&n: &u32| clock_after(clock, n * 7, low_bits(n * 7)) == timestamp;
            let bytes = (1..10).find(decodes).unwrap_or(10);
            FieldValue::Leb128 { value: low_bits(bytes * 7), bytes: bytes as u8 }
        }
    };
}

/// Returns the clock value after a timestamp field.
pub(super) fn clock_after_field(clock: u64, bits: Option<u32>, value: &FieldValue) -> u64 {
    let number = value.number().unwrap_or(0);
    let bits = bits.unwrap_or_else(|| match value {
        FieldValue::Leb128 { bytes, .. } => u32::from(*bytes) * 7,
        _ => leb128_length(number, false) as u32 * 7,
    });
    clock_after(clock, bits, number as u64)
}

/// Sets the members of a packet header with the UUID role to the UUID, if their values
/// are automatic or zero.
pub(super) fn fill_uuid(class: &FieldClass, value: &mut FieldValue, uuid: Uuid) {
    let (FieldValue::Struct(values), members) = (value, class.members()) else { return };
    for (member, value) in members.iter().zip(values) {
        match (&member.class.kind, &mut *value) {
            (FieldKind::Blob(b), FieldValue::Bytes(bytes))
                if b.roles.has(Role::Uuid) && bytes.iter().all(|&byte| byte == 0) =>
            {
                *bytes = uuid.0.to_vec();
            }
            (FieldKind::Array(a), FieldValue::Array(elements)) if a.roles.has(Role::Uuid) => {
                for (element, byte) in elements.iter_mut().zip(uuid.0) {
                    if *element == FieldValue::Auto {
                        *element = FieldValue::Uint(byte.into());
                    }
                }
            }
            (FieldKind::Struct(_), value) => fill_uuid(&member.class, value, uuid),
            _ => {}
        }
    }
}

/// Returns `true` if an integer field of a class has this role.
pub(super) fn has_role(class: Option<&FieldClass>, role: Role) -> bool {
    class.is_some_and(|class| match &class.kind {
        FieldKind::Integer(_, i) | FieldKind::VarInteger(i) => i.roles.has(role),
        FieldKind::Struct(s) => s.members.iter().any(|m| has_role(Some(&m.class), role)),
        FieldKind::Array(a) => has_role(Some(&a.element), role),
        FieldKind::Option(o) => has_role(Some(&o.class), role),
        FieldKind::Variant(v) => v.options.iter().any(|o| has_role(Some(&o.class), role)),
        _ => false,
    })
}

/// The packet lengths that the packet context of a stream class declares.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths {
    pub(super) total: bool,
    pub(super) content: bool,
}

impl Lengths {
    pub(super) fn of(stream: &StreamClass) -> Self {
        let context = stream.packet_context.as_deref();
        Lengths {
            total: has_role(context, Role::PacketTotalLength),
            content: has_role(context, Role::PacketContentLength),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_wraps_at_most_once() {
        assert_eq!(clock_after(1000, 7, 5), 1029);
        assert_eq!(clock_after(1029, 7, 6), 1030);
        assert_eq!(clock_after(1030, 14, 16383), 16383);
        assert_eq!(clock_after(16383, 7, 1), 16385);
        assert_eq!(clock_after(5, 64, 3), 3);
        assert_eq!(clock_after(0x1_0000_0000, 32, 0), 0x1_0000_0000);
        assert_eq!(clock_after(u64::MAX, 8, 0), 0);
    }
}
