//! Predicates for the types of fields.

use super::bounds;
use super::literal::{self, Misfit};
use super::test::{OtherPredicate, Predicate};
use crate::diagnostic::Diagnostic;
use crate::environment::Environment;
use crate::glob::Glob;
use crate::model::{FieldType, IntegerKind, IntegerType};
use crate::ranges::Ranges;
use crate::span::Span;
use crate::syntax::{Expr, ExprKind, Literal, LiteralKind, Relation, Selector};

/// Adds the type of the field as a label, unless there is a label.
pub(super) fn explained(fault: Diagnostic, selector: &Selector, of: &FieldType) -> Diagnostic {
    match &*fault.label {
        "" => fault.label(format!("`{selector}` is {}", of.describe())),
        _ => fault,
    }
}

pub(super) fn is_negation(relation: Relation) -> bool {
    matches!(relation, Relation::Ne | Relation::NotMatches)
}

/// Returns the predicate of an expression without a value, or a fault if the type does
/// not allow it.
pub(super) fn without_value(
    expr: &Expr,
    selector: &Selector,
    of: &FieldType,
) -> Result<Predicate, Diagnostic> {
    match (&expr.kind, of) {
        (ExprKind::Exists(_), FieldType::Integer(i)) => {
            Ok(integer_predicate(i, all_integers(i), false))
        }
        (ExprKind::Exists(_), _) => Ok(other_predicate(OtherPredicate::Present, false)),
        (ExprKind::Is(_), FieldType::Integer(i)) if i.kind == IntegerKind::Truth => {
            Ok(integer_predicate(i, Ranges::of(1, 1), false))
        }
        (ExprKind::Is(_), _) => {
            let message = format!("{} alone is neither true nor false", of.describe());
            let error = Diagnostic::new(selector.span, message);
            Err(error.help(match of {
                FieldType::Opaque(_) => "use `exists(…)` to test whether the field is present",
                _ => "compare it with a value, or use `exists(…)` to test whether it is present",
            }))
        }
        _ => Err(not_compared(of, selector)),
    }
}

/// Creates the fault for a type that cannot be compared.
pub(super) fn not_compared(of: &FieldType, selector: &Selector) -> Diagnostic {
    let message = format!("{} cannot be compared", of.describe());
    let error = Diagnostic::new(selector.span, message);
    match of {
        FieldType::Opaque("an array") => error.help("an element can, as in `field[0]`"),
        FieldType::Opaque("a structure") => error.help("a member can, as in `field.member`"),
        _ => error,
    }
}

pub(super) fn other_than_integer(
    of: &FieldType,
    relation: Relation,
    value: &Literal,
    selector: &Selector,
) -> Result<Predicate, Diagnostic> {
    if relation == Relation::Bits && !matches!(of, FieldType::Opaque(_)) {
        return Err(no_bits(of, selector.span));
    }
    let negated = is_negation(relation);
    let equality = matches!(relation, Relation::Eq | Relation::Ne);
    let likeness = matches!(relation, Relation::Matches | Relation::NotMatches);
    match of {
        FieldType::Opaque(_) => Err(not_compared(of, selector)),
        FieldType::Float if likeness => Err(no_pattern(of, selector)),
        FieldType::Float => {
            let (below, above) = literal::doubles(value)?;
            Ok(match relation {
                _ if below == above => {
                    other_predicate(OtherPredicate::Float(relation, below), false)
                }
                // No double is equal to the value.
                Relation::Eq | Relation::Ne => {
                    other_predicate(OtherPredicate::FloatOneOf(Vec::new()), negated)
                }
                Relation::Lt | Relation::Le => {
                    other_predicate(OtherPredicate::Float(Relation::Le, below), false)
                }
                _ => other_predicate(OtherPredicate::Float(Relation::Ge, above), false),
            })
        }
        _ if equality => {
            let texts = literal::texts_of(of, literal::text(value)?);
            Ok(other_predicate(equal_to(texts), negated))
        }
        _ if likeness => {
            let glob = pattern(value)?;
            let texts = || literal::spelled(of, |also| glob.matches(also.as_bytes()));
            let mut more: Vec<_> = texts().filter(|text| !glob.matches(text)).collect();
            more.sort_unstable();
            let predicate = match glob.plain() {
                Some(text) => {
                    more.push(text.to_vec());
                    more.sort_unstable();
                    equal_to(more)
                }
                None if more.is_empty() => OtherPredicate::Like(glob),
                None => OtherPredicate::LikeOrOneOf(glob, more),
            };
            Ok(other_predicate(predicate, negated))
        }
        _ => {
            literal::text(value)?;
            let sign = relation.symbol();
            let error = Diagnostic::new(selector.span, format!("text has no order for `{sign}`"));
            Err(error.help("text is compared by `==`, `!=`, `in` and `=~`"))
        }
    }
}

/// Returns the numbers whose labels match a pattern.
pub(super) fn labels_like(
    of: &IntegerType,
    value: &Literal,
    selector: &Selector,
) -> Result<Ranges, Misfit> {
    if of.labels.is_empty() || of.kind != IntegerKind::Number {
        return Err(Misfit::Type(no_pattern(&FieldType::Integer(of.clone()), selector)));
    }
    let glob = pattern(value).map_err(Misfit::Type)?;
    let labels = of.labels.iter().filter(|label| glob.matches(label.name.as_bytes()));
    let ranges: Vec<_> = labels.flat_map(|label| label.ranges.iter().copied()).collect();
    if ranges.is_empty() {
        return Err(Misfit::Label(Diagnostic::new(value.span, "no label matches this pattern")));
    }
    Ok(Ranges::union_of(ranges).intersection(&all_integers(of)))
}

/// Returns the predicate that an integer has one of the bits of a number, of the values of a
/// label, or of a flag.
pub(super) fn with_bits(
    of: &IntegerType,
    value: &Literal,
    environment: &Environment,
) -> Result<Predicate, Misfit> {
    let wrong = |message: &str| Misfit::Type(Diagnostic::new(value.span, message));
    let mask = match (&value.kind, of.kind) {
        (LiteralKind::Integer(number), IntegerKind::Number | IntegerKind::Flags) => {
            let mask = number.as_i128().and_then(|mask| u64::try_from(mask).ok());
            mask.ok_or_else(|| wrong("bits are a number of 64 bits, without a sign"))?
        }
        (LiteralKind::Text(name), IntegerKind::Flags) => literal::flag(of, name, value)?,
        (LiteralKind::Text(_), IntegerKind::Number) => {
            let numbers = literal::numbers(of, value, environment)?;
            let bits = numbers.as_slice().iter().try_fold(0, |mask, (low, high)| {
                let bits = u64::try_from(*low).ok().filter(|_| low == high)?;
                Some(mask | bits)
            });
            bits.ok_or_else(|| wrong("this label stands for a range of values, not for bits"))?
        }
        _ => return Err(Misfit::Type(no_bits(&FieldType::Integer(of.clone()), value.span))),
    };
    Ok(match mask {
        0 => integer_predicate(of, Ranges::none(), false),
        mask => Predicate::Bits { mask, negated: false },
    })
}

/// Creates the fault for a test of bits of a type that has none.
fn no_bits(of: &FieldType, span: Span) -> Diagnostic {
    let error = Diagnostic::new(span, format!("the bits of {} cannot be tested", of.describe()));
    error.help(match of {
        FieldType::Text | FieldType::Spelled(_) => {
            "flags that are letters are found by patterns, such as `=~ \"*W*\"`; conditions are joined by `&&`"
        }
        _ => "conditions are joined by `&&`",
    })
}

pub(super) fn all_integers(of: &IntegerType) -> Ranges {
    let (low, high) = bounds(of);
    Ranges::of(low, high)
}

/// Returns the predicate for integers that are in a set, or not in it.
pub(super) fn integer_predicate(of: &IntegerType, set: Ranges, negated: bool) -> Predicate {
    let (low, high) = bounds(of);
    Predicate::Integer { set: if negated { set.complement(low, high) } else { set }, low, high }
}

pub(super) fn other_predicate(predicate: OtherPredicate, negated: bool) -> Predicate {
    Predicate::Other { predicate, negated }
}

/// Returns the predicate that a text is one of these, which are sorted.
pub(super) fn equal_to(mut texts: Vec<Vec<u8>>) -> OtherPredicate {
    match texts.len() {
        1 => OtherPredicate::Equals(texts.remove(0)),
        _ => OtherPredicate::OneOf(texts),
    }
}

pub(super) fn pattern(value: &Literal) -> Result<Glob, Diagnostic> {
    Glob::new(literal::text(value)?)
        .map_err(|error| Diagnostic::new(value.span, "invalid pattern").label(error.to_string()))
}

pub(super) fn no_pattern(of: &FieldType, selector: &Selector) -> Diagnostic {
    let message = format!("{} cannot be compared with a pattern", of.describe());
    Diagnostic::new(selector.span, message).help("patterns are for text and labels")
}
