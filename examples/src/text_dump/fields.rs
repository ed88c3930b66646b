//! Field trees as text, in the two dialects that print `name = value`.

use ltt_read::layout::FieldInfo;
use ltt_read::schema::{Encoding, FieldKind, Integer};
use ltt_read::{StrValue, Visitor};

use super::integer::{self, Value};
use super::nesting::{Around, Nesting};
use super::number::{self, HexCase};
use super::palette::Palette;
use super::{float, quote};

/// How enumeration values are spelt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnumStyle {
    /// `( "LABEL" : container = 4 )`, several labels in braces by alphabet.
    Container,
    /// `4 [LABEL]`
    Bracketed,
}

/// A dialect of `name = value`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    /// Show names of members.
    pub(super) names: bool,
    /// Show indices of array elements (if names are shown).
    pub(super) indices: bool,
    /// Leave out what the reader itself takes from packet contexts: sizes,
    /// times, counters.
    pub(super) hide_roles: bool,
    /// The root structure's members continue a list: each comes after a
    /// comma, without braces around them.
    pub(super) columns: bool,
    pub(super) hex: HexCase,
    pub(super) enums: EnumStyle,
    pub(super) palette: Option<Palette>,
}

/// Whether a field of a packet context is not for the user to see.
pub(super) fn is_internal(kind: &FieldKind) -> bool {
    match kind {
        FieldKind::Integer(_, i) | FieldKind::VarInteger(i) => {
            !i.roles.is_empty() && i.slot.is_none()
        }
        FieldKind::Struct(s) => {
            !s.members.is_empty() && s.members.iter().all(|m| is_internal(&m.class.kind))
        }
        _ => false,
    }
}

/// Appends one scope to a buffer.
pub(super) struct Fields<'a> {
    out: &'a mut Vec<u8>,
    nesting: &'a mut Nesting,
    style: &'a Style,
}

impl<'a> Fields<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, nesting: &'a mut Nesting, style: &'a Style) -> Self {
        Fields { out, nesting, style }
    }

    /// What comes before a value: separator and name.
    #[inline]
    fn lead(&mut self, field: &FieldInfo) {
        match self.nesting.next() {
            (Around::Struct, index) => {
                self.separate(index);
                if self.style.names {
                    self.name(field.name().unwrap_or_default());
                }
            }
            (Around::Array, index) => {
                self.separate(index);
                if self.style.names && self.style.indices {
                    self.out.push(b'[');
                    number::decimal(self.out, index);
                    self.out.extend_from_slice(b"] = ");
                }
            }
            (Around::Columns, _) => {
                self.out.extend_from_slice(b", ");
                self.name(field.name().unwrap_or_default());
            }
            (Around::Scope | Around::Wrapper | Around::Absent, _) => {}
        }
    }

    #[inline]
    fn separate(&mut self, index: u64) {
        self.out.extend_from_slice(if index == 0 { b" " } else { b", " });
    }

    #[inline]
    fn name(&mut self, name: &str) {
        match &self.style.palette {
            None => self.out.extend_from_slice(name.as_bytes()),
            Some(p) => {
                for part in [p.field_name, name, p.reset] {
                    self.out.extend_from_slice(part.as_bytes());
                }
            }
        }
        self.out.extend_from_slice(b" = ");
    }

    /// A leaf between the codes of its colour.
    #[inline]
    fn colored(&mut self, code: fn(&Palette) -> &'static str, write: impl FnOnce(&mut Vec<u8>)) {
        match &self.style.palette {
            None => write(self.out),
            Some(p) => {
                self.out.extend_from_slice(code(p).as_bytes());
                write(self.out);
                self.out.extend_from_slice(p.reset.as_bytes());
            }
        }
    }

    #[inline]
    fn integer(&mut self, field: &FieldInfo, value: Value) {
        let Some((integer, bits)) = integer::properties(field.class()) else { return };
        if self.style.hide_roles && is_internal(&field.class().kind) {
            return;
        }
        self.lead(field);
        match (integer.mappings.is_some(), self.style.enums) {
            (false, _) => self.number(value, integer, bits),
            (true, EnumStyle::Container) => self.container(value, integer, bits),
            (true, EnumStyle::Bracketed) => self.bracketed(value, integer, bits),
        }
    }

    #[inline]
    fn number(&mut self, value: Value, integer: &Integer, bits: u32) {
        let hex = self.style.hex;
        self.colored(|p| p.value, |out| value.write(out, integer.base, bits, hex));
    }

    fn container(&mut self, value: Value, integer: &Integer, bits: u32) {
        self.out.extend_from_slice(b"( ");
        let mut labels = integer::labels(integer, value);
        match (labels.next(), labels.next()) {
            (None, _) => self.colored(|p| p.unknown, |o| o.extend_from_slice(b"<unknown>")),
            (Some(one), None) => self.label(one),
            (Some(one), Some(two)) => {
                let mut all: Vec<_> = [one, two].into_iter().chain(labels).collect();
                all.sort_unstable();
                all.dedup();
                let braces = all.len() > 1;
                self.out.extend_from_slice(if braces { b"{ " } else { b"" });
                for (i, label) in all.into_iter().enumerate() {
                    self.out.extend_from_slice(if i > 0 { b", " } else { b"" });
                    self.label(label);
                }
                self.out.extend_from_slice(if braces { b" }" } else { b"" });
            }
        }
        self.out.extend_from_slice(b" : container = ");
        self.number(value, integer, bits);
        self.out.extend_from_slice(b" )");
    }

    fn label(&mut self, label: &str) {
        self.colored(|p| p.value, |out| quote::quoted(out, label.as_bytes()));
    }

    fn bracketed(&mut self, value: Value, integer: &Integer, bits: u32) {
        self.number(value, integer, bits);
        for (i, label) in integer::labels(integer, value).enumerate() {
            self.out.extend_from_slice(if i == 0 { b" [" } else { b", " });
            self.out.extend_from_slice(label.as_bytes());
        }
        if integer::labels(integer, value).next().is_some() {
            self.out.push(b']');
        }
    }

    fn close(&mut self, end: &[u8]) {
        self.nesting.leave();
        self.out.extend_from_slice(end);
    }
}

impl Visitor for Fields<'_> {
    #[inline]
    fn uint(&mut self, field: &FieldInfo, value: u64) {
        self.integer(field, Value::Unsigned(value));
    }

    #[inline]
    fn sint(&mut self, field: &FieldInfo, value: i64) {
        self.integer(field, Value::Signed(value));
    }

    fn boolean(&mut self, field: &FieldInfo, value: bool) {
        self.lead(field);
        let text: &[u8] = if value { b"true" } else { b"false" };
        self.colored(|p| p.value, |out| out.extend_from_slice(text));
    }

    fn bits(&mut self, field: &FieldInfo, value: u64) {
        self.lead(field);
        let hex = self.style.hex;
        self.colored(
            |p| p.value,
            |out| {
                out.extend_from_slice(b"0x");
                number::hexadecimal(out, value, hex);
            },
        );
    }

    fn float(&mut self, field: &FieldInfo, value: f64) {
        self.lead(field);
        self.colored(|p| p.value, |out| float::general(out, value));
    }

    fn string(&mut self, field: &FieldInfo, value: StrValue<'_>) {
        self.lead(field);
        self.colored(
            |p| p.value,
            |out| match value.encoding {
                Encoding::Utf8 => quote::quoted(out, value.bytes),
                _ => quote::quoted(out, value.to_str_lossy().as_bytes()),
            },
        );
    }

    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {
        self.lead(field);
        self.out.push(b'{');
        for &byte in value {
            self.out.push(b' ');
            self.colored(|p| p.value, |out| quote::byte_hex(out, byte));
        }
        self.out.extend_from_slice(b" }");
    }

    #[inline]
    fn begin_struct(&mut self, field: &FieldInfo) {
        if self.style.columns && self.nesting.is_root() {
            self.nesting.next();
            self.nesting.enter(Around::Columns);
            return;
        }
        if self.style.hide_roles && !self.nesting.is_root() && is_internal(&field.class().kind) {
            // Its members are all left out: nothing marks where they were.
            self.nesting.enter(Around::Absent);
            return;
        }
        self.lead(field);
        self.out.push(b'{');
        self.nesting.enter(Around::Struct);
    }

    #[inline]
    fn end_struct(&mut self, _field: &FieldInfo) {
        if let (Around::Struct, _) = self.nesting.leave() {
            self.out.extend_from_slice(b" }");
        }
    }

    fn begin_array(&mut self, field: &FieldInfo, _len: u64) {
        self.lead(field);
        self.out.push(b'[');
        self.nesting.enter(Around::Array);
    }

    fn end_array(&mut self, _field: &FieldInfo) {
        self.close(b" ]");
    }

    fn begin_variant(&mut self, field: &FieldInfo, _option: usize) {
        self.lead(field);
        self.out.extend_from_slice(b"{ ");
        self.nesting.enter(Around::Wrapper);
    }

    fn end_variant(&mut self, _field: &FieldInfo) {
        self.close(b" }");
    }

    fn begin_option(&mut self, field: &FieldInfo, present: bool) {
        self.lead(field);
        self.out.extend_from_slice(if present { b"{ " } else { b"<none>" });
        self.nesting.enter(if present { Around::Wrapper } else { Around::Absent });
    }

    fn end_option(&mut self, _field: &FieldInfo) {
        if let (Around::Wrapper, _) = self.nesting.leave() {
            self.out.extend_from_slice(b" }");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_fields::{every_kind, nested, packet_context};
    use super::*;

    const BABELTRACE: Style = Style {
        names: true,
        indices: true,
        hide_roles: false,
        columns: false,
        hex: HexCase::Upper,
        enums: EnumStyle::Container,
        palette: None,
    };
    const LTTV: Style =
        Style { indices: false, hex: HexCase::Lower, enums: EnumStyle::Bracketed, ..BABELTRACE };

    fn text(style: Style, feed: fn(&mut dyn Visitor)) -> String {
        let mut out = Vec::new();
        let mut nesting = Nesting::default();
        feed(&mut Fields::new(&mut out, &mut nesting, &style));
        assert!(nesting.is_root());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn leaves() {
        assert_eq!(
            text(BABELTRACE, every_kind),
            "{ u = 18446744073709551615, s = -7, x = 0xBEEF, \
             en = ( { \"OVERLAP\", \"RANGE\" } : container = 4 ), \
             un = ( <unknown> : container = 9 ), b = true, ba = 0x6, bm = 0x5, f = 0.1, \
             d = 1e+300, nan = nan, str = \"a\\\"\\nb\", wide = \"hé\", blob = { 00 ff } }"
        );
        assert_eq!(
            text(LTTV, every_kind),
            "{ u = 18446744073709551615, s = -7, x = 0xbeef, en = 4 [RANGE, OVERLAP], un = 9, \
             b = true, ba = 0x6, bm = 0x5, f = 0.1, d = 1e+300, nan = nan, str = \"a\\\"\\nb\", \
             wide = \"hé\", blob = { 00 ff } }"
        );
    }

    #[test]
    fn containers() {
        assert_eq!(
            text(BABELTRACE, nested),
            "{ st = { }, arr = [ [0] = { a = 1 }, [1] = { a = 2 } ], none = [ ], var = { 3 }, \
             opt = { 4 }, nil = <none> }"
        );
        assert_eq!(
            text(Style { names: false, ..BABELTRACE }, nested),
            "{ { }, [ { 1 }, { 2 } ], [ ], { 3 }, { 4 }, <none> }"
        );
        assert_eq!(
            text(Style { columns: true, ..LTTV }, nested),
            ", st = { }, arr = [ { a = 1 }, { a = 2 } ], none = [ ], var = { 3 }, opt = { 4 }, \
             nil = <none>"
        );
    }

    #[test]
    fn packet_contexts_without_the_readers_own_fields() {
        assert_eq!(
            text(Style { hide_roles: true, ..BABELTRACE }, packet_context),
            "{ cpu_id = 3 }"
        );
    }

    #[test]
    fn colours() {
        let style = Style { palette: Some(Palette::COLORED), hide_roles: true, ..BABELTRACE };
        assert_eq!(text(style, packet_context), "{ \x1b[36mcpu_id\x1b[0m = \x1b[1m3\x1b[0m }");
    }
}
