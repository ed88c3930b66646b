//! The language: trees, how they are read from text, and how they are printed.

mod build;
mod exact;
mod expr;
mod lexer;
mod literal;
mod number;
mod parser;
mod print;
mod quoted;
mod selector;
mod time_literal;
mod token;

pub use exact::ExactNumber;
pub use expr::{Expr, ExprKind, Literal, Relation};
pub use literal::{CivilTime, LiteralKind};
pub(crate) use parser::parse;
pub(crate) use print::nanoseconds_text;
pub use selector::{Root, Selector, Step, StepKind};

/// How deep parentheses and negations may be nested.
pub(crate) const MAX_DEPTH: usize = 200;

/// How many comparisons an expression may have. (Sets may be of any size.)
pub(crate) const MAX_COMPARISONS: usize = 4096;

/// Words that mean something to the parser, and cannot be names as they are.
pub(crate) const KEYWORDS: [&str; 8] = ["and", "or", "xor", "not", "in", "exists", "true", "false"];

/// Whether a word is a keyword, in whatever case.
pub(crate) fn is_keyword(word: &str) -> bool {
    KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword))
}
