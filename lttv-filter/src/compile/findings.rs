//! Findings: the parts of an expression that are never or always true.

use crate::verdict::Verdict;

use crate::diagnostic::Diagnostic;
use crate::model::{FieldType, IntegerKind};
use crate::syntax::{Expr, ExprKind, Selector, nanoseconds_text};

use super::bounds;

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
    pub(crate) field: FieldFinding,
}

/// The findings for a comparison, over records that have the field.
#[derive(Debug, Clone, Default)]
pub(crate) struct FieldFinding {
    /// `true` if the comparison can be true for such a record.
    holds: bool,
    /// `true` if the comparison can be false for such a record.
    fails: bool,
    limits: Option<Limits>,
    /// The nearest text that the field is known to have, as a suggestion.
    pub(crate) near: Option<String>,
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

    /// Adds a value that is known in advance.
    pub(crate) fn add_number(&mut self, n: i128) {
        self.add_limits(Limits { low: n, high: n, unit: IntegerKind::Number, is_known: true });
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
        if let Some(limits) = other.limits {
            self.add_limits(limits);
        }
        if self.near.is_none() {
            self.near.clone_from(&other.near);
        }
    }
}

impl Part {
    /// Adds the result of the part, or of its negation, for a record type.
    pub(crate) fn add(&mut self, verdict: Verdict, is_negation: bool) {
        let (can_hold, can_fail) = (verdict != Verdict::Never, verdict != Verdict::Always);
        self.holds |= if is_negation { can_fail } else { can_hold };
        self.fails |= if is_negation { can_hold } else { can_fail };
    }

    /// Returns the value of the part if it is constant.
    fn constant(&self) -> Option<bool> {
        (self.holds != self.fails).then_some(self.holds)
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
            part.field.join(&other.field);
        }
    }

    /// Creates a note for the expression if it is constant, and one for each unexpectedly
    /// constant part.
    ///
    /// The argument `is_never` states that no record can pass for another reason.
    pub(crate) fn notes(&self, tree: &Expr, is_never: bool) -> Vec<Diagnostic> {
        let mut notes = Notes { parts: self.parts.iter(), notes: Vec::new() };
        let (constant, is_noted) = notes.visit(tree, true);
        if is_never && constant.is_none() && !is_noted {
            notes.notes.push(Diagnostic::new(tree.span, NOTHING_PASSES));
        }
        notes.notes
    }
}

const NOTHING_PASSES: &str = "nothing passes this filter";
const EVERYTHING_PASSES: &str = "everything passes this filter";

struct Notes<'f> {
    parts: std::slice::Iter<'f, Part>,
    notes: Vec<Diagnostic>,
}

impl Notes<'_> {
    /// Adds the notes for a part and those below it. Returns the value of the part if it
    /// is constant, and whether there is a note for it.
    fn visit(&mut self, expr: &Expr, is_whole: bool) -> (Option<bool>, bool) {
        let Some(part) = self.parts.next() else { return (None, false) };
        let below: Vec<_> = expr.children().iter().map(|term| self.visit(term, false)).collect();
        let constant = part.constant();
        let is = |truth| move |known: &(Option<bool>, bool)| known.0 == Some(truth);
        let is_expected = match (&expr.kind, constant) {
            (_, None) => false,
            (ExprKind::Constant(_), _) => true,
            (ExprKind::And(_), Some(false)) => below.iter().any(is(false)),
            (ExprKind::Or(_), Some(true)) => below.iter().any(is(true)),
            _ => !below.is_empty() && below.iter().all(|known| known.0.is_some()),
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
                    _ => return (constant, false),
                }
            }
            _ => return (constant, false),
        };
        let mut note = Diagnostic::new(expr.span, message);
        if let Some(selector) = expr.selector() {
            note = part.field.explain(note, expr, selector);
        }
        self.notes.push(note);
        (constant, true)
    }
}

impl FieldFinding {
    /// Adds the reason why a comparison is constant to its note.
    fn explain(&self, note: Diagnostic, expr: &Expr, selector: &Selector) -> Diagnostic {
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
                (_, IntegerKind::Number) => {
                    format!("`{selector}` holds integers from {low} to {high}")
                }
            });
        }
        match (&expr.kind, &self.near) {
            (ExprKind::Compare { value, .. }, Some(near)) => {
                note.replace(value.span, format!("{near:?}"))
            }
            _ => note,
        }
    }
}
