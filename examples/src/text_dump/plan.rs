//! What is known of every field before any event is read: how it is
//! introduced, and how its value is spelt.
//!
//! A plan has one step for each field of an event's body, or of a packet
//! context; [`FieldInfo::index`] leads to it. Printing a field then takes a
//! look-up, a copy and the digits.

use ltt_read::FieldInfo;
use ltt_read::schema::{FieldClass, FieldKind};

use super::memo::Memo;
use super::text::{Chunk, Text};

/// What is known of one field.
#[derive(Debug)]
pub(super) struct Step {
    /// What comes before its value: separator, name, opening bracket.
    pub(super) lead: Chunk,
    pub(super) how: How,
    /// It is the element of an array: only its number tells its separator.
    element: bool,
}

/// How a value is spelt, if it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// Not for the user to see.
    Hidden,
    /// An integer in base 10.
    Decimal,
    /// The masked bits of an integer in base 16; its lead has the prefix.
    Hexadecimal { mask: u64 },
    /// An enumeration. Texts are kept in the memo of this number.
    Labels(usize),
    /// A structure without braces: its members are columns of the line.
    Bare,
    /// As its class says.
    Class,
}

/// How a format introduces fields.
pub(super) trait Dialect {
    /// Appends separator and name of a member of a structure; `first` is the
    /// first that is shown.
    fn member(&self, lead: &mut Text, first: bool, name: &str);

    /// Appends the name of an option of a variant, counted from 0.
    fn option(&self, _lead: &mut Text, _number: usize, _name: Option<&str>) {}

    /// Appends what opens a value of a class, and tells how the rest is spelt.
    /// ([`How::Labels`] for an enumeration comes with any number.)
    fn open(&self, lead: &mut Text, class: &FieldClass) -> How;
}

/// The steps of all fields of a body or a packet context.
#[derive(Debug, Default)]
pub(super) struct Plan {
    steps: Vec<Step>,
    memos: Vec<Memo>,
    /// The numbers of the next elements of the arrays around a field.
    elements: Vec<u64>,
}

impl Plan {
    /// The step of a field, if that is shown. If it is an array element,
    /// `separate` appends what comes before it.
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

    /// How a field's value is spelt.
    pub(super) fn how(&self, field: &FieldInfo) -> How {
        self.steps.get(field.index()).map_or(How::Hidden, |step| step.how)
    }

    /// The texts kept for an enumeration.
    pub(super) fn memo(&mut self, number: usize) -> Option<&mut Memo> {
        self.memos.get_mut(number)
    }

    /// Goes into an array.
    pub(super) fn enter_array(&mut self) {
        self.elements.push(0);
    }

    /// Comes out of an array.
    pub(super) fn leave_array(&mut self) {
        self.elements.pop();
    }

    /// Adds a root structure with all that it holds. If `own` is set, members
    /// that are there for the reader only are hidden.
    pub(super) fn root(
        &mut self,
        dialect: &dyn Dialect,
        class: &FieldClass,
        lead: &str,
        how: How,
        own: fn(&FieldClass) -> bool,
    ) {
        self.push(&lead.into(), how, false);
        self.parts(dialect, class, how, own);
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
        self.parts(dialect, class, how, |_| false);
    }

    /// Adds what a field holds, in the order of [`FieldInfo::index`].
    fn parts(
        &mut self,
        dialect: &dyn Dialect,
        class: &FieldClass,
        how: How,
        own: fn(&FieldClass) -> bool,
    ) {
        let hidden = how == How::Hidden;
        match &class.kind {
            FieldKind::Struct(s) => {
                // Members of a bare structure continue a list.
                let mut first = how != How::Bare;
                for member in &s.members {
                    let hidden = hidden || own(&member.class);
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
