//! The compact text of values: `{ a: 1, b: "text", c: [1, 2] }`.

use std::fmt::{self, Display, Formatter, Write};

/// Writes a structure with its members.
pub(crate) fn structure<'n>(
    f: &mut Formatter<'_>,
    members: impl Iterator<Item = (&'n str, impl Display)>,
) -> fmt::Result {
    let (mut separator, mut end) = ("{ ", "{}");
    for (name, value) in members {
        f.write_str(separator)?;
        name.chars().try_for_each(|c| escaped(f, c))?;
        write!(f, ": {value}")?;
        (separator, end) = (", ", " }");
    }
    f.write_str(end)
}

/// Writes an array with its elements.
pub(crate) fn array(
    f: &mut Formatter<'_>,
    elements: impl Iterator<Item = impl Display>,
) -> fmt::Result {
    f.write_str("[")?;
    for (index, element) in elements.enumerate() {
        f.write_str(if index > 0 { ", " } else { "" })?;
        write!(f, "{element}")?;
    }
    f.write_str("]")
}

/// Writes a text in quotation marks.
pub(crate) fn text(f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_str("\"")?;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            f.write_str(if matches!(c, '"' | '\\') { "\\" } else { "" })?;
            escaped(f, c)?;
        }
        chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
    }
    f.write_str("\"")
}

/// Writes bytes as hexadecimal digits.
pub(crate) fn blob(f: &mut Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    f.write_str("hex\"")?;
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
    f.write_str("\"")
}

/// Writes a character, escaped if it is a control character or a control of
/// bidirectional text, which could change the rest of a line on a terminal.
fn escaped(f: &mut Formatter<'_>, c: char) -> fmt::Result {
    let is_bidi = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    match c {
        '\n' => f.write_str("\\n"),
        '\r' => f.write_str("\\r"),
        '\t' => f.write_str("\\t"),
        _ if !c.is_control() && !is_bidi => f.write_char(c),
        _ if c.is_ascii() => write!(f, "\\x{:02x}", u32::from(c)),
        _ => write!(f, "\\u{{{:x}}}", u32::from(c)),
    }
}
