//! Properties of scalar field classes.

use std::sync::Arc;

use super::json::{IntKind, Node, Object, Result};
use crate::schema::{
    BitOrder, Blob, ByteOrder, DisplayBase, Encoding, FixedLen, Flag, Integer, Length, Mapping,
    RangeSet, Roles, Str,
};

/// Reads the size and orders of a fixed-length class of up to `most` bits.
pub(super) fn fixed(object: &Object<'_>, most: u32) -> Result<FixedLen> {
    let byte_order = object.read_required("byte-order", |n| {
        n.word(&[("little-endian", ByteOrder::Little), ("big-endian", ByteOrder::Big)])
    })?;
    let bits = object.read_required("length", |n| match u32::try_from(n.uint()?) {
        Ok(bits @ 1..) if bits <= most => Ok(bits),
        _ => Err(n.unexpected(&format!("1 to {most} bits (longer ones are not supported)"))),
    })?;
    // The natural bit order of little-endian fields starts with the least significant
    // bit.
    let natural = match byte_order {
        ByteOrder::Little => "first-to-last",
        ByteOrder::Big => "last-to-first",
    };
    let bit_order = object.read("bit-order", |n| {
        n.word(&[("first-to-last", "first-to-last"), ("last-to-first", "last-to-first")])
    })?;
    let bit_order = match bit_order {
        Some(order) if order != natural => BitOrder::Reversed,
        _ => BitOrder::Natural,
    };
    Ok(FixedLen { bits, byte_order, bit_order })
}

/// Reads the display base and mappings of an integer class.
pub(super) fn integer(object: &Object<'_>, signed: bool, roles: Roles) -> Result<Integer> {
    let base = object.read("preferred-display-base", |n| match n.uint()? {
        2 => Ok(DisplayBase::Binary),
        8 => Ok(DisplayBase::Octal),
        10 => Ok(DisplayBase::Decimal),
        16 => Ok(DisplayBase::Hexadecimal),
        _ => Err(n.unexpected("2, 8, 10 or 16")),
    })?;
    let kind = if signed { IntKind::Signed } else { IntKind::Unsigned };
    let mappings = object.read("mappings", |n| {
        let mapping = |label: &str, ranges| Mapping { label: label.into(), ranges };
        named_ranges(n, kind, "mapping", mapping)
    })?;
    Ok(Integer { signed, base: base.unwrap_or_default(), mappings, roles, slot: None })
}

/// Reads the flags of a bit map. There has to be at least one.
pub(super) fn flags(node: Node<'_>) -> Result<Arc<[Flag]>> {
    let flag = |name: &str, ranges| Flag { name: name.into(), ranges };
    let flags = named_ranges(node, IntKind::Unsigned, "flag", flag)?;
    match flags.is_empty() {
        true => Err(node.error("expected at least one flag")),
        false => Ok(flags),
    }
}

fn named_ranges<T>(
    node: Node<'_>,
    kind: IntKind,
    what: &str,
    make: impl Fn(&str, RangeSet) -> T,
) -> Result<Arc<[T]>> {
    let entries = node.entries()?;
    let mut list = Vec::with_capacity(entries.size_hint().0);
    for entry in entries {
        let ranges = ranges(entry.value, kind)
            .map_err(|d| d.within(entry.name_span, format!("in {what} `{}`", entry.name)))?;
        list.push(make(entry.name, ranges));
    }
    Ok(list.into())
}

/// Reads a set of at least one integer range.
pub(super) fn ranges(node: Node<'_>, kind: IntKind) -> Result<RangeSet> {
    let array = node.array()?;
    if array.len() == 0 {
        return Err(node.error("expected at least one range"));
    }
    array.iter().map(|n| range(n, kind)).collect()
}

fn range(node: Node<'_>, kind: IntKind) -> Result<(i128, i128)> {
    let mut bounds = node.array()?.iter();
    let (Some(low), Some(high), None) = (bounds.next(), bounds.next(), bounds.next()) else {
        return Err(node.error("a range is an array of two integers: lower and upper bound"));
    };
    match (low.int(kind)?, high.int(kind)?) {
        (low, high) if low <= high => Ok((low, high)),
        (low, high) => Err(node.error(format!("{low} is greater than {high}"))),
    }
}

/// Reads a string class of a given length.
pub(super) fn text(object: &Object<'_>, length: Option<Length>) -> Result<Str> {
    const ENCODINGS: &[(&str, Encoding)] = &[
        ("utf-8", Encoding::Utf8),
        ("utf-16be", Encoding::Utf16Be),
        ("utf-16le", Encoding::Utf16Le),
        ("utf-32be", Encoding::Utf32Be),
        ("utf-32le", Encoding::Utf32Le),
    ];
    let encoding = object.read("encoding", |n| n.word(ENCODINGS))?.unwrap_or_default();
    Ok(Str { encoding, length })
}

/// Reads a BLOB class of a given length, without roles.
pub(super) fn blob(object: &Object<'_>, length: Length) -> Result<Blob> {
    let media_type = object.read("media-type", Node::str)?.map(Into::into);
    Ok(Blob { length, media_type, roles: Roles::NONE })
}
