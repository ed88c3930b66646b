//! Replacement in values that are not encoded yet: those of headers, and of records that the
//! program makes itself.

use std::borrow::Cow;

use ltt_read::schema::{Encoding, FieldClass, FieldKind};
use ltt_read::writer::FieldValue;

use super::{ADDRESSES, Kind, Known, is_of_bytes};

/// Returns an ASCII text in the code units of an encoding.
pub(super) fn encoded(text: &str, encoding: Encoding) -> Cow<'_, [u8]> {
    let unit = match encoding.unit_size() as usize {
        1 => return Cow::Borrowed(text.as_bytes()),
        unit => unit,
    };
    let is_big = matches!(encoding, Encoding::Utf16Be | Encoding::Utf32Be);
    let place = if is_big { unit - 1 } else { 0 };
    let mut wide = vec![0; text.len() * unit];
    for (unit, byte) in wide.chunks_exact_mut(unit).zip(text.bytes()) {
        unit[place] = byte;
    }
    Cow::Owned(wide)
}

/// Replaces the texts, addresses and bytes in a value of a class. `field` is the name of the field,
/// or of the array or option that it is in.
pub(super) fn replace(
    known: &mut Known<'_>,
    field: &str,
    class: &FieldClass,
    value: &mut FieldValue,
) {
    match (&class.kind, &mut *value) {
        (FieldKind::String(_), FieldValue::Str(text)) if !text.is_empty() => {
            *text = known.text(Kind::of_text(field), text.as_bytes()).to_owned();
        }
        (FieldKind::String(string), FieldValue::Bytes(bytes)) => {
            let unit = string.encoding.unit_size() as usize;
            let units = bytes.chunks(unit).take_while(|unit| unit.iter().any(|byte| *byte != 0));
            let length = units.map(<[u8]>::len).sum();
            let text = match length {
                0 => Cow::default(),
                _ => encoded(known.text(Kind::of_text(field), &bytes[..length]), string.encoding),
            };
            let mut replaced = text.into_owned();
            // The size of a text that has one stays.
            if string.length.is_some() {
                replaced.resize(bytes.len(), 0);
            }
            *bytes = replaced;
        }
        (FieldKind::Blob(_), FieldValue::Bytes(bytes)) => bytes.fill(0),
        (FieldKind::Integer(..) | FieldKind::VarInteger(_), FieldValue::Uint(number))
            if ADDRESSES.contains(&field) =>
        {
            *number = known.integer(*number);
        }
        (FieldKind::Integer(..) | FieldKind::VarInteger(_), FieldValue::Sint(number))
            if ADDRESSES.contains(&field) =>
        {
            *number = known.integer(*number as u64) as i64;
        }
        (FieldKind::Array(_), FieldValue::Array(elements)) if ADDRESSES.contains(&field) => {
            let number = |element: &FieldValue| match element {
                FieldValue::Uint(number) => *number,
                FieldValue::Sint(number) => *number as u64,
                _ => 0,
            };
            let parts: Vec<u64> = elements.iter().map(number).collect();
            *elements = known.parts(&parts).into_iter().map(FieldValue::Uint).collect();
        }
        (FieldKind::Array(array), FieldValue::Array(elements)) => {
            for element in elements {
                match is_of_bytes(&array.element) {
                    true => *element = FieldValue::Uint(0),
                    false => replace(known, field, &array.element, element),
                }
            }
        }
        (FieldKind::Struct(of), FieldValue::Struct(values)) => {
            for (member, value) in of.members.iter().zip(values) {
                replace(known, &member.name, &member.class, value);
            }
        }
        (FieldKind::Struct(of), FieldValue::Fields(values)) => {
            for (name, value) in values {
                if let Some(member) = of.members.iter().find(|member| *member.name == **name) {
                    replace(known, name, &member.class, value);
                }
            }
        }
        (FieldKind::Option(option), FieldValue::Option(Some(content))) => {
            replace(known, field, &option.class, content);
        }
        (FieldKind::Variant(variant), FieldValue::Variant { option, value }) => {
            if let Some(chosen) = variant.options.get(*option) {
                replace(known, field, &chosen.class, value);
            }
        }
        _ => {}
    }
}
