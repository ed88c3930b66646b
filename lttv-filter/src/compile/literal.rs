//! What a value in an expression means for a field of some type.

use ltt_read::metadata::nearest;

use crate::diagnostic::Diagnostic;
use crate::environment::Environment;
use crate::model::{FieldType, IntegerType, Unit};
use crate::ranges::Ranges;
use crate::syntax::{Literal, LiteralKind, nanoseconds_text};

/// The numbers that a literal stands for, in comparing for equality: one, or
/// those of a label.
pub(super) fn numbers(
    of: &IntegerType,
    literal: &Literal,
    environment: &Environment,
) -> Result<Ranges, Diagnostic> {
    match &literal.kind {
        LiteralKind::Text(name) if of.unit == Unit::Number => label(of, name, literal),
        _ => number(of, literal, environment).map(|n| Ranges::of(n, n)),
    }
}

/// The number that a literal stands for.
pub(super) fn number(
    of: &IntegerType,
    literal: &Literal,
    environment: &Environment,
) -> Result<i128, Diagnostic> {
    let number = match (&literal.kind, of.unit) {
        (LiteralKind::Int(n), Unit::Number | Unit::Truth) => *n,
        (LiteralKind::Bool(truth), Unit::Truth) => i128::from(*truth),
        (LiteralKind::Duration(ns), Unit::Number | Unit::Time) => *ns,
        (LiteralKind::Int(seconds), Unit::Time) => seconds * 1_000_000_000,
        (LiteralKind::Decimal(ns), Unit::Time) => *ns,
        (LiteralKind::DateTime(time), Unit::Time) => environment
            .date_time(*time)
            .map_err(|fault| Diagnostic::new(literal.span, fault.to_string()))?,
        (LiteralKind::TimeOfDay(ns), Unit::Time) => environment
            .time_of_day(*ns)
            .map_err(|fault| Diagnostic::new(literal.span, fault.to_string()))?,
        (LiteralKind::Text(_), Unit::Number) if !of.labels.is_empty() => {
            let error = Diagnostic::new(literal.span, "labels have no order");
            return Err(error.help("compare them by `==`, `!=`, `in` or `=~`, or use numbers"));
        }
        _ => return Err(mismatch(&FieldType::Integer(of.clone()), literal)),
    };
    if of.low <= number && number <= of.high {
        return Ok(number);
    }
    let (low, high, found) = match of.unit {
        Unit::Time => {
            (nanoseconds_text(of.low), nanoseconds_text(of.high), nanoseconds_text(number))
        }
        _ => (of.low.to_string(), of.high.to_string(), number.to_string()),
    };
    let error = Diagnostic::new(literal.span, format!("{found} is beyond what the field can hold"));
    Err(error.label(format!("it holds {low} to {high}")))
}

/// The number that a literal stands for among floating-point ones.
pub(super) fn float(literal: &Literal) -> Result<f64, Diagnostic> {
    match &literal.kind {
        LiteralKind::Int(n) => Ok(*n as f64),
        LiteralKind::Float(number) if number.is_finite() => Ok(*number),
        // By way of its digits, so that it is the nearest number.
        LiteralKind::Decimal(units) => {
            Ok(nanoseconds_text(*units).parse().unwrap_or(*units as f64 / 1e9))
        }
        _ => Err(mismatch(&FieldType::Float, literal)),
    }
}

/// The text of a literal.
pub(super) fn text(literal: &Literal) -> Result<&str, Diagnostic> {
    match &literal.kind {
        LiteralKind::Text(text) => Ok(text),
        _ => Err(mismatch(&FieldType::Text, literal)),
    }
}

/// A literal is of the wrong type.
fn mismatch(of: &FieldType, literal: &Literal) -> Diagnostic {
    let found = literal.kind.describe();
    let message = format!("{} cannot be compared with {found}", of.describe());
    let error = Diagnostic::new(literal.span, message);
    match (of, &literal.kind) {
        (FieldType::Text, LiteralKind::Int(_) | LiteralKind::Decimal(_)) => {
            error.replace(literal.span, format!("\"{literal}\""))
        }
        (FieldType::Integer(i), LiteralKind::Decimal(units))
            if i.unit == Unit::Number && units % 1_000_000_000 == 0 =>
        {
            error.replace(literal.span, (units / 1_000_000_000).to_string())
        }
        (FieldType::Integer(i), LiteralKind::Text(text)) => match (i.unit, text.parse::<i64>()) {
            (Unit::Number, Ok(number)) => error.replace(literal.span, number.to_string()),
            (Unit::Truth, _) => error.help("it is `true` or `false`"),
            (Unit::Time, _) => error.help(
                "times are written `1795231463.43`, `12ms`, `03:02:07.5` or `2026-11-21T03:02`",
            ),
            _ => error,
        },
        _ => error,
    }
}

/// The numbers of a label.
fn label(of: &IntegerType, name: &str, literal: &Literal) -> Result<Ranges, Diagnostic> {
    if of.labels.is_empty() {
        return Err(mismatch(&FieldType::Integer(of.clone()), literal));
    }
    // A label may be declared more than once.
    let named = of.labels.iter().filter(|label| &*label.name == name);
    let ranges: Vec<_> = named.flat_map(|label| label.ranges.iter().copied()).collect();
    if !ranges.is_empty() {
        return Ok(Ranges::union_of(ranges).intersection(&Ranges::of(of.low, of.high)));
    }
    let error = Diagnostic::new(literal.span, format!("there is no label `{name}`"));
    let names = of.labels.iter().map(|label| &*label.name);
    Err(match nearest(name, names.clone()) {
        Some(near) => error.replace(literal.span, format!("\"{near}\"")),
        None => error.help(listed("labels are", names)),
    })
}

/// A list of names that is not too long.
fn listed<'n>(what: &str, names: impl Iterator<Item = &'n str>) -> String {
    const SHOWN: usize = 8;
    let mut names: Vec<String> = names.take(SHOWN + 1).map(|name| format!("`{name}`")).collect();
    let more = names.len() > SHOWN;
    names.truncate(SHOWN);
    format!("{what} {}{}", names.join(", "), if more { " and others" } else { "" })
}
