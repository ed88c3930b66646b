//! Visiting all fields of an event: the fastest way to see everything.

use std::borrow::Cow;

use crate::layout::FieldInfo;
use crate::schema::Encoding;

/// Receives the fields of a scope in decoding order, nested ones between
/// `begin_…` and `end_…`. Every method does nothing by default; implement
/// those that you need.
///
/// A structure member comes with its member name, a variant's chosen field
/// with the option's name; array elements and option contents have none.
///
/// ```
/// use ltt_read::schema::Scope;
/// use ltt_read::{FieldInfo, StrValue, Visitor};
///
/// /// How many bytes of text there are.
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
/// let mut cursor = trace.cursor(0);
/// while let Some(event) = cursor.next()? {
///     event.visit(Scope::Payload, &mut text);
/// }
/// # assert!(text.0 > 0);
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[allow(unused_variables)] // the names of the defaults' parameters are documentation
pub trait Visitor {
    /// An unsigned integer (or enumeration) field.
    fn uint(&mut self, field: &FieldInfo, value: u64) {}
    /// A signed integer (or enumeration) field.
    fn sint(&mut self, field: &FieldInfo, value: i64) {}
    /// A boolean field.
    fn boolean(&mut self, field: &FieldInfo, value: bool) {}
    /// A bit array or bit map field, least significant bit first.
    fn bits(&mut self, field: &FieldInfo, value: u64) {}
    /// A floating-point field of any size.
    fn float(&mut self, field: &FieldInfo, value: f64) {}
    /// A string field.
    fn string(&mut self, field: &FieldInfo, value: StrValue<'_>) {}
    /// A blob field.
    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {}
    /// The members of a structure follow.
    fn begin_struct(&mut self, field: &FieldInfo) {}
    /// All members of the structure have been visited.
    fn end_struct(&mut self, field: &FieldInfo) {}
    /// The `len` elements of an array follow.
    fn begin_array(&mut self, field: &FieldInfo, len: u64) {}
    /// All elements of the array have been visited.
    fn end_array(&mut self, field: &FieldInfo) {}
    /// The chosen option of a variant follows (`option` counts from 0).
    fn begin_variant(&mut self, field: &FieldInfo, option: usize) {}
    /// The variant's field has been visited.
    fn end_variant(&mut self, field: &FieldInfo) {}
    /// The content of an option field follows, if `present`.
    fn begin_option(&mut self, field: &FieldInfo, present: bool) {}
    /// The option field has been visited.
    fn end_option(&mut self, field: &FieldInfo) {}
}

/// The text of a string field: bytes as recorded, up to the null code unit or
/// the end of the field, whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StrValue<'a> {
    /// The bytes, without a terminator.
    pub bytes: &'a [u8],
    /// Their encoding.
    pub encoding: Encoding,
}

impl<'a> StrValue<'a> {
    /// The text, if it is sound UTF-8 as recorded (no copy).
    pub fn to_str(self) -> Option<&'a str> {
        match self.encoding {
            Encoding::Utf8 => std::str::from_utf8(self.bytes).ok(),
            _ => None,
        }
    }

    /// The text as UTF-8, with U+FFFD where the bytes are not sound. Copies
    /// only when it must.
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
