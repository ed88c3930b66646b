//! Expressions: a tree and its text.

use std::fmt;
use std::str::FromStr;

use crate::span::Span;

use crate::diagnostic::{Diagnostic, FilterError, FilterErrorKind};
use crate::syntax::{Expr, MAX_DEPTH, parse};

/// A parsed filter expression, independent of traces: a syntax tree and its text. The
/// [crate's documentation](crate) describes the language.
///
/// ```
/// use lttv_filter::Expression;
///
/// let expression = Expression::parse("event.name = sched_switch & !next_tid = 0x2a")?;
/// // The canonical form:
/// assert_eq!(
///     expression.tree().to_string(),
///     r#"event.name == "sched_switch" && !(next_tid == 42)"#
/// );
/// # Ok::<(), lttv_filter::FilterError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    text: String,
    tree: Expr,
}

impl Expression {
    /// Parses an expression from its text.
    ///
    /// # Errors
    ///
    /// Returns an error that contains all faults of the text, as far as one fault does
    /// not hide another. Whether fields exist is checked later. The kind is
    /// [`Empty`](FilterErrorKind::Empty) if the text is empty or blank.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        Ok(Expression { tree: parse(text)?, text: text.to_owned() })
    }

    /// Creates an expression from a tree that was built or changed. Its text is the
    /// canonical one, and spans in its tree refer to this text.
    ///
    /// # Errors
    ///
    /// Returns an error if no text corresponds to the tree: it contains a number that is
    /// not finite, an operator with less than two operands, or more levels than texts may
    /// have.
    pub fn new(tree: Expr) -> Result<Self, FilterError> {
        if depth_exceeds(&tree, 3 * MAX_DEPTH) {
            let message = format!("the tree is more than {} levels deep", 3 * MAX_DEPTH);
            let error = Diagnostic::new(Span::default(), message);
            return Err(FilterError::new(FilterErrorKind::Syntax, "", vec![error]));
        }
        let text = tree.to_string();
        let expression = Expression::parse(&text)?;
        if expression.tree != tree {
            let error =
                Diagnostic::new(Span::new(0, text.len()), "the tree cannot be expressed as text");
            let error = error.label("this text has a different meaning");
            return Err(FilterError::new(FilterErrorKind::Syntax, &text, vec![error]));
        }
        Ok(expression)
    }

    /// Parses several expressions and joins them by `&&`. Without any, the result is
    /// `true`.
    ///
    /// # Errors
    ///
    /// Returns the error of the first invalid expression: see [`parse`](Self::parse).
    pub fn parse_all<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, FilterError> {
        let mut expressions = Vec::new();
        for text in texts {
            expressions.push(Expression::parse(text)?);
        }
        match expressions.len() {
            0 => Expression::parse("true"),
            1 => Ok(expressions.remove(0)),
            _ => {
                // Parenthesized, each with its text unchanged.
                let text: Vec<_> = expressions.iter().map(|e| format!("({})", e.text)).collect();
                Expression::parse(&text.join(" && "))
            }
        }
    }

    /// Returns the text from which the expression was parsed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the tree. Its spans are bytes of [`text`](Self::text).
    pub fn tree(&self) -> &Expr {
        &self.tree
    }

    /// Returns the tree, to be changed and converted back by [`new`](Self::new).
    pub fn into_tree(self) -> Expr {
        self.tree
    }
}

/// Returns `true` if a tree has more than a number of levels. Not recursive, since the
/// tree can be as deep as memory allows.
fn depth_exceeds(tree: &Expr, max: usize) -> bool {
    let mut todo = vec![(tree, 0)];
    while let Some((node, depth)) = todo.pop() {
        if depth > max {
            return true;
        }
        todo.extend(node.children().iter().map(|child| (child, depth + 1)));
    }
    false
}

impl FromStr for Expression {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        Expression::parse(text)
    }
}

impl fmt::Display for Expression {
    /// Writes the text of the expression.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
