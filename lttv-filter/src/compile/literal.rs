//! Conversion of literals to values of a field's type.

use crate::suggestion::nearest;

use super::bounds;
use crate::diagnostic::Diagnostic;
use crate::environment::Environment;
use crate::model::{FieldType, IntegerKind, IntegerType};
use crate::ranges::Ranges;
use crate::syntax::{ExactNumber, Literal, LiteralKind};
use crate::time::TimeErrorKind;

/// The nanoseconds of a second, as a power of ten.
const NS: u32 = 9;

/// A bound on the absolute values of integers that fields hold.
const LIMIT: i128 = 1 << 100;

/// The position of a number among integers: the greatest integer that is not above it,
/// and the least that is not below it. They are equal if the number is an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Between {
    pub(super) floor: i128,
    pub(super) ceil: i128,
}

/// The reason why a literal matches no number of a field.
pub(super) enum Misfit {
    /// The literal has a type that cannot be compared with the field.
    Type(Diagnostic),
    /// The field is an enumeration, and the literal is not one of its labels.
    Label(Diagnostic),
}

/// Returns the numbers of a field that are equal to a literal: those of a label, or one
/// number, or none if the field cannot hold it.
pub(super) fn numbers(
    of: &IntegerType,
    literal: &Literal,
    environment: &Environment,
) -> Result<Ranges, Misfit> {
    match &literal.kind {
        LiteralKind::Text(name) if of.kind == IntegerKind::Number => label(of, name, literal),
        _ => {
            let Between { floor, ceil } = number(of, literal, environment).map_err(Misfit::Type)?;
            let (low, high) = bounds(of);
            let is_one = floor == ceil && low <= floor && floor <= high;
            Ok(if is_one { Ranges::of(floor, floor) } else { Ranges::none() })
        }
    }
}

/// Returns the position of a literal's number among integers, whether or not a field can
/// hold it.
pub(super) fn number(
    of: &IntegerType,
    literal: &Literal,
    environment: &Environment,
) -> Result<Between, Diagnostic> {
    let whole = |n: i128| (n, n);
    let time = |kind: TimeErrorKind| {
        Diagnostic::new(literal.span, kind.of(&literal.to_string()).to_string())
    };
    let mismatch = || mismatch(&FieldType::Integer(of.clone()), literal);
    // A number without a unit is in seconds if it is compared with a time.
    let power = if of.kind == IntegerKind::Time { NS } else { 0 };
    let (floor, ceil) = match (&literal.kind, of.kind) {
        (LiteralKind::Integer(number), IntegerKind::Time) => {
            let (floor, ceil) = number.between(0);
            let exact = (floor == ceil && floor.abs() < LIMIT).then_some(floor);
            match exact {
                Some(number) => whole(Environment::integer(number)),
                None => (floor, ceil),
            }
        }
        (LiteralKind::Integer(number) | LiteralKind::Decimal(number), _) => number.between(power),
        (LiteralKind::Bool(truth), IntegerKind::Truth) => whole(i128::from(*truth)),
        (LiteralKind::Duration(ns), IntegerKind::Number | IntegerKind::Time) => ns.between(0),
        (LiteralKind::DateTime(at), IntegerKind::Time) => {
            whole(environment.date_time(*at).map_err(time)?)
        }
        (LiteralKind::TimeOfDay(ns), IntegerKind::Time) => {
            whole(environment.time_of_day(*ns).map_err(time)?.into())
        }
        (LiteralKind::Text(_), IntegerKind::Number) if !of.labels.is_empty() => {
            let error = Diagnostic::new(literal.span, "labels have no order");
            return Err(error.help("compare them by `==`, `!=`, `in` or `=~`, or use numbers"));
        }
        _ => return Err(mismatch()),
    };
    let clamp = |n: i128| n.clamp(-LIMIT, LIMIT);
    Ok(Between { floor: clamp(floor), ceil: clamp(ceil) })
}

/// Returns the position of a literal's number among doubles: the greatest double that is
/// not above it, and the least that is not below it. Integers are exact; a literal with a
/// point or an exponent means the nearest finite double, if there is one.
pub(super) fn doubles(literal: &Literal) -> Result<(f64, f64), Diagnostic> {
    let nearest = |number: &ExactNumber| match number.nearest_double() {
        near if near.is_finite() => (near, near),
        _ => number.doubles(),
    };
    match &literal.kind {
        LiteralKind::Integer(number) => Ok(number.doubles()),
        LiteralKind::Decimal(number) => Ok(nearest(number)),
        _ => Err(mismatch(&FieldType::Float, literal)),
    }
}

/// Returns the text of a literal.
pub(super) fn text(literal: &Literal) -> Result<&str, Diagnostic> {
    match &literal.kind {
        LiteralKind::Text(text) => Ok(text),
        _ => Err(mismatch(&FieldType::Text, literal)),
    }
}

/// Returns the texts that a text in an expression stands for, sorted: itself, and those
/// that it is another spelling of.
pub(super) fn texts_of(of: &FieldType, text: &str) -> Vec<Vec<u8>> {
    let mut texts = vec![text.as_bytes().to_vec()];
    texts.extend(spelled(of, |also| also == text));
    texts.sort_unstable();
    texts.dedup();
    texts
}

/// Iterates over the texts of a type with a second spelling that `is` accepts.
pub(super) fn spelled(of: &FieldType, is: impl Fn(&str) -> bool) -> impl Iterator<Item = Vec<u8>> {
    let spellings = match of {
        FieldType::Spelled(spellings) => &**spellings,
        _ => &[],
    };
    let also = spellings.iter().filter(move |spelling| is(&spelling.also));
    also.map(|spelling| spelling.text.as_bytes().to_vec())
}

/// Creates the fault of a literal with the wrong type.
fn mismatch(of: &FieldType, literal: &Literal) -> Diagnostic {
    let found = literal.kind.describe();
    let message = format!("{} cannot be compared with {found}", of.describe());
    let error = Diagnostic::new(literal.span, message);
    match (of, &literal.kind) {
        (FieldType::Text, LiteralKind::Integer(_) | LiteralKind::Decimal(_)) => {
            error.replace(literal.span, format!("\"{literal}\""))
        }
        (FieldType::Integer(i), LiteralKind::Text(text)) => match (i.kind, text.parse::<i64>()) {
            (IntegerKind::Number, Ok(number)) => error.replace(literal.span, number.to_string()),
            (IntegerKind::Truth, _) => error.help("its values are `true` and `false`"),
            (IntegerKind::Flags, _) => error.help("its flags are tested by `&`"),
            (IntegerKind::Time, _) => error.help(
                "times are written `1795231463.43`, `12ms`, `03:02:07.5` or `2026-11-21T03:02`",
            ),
            _ => error,
        },
        _ => error,
    }
}

/// Returns the bits of a flag.
pub(super) fn flag(of: &IntegerType, name: &str, literal: &Literal) -> Result<u64, Misfit> {
    let bits = |&(low, high): &(i128, i128)| {
        let bits = low.max(0)..=high.min(63);
        bits.fold(0_u64, |mask, bit| mask | 1 << bit)
    };
    let named: Vec<_> = of.labels.iter().filter(|label| &*label.name == name).collect();
    if named.is_empty() {
        return Err(no_label(of, name, literal));
    }
    Ok(named.iter().flat_map(|label| &label.ranges).fold(0, |mask, range| mask | bits(range)))
}

/// Returns the numbers of a label.
fn label(of: &IntegerType, name: &str, literal: &Literal) -> Result<Ranges, Misfit> {
    if of.labels.is_empty() {
        return Err(Misfit::Type(mismatch(&FieldType::Integer(of.clone()), literal)));
    }
    // A label may be declared more than once.
    let mut named = of.labels.iter().filter(|label| &*label.name == name).peekable();
    if named.peek().is_some() {
        let ranges = named.flat_map(|label| label.ranges.iter().copied()).collect();
        let (low, high) = bounds(of);
        return Ok(Ranges::union_of(ranges).intersection(&Ranges::of(low, high)));
    }
    Err(no_label(of, name, literal))
}

/// Creates the fault of a label that does not exist.
fn no_label(of: &IntegerType, name: &str, literal: &Literal) -> Misfit {
    let error = Diagnostic::new(literal.span, format!("there is no label `{name}`"));
    let names = of.labels.iter().map(|label| &*label.name);
    Misfit::Label(match nearest(name, names.clone()) {
        Some(near) => error.replace(literal.span, format!("\"{near}\"")),
        None => error.help(listed("labels are", names)),
    })
}

/// Formats a list of at most eight names.
fn listed<'n>(what: &str, names: impl Iterator<Item = &'n str>) -> String {
    const SHOWN: usize = 8;
    let mut names: Vec<String> = names.take(SHOWN + 1).map(|name| format!("`{name}`")).collect();
    let more = names.len() > SHOWN;
    names.truncate(SHOWN);
    format!("{what} {}{}", names.join(", "), if more { " and others" } else { "" })
}
