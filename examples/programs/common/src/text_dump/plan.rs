//! The text before each field and the notation of its value, computed before any event is
//! read.
//!
//! A plan has one step for each field of an event's body, or of a packet context, indexed
//! by [`FieldInfo::index`]. Printing a field then takes a look-up, a copy and the digits.

use ltt_read::FieldInfo;
use ltt_read::schema::{FieldClass, FieldKind, Member};

use super::memo::Memo;
use crate::text::{Chunk, Text};

/// The text before one field, and the notation of its value.
#[derive(Debug)]
pub(super) struct Step {
    /// The text before the value: separator, name, opening bracket.
    pub(super) lead: Chunk,
    /// The notation of the value.
    pub(super) how: How,
    /// `true` for an array element, whose separator depends on its index.
    element: bool,
}

/// The notation of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Not printed.
    Hidden,
    /// An integer in base 10.
    Decimal,
    /// The masked bits of an integer in base 16; the prefix is in the lead.
    Hexadecimal { mask: u64 },
    /// An enumeration. The memo of this index caches its texts.
    Labels(usize),
    /// A structure without braces: its members are columns of the line.
    Bare,
    /// By its field class.
    Class,
}

/// The way in which a format introduces fields.
pub(super) trait Dialect {
    /// Appends separator and name of a structure's member; `first` is the first member that
    /// is printed.
    fn member(&self, lead: &mut Text, first: bool, name: &str);

    /// Appends the name of an option of a variant. `number` is its index.
    fn option(&self, _lead: &mut Text, _number: usize, _name: Option<&str>) {}

    /// Appends the opening of a value, and returns the notation of the remaining text. (The
    /// number in [`How::Labels`] is arbitrary.)
    fn open(&self, lead: &mut Text, class: &FieldClass) -> How;
}

/// The steps of all fields of a body or a packet context.
#[derive(Debug, Default)]
pub(super) struct Plan {
    steps: Vec<Step>,
    memos: Vec<Memo>,
    /// The indices of the next elements of the arrays around the current field.
    elements: Vec<u64>,
}

impl Plan {
    /// Returns the step of a field; `None` if the field is not printed. Calls `separate` with
    /// the index of an array element before it.
    #[inline(always)]
    pub(super) fn step(
        &mut self,
        field: &FieldInfo,
        out: &mut Text,
        separate: impl FnOnce(&mut Text, u64),
    ) -> Option<&Step> {
        let step = self.steps.get(field.index()).filter(|step| step.how != How::Hidden)?;
        if step.element
            && let Some(number) = self.elements.last_mut()
        {
            separate(out, *number);
            *number += 1;
        }
        Some(step)
    }

    /// Returns the notation of a field's value.
    pub(super) fn how(&self, field: &FieldInfo) -> How {
        self.steps.get(field.index()).map_or(How::Hidden, |step| step.how)
    }

    /// Returns the cached texts of an enumeration.
    pub(super) fn memo(&mut self, number: usize) -> Option<&mut Memo> {
        self.memos.get_mut(number)
    }

    /// Enters an array.
    pub(super) fn enter_array(&mut self) {
        self.elements.push(0);
    }

    /// Leaves an array.
    pub(super) fn leave_array(&mut self) {
        self.elements.pop();
    }

    /// Adds a root structure with all its parts. Members for which `is_hidden` returns `true` are
    /// not printed.
    pub(super) fn root(
        &mut self,
        dialect: &dyn Dialect,
        class: &FieldClass,
        lead: &str,
        how: How,
        is_hidden: &dyn Fn(&Member) -> bool,
    ) {
        self.push(&lead.into(), how, false);
        self.parts(dialect, class, how, is_hidden);
    }

    fn push(&mut self, lead: &Text, how: How, element: bool) {
        let how = match how {
            How::Labels(_) => {
                self.memos.push(Memo::default());
                How::Labels(self.memos.len() - 1)
            }
            how => how,
        };
        self.steps.push(Step { lead: Chunk::new(lead), how, element });
    }

    fn field(
        &mut self,
        dialect: &dyn Dialect,
        class: &FieldClass,
        mut lead: Text,
        hidden: bool,
        element: bool,
    ) {
        let how = if hidden { How::Hidden } else { dialect.open(&mut lead, class) };
        self.push(&lead, how, element);
        self.parts(dialect, class, how, &|_| false);
    }

    /// Adds the parts of a field, in the order of [`FieldInfo::index`].
    fn parts(
        &mut self,
        dialect: &dyn Dialect,
        class: &FieldClass,
        how: How,
        is_hidden: &dyn Fn(&Member) -> bool,
    ) {
        let hidden = how == How::Hidden;
        match &class.kind {
            FieldKind::Struct(s) => {
                // The members of a bare structure continue a list.
                let mut first = how != How::Bare;
                for member in &s.members {
                    let hidden = hidden || is_hidden(member);
                    let mut lead = Text::default();
                    dialect.member(&mut lead, first, &member.name);
                    first &= hidden;
                    self.field(dialect, &member.class, lead, hidden, false);
                }
            }
            FieldKind::Array(a) => self.field(dialect, &a.element, Text::default(), hidden, true),
            FieldKind::Option(o) => self.field(dialect, &o.class, Text::default(), hidden, false),
            FieldKind::Variant(v) => {
                for (number, option) in v.options.iter().enumerate() {
                    let mut lead = Text::default();
                    dialect.option(&mut lead, number, option.name.as_deref());
                    self.field(dialect, &option.class, lead, hidden, false);
                }
            }
            _ => {}
        }
    }
}
