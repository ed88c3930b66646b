//! The language: syntax trees, parsing and formatting.

mod build;
mod exact;
mod expected;
mod expr;
mod lexer;
mod literal;
mod number;
mod parser;
mod pattern;
mod print;
mod quoted;
mod selector;
mod token;

pub use exact::ExactNumber;
pub(crate) use expected::Place;
pub use expr::{Expr, ExprKind, Literal, Relation};
pub(crate) use lexer::word_len;
pub use literal::LiteralKind;
pub(crate) use parser::{MAX_TEXT, expected, parse};
pub(crate) use pattern::can_stand_alone;
pub(crate) use print::nanoseconds_text;
pub use selector::{Root, Selector, Step, StepKind};

/// The maximum nesting of parentheses and negations.
pub(crate) const MAX_DEPTH: usize = 200;

/// The maximum number of comparisons in an expression. Sets can have any size.
pub(crate) const MAX_COMPARISONS: usize = 4096;

/// The keywords, which cannot be used as names without quotes.
pub(crate) const KEYWORDS: [&str; 8] = ["and", "or", "xor", "not", "in", "exists", "true", "false"];

/// Returns `true` if a word is a keyword, in upper or lower case.
pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
}
