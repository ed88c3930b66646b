//! Formatting of trees in canonical form, which parses to an equal tree.

use std::fmt::{self, Display, Formatter};

use super::expr::{Expr, ExprKind, Literal};
use super::is_keyword;
use super::lexer::{starts_word, word_len};
use super::literal::LiteralKind;
use super::number::NS_PER_S;
use super::quoted;
use super::selector::{Root, Selector, StepKind};
use super::time_literal::{write_date_time, write_time_of_day};

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
            ExprKind::Is(selector) => selector.fmt(f),
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
        f.write_str(self.root.word())?;
        for (i, step) in self.steps.iter().enumerate() {
            match &step.kind {
                StepKind::Name(name) => {
                    let first = self.root == Root::Unqualified && i == 0;
                    if !first {
                        f.write_str(".")?;
                    }
                    let reserved = first && (is_keyword(name) || Root::of(name).is_some());
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
            LiteralKind::Int(n) => n.fmt(f),
            LiteralKind::Decimal(units) => decimal(f, *units),
            LiteralKind::Float(number) => write!(f, "{number:e}"),
            LiteralKind::Number(number) => number.fmt(f),
            LiteralKind::LargeInt(number) => f.write_str(&number.positional()),
            LiteralKind::Bool(truth) => truth.fmt(f),
            LiteralKind::Text(text) => quoted::write(f, text, '"'),
            LiteralKind::Duration(ns) => duration(f, *ns),
            LiteralKind::FineDuration(ns) => write!(f, "{}ns", ns.positional()),
            LiteralKind::TimeOfDay(ns) => write_time_of_day(f, *ns),
            LiteralKind::DateTime(time) => write_date_time(f, *time),
        }
    }
}

/// Writes at least one digit after the point, without trailing zeros.
fn decimal(f: &mut Formatter<'_>, units: i128) -> fmt::Result {
    let (sign, abs) = (if units < 0 { "-" } else { "" }, units.unsigned_abs());
    let scale = NS_PER_S.unsigned_abs();
    let fraction = format!("{:09}", abs % scale);
    let fraction = fraction.trim_end_matches('0');
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    write!(f, "{sign}{}.{fraction}", abs / scale)
}

/// Writes a duration in the largest unit that needs no fraction.
fn duration(f: &mut Formatter<'_>, ns: i128) -> fmt::Result {
    let units = [(NS_PER_S, "s"), (1_000_000, "ms"), (1_000, "us")];
    match units.iter().find(|(scale, _)| ns % scale == 0) {
        Some((scale, unit)) => write!(f, "{}{unit}", ns / scale),
        None => write!(f, "{ns}ns"),
    }
}

/// Formats ns as seconds, for error messages.
pub(crate) fn nanoseconds_text(ns: i128) -> String {
    LiteralKind::Decimal(ns).to_string()
}
