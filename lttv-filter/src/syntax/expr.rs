//! Expression trees.

use ltt_read::metadata::Span;

use super::literal::LiteralKind;
use super::selector::Selector;

/// A node of an expression tree, with its place in the text that it was read
/// from. Nodes are equal if they mean the same; where they stand does not
/// count.
///
/// Trees can be walked and changed at will, or built without any text: see the
/// functions here and those of [`Selector`]. [`Expression::new`] makes something
/// that can be compiled of them.
///
/// ```
/// use lttv_filter::{Expr, Expression, Selector};
///
/// let name = Selector::event("name");
/// let tid = Selector::bare("next_tid");
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
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands, with its parentheses.
    pub span: Span,
}

/// The kinds of nodes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ExprKind {
    /// `true` or `false`.
    Constant(bool),
    /// `!a`
    Not(Box<Expr>),
    /// `a && b && …`: true if all are. Two or more.
    And(Vec<Expr>),
    /// `a ^ b ^ …`: true if an odd number of them are. Two or more.
    Xor(Vec<Expr>),
    /// `a || b || …`: true if one of them is. Two or more.
    Or(Vec<Expr>),
    /// `field == 5`: true if the field is there and its value compares so.
    Compare {
        /// What is compared.
        selector: Selector,
        /// How.
        relation: Relation,
        /// With what.
        value: Literal,
    },
    /// `field in (1, 2)`, `field not in (1, 2)`: true if the field is there and
    /// its value is one of these, or none of them.
    In {
        /// What is looked for.
        selector: Selector,
        /// Whether the set is to be left out.
        negated: bool,
        /// The set.
        values: Vec<Literal>,
    },
    /// `exists(field)`: true if the event has it.
    Exists(Selector),
    /// `field`: true if a boolean field is there and true.
    Is(Selector),
}

/// How a field is compared with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `=~`: text matches a pattern.
    Like,
    /// `!~`: text does not match a pattern.
    NotLike,
}

impl Relation {
    /// As it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Relation::Eq => "==",
            Relation::Ne => "!=",
            Relation::Lt => "<",
            Relation::Le => "<=",
            Relation::Gt => ">",
            Relation::Ge => ">=",
            Relation::Like => "=~",
            Relation::NotLike => "!~",
        }
    }

    /// The relation that says the same with its sides swapped; `None` for
    /// patterns, which stand on the right.
    pub fn flipped(self) -> Option<Relation> {
        Some(match self {
            Relation::Eq | Relation::Ne => self,
            Relation::Lt => Relation::Gt,
            Relation::Le => Relation::Ge,
            Relation::Gt => Relation::Lt,
            Relation::Ge => Relation::Le,
            Relation::Like | Relation::NotLike => return None,
        })
    }
}

/// A value in an expression, with its place in the text.
#[derive(Debug, Clone)]
pub struct Literal {
    /// What it is.
    pub kind: LiteralKind,
    /// Where it stands.
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

impl From<ExprKind> for Expr {
    fn from(kind: ExprKind) -> Self {
        Expr { kind, span: Span::default() }
    }
}

impl<K: Into<LiteralKind>> From<K> for Literal {
    fn from(kind: K) -> Self {
        Literal { kind: kind.into(), span: Span::default() }
    }
}

impl Expr {
    /// The nodes directly below it.
    pub fn children(&self) -> &[Expr] {
        match &self.kind {
            ExprKind::Not(inner) => std::slice::from_ref(&**inner),
            ExprKind::And(terms) | ExprKind::Xor(terms) | ExprKind::Or(terms) => terms,
            _ => &[],
        }
    }

    /// The nodes directly below it, to be changed.
    pub fn children_mut(&mut self) -> &mut [Expr] {
        match &mut self.kind {
            ExprKind::Not(inner) => std::slice::from_mut(&mut **inner),
            ExprKind::And(terms) | ExprKind::Xor(terms) | ExprKind::Or(terms) => terms,
            _ => &mut [],
        }
    }

    /// It and all nodes below it, parents first.
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

    /// The selector of a leaf.
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
