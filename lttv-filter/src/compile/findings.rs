//! Findings: the parts of an expression that are never or always true.

use crate::verdict::Verdict;

use crate::diagnostic::Diagnostic;
use crate::model::{FieldType, IntegerKind};
use crate::syntax::{Expr, ExprKind, Relation, Selector, can_stand_alone, nanoseconds_text};

use super::bounds;
use super::test::Predicate;
use crate::ranges::Ranges;

/// The findings for each part of an expression, in the order of [`Expr::walk`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Findings {
    parts: Vec<Part>,
}

/// The findings for a part of an expression, over all record types.
#[derive(Debug, Clone, Default)]
pub(crate) struct Part {
    /// `true` if the part can be true for a record.
    holds: bool,
    /// `true` if the part can be false for a record.
    fails: bool,
    /// For a comparison in a conjunction: whether there are record types for which all other
    /// terms can hold, and whether one of these has the field.
    fitting: bool,
    fitting_with_field: bool,
    /// The relation of a word to fields of its name, in records that have such a field.
    word: Option<WordUse>,
    /// The record types, and those for which the other terms of a conjunction can hold.
    all: Types,
    fit: Types,
    pub(crate) field: FieldFinding,
}

/// Numbers of record types.
#[derive(Debug, Clone, Copy, Default)]
struct Types {
    count: u32,
    /// The number of those that have a field with the name of the word.
    with_field: u32,
}

/// The relation of a short word such as `tid` to fields of the payload that have its name,
/// with the meaning of the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordUse {
    /// The word has its own meaning, and hides the field.
    HidesField(&'static str),
    /// The meaning of the word is not known, so that the field is meant.
    IsField(&'static str),
}

/// The findings for a comparison, over records that have the field.
#[derive(Debug, Clone, Default)]
pub(crate) struct FieldFinding {
    /// `true` if the comparison can be true for such a record.
    holds: bool,
    /// `true` if the comparison can be false for such a record.
    fails: bool,
    limits: Option<Limits>,
    /// `true` if the field has texts that are known in advance.
    has_texts: bool,
    /// The nearest text that the field is known to have, as a suggestion.
    pub(crate) near: Option<String>,
    /// The advice of the type, if the comparison holds for unusual values only.
    hint: Option<&'static str>,
}

/// The limits of the numbers that a field can have.
#[derive(Debug, Clone, Copy)]
struct Limits {
    low: i128,
    high: i128,
    unit: IntegerKind,
    /// `true` if these are limits of the actual values in this trace, not of the type.
    is_known: bool,
}

impl FieldFinding {
    /// Adds a field with the possible results of the comparison.
    pub(crate) fn add(&mut self, holds: bool, fails: bool) {
        self.holds |= holds;
        self.fails |= fails;
    }

    /// Adds the limits of a field's type.
    pub(crate) fn add_type(&mut self, of: &FieldType) {
        if let FieldType::Integer(of) = of {
            let (low, high) = bounds(of);
            self.add_limits(Limits { low, high, unit: of.kind, is_known: false });
        }
    }

    /// Adds the hint of a field's type, if the comparison holds for the unusual values only.
    pub(crate) fn add_hint(&mut self, of: &FieldType, predicate: &Predicate) {
        if let (FieldType::Integer(of), Predicate::Integer { set, .. }) = (of, predicate)
            && let Some(hint) = &of.hint
        {
            let unusual = Ranges::union_of(hint.ranges.clone());
            if !set.is_empty() && set.as_slice().iter().all(|of| unusual.covers(of.0, of.1)) {
                self.hint = Some(hint.help);
            }
        }
    }

    /// Adds a value that is known in advance.
    pub(crate) fn add_number(&mut self, n: i128) {
        self.add_limits(Limits { low: n, high: n, unit: IntegerKind::Number, is_known: true });
    }

    /// Adds a text that is known in advance.
    pub(crate) fn add_text(&mut self) {
        self.has_texts = true;
    }

    /// Returns `true` if no record has the field.
    fn is_absent(&self) -> bool {
        !self.holds && !self.fails
    }

    /// Returns `true` if records have the field, but the comparison is never true.
    pub(crate) fn is_never(&self) -> bool {
        self.fails && !self.holds
    }

    fn add_limits(&mut self, other: Limits) {
        self.limits = Some(match self.limits {
            None => other,
            Some(limits) => Limits {
                low: limits.low.min(other.low),
                high: limits.high.max(other.high),
                is_known: limits.is_known && other.is_known,
                ..other
            },
        });
    }

    fn join(&mut self, other: &FieldFinding) {
        self.add(other.holds, other.fails);
        self.has_texts |= other.has_texts;
        if let Some(limits) = other.limits {
            self.add_limits(limits);
        }
        if self.near.is_none() {
            self.near.clone_from(&other.near);
        }
        self.hint = self.hint.or(other.hint);
    }
}

impl Part {
    /// Adds the result of the part, or of its negation, for a record type.
    pub(crate) fn add(&mut self, verdict: Verdict, is_negation: bool) {
        let (can_hold, can_fail) = (verdict != Verdict::Never, verdict != Verdict::Always);
        self.holds |= if is_negation { can_fail } else { can_hold };
        self.fails |= if is_negation { can_hold } else { can_fail };
    }

    /// Adds a record type for which all other terms of a conjunction can hold.
    pub(crate) fn add_fitting(&mut self, has_field: bool, word: Option<WordUse>) {
        self.fitting = true;
        self.fitting_with_field |= has_field;
        self.fit.add(word.is_some());
    }

    /// Adds the use of a word in records of a type.
    pub(crate) fn add_word(&mut self, word: Option<WordUse>) {
        self.word = self.word.or(word);
        self.all.add(word.is_some());
    }

    /// Returns the use of a word, if it is worth a note. A word that hides a field is, if all
    /// records that can pass the other terms have the field, or if the word never has the text
    /// that it is compared with, and no known text is similar.
    fn word(&self) -> Option<WordUse> {
        let types = if self.fitting { self.fit } else { self.all };
        let is_in_all = types.count > 0 && types.with_field == types.count;
        self.word.filter(|word| match word {
            WordUse::HidesField(_) => {
                let FieldFinding { has_texts, near, .. } = &self.field;
                let is_unknown = *has_texts && self.field.is_never() && near.is_none();
                is_in_all || types.with_field > 0 && is_unknown
            }
            WordUse::IsField(_) => types.with_field > 0,
        })
    }

    /// Returns the value of the part if it is constant.
    fn constant(&self) -> Option<bool> {
        (self.holds != self.fails).then_some(self.holds)
    }
}

impl Types {
    fn add(&mut self, has_field: bool) {
        self.join(Types { count: 1, with_field: has_field.into() });
    }

    fn join(&mut self, other: Types) {
        self.count += other.count;
        self.with_field += other.with_field;
    }
}

impl Findings {
    pub(crate) fn new(parts: Vec<Part>) -> Self {
        Findings { parts }
    }

    /// Adds the findings for another trace.
    pub(crate) fn join(&mut self, other: &Findings) {
        if self.parts.is_empty() {
            return self.parts.clone_from(&other.parts);
        }
        for (part, other) in self.parts.iter_mut().zip(&other.parts) {
            part.holds |= other.holds;
            part.fails |= other.fails;
            part.fitting |= other.fitting;
            part.fitting_with_field |= other.fitting_with_field;
            part.word = part.word.or(other.word);
            part.all.join(other.all);
            part.fit.join(other.fit);
            part.field.join(&other.field);
        }
    }

    /// Creates a note for the expression if it is constant, and one for each unexpectedly
    /// constant part.
    ///
    /// The argument `is_never` states that no record can pass for another reason.
    pub(crate) fn notes(&self, tree: &Expr, is_never: bool) -> Vec<Diagnostic> {
        let mut notes = Notes { parts: self.parts.iter(), notes: Vec::new() };
        let Visited { constant, is_noted, .. } = notes.visit(tree, true);
        if is_never && constant.is_none() && !is_noted {
            notes.notes.push(Diagnostic::new(tree.span, NOTHING_PASSES));
        }
        let mut notes = notes.notes;
        notes.extend(self.notes_on_words(tree));
        for (expr, part) in tree.walk().zip(&self.parts) {
            if let (Some(help), Some(selector)) = (part.field.hint, expr.selector()) {
                let message = format!("`{selector}` hardly ever has such a value");
                notes.push(Diagnostic::new(expr.span, message).help(help));
            }
        }
        notes
    }

    /// Creates notes on words that fields have as a name, too.
    fn notes_on_words(&self, tree: &Expr) -> Vec<Diagnostic> {
        let mut known: Vec<&Selector> = Vec::new();
        let mut notes = Vec::new();
        for (expr, part) in tree.walk().zip(&self.parts) {
            let (Some(used), Some(selector)) = (part.word(), expr.selector()) else { continue };
            if known.contains(&selector) {
                continue;
            }
            known.push(selector);
            let (meaning, is_hidden) = match used {
                WordUse::HidesField(meaning) => (meaning, true),
                WordUse::IsField(meaning) => (meaning, false),
            };
            notes.push(match is_hidden {
                true => {
                    let message = format!("`{selector}` is {meaning}, not the field of this name");
                    let field = format!("event.fields.*.{selector}");
                    Diagnostic::new(selector.span, message).replace(selector.span, field)
                }
                false => {
                    let message = format!("`{selector}` is a field of the payload here");
                    Diagnostic::new(selector.span, message).help(format!("{meaning} is not known"))
                }
            });
        }
        notes
    }
}

const NOTHING_PASSES: &str = "nothing passes this filter";
const EVERYTHING_PASSES: &str = "everything passes this filter";

/// A part of an expression after the notes on it.
#[derive(Clone, Copy, Default)]
struct Visited {
    /// The value of the part if it is constant.
    constant: Option<bool>,
    /// `true` if there is a note for the part.
    is_noted: bool,
    /// `true` if no record for which the other terms of a conjunction can hold has the field.
    lacks_field: bool,
}

struct Notes<'f> {
    parts: std::slice::Iter<'f, Part>,
    notes: Vec<Diagnostic>,
}

impl Notes<'_> {
    /// Adds the notes for a part and those below it.
    fn visit(&mut self, expr: &Expr, is_whole: bool) -> Visited {
        let Some(part) = self.parts.next() else { return Visited::default() };
        let below: Vec<_> = expr.children().iter().map(|term| self.visit(term, false)).collect();
        let constant = part.constant();
        let lacks_field = part.fitting && !part.fitting_with_field;
        let none = Visited { constant, is_noted: false, lacks_field };
        let is = |truth| move |known: &Visited| known.constant == Some(truth);
        let is_expected = match (&expr.kind, constant) {
            (_, None) => false,
            (ExprKind::Constant(_), _) => true,
            (ExprKind::And(_), Some(false)) => below.iter().any(is(false)),
            (ExprKind::Or(_), Some(true)) => below.iter().any(is(true)),
            _ => !below.is_empty() && below.iter().all(|known| known.constant.is_some()),
        };
        let message = match (constant, is_whole) {
            (Some(false), true) => NOTHING_PASSES.to_owned(),
            (Some(true), true) => EVERYTHING_PASSES.to_owned(),
            (Some(false), false) if !is_expected => "this part is never true".to_owned(),
            (Some(true), false) if !is_expected => "this part is always true".to_owned(),
            (None, _) if part.field.holds && !part.field.fails => {
                match (&expr.kind, expr.selector()) {
                    (ExprKind::Compare { .. } | ExprKind::In { .. }, Some(selector)) => {
                        format!("this is true wherever `{selector}` is present")
                    }
                    _ => return none,
                }
            }
            _ => return none,
        };
        let mut note = Diagnostic::new(expr.span, message);
        let lacking = expr
            .children()
            .iter()
            .zip(&below)
            .find(|(_, known)| known.lacks_field && !known.is_noted);
        if let Some(selector) = expr.selector() {
            note = part.field.explain(note, expr, selector, constant);
        } else if let (Some(false), ExprKind::And(_), Some((term, _))) =
            (constant, &expr.kind, lacking)
            && let Some(selector) = term.selector()
        {
            note = note.label(format!("nothing that fits the other terms has `{selector}`"));
        }
        self.notes.push(note);
        Visited { is_noted: true, ..none }
    }
}

impl FieldFinding {
    /// Adds the reason why a comparison is constant to its note.
    fn explain(
        &self,
        mut note: Diagnostic,
        expr: &Expr,
        selector: &Selector,
        constant: Option<bool>,
    ) -> Diagnostic {
        if self.is_absent() && constant == Some(false) {
            return note.label(format!("`{selector}` is absent everywhere"));
        }
        if matches!(expr.kind, ExprKind::Exists(_)) {
            return note;
        }
        if let Some(Limits { low, high, unit, is_known }) = self.limits {
            let (low, high) = match unit {
                IntegerKind::Time => (nanoseconds_text(low), nanoseconds_text(high)),
                _ => (low.to_string(), high.to_string()),
            };
            return note.label(match (is_known, unit) {
                (true, _) if low == high => format!("`{selector}` is {low} everywhere"),
                (true, _) => format!("`{selector}` is between {low} and {high} everywhere"),
                (_, IntegerKind::Time) => format!("`{selector}` can be from {low} to {high}"),
                (_, IntegerKind::Truth) => {
                    format!("`{selector}` is true or false: {high} or {low}")
                }
                (_, IntegerKind::Number | IntegerKind::Flags) => {
                    format!("`{selector}` holds integers from {low} to {high}")
                }
            });
        }
        let (relation, value) = match &expr.kind {
            ExprKind::Compare { relation, value, .. } => (*relation, value),
            ExprKind::In { negated: false, values, .. } if values.len() == 1 => {
                (Relation::Eq, &values[0])
            }
            _ => return note,
        };
        if self.has_texts && constant == Some(false) {
            let label = match (relation, expr.is_named()) {
                (Relation::Eq, true) => "no event has this name".to_owned(),
                (Relation::Matches, true) => "no name of an event matches this".to_owned(),
                (Relation::Eq, false) => format!("`{selector}` never equals this"),
                (Relation::Matches, false) => format!("`{selector}` never matches this"),
                _ => return note,
            };
            note.span = value.span;
            note = note.label(label);
        }
        match &self.near {
            Some(near) if expr.is_named() && can_stand_alone(near) => {
                note.replace(value.span, near.as_str())
            }
            Some(near) => note.replace(value.span, format!("{near:?}")),
            None => note,
        }
    }
}
