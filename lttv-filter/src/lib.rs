//! Filters.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

/// The code in the README, which has to compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

mod compile;
mod compiled;
mod diagnostic;
mod environment;
mod expression;
mod filter;
mod filters;
mod glob;
pub mod model;
mod ranges;
mod read;
#[cfg(feature = "render")]
mod render;
mod syntax;
mod trace;

pub use compiled::Compiled;
pub use diagnostic::{Diagnostic, FilterError};
pub use environment::Environment;
pub use expression::Expression;
pub use filter::Filter;
pub use filters::Filters;
pub use ltt_read::choice::{TimeWindow, Verdict};
pub use ltt_read::metadata::Span;
pub use read::Matches;
pub use syntax::{
    CivilTime, Expr, ExprKind, Literal, LiteralKind, Relation, Root, Selector, Step, StepKind,
};
pub use trace::{NoState, StateField, StateFields, StateView};
