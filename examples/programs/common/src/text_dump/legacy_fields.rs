//! Fields of legacy traces in the notation of LTTV's `textDump`, which follows the format
//! strings of the markers.

use ltt_read::legacy::{MarkerField, MarkerFormat, is_character};
use ltt_read::schema::{DisplayBase, EventType, FieldClass, FieldKind, Length};
use ltt_read::{FieldInfo, StrValue, Visitor};

use super::float;
use super::legacy_symbols::{Symbols, Table};
use crate::escape::{self, Escapes};
use crate::text::number::{self, HexCase};
use crate::text::palette::Palette;
use crate::text::{Chunk, Text};

/// The notation of the fields of an event type.
#[derive(Debug)]
pub(super) struct FieldPlan {
    /// The steps, by [`FieldInfo::index`].
    steps: Vec<Step>,
    /// `true` if at least one field is printed.
    any: bool,
}

/// The notation of one field.
#[derive(Debug)]
struct Step {
    /// The separator and name before the value.
    lead: Chunk,
    how: How,
}

/// The notation of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// Not printed: the length of a sequence.
    Hidden,
    /// In decimal, as a signed number.
    Signed,
    /// In decimal, as an unsigned number.
    Unsigned,
    /// In decimal, with this character before a number that is not negative.
    Sign(u8),
    /// In hexadecimal digits.
    Hexadecimal(HexCase),
    /// In octal digits.
    Octal,
    /// One character, from the low byte.
    Character,
    /// By its label, or in decimal if it has none.
    Label,
    /// In decimal, followed by its symbol.
    Symbol(Table),
    /// An array element with parts, whose separator depends on its index.
    Element,
    /// By its field class.
    Class,
}

impl FieldPlan {
    /// Builds the plan of an event type of a channel, with or without the names of fields.
    pub(super) fn new(
        channel: &str,
        event_type: &EventType,
        palette: &Palette,
        names: bool,
    ) -> Self {
        let mut plan = FieldPlan { steps: Vec::new(), any: false };
        let Some(payload) = &event_type.payload else { return plan };
        let format = event_type.format.as_deref().map(MarkerFormat::parse);
        plan.push("", How::Class);
        for (number, member) in payload.members().iter().enumerate() {
            let field = format.as_ref().and_then(|f| f.fields.get(number));
            let mut lead = if plan.any { ", ".to_owned() } else { " { ".to_owned() };
            let mut how = how(&member.class);
            if let Some(field) = field {
                let Palette { field_name, reset, .. } = *palette;
                if names {
                    let name = escape::name(&field.name);
                    lead.push_str(&format!("{field_name}{name}{reset} = "));
                }
                how = printed(field, &mut lead);
            }
            if let Some(table) = Table::of_field(channel, event_type.name(), &member.name) {
                how = match how {
                    How::Signed | How::Unsigned => How::Symbol(table),
                    how => how,
                };
            }
            if field.is_none() {
                lead.push_str(prefix(how));
            }
            if is_length(payload.members(), number) {
                how = How::Hidden;
            }
            plan.any |= how != How::Hidden;
            plan.push(&lead, how);
            plan.inner(&member.class);
        }
        plan
    }

    fn push(&mut self, lead: &str, how: How) {
        self.steps.push(Step { lead: Chunk::new(lead), how });
    }

    /// Adds the parts of a field, in the order of [`FieldInfo::index`].
    fn inner(&mut self, class: &FieldClass) {
        match &class.kind {
            FieldKind::Struct(s) => {
                let mut first = true;
                for (number, member) in s.members.iter().enumerate() {
                    let hidden = is_length(&s.members, number);
                    let how = if hidden { How::Hidden } else { how(&member.class) };
                    let separator = if first { "" } else { ", " };
                    self.push(&format!("{separator}{}", prefix(how)), how);
                    first &= hidden;
                    self.inner(&member.class);
                }
            }
            FieldKind::Array(a) => {
                let how = if is_leaf(&a.element) { how(&a.element) } else { How::Element };
                self.push(prefix(how), how);
                self.inner(&a.element);
            }
            _ => {}
        }
    }
}

/// Returns the prefix of a value without a print format.
fn prefix(how: How) -> &'static str {
    if matches!(how, How::Hexadecimal(_)) { "0x" } else { "" }
}

fn is_leaf(class: &FieldClass) -> bool {
    !matches!(class.kind, FieldKind::Struct(_) | FieldKind::Array(_))
}

/// Returns `true` if the member is the length of the next member.
fn is_length(members: &[ltt_read::schema::Member], number: usize) -> bool {
    members.get(number + 1).is_some_and(|next| match &next.class.kind {
        FieldKind::Array(array) => matches!(array.length, Length::Dynamic(_)),
        _ => false,
    })
}

/// Returns the notation of a field without a print format.
fn how(class: &FieldClass) -> How {
    match &class.kind {
        _ if is_character(class) => How::Character,
        FieldKind::Integer(_, i) if i.mappings.is_some() => How::Label,
        FieldKind::Integer(_, i) if i.base == DisplayBase::Hexadecimal => {
            How::Hexadecimal(HexCase::Lower)
        }
        FieldKind::Integer(..) => How::Signed,
        _ => How::Class,
    }
}

/// Returns the notation of a field with a print format, and appends the prefix of each
/// value to its lead.
fn printed(field: &MarkerField, lead: &mut String) -> How {
    let print = &field.print;
    let flag = |flag| print.flags.contains(flag);
    if field.kind == ltt_read::legacy::MarkerKind::Pointer {
        lead.push_str("0x");
        return How::Hexadecimal(HexCase::Lower);
    }
    lead.push_str(&escape::name(&print.prefix));
    match print.conversion {
        'd' | 'i' if flag('+') => How::Sign(b'+'),
        'd' | 'i' if flag(' ') => How::Sign(b' '),
        'd' | 'i' => How::Signed,
        'u' => How::Unsigned,
        'x' | 'X' => {
            let case = if print.conversion == 'x' { HexCase::Lower } else { HexCase::Upper };
            if flag('#') {
                lead.push_str(if case == HexCase::Lower { "0x" } else { "0X" });
            }
            How::Hexadecimal(case)
        }
        'o' => {
            lead.push_str(if flag('#') { "0" } else { "" });
            How::Octal
        }
        'p' => {
            lead.push_str("0x");
            How::Hexadecimal(HexCase::Lower)
        }
        'c' => How::Character,
        _ => How::Class,
    }
}

/// A visitor that appends the fields of an event.
pub(super) struct LegacyFields<'a> {
    out: &'a mut Text,
    plan: &'a FieldPlan,
    symbols: &'a Symbols,
    /// The number of structures and arrays around the current field.
    depth: u32,
    /// `true` if the next element of the innermost array is its first.
    first: bool,
}

impl<'a> LegacyFields<'a> {
    pub(super) fn new(out: &'a mut Text, plan: &'a FieldPlan, symbols: &'a Symbols) -> Self {
        LegacyFields { out, plan, symbols, depth: 0, first: false }
    }

    /// Appends the text before a value. Returns the notation of the value.
    #[inline(always)]
    fn lead(&mut self, field: &FieldInfo) -> How {
        let Some(step) = self.plan.steps.get(field.index()) else { return How::Hidden };
        if step.how != How::Hidden {
            // Array elements have no name.
            if self.depth > 1 && field.name().is_none() {
                self.separate();
            }
            step.lead.append(self.out);
        }
        step.how
    }

    #[cold]
    fn separate(&mut self) {
        self.out.spill();
        self.out.append(if std::mem::take(&mut self.first) { b"" } else { b", " });
    }

    #[inline(always)]
    fn number(&mut self, field: &FieldInfo, value: u64) {
        let plan = self.plan;
        let Some(step) = plan.steps.get(field.index()) else { return };
        // The fast path: nearly all numbers are short decimals.
        if let (How::Signed | How::Unsigned, Some(short), true) =
            (step.how, number::short_decimal(value), self.depth == 1)
        {
            return step.lead.append_with(self.out, short);
        }
        self.any_number(field, value);
    }

    #[inline(never)]
    fn any_number(&mut self, field: &FieldInfo, value: u64) {
        let how = self.lead(field);
        let out = &mut *self.out;
        match how {
            How::Hidden => {}
            How::Unsigned => number::decimal(out, value),
            How::Hexadecimal(case) => number::hexadecimal(out, value, case),
            How::Octal => number::octal(out, value),
            How::Character => out.append(&escape::lines_of_bytes(&[value as u8], Escapes::Text)),
            How::Sign(sign) => {
                if value.cast_signed() >= 0 {
                    out.push(sign);
                }
                number::signed(out, value.cast_signed());
            }
            How::Symbol(table) => {
                number::signed(out, value.cast_signed());
                self.symbols.append(table, value, out);
            }
            How::Label => {
                match field.labels(value.cast_signed().into()).next() {
                    Some(label) => out.append(escape::name(label).as_bytes()),
                    None => number::signed(out, value.cast_signed()),
                };
            }
            How::Signed | How::Element | How::Class => number::signed(out, value.cast_signed()),
        }
    }

    fn open(&mut self, field: &FieldInfo) {
        self.lead(field);
        if self.depth > 0 {
            self.out.append(b"{ ");
        }
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        if self.depth > 0 || self.plan.any {
            self.out.append(b" }");
        }
        self.first = false;
    }
}

impl Visitor for LegacyFields<'_> {
    #[inline]
    fn uint(&mut self, field: &FieldInfo, value: u64) {
        self.number(field, value);
    }

    #[inline]
    fn sint(&mut self, field: &FieldInfo, value: i64) {
        self.number(field, value.cast_unsigned());
    }

    fn float(&mut self, field: &FieldInfo, value: f64) {
        self.lead(field);
        float::general(self.out, value);
    }

    fn string(&mut self, field: &FieldInfo, value: StrValue<'_>) {
        self.lead(field);
        self.out.push(b'"');
        // LTTV printed line breaks unescaped.
        self.out.append(&escape::lines_of_bytes(value.bytes, Escapes::Text));
        self.out.push(b'"');
    }

    #[inline]
    fn begin_struct(&mut self, field: &FieldInfo) {
        self.open(field);
    }

    #[inline]
    fn end_struct(&mut self, _field: &FieldInfo) {
        self.close();
    }

    fn begin_array(&mut self, field: &FieldInfo, _len: u64) {
        self.open(field);
        self.first = true;
    }

    fn end_array(&mut self, _field: &FieldInfo) {
        self.close();
    }
}
