//! Construction of trees without text.

use std::ops::Not;

use super::expr::{Expr, ExprKind, Literal, Relation};
use super::literal::LiteralKind;
use super::selector::Selector;
use crate::span::Span;

impl Expr {
    /// Creates a conjunction, which is true if all terms are: `a && b`. Without terms, it
    /// is `true`.
    pub fn all(terms: impl IntoIterator<Item = Expr>) -> Expr {
        Self::joined(terms, true, ExprKind::And)
    }

    /// Creates a disjunction, which is true if at least one term is: `a || b`. Without
    /// terms, it is `false`.
    pub fn any(terms: impl IntoIterator<Item = Expr>) -> Expr {
        Self::joined(terms, false, ExprKind::Or)
    }

    /// Creates a parity, which is true if an odd number of terms is: `a ^ b`. Without
    /// terms, it is `false`.
    pub fn xor(terms: impl IntoIterator<Item = Expr>) -> Expr {
        Self::joined(terms, false, ExprKind::Xor)
    }

    /// Creates a constant: `true` or `false`.
    pub fn constant(truth: bool) -> Expr {
        Expr::new(ExprKind::Constant(truth))
    }

    fn joined(
        terms: impl IntoIterator<Item = Expr>,
        of_none: bool,
        join: fn(Vec<Expr>) -> ExprKind,
    ) -> Expr {
        let mut terms: Vec<Expr> = terms.into_iter().collect();
        match terms.len() {
            0 => Expr::constant(of_none),
            1 => terms.remove(0),
            _ => Expr::new(join(terms)),
        }
    }
}

impl ExprKind {
    /// Creates the comparison that a name or pattern of events stands for if it stands
    /// alone.
    pub(crate) fn named(relation: Relation, text: String, span: Span) -> Self {
        let selector = Selector { span, ..Selector::event("name") };
        ExprKind::Compare {
            selector,
            relation,
            value: Literal { kind: LiteralKind::Text(text), span },
        }
    }
}

impl Expr {
    /// Returns `true` for a name or pattern of events that stands alone.
    pub(crate) fn is_named(&self) -> bool {
        match &self.kind {
            ExprKind::Compare { selector, value, .. } => {
                selector.span == value.span && value.span != Span::default()
            }
            _ => false,
        }
    }
}

impl Not for Expr {
    type Output = Expr;

    fn not(self) -> Expr {
        Expr::new(ExprKind::Not(Box::new(self)))
    }
}

#[allow(clippy::should_implement_trait)] // `PartialEq::eq` cannot return an expression
impl Selector {
    /// Creates a comparison: `field RELATION value`.
    pub fn compare(&self, relation: Relation, value: impl Into<Literal>) -> Expr {
        Expr::new(ExprKind::Compare { selector: self.clone(), relation, value: value.into() })
    }

    /// Creates a comparison: `field == value`.
    pub fn eq(&self, value: impl Into<Literal>) -> Expr {
        self.compare(Relation::Eq, value)
    }

    /// Creates a comparison: `field != value`.
    pub fn ne(&self, value: impl Into<Literal>) -> Expr {
        self.compare(Relation::Ne, value)
    }

    /// Creates a comparison: `field < value`.
    pub fn lt(&self, value: impl Into<Literal>) -> Expr {
        self.compare(Relation::Lt, value)
    }

    /// Creates a comparison: `field <= value`.
    pub fn le(&self, value: impl Into<Literal>) -> Expr {
        self.compare(Relation::Le, value)
    }

    /// Creates a comparison: `field > value`.
    pub fn gt(&self, value: impl Into<Literal>) -> Expr {
        self.compare(Relation::Gt, value)
    }

    /// Creates a comparison: `field >= value`.
    pub fn ge(&self, value: impl Into<Literal>) -> Expr {
        self.compare(Relation::Ge, value)
    }

    /// Creates a comparison with a pattern: `field =~ "pattern"`.
    pub fn like(&self, pattern: &str) -> Expr {
        self.compare(Relation::Matches, pattern)
    }

    /// Creates a membership test: `field in (…)`.
    pub fn one_of<V: Into<Literal>>(&self, values: impl IntoIterator<Item = V>) -> Expr {
        let values = values.into_iter().map(Into::into).collect();
        Expr::new(ExprKind::In { selector: self.clone(), negated: false, values })
    }

    /// Creates a negated membership test: `field not in (…)`.
    pub fn none_of<V: Into<Literal>>(&self, values: impl IntoIterator<Item = V>) -> Expr {
        let values = values.into_iter().map(Into::into).collect();
        Expr::new(ExprKind::In { selector: self.clone(), negated: true, values })
    }

    /// Creates a test for presence: `exists(field)`.
    pub fn exists(&self) -> Expr {
        Expr::new(ExprKind::Exists(self.clone()))
    }

    /// Creates a test of a boolean field: `field`.
    pub fn is_true(&self) -> Expr {
        Expr::new(ExprKind::Is(self.clone()))
    }
}
