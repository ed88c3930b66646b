//! Building trees without text.

use std::ops::Not;

use super::expr::{Expr, ExprKind, Literal, Relation};
use super::selector::Selector;

impl Expr {
    /// True if all are: `a && b`.
    pub fn all(terms: impl IntoIterator<Item = Expr>) -> Expr {
        Self::joined(terms, true, ExprKind::And)
    }

    /// True if one of them is: `a || b`.
    pub fn any(terms: impl IntoIterator<Item = Expr>) -> Expr {
        Self::joined(terms, false, ExprKind::Or)
    }

    /// True if an odd number of them are: `a ^ b`.
    pub fn odd(terms: impl IntoIterator<Item = Expr>) -> Expr {
        Self::joined(terms, false, ExprKind::Xor)
    }

    /// `true` or `false`.
    pub fn constant(truth: bool) -> Expr {
        ExprKind::Constant(truth).into()
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
            _ => join(terms).into(),
        }
    }
}

impl Not for Expr {
    type Output = Expr;

    fn not(self) -> Expr {
        ExprKind::Not(Box::new(self)).into()
    }
}

#[allow(clippy::should_implement_trait)] // `==` cannot give an expression
impl Selector {
    /// `field RELATION value`
    pub fn compare(&self, relation: Relation, value: impl Into<Literal>) -> Expr {
        ExprKind::Compare { selector: self.clone(), relation, value: value.into() }.into()
    }

    /// `field == value`
    pub fn eq(&self, value: impl Into<Literal>) -> Expr {
        self.compare(Relation::Eq, value)
    }

    /// `field != value`
    pub fn ne(&self, value: impl Into<Literal>) -> Expr {
        self.compare(Relation::Ne, value)
    }

    /// `field < value`
    pub fn lt(&self, value: impl Into<Literal>) -> Expr {
        self.compare(Relation::Lt, value)
    }

    /// `field <= value`
    pub fn le(&self, value: impl Into<Literal>) -> Expr {
        self.compare(Relation::Le, value)
    }

    /// `field > value`
    pub fn gt(&self, value: impl Into<Literal>) -> Expr {
        self.compare(Relation::Gt, value)
    }

    /// `field >= value`
    pub fn ge(&self, value: impl Into<Literal>) -> Expr {
        self.compare(Relation::Ge, value)
    }

    /// `field =~ "pattern"`
    pub fn like(&self, pattern: &str) -> Expr {
        self.compare(Relation::Like, pattern)
    }

    /// `field in (…)`
    pub fn one_of<V: Into<Literal>>(&self, values: impl IntoIterator<Item = V>) -> Expr {
        let values = values.into_iter().map(Into::into).collect();
        ExprKind::In { selector: self.clone(), negated: false, values }.into()
    }

    /// `field not in (…)`
    pub fn none_of<V: Into<Literal>>(&self, values: impl IntoIterator<Item = V>) -> Expr {
        let values = values.into_iter().map(Into::into).collect();
        ExprKind::In { selector: self.clone(), negated: true, values }.into()
    }

    /// `exists(field)`
    pub fn exists(&self) -> Expr {
        ExprKind::Exists(self.clone()).into()
    }

    /// `field`, for a boolean one.
    pub fn is_true(&self) -> Expr {
        ExprKind::Is(self.clone()).into()
    }
}
