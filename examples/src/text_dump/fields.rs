//! Field trees as text, in the two dialects that print `name = value`.

use ltt_read::layout::FieldInfo;
use ltt_read::schema::{Encoding, Integer};
use ltt_read::{StrValue, Visitor};

use super::integer::{self, Value};
use super::nesting::{Around, Nesting};
use super::number::{self, HexCase};
use super::palette::Palette;
use super::scopes::{Leads, Member};
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
    /// Braces around the root structure.
    pub(super) braces: bool,
    pub(super) hex: HexCase,
    pub(super) enums: EnumStyle,
    pub(super) palette: Option<Palette>,
}

impl Leads for Style {
    fn lead(&self, out: &mut Vec<u8>, first: bool, name: &str) {
        out.extend_from_slice(if first { b" " } else { b", " });
        if !self.names {
            return;
        }
        match &self.palette {
            None => out.extend_from_slice(name.as_bytes()),
            Some(p) => {
                for part in [p.field_name, name, p.reset] {
                    out.extend_from_slice(part.as_bytes());
                }
            }
        }
        out.extend_from_slice(b" = ");
    }
}

/// The members of a root structure that continue a list: each comes after a
/// comma, without braces around them.
#[derive(Debug)]
pub(super) struct Columns<'a>(pub(super) &'a Style);

impl Leads for Columns<'_> {
    fn lead(&self, out: &mut Vec<u8>, _first: bool, name: &str) {
        self.0.lead(out, false, name);
    }
}

/// Appends one scope to a buffer.
pub(super) struct Fields<'a> {
    out: &'a mut Vec<u8>,
    nesting: &'a mut Nesting,
    style: &'a Style,
    /// The members of the root structure.
    members: &'a [Member],
}

impl<'a> Fields<'a> {
    pub(super) fn new(
        out: &'a mut Vec<u8>,
        nesting: &'a mut Nesting,
        style: &'a Style,
        members: &'a [Member],
    ) -> Self {
        Fields { out, nesting, style, members }
    }

    /// What comes before a value: separator and name. `None` if the value is
    /// not to be shown; otherwise whether it is a plain integer.
    #[inline]
    fn lead(&mut self, field: &FieldInfo) -> Option<bool> {
        let (around, index) = self.nesting.next();
        if around == Around::Root
            && let Some(member) = self.members.get(index as usize)
        {
            if member.hidden {
                return None;
            }
            member.lead.append(self.out);
            return Some(member.plain);
        }
        self.nested_lead(around, index, field).then_some(false)
    }

    /// Whether the value is to be shown.
    fn nested_lead(&mut self, around: Around, index: u64, field: &FieldInfo) -> bool {
        match around {
            Around::Struct => {
                self.style.lead(self.out, index == 0, field.name().unwrap_or_default());
            }
            Around::Array => {
                self.out.extend_from_slice(if index == 0 { b" " } else { b", " });
                if self.style.names && self.style.indices {
                    self.out.push(b'[');
                    number::decimal(self.out, index);
                    self.out.extend_from_slice(b"] = ");
                }
            }
            Around::Absent => return false,
            Around::Root | Around::Scope | Around::Wrapper => {}
        }
        true
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
        match self.lead(field) {
            None => {}
            Some(true) if self.style.palette.is_none() => value.decimal(self.out),
            Some(_) => self.any_integer(field, value),
        }
    }

    fn any_integer(&mut self, field: &FieldInfo, value: Value) {
        let Some((integer, bits)) = integer::properties(field.class()) else { return };
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

    /// Opens a container, unless it is not to be shown.
    #[inline]
    fn begin(&mut self, field: &FieldInfo, open: &[u8], around: Around) {
        if self.lead(field).is_some() {
            self.out.extend_from_slice(open);
            self.nesting.enter(around);
        } else {
            self.nesting.enter(Around::Absent);
        }
    }

    /// Closes a container, if it was opened.
    #[inline]
    fn end(&mut self, close: &[u8]) {
        if self.nesting.leave().0 != Around::Absent {
            self.out.extend_from_slice(close);
        }
    }

    /// A leaf that has one colour.
    #[inline]
    fn leaf(&mut self, field: &FieldInfo, write: impl FnOnce(&mut Vec<u8>)) {
        if self.lead(field).is_some() {
            self.colored(|p| p.value, write);
        }
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
        let text: &[u8] = if value { b"true" } else { b"false" };
        self.leaf(field, |out| out.extend_from_slice(text));
    }

    fn bits(&mut self, field: &FieldInfo, value: u64) {
        let hex = self.style.hex;
        self.leaf(field, |out| {
            out.extend_from_slice(b"0x");
            number::hexadecimal(out, value, hex);
        });
    }

    fn float(&mut self, field: &FieldInfo, value: f64) {
        self.leaf(field, |out| float::general(out, value));
    }

    fn string(&mut self, field: &FieldInfo, value: StrValue<'_>) {
        self.leaf(field, |out| match value.encoding {
            Encoding::Utf8 => quote::quoted(out, value.bytes),
            _ => quote::quoted(out, value.to_str_lossy().as_bytes()),
        });
    }

    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {
        if self.lead(field).is_none() {
            return;
        }
        self.out.push(b'{');
        for &byte in value {
            self.out.push(b' ');
            self.colored(|p| p.value, |out| quote::byte_hex(out, byte));
        }
        self.out.extend_from_slice(b" }");
    }

    #[inline]
    fn begin_struct(&mut self, field: &FieldInfo) {
        if !self.nesting.is_root() {
            self.begin(field, b"{", Around::Struct);
            return;
        }
        if self.style.braces {
            self.out.push(b'{');
        }
        self.nesting.enter(Around::Root);
    }

    #[inline]
    fn end_struct(&mut self, _field: &FieldInfo) {
        match self.nesting.leave().0 {
            Around::Absent => {}
            Around::Root if !self.style.braces => {}
            _ => self.out.extend_from_slice(b" }"),
        }
    }

    fn begin_array(&mut self, field: &FieldInfo, _len: u64) {
        self.begin(field, b"[", Around::Array);
    }

    fn end_array(&mut self, _field: &FieldInfo) {
        self.end(b" ]");
    }

    fn begin_variant(&mut self, field: &FieldInfo, _option: usize) {
        self.begin(field, b"{ ", Around::Wrapper);
    }

    fn end_variant(&mut self, _field: &FieldInfo) {
        self.end(b" }");
    }

    fn begin_option(&mut self, field: &FieldInfo, present: bool) {
        match present {
            true => self.begin(field, b"{ ", Around::Wrapper),
            false => self.begin(field, b"<none>", Around::Absent),
        }
    }

    fn end_option(&mut self, _field: &FieldInfo) {
        self.end(b" }");
    }
}

#[cfg(test)]
mod tests {
    use ltt_read::schema::{FieldClass, Scope};

    use super::super::scopes;
    use super::super::test_fields::{every_kind, member_classes, nested, packet_context};
    use super::*;

    const BABELTRACE: Style = Style {
        names: true,
        indices: true,
        braces: true,
        hex: HexCase::Upper,
        enums: EnumStyle::Container,
        palette: None,
    };
    const LTTV: Style =
        Style { indices: false, hex: HexCase::Lower, enums: EnumStyle::Bracketed, ..BABELTRACE };

    /// Text of a fed structure; `scope` and `class` as in the schema.
    fn text(style: Style, feed: fn(&mut dyn Visitor)) -> String {
        let leads: &dyn Leads = if style.braces { &style } else { &Columns(&style) };
        let class = FieldClass::structure(member_classes(feed));
        let members = scopes::members(&class, Scope::PacketContext, leads);
        let mut out = Vec::new();
        let mut nesting = Nesting::default();
        feed(&mut Fields::new(&mut out, &mut nesting, &style, &members));
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
            text(Style { braces: false, ..LTTV }, nested),
            ", st = { }, arr = [ { a = 1 }, { a = 2 } ], none = [ ], var = { 3 }, opt = { 4 }, \
             nil = <none>"
        );
    }

    #[test]
    fn packet_contexts_without_the_readers_own_fields() {
        assert_eq!(text(BABELTRACE, packet_context), "{ cpu_id = 3 }");
    }

    #[test]
    fn colours() {
        let style = Style { palette: Some(Palette::COLORED), ..BABELTRACE };
        assert_eq!(text(style, packet_context), "{ \x1b[36mcpu_id\x1b[0m = \x1b[1m3\x1b[0m }");
    }
}
