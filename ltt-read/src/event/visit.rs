//! Visiting all fields of an event, the fastest way to read all of them.

use std::borrow::Cow;

use crate::layout::FieldInfo;
use crate::schema::Encoding;

/// A visitor of the fields of a scope in decoding order. Nested fields are visited
/// between calls of `begin_…` and `end_…`. Every method does nothing by default.
///
/// The [`FieldInfo`] of a structure member has the member's name, that of a variant's
/// selected field has the option's name. Array elements and the contents of options have
/// no name.
///
/// ```
/// use ltt_read::schema::Scope;
/// use ltt_read::{FieldInfo, StrValue, TracefileIndex, Visitor};
///
/// /// The number of bytes in string fields.
/// #[derive(Default)]
/// struct TextBytes(usize);
///
/// impl Visitor for TextBytes {
///     fn string(&mut self, _: &FieldInfo, value: StrValue<'_>) {
///         self.0 += value.bytes.len();
///     }
/// }
///
/// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
/// let mut text = TextBytes::default();
/// let mut cursor = trace.cursor(TracefileIndex(0));
/// while let Some(event) = cursor.next()? {
///     event.visit(Scope::Payload, &mut text);
/// }
/// # assert!(text.0 > 0);
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[allow(unused_variables)] // the names of the defaults' parameters are documentation
pub trait Visitor {
    /// Visits an unsigned integer or enumeration.
    fn uint(&mut self, field: &FieldInfo, value: u64) {}
    /// Visits a signed integer or enumeration.
    fn sint(&mut self, field: &FieldInfo, value: i64) {}
    /// Visits a boolean.
    fn boolean(&mut self, field: &FieldInfo, value: bool) {}
    /// Visits a bit array or bit map, least significant bit first.
    fn bits(&mut self, field: &FieldInfo, value: u64) {}
    /// Visits a floating-point number of any recorded size.
    fn float(&mut self, field: &FieldInfo, value: f64) {}
    /// Visits a string.
    fn string(&mut self, field: &FieldInfo, value: StrValue<'_>) {}
    /// Visits a blob.
    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {}
    /// Starts a structure, whose members are visited next.
    fn begin_struct(&mut self, field: &FieldInfo) {}
    /// Ends a structure, after its members.
    fn end_struct(&mut self, field: &FieldInfo) {}
    /// Starts an array, whose `len` elements are visited next.
    fn begin_array(&mut self, field: &FieldInfo, len: u64) {}
    /// Ends an array, after its elements.
    fn end_array(&mut self, field: &FieldInfo) {}
    /// Starts a variant, whose selected option is visited next. `option` is the index of
    /// that option, from 0.
    fn begin_variant(&mut self, field: &FieldInfo, option: usize) {}
    /// Ends a variant, after its selected option.
    fn end_variant(&mut self, field: &FieldInfo) {}
    /// Starts an option, whose content is visited next if `present`.
    fn begin_option(&mut self, field: &FieldInfo, present: bool) {}
    /// Ends an option, after its content, if any.
    fn end_option(&mut self, field: &FieldInfo) {}
}

/// The text of a string field: the bytes as recorded, up to the first null code unit or
/// the end of the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StrValue<'a> {
    /// The bytes, without the terminator.
    pub bytes: &'a [u8],
    /// The encoding of the bytes.
    pub encoding: Encoding,
    /// The number of bytes of the field after these: the first null code unit and what
    /// follows it, if the field has a length. 0 for null-terminated strings.
    pub padding: u64,
}

impl<'a> StrValue<'a> {
    /// Returns the text without copying; `None` if its encoding is not UTF-8 or the bytes
    /// are not valid.
    pub fn to_str(self) -> Option<&'a str> {
        match self.encoding {
            Encoding::Utf8 => std::str::from_utf8(self.bytes).ok(),
            _ => None,
        }
    }

    /// Converts the text to UTF-8, with U+FFFD in place of invalid bytes. Copies only if
    /// necessary.
    pub fn to_str_lossy(self) -> Cow<'a, str> {
        let be = matches!(self.encoding, Encoding::Utf16Be | Encoding::Utf32Be);
        match self.encoding {
            Encoding::Utf8 => String::from_utf8_lossy(self.bytes),
            Encoding::Utf16Be | Encoding::Utf16Le => {
                let unit = |c: &[u8]| match be {
                    true => u16::from_be_bytes([c[0], c[1]]),
                    false => u16::from_le_bytes([c[0], c[1]]),
                };
                let units = self.bytes.chunks_exact(2).map(unit);
                let chars = char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}'));
                Cow::Owned(chars.collect())
            }
            Encoding::Utf32Be | Encoding::Utf32Le => {
                let unit = |c: &[u8]| match be {
                    true => u32::from_be_bytes([c[0], c[1], c[2], c[3]]),
                    false => u32::from_le_bytes([c[0], c[1], c[2], c[3]]),
                };
                let units = self.bytes.chunks_exact(4).map(unit);
                Cow::Owned(units.map(|c| char::from_u32(c).unwrap_or('\u{fffd}')).collect())
            }
        }
    }
}
