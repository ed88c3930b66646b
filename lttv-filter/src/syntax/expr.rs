//! Expression trees.

use crate::span::Span;

use super::literal::LiteralKind;
use super::selector::Selector;

/// A node of an expression tree, with its span in the parsed text. Equality ignores
/// spans.
///
/// Trees can be traversed and changed, or built without text by the functions of this
/// type and of [`Selector`]. [`Expression::new`] converts a tree to an expression that
/// can be compiled.
///
/// ```
/// use lttv_filter::{Expr, Expression, Selector};
///
/// let name = Selector::event("name");
/// let tid = Selector::field("next_tid");
/// let tree = Expr::all([name.eq("sched_switch"), !tid.one_of([0, 1])]);
/// let expression = Expression::new(tree)?;
/// assert_eq!(
///     expression.to_string(),
///     r#"event.name == "sched_switch" && !(next_tid in (0, 1))"#
/// );
/// # Ok::<(), lttv_filter::FilterError>(())
/// ```
///
/// [`Expression::new`]: crate::Expression::new
#[derive(Debug, Clone)]
pub struct Expr {
    /// The kind of the node.
    pub kind: ExprKind,
    /// The span in the text, including parentheses.
    pub span: Span,
}

/// The kind of a node.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ExprKind {
    /// A constant: `true` or `false`.
    Constant(bool),
    /// A negation, true if its operand is false: `!a`.
    Not(Box<Expr>),
    /// A conjunction of two or more terms, true if all are: `a && b && …`.
    And(Vec<Expr>),
    /// A parity of two or more terms, true if an odd number of them is: `a ^ b ^ …`.
    Xor(Vec<Expr>),
    /// A disjunction of two or more terms, true if at least one is: `a || b || …`.
    Or(Vec<Expr>),
    /// A comparison, true if the field is present and its value compares accordingly:
    /// `field == 5`.
    Compare {
        /// The field to compare.
        selector: Selector,
        /// The relation between the field and the value.
        relation: Relation,
        /// The value on the right side of the relation.
        value: Literal,
    },
    /// A membership test, true if the field is present and its value is one of a set, or
    /// none of it: `field in (1, 2)`, `field not in (1, 2)`.
    In {
        /// The field whose value is searched in the set.
        selector: Selector,
        /// `true` if the test is `not in`.
        negated: bool,
        /// The values of the set.
        values: Vec<Literal>,
    },
    /// A test for presence, true if the event has the field: `exists(field)`.
    Exists(Selector),
    /// A test of a boolean field, true if it is present and true: `field`.
    Is(Selector),
}

/// A relation between a field and a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// The field equals the value: `==`.
    Eq,
    /// The field differs from the value: `!=`.
    Ne,
    /// The field is less than the value: `<`.
    Lt,
    /// The field is less than or equal to the value: `<=`.
    Le,
    /// The field is greater than the value: `>`.
    Gt,
    /// The field is greater than or equal to the value: `>=`.
    Ge,
    /// The text or label matches a pattern: `=~`.
    Matches,
    /// The text or label does not match a pattern: `!~`.
    NotMatches,
    /// The integer has at least one of the bits of the value, a number or a label: `&`.
    Bits,
}

impl Relation {
    /// Returns the operator: `==`, for example.
    pub fn symbol(self) -> &'static str {
        match self {
            Relation::Eq => "==",
            Relation::Ne => "!=",
            Relation::Lt => "<",
            Relation::Le => "<=",
            Relation::Gt => ">",
            Relation::Ge => ">=",
            Relation::Matches => "=~",
            Relation::NotMatches => "!~",
            Relation::Bits => "&",
        }
    }

    /// Returns the equivalent relation with its operands swapped. `None` for patterns,
    /// which have to be on the right.
    pub(crate) fn flipped(self) -> Option<Relation> {
        Some(match self {
            Relation::Eq | Relation::Ne => self,
            Relation::Lt => Relation::Gt,
            Relation::Le => Relation::Ge,
            Relation::Gt => Relation::Lt,
            Relation::Ge => Relation::Le,
            Relation::Matches | Relation::NotMatches | Relation::Bits => return None,
        })
    }
}

/// A value in an expression, with its span in the text. Equality ignores spans.
#[derive(Debug, Clone)]
pub struct Literal {
    /// The kind of the literal, with its value.
    pub kind: LiteralKind,
    /// The span in the text.
    pub span: Span,
}

impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl PartialEq for Literal {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

impl<K: Into<LiteralKind>> From<K> for Literal {
    fn from(kind: K) -> Self {
        Literal { kind: kind.into(), span: Span::default() }
    }
}

impl Expr {
    /// Creates a node that is at no place of a text.
    pub fn new(kind: ExprKind) -> Self {
        Expr { kind, span: Span::default() }
    }

    /// Returns the child nodes.
    pub fn children(&self) -> &[Expr] {
        match &self.kind {
            ExprKind::Not(inner) => std::slice::from_ref(&**inner),
            ExprKind::And(terms) | ExprKind::Xor(terms) | ExprKind::Or(terms) => terms,
            _ => &[],
        }
    }

    /// Returns the child nodes for modification.
    pub fn children_mut(&mut self) -> &mut [Expr] {
        match &mut self.kind {
            ExprKind::Not(inner) => std::slice::from_mut(&mut **inner),
            ExprKind::And(terms) | ExprKind::Xor(terms) | ExprKind::Or(terms) => terms,
            _ => &mut [],
        }
    }

    /// Iterates over the node and all nodes below it, parents first.
    ///
    /// ```
    /// use lttv_filter::{Expression, ExprKind};
    ///
    /// let text = "a == 1 && !(b == 2)";
    /// let expression = Expression::parse(text)?;
    /// let leaves = expression.tree().walk().filter(|node| node.selector().is_some());
    /// let leaves: Vec<&str> =
    ///     leaves.map(|node| &text[node.span.start as usize..node.span.end as usize]).collect();
    /// assert_eq!(leaves, ["a == 1", "(b == 2)"]);
    /// # Ok::<(), lttv_filter::FilterError>(())
    /// ```
    pub fn walk(&self) -> impl Iterator<Item = &Expr> {
        let mut todo = vec![self];
        std::iter::from_fn(move || {
            let node = todo.pop()?;
            todo.extend(node.children().iter().rev());
            Some(node)
        })
    }

    /// Returns the selector of a leaf. `None` for constants and for nodes with children.
    pub fn selector(&self) -> Option<&Selector> {
        match &self.kind {
            ExprKind::Compare { selector, .. }
            | ExprKind::In { selector, .. }
            | ExprKind::Exists(selector)
            | ExprKind::Is(selector) => Some(selector),
            _ => None,
        }
    }
}
