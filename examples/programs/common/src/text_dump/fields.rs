//! Fields as text, in the two dialects with the form `name = value`.

use std::borrow::Cow;

use ltt_read::FieldInfo;
use ltt_read::schema::{DisplayBase, Encoding, FieldClass, FieldKind, Integer};
use ltt_read::{StrValue, Visitor};

use super::integer::{self, Value};
use super::plan::{Dialect, How, Plan};
use super::{float, quote};
use crate::escape;
use crate::text::Text;
use crate::text::number::{self, HexCase};
use crate::text::palette::Palette;

/// The notation of enumeration values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EnumStyle {
    /// `( "LABEL" : container = 4 )`; several labels are in braces, in alphabetical order.
    Container,
    /// `4 [LABEL]`.
    Bracketed,
}

/// A dialect of `name = value`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    /// Prints the names of members.
    pub(super) names: bool,
    /// Prints the indices of array elements, if names are printed.
    pub(super) indices: bool,
    /// The case of hexadecimal digits.
    pub(super) hex: HexCase,
    /// The notation of enumeration values.
    pub(super) enums: EnumStyle,
    /// The colours; `None` for plain text.
    pub(super) palette: Option<Palette>,
    /// Escapes control characters in names, labels and strings.
    pub(super) is_safe: bool,
}

impl Dialect for Style {
    fn member(&self, lead: &mut Text, first: bool, name: &str) {
        lead.append(if first { b" " } else { b", " });
        if !self.names {
            return;
        }
        let palette = self.palette.unwrap_or(Palette::PLAIN);
        let name = &*self.name(name);
        for part in [palette.field_name, name, palette.reset, " = "] {
            lead.append(part.as_bytes());
        }
    }

    fn open(&self, lead: &mut Text, class: &FieldClass) -> How {
        let bracket: &[u8] = match &class.kind {
            FieldKind::Struct(_) => b"{",
            FieldKind::Array(_) => b"[",
            FieldKind::Variant(_) => b"{ ",
            FieldKind::Blob(_) => b"{",
            _ => b"",
        };
        lead.append(bracket);
        let Some((integer, bits)) = integer::properties(class) else { return How::Class };
        match (integer.base, integer.mappings.is_some()) {
            (_, true) => How::Labels(0),
            _ if self.palette.is_some() => How::Class,
            (DisplayBase::Decimal, _) => How::Decimal,
            (DisplayBase::Hexadecimal, _) => {
                lead.append(b"0x");
                How::Hexadecimal { mask: integer::nibbles_mask(bits) }
            }
            _ => How::Class,
        }
    }
}

/// A visitor that appends fields to a buffer.
pub(super) struct Fields<'a> {
    out: &'a mut Text,
    plan: &'a mut Plan,
    style: &'a Style,
    /// `true` while the visited option field has no value.
    absent: bool,
}

impl<'a> Fields<'a> {
    pub(super) fn new(out: &'a mut Text, plan: &'a mut Plan, style: &'a Style) -> Self {
        Fields { out, plan, style, absent: false }
    }

    /// Appends the text before a value. Returns the notation of the value.
    #[inline(always)]
    fn lead(&mut self, field: &FieldInfo) -> How {
        let style = self.style;
        match self.plan.step(field, self.out, |out, number| style.element(out, number)) {
            Some(step) => {
                step.lead.append(self.out);
                step.how
            }
            None => How::Hidden,
        }
    }

    #[inline(always)]
    fn integer(&mut self, field: &FieldInfo, value: Value) {
        let (style, out) = (self.style, &mut *self.out);
        let Some(step) = self.plan.step(field, out, |out, n| style.element(out, n)) else { return };
        match (step.how, value.short_decimal()) {
            (How::Decimal, Some(short)) => step.lead.append_with(out, short),
            (How::Hexadecimal { mask }, _) => {
                let (first, rest) = number::hexadecimal_pieces(value.raw() & mask, style.hex);
                step.lead.append_with(out, first);
                out.short(rest);
            }
            (how, _) => {
                step.lead.append(out);
                self.any_integer(field, how, value);
            }
        }
    }

    /// Appends an integer in any notation, after its lead.
    #[inline(never)]
    fn any_integer(&mut self, field: &FieldInfo, how: How, value: Value) {
        let Some((integer, bits)) = integer::properties(field.class()) else { return };
        let style = self.style;
        match how {
            How::Decimal => value.decimal(self.out),
            How::Labels(memo) => {
                if let Some(memo) = self.plan.memo(memo) {
                    let write = |out: &mut Text| style.labels(out, value, integer, bits);
                    memo.append(self.out, value.raw(), write);
                }
            }
            _ => style.number(self.out, value, integer, bits),
        }
    }

    /// Appends a field without parts, in one colour.
    #[inline(always)]
    fn leaf(&mut self, field: &FieldInfo, write: impl FnOnce(&mut Text)) {
        if self.lead(field) != How::Hidden {
            self.style.colored(self.out, |p| p.value, write);
        }
    }

    /// Closes a container if the plan opened it.
    fn end(&mut self, field: &FieldInfo, close: &[u8]) {
        if self.plan.how(field) != How::Hidden {
            self.out.append(close);
        }
    }
}

impl Style {
    /// Returns a name, escaped if necessary.
    fn name<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if self.is_safe { escape::name(name) } else { name.into() }
    }

    /// Appends a text in double quotes.
    #[inline]
    fn quoted(&self, out: &mut Text, text: &[u8]) {
        match self.is_safe {
            true => quote::quoted_safely(out, text),
            false => quote::quoted(out, text),
        }
    }

    /// Appends separator and index of an array element.
    fn element(&self, out: &mut Text, number: u64) {
        out.spill();
        out.append(if number == 0 { b" " } else { b", " });
        if self.names && self.indices {
            out.push(b'[');
            number::decimal(out, number);
            out.append(b"] = ");
        }
    }

    /// Appends a value between the codes of its colour.
    #[inline]
    fn colored(
        &self,
        out: &mut Text,
        code: fn(&Palette) -> &'static str,
        write: impl FnOnce(&mut Text),
    ) {
        match &self.palette {
            None => write(out),
            Some(p) => {
                out.append(code(p).as_bytes());
                write(out);
                out.append(p.reset.as_bytes());
            }
        }
    }

    fn number(&self, out: &mut Text, value: Value, integer: &Integer, bits: u32) {
        self.colored(out, |p| p.value, |out| value.write(out, integer.base, bits, self.hex));
    }

    /// Appends the value of an enumeration.
    fn labels(&self, out: &mut Text, value: Value, integer: &Integer, bits: u32) {
        match self.enums {
            EnumStyle::Container => self.container(out, value, integer, bits),
            EnumStyle::Bracketed => self.bracketed(out, value, integer, bits),
        }
    }

    fn container(&self, out: &mut Text, value: Value, integer: &Integer, bits: u32) {
        let mut labels: Vec<_> = integer::labels(integer, value).collect();
        labels.sort_unstable();
        labels.dedup();
        let several = labels.len() > 1;
        out.append(if several { b"( { " } else { b"( " });
        for (i, label) in labels.iter().enumerate() {
            out.append(if i > 0 { b", " } else { b"" });
            self.colored(out, |p| p.value, |out| self.quoted(out, label.as_bytes()));
        }
        if labels.is_empty() {
            self.colored(out, |p| p.unknown, |out| out.append(b"<unknown>"));
        }
        out.append(if several { b" } : container = " } else { b" : container = " });
        self.number(out, value, integer, bits);
        out.append(b" )");
    }

    fn bracketed(&self, out: &mut Text, value: Value, integer: &Integer, bits: u32) {
        self.number(out, value, integer, bits);
        let labels: Vec<_> = integer::labels(integer, value).collect();
        let text = match integer.flags(value.wide()) {
            Some(flags) => flags.join(" | "),
            None => labels.join(", "),
        };
        if !text.is_empty() {
            out.append(b" [");
            out.append(self.name(&text).as_bytes());
            out.push(b']');
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
        self.leaf(field, |out| out.append(text));
    }

    fn bits(&mut self, field: &FieldInfo, value: u64) {
        let hex = self.style.hex;
        self.leaf(field, |out| {
            out.append(b"0x");
            number::hexadecimal(out, value, hex);
        });
    }

    fn float(&mut self, field: &FieldInfo, value: f64) {
        self.leaf(field, |out| float::general(out, value));
    }

    fn string(&mut self, field: &FieldInfo, value: StrValue<'_>) {
        let style = self.style;
        self.leaf(field, |out| match value.encoding {
            Encoding::Utf8 => style.quoted(out, value.bytes),
            _ => style.quoted(out, value.to_str_lossy().as_bytes()),
        });
    }

    fn blob(&mut self, field: &FieldInfo, value: &[u8]) {
        if self.lead(field) == How::Hidden {
            return;
        }
        for &byte in value {
            self.out.spill();
            self.out.push(b' ');
            self.style.colored(self.out, |p| p.value, |out| quote::byte_hex(out, byte));
        }
        self.out.append(b" }");
    }

    #[inline]
    fn begin_struct(&mut self, field: &FieldInfo) {
        self.lead(field);
    }

    #[inline]
    fn end_struct(&mut self, field: &FieldInfo) {
        if self.plan.how(field) != How::Bare {
            self.end(field, b" }");
        }
    }

    fn begin_array(&mut self, field: &FieldInfo, _len: u64) {
        self.lead(field);
        self.plan.enter_array();
    }

    fn end_array(&mut self, field: &FieldInfo) {
        self.plan.leave_array();
        self.end(field, b" ]");
    }

    fn begin_variant(&mut self, field: &FieldInfo, _option: usize) {
        self.lead(field);
    }

    fn end_variant(&mut self, field: &FieldInfo) {
        self.end(field, b" }");
    }

    fn begin_option(&mut self, field: &FieldInfo, present: bool) {
        self.absent = !present;
        if self.lead(field) != How::Hidden {
            self.out.append(if present { b"{ " } else { b"<none>" });
        }
    }

    fn end_option(&mut self, field: &FieldInfo) {
        if !std::mem::take(&mut self.absent) {
            self.end(field, b" }");
        }
    }
}

#[cfg(test)]
mod tests {
    use ltt_read::schema::Scope;

    use super::super::scopes;
    use super::super::test_fields::{Sample, every_kind, nested, with_event};
    use super::*;

    const BABELTRACE: Style = Style {
        names: true,
        indices: true,
        hex: HexCase::Upper,
        enums: EnumStyle::Container,
        palette: None,
        is_safe: false,
    };
    const LTTV: Style = Style {
        indices: false,
        hex: HexCase::Lower,
        enums: EnumStyle::Bracketed,
        is_safe: true,
        ..BABELTRACE
    };

    /// Formats a sample; without braces, its members are columns.
    fn text(style: Style, braces: bool, sample: fn() -> Vec<Sample>) -> String {
        let mut out = Text::default();
        with_event(sample(), |event| {
            let class = event.event_type().payload.as_deref().unwrap();
            let mut plan = Plan::default();
            match braces {
                true => plan.root(&style, class, "{", How::Class, &|_| false),
                false => plan.root(&style, class, "", How::Bare, &|_| false),
            }
            event.visit_body(&mut Fields::new(&mut out, &mut plan, &style));
        });
        out.to_string()
    }

    fn packet_context(style: Style) -> String {
        let mut out = Text::default();
        with_event(nested(), |event| {
            let class = event.trace().schema().stream_classes[0].packet_context.as_deref();
            let mut plan = Plan::default();
            plan.root(&style, class.unwrap(), "{", How::Class, &|member| {
                scopes::is_internal(&member.class)
            });
            event.visit(Scope::PacketContext, &mut Fields::new(&mut out, &mut plan, &style));
        });
        out.to_string()
    }

    #[test]
    fn fields_without_parts() {
        assert_eq!(
            text(BABELTRACE, true, every_kind),
            "{ u = 18446744073709551615, s = -7, x = 0xBEEF, xx = 0xA01234567, o = 0644, \
             en = ( { \"OVERLAP\", \"RANGE\" } : container = 4 ), \
             un = ( <unknown> : container = 9 ), b = true, ba = 0x6, bm = 0x5, f = 0.1, \
             d = 1e+300, nan = nan, str = \"a\\\"\\nb\", wide = \"hé\", blob = { 00 ff } }"
        );
        assert_eq!(
            text(LTTV, true, every_kind),
            "{ u = 18446744073709551615, s = -7, x = 0xbeef, xx = 0xa01234567, o = 0644, \
             en = 4 [RANGE, OVERLAP], un = 9, b = true, ba = 0x6, bm = 0x5, f = 0.1, \
             d = 1e+300, nan = nan, str = \"a\\\"\\nb\", wide = \"hé\", blob = { 00 ff } }"
        );
    }

    #[test]
    fn fields_with_parts() {
        assert_eq!(
            text(BABELTRACE, true, nested),
            "{ one = 1, st = { }, two = 2, arr = [ [0] = { a = 1 }, [1] = { a = 2 } ], zero = 0, \
             none = [ ], var = { 3 }, opt = { 4 }, nil = <none> }"
        );
        assert_eq!(
            text(Style { names: false, ..BABELTRACE }, true, nested),
            "{ 1, { }, 2, [ { 1 }, { 2 } ], 0, [ ], { 3 }, { 4 }, <none> }"
        );
        assert_eq!(
            text(LTTV, false, nested),
            ", one = 1, st = { }, two = 2, arr = [ { a = 1 }, { a = 2 } ], zero = 0, none = [ ], \
             var = { 3 }, opt = { 4 }, nil = <none>"
        );
    }

    #[test]
    fn packet_contexts_hide_fields_with_roles() {
        assert_eq!(packet_context(BABELTRACE), "{ cpu_id = 3 }");
    }

    #[test]
    fn colours() {
        let style = Style { palette: Some(Palette::COLORED), ..BABELTRACE };
        assert_eq!(packet_context(style), "{ \x1b[36mcpu_id\x1b[0m = \x1b[1m3\x1b[0m }");
    }
}
