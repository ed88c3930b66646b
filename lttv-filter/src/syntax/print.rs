//! Formatting of trees in canonical form, which parses to an equal tree.

use std::fmt::{self, Display, Formatter};

use super::exact::ExactNumber;
use super::expr::{Expr, ExprKind, Literal};
use super::is_keyword;
use super::lexer::{starts_word, word_len};
use super::literal::LiteralKind;
use super::quoted;
use super::selector::{Root, Selector, StepKind};
use crate::time::{write_date_time, write_time_of_day};

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Constant(truth) => write!(f, "{truth}"),
            ExprKind::Not(inner) => match inner.kind {
                ExprKind::Constant(_)
                | ExprKind::Not(_)
                | ExprKind::Exists(_)
                | ExprKind::Is(_) => {
                    write!(f, "!{inner}")
                }
                _ => write!(f, "!({inner})"),
            },
            ExprKind::And(terms) => joined(f, terms, " && ", 3),
            ExprKind::Xor(terms) => joined(f, terms, " ^ ", 2),
            ExprKind::Or(terms) => joined(f, terms, " || ", 1),
            ExprKind::Compare { selector, relation, value } => {
                write!(f, "{selector} {} {value}", relation.symbol())
            }
            ExprKind::In { selector, negated, values } => {
                write!(f, "{selector} {}in (", if *negated { "not " } else { "" })?;
                for (i, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if i > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
            ExprKind::Exists(selector) => write!(f, "exists({selector})"),
            // Without quotes, `a.*` alone would be a pattern of names of events.
            ExprKind::Is(selector) => write_selector(f, selector, has_wildcard(selector)),
        }
    }
}

/// Returns the precedence of an expression. It needs parentheses unless its precedence is
/// higher than that of its parent.
fn precedence(expr: &Expr) -> u8 {
    match expr.kind {
        ExprKind::Or(_) => 1,
        ExprKind::Xor(_) => 2,
        ExprKind::And(_) => 3,
        _ => 4,
    }
}

fn joined(f: &mut Formatter<'_>, terms: &[Expr], sign: &str, own: u8) -> fmt::Result {
    for (i, term) in terms.iter().enumerate() {
        if i > 0 {
            f.write_str(sign)?;
        }
        if precedence(term) > own {
            term.fmt(f)?;
        } else {
            write!(f, "({term})")?;
        }
    }
    Ok(())
}

impl Display for Selector {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_selector(f, self, false)
    }
}

/// Returns `true` if a selector contains the sign for any member.
fn has_wildcard(selector: &Selector) -> bool {
    selector.steps.iter().any(|step| matches!(step.kind, StepKind::Any))
}

/// Writes a selector. `quoted` writes the first name of an unqualified one in quotes, even if it
/// is a word.
fn write_selector(f: &mut Formatter<'_>, selector: &Selector, quoted: bool) -> fmt::Result {
    f.write_str(selector.root.word())?;
    for (i, step) in selector.steps.iter().enumerate() {
        match &step.kind {
            StepKind::Name(name) => {
                let first = selector.root == Root::Unqualified && i == 0;
                if !first {
                    f.write_str(".")?;
                }
                let reserved = first && (quoted || is_keyword(name) || Root::of(name).is_some());
                if is_word(name) && !reserved {
                    f.write_str(name)?;
                } else {
                    quoted::write(f, name, '`')?;
                }
            }
            StepKind::Index(index) => write!(f, "[{index}]")?,
            StepKind::Any => f.write_str(".*")?,
        }
    }
    Ok(())
}

fn is_word(name: &str) -> bool {
    name.starts_with(starts_word) && word_len(name) == name.len()
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl Display for LiteralKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LiteralKind::Integer(number) => f.write_str(&number.positional()),
            LiteralKind::Decimal(number) => decimal(f, number),
            LiteralKind::Bool(truth) => truth.fmt(f),
            LiteralKind::Text(text) => quoted::write(f, text, '"'),
            LiteralKind::Duration(ns) => duration(f, ns),
            LiteralKind::TimeOfDay(ns) => write_time_of_day(f, *ns),
            LiteralKind::DateTime(time) => write_date_time(f, *time),
        }
    }
}

/// Writes a number with a point or an exponent.
fn decimal(f: &mut Formatter<'_>, number: &ExactNumber) -> fmt::Result {
    let text = number.to_string();
    let point = if text.contains(['.', 'e']) { "" } else { ".0" };
    write!(f, "{text}{point}")
}

/// Writes a duration in the largest unit that needs no fraction.
fn duration(f: &mut Formatter<'_>, ns: &ExactNumber) -> fmt::Result {
    let whole = ns.as_i128();
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    match whole.and_then(|ns| units.iter().find(|(scale, _)| ns % scale == 0).zip(Some(ns))) {
        Some(((scale, unit), ns)) => write!(f, "{}{unit}", ns / scale),
        None => write!(f, "{}ns", ns.positional()),
    }
}

/// Formats ns as seconds, for error messages.
pub(crate) fn nanoseconds_text(ns: i128) -> String {
    LiteralKind::Decimal(ExactNumber::new(ns, -9)).to_string()
}
