//! Expressions: a tree and the text that it stands for.

use std::fmt;
use std::str::FromStr;

use ltt_read::metadata::Span;

use crate::diagnostic::{Diagnostic, FilterError, FilterErrorKind};
use crate::syntax::{Expr, MAX_DEPTH, Root, parse};

/// A filter expression that has been understood, for any trace: its text, and
/// the tree that it means. See the [crate's documentation](crate) for the
/// language.
///
/// ```
/// use lttv_filter::Expression;
///
/// let expression = Expression::parse("event.name = sched_switch & !next_tid = 0x2a")?;
/// // In canonical form:
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
    /// Reads an expression.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with the text, as far as one fault does not hide
    /// another. Whether there are such fields is not known yet. If there is no text, or
    /// only blanks, the kind is [`Empty`](FilterErrorKind::Empty).
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        Ok(Expression { tree: parse(text)?, text: text.to_owned() })
    }

    /// An expression of a tree that was built or changed. Its text is the
    /// canonical one, and the places in the tree are those in this text.
    ///
    /// # Errors
    ///
    /// If the tree is none that text can have: a number that is not finite, an
    /// operator with less than two terms, more levels than text may have.
    pub fn new(tree: Expr) -> Result<Self, FilterError> {
        if depth_exceeds(&tree, 3 * MAX_DEPTH) {
            let message = format!("the tree is more than {} levels deep", 3 * MAX_DEPTH);
            let error = Diagnostic::new(Span::default(), message);
            return Err(FilterError::new(FilterErrorKind::Syntax, "", vec![error]));
        }
        let text = tree.to_string();
        let expression = Expression::parse(&text)?;
        if expression.tree != tree {
            let error = Diagnostic::new(Span::new(0, text.len()), "the tree cannot be written");
            let error = error.label("this is something else");
            return Err(FilterError::new(FilterErrorKind::Syntax, &text, vec![error]));
        }
        Ok(expression)
    }

    /// Several expressions, all of which have to be true. Without any, it is `true`.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse): of the first that is wrong.
    pub fn parse_all<'t>(texts: impl IntoIterator<Item = &'t str>) -> Result<Self, FilterError> {
        let mut expressions = Vec::new();
        for text in texts {
            expressions.push(Expression::parse(text)?);
        }
        match expressions.len() {
            0 => Expression::parse("true"),
            1 => Ok(expressions.remove(0)),
            _ => {
                // Each in parentheses of its own, as it was typed.
                let text: Vec<_> = expressions.iter().map(|e| format!("({})", e.text)).collect();
                Expression::parse(&text.join(" && "))
            }
        }
    }

    /// The text that it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it asks for the state of the traced system, by `state.` fields.
    pub fn asks_state(&self) -> bool {
        let asks = |node: &Expr| node.selector().is_some_and(|it| it.root == Root::State);
        self.tree.walk().any(asks)
    }

    /// The tree; places in it are bytes of [`text`](Self::text).
    pub fn tree(&self) -> &Expr {
        &self.tree
    }

    /// The tree, to be changed and made an [`Expression`] again.
    pub fn into_tree(self) -> Expr {
        self.tree
    }
}

/// Without recursion: the tree may be as deep as memory allows.
fn depth_exceeds(tree: &Expr, most: usize) -> bool {
    let mut todo = vec![(tree, 0)];
    while let Some((node, depth)) = todo.pop() {
        if depth > most {
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
    /// The text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
