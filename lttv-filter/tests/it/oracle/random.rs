//! Random expressions about the fields and values of events.

use ltt_read::schema::{FieldClass, Schema};
use ltt_read::writer::FieldValue;
use lttv_filter::{
    ExactNumber, Expr, ExprKind, Literal, LiteralKind, Relation, Root, Selector, Step, StepKind,
};

use super::choices::Choices;
use super::fields::{There, at, below, leads};
use super::interpreter::Facts;

const ORDER: [Relation; 6] =
    [Relation::Eq, Relation::Ne, Relation::Lt, Relation::Le, Relation::Gt, Relation::Ge];
const EQUALITY: [Relation; 2] = [Relation::Eq, Relation::Ne];
const LIKENESS: [Relation; 2] = [Relation::Matches, Relation::NotMatches];

/// Creates an expression of at most a number of levels.
pub(crate) fn expression(
    choices: &mut Choices<'_>,
    schema: &Schema,
    facts: &[Facts],
    depth: usize,
) -> Expr {
    let kind = if depth == 0 { 0 } else { choices.below(8) };
    let terms = |choices: &mut Choices<'_>| -> Vec<Expr> {
        let count = 2 + choices.below(3);
        (0..count).map(|_| expression(choices, schema, facts, depth - 1)).collect()
    };
    match kind {
        3 => Expr::new(ExprKind::Not(Box::new(expression(choices, schema, facts, depth - 1)))),
        4 => Expr::new(ExprKind::And(terms(choices))),
        5 => Expr::new(ExprKind::Or(terms(choices))),
        6 => Expr::new(ExprKind::Xor(terms(choices))),
        // Several comparisons of one field, to be merged.
        7 if !facts.is_empty() => {
            let count = 2 + choices.below(3);
            let event = &facts[choices.below(facts.len())];
            let (selector, class, value) = field(choices, schema, event);
            let mut one = || of_field(choices, &selector, class, &value);
            let terms: Vec<Expr> = (0..count).map(|_| one()).collect();
            match choices.below(3) {
                0 => Expr::all(terms),
                1 => Expr::any(terms),
                _ => !Expr::all(terms),
            }
        }
        _ => leaf(choices, schema, facts),
    }
}

fn leaf(choices: &mut Choices<'_>, schema: &Schema, facts: &[Facts]) -> Expr {
    if facts.is_empty() || choices.below(20) == 0 {
        return Expr::constant(choices.below(2) == 0);
    }
    let event = &facts[choices.below(facts.len())];
    match choices.below(10) {
        0 => {
            let (longer, category) = (event.longer_name(), event.category().to_owned());
            let (selector, text) = match choices.below(6) {
                5 => (Selector::field("name"), &event.name),
                0 => (Selector::event("name"), &event.name),
                3 => (Selector::event("name"), &longer),
                4 => (Selector::event("category"), &category),
                1 => (Selector::new(Root::Tracefile, "name"), &event.tracefile),
                _ => (Selector::new(Root::Channel, "name"), &event.channel),
            };
            of_text(choices, &selector, text)
        }
        1 if event.time.is_some() => {
            let ns = i128::from(event.time.unwrap_or(0)) + choices.below(3) as i128 - 1;
            let literal = match choices.below(3) {
                0 => LiteralKind::Duration(ns.into()),
                1 => LiteralKind::Integer(ns.div_euclid(1_000_000_000).into()),
                _ => LiteralKind::Decimal(ExactNumber::new(ns, -9)),
            };
            Selector::event("time").compare(*choices.pick(&ORDER), literal)
        }
        2 if event.time.is_some() => {
            let number = event.read.timestamp.unwrap_or(0);
            of_integer(choices, &Selector::event("cycles"), number.into(), 0, u64::MAX.into())
        }
        3 if event.cpu.is_some() => {
            let number = event.cpu.unwrap_or(0);
            let selector = match choices.below(2) {
                0 => Selector::field("cpu"),
                _ => Selector::new(Root::Tracefile, "cpu"),
            };
            of_integer(choices, &selector, number.into(), 0, u64::MAX.into())
        }
        _ => {
            let (selector, class, value) = field(choices, schema, event);
            of_field(choices, &selector, class, &value)
        }
    }
}

/// Returns a field of an event, by one of its names.
fn field<'a>(
    choices: &mut Choices<'_>,
    schema: &'a Schema,
    event: &'a Facts,
) -> (Selector, Option<&'a FieldClass>, FieldValue) {
    let scope = choices.below(3);
    let (class, value) = event.roots(schema)[scope];
    let mut all: Vec<There<'_>> = Vec::new();
    below(class, value, &mut Vec::new(), &mut all);
    // An option's name may hide a field of another option.
    all.retain(|there| {
        let found = at(class, value, &there.path);
        !there.path.is_empty() && found.is_some_and(|found| std::ptr::eq(found.0, there.class))
    });
    if all.is_empty() {
        return (Selector::event("name"), None, FieldValue::Str(event.name.clone()));
    }
    let There { path, class, value } = choices.pick(&all).clone();
    let shadowed = (scope == 2) && leads(event.roots(schema)[1].0, &path);
    let mut selector = match (scope, choices.below(4)) {
        (_, 0) => Selector { root: Root::Unqualified, steps: Vec::new(), span: Default::default() },
        (0, 1 | 2) => Selector::event("fields").member(&event.name),
        (0, _) => {
            let mut selector = Selector::event("fields");
            selector.steps.push(Step::new(StepKind::Any));
            selector
        }
        _ => Selector::event("context"),
    };
    selector.steps.extend(path.into_iter().map(Step::new));
    // The name then refers to the specific context.
    (selector, if shadowed { None } else { Some(class) }, value)
}

fn of_field(
    choices: &mut Choices<'_>,
    selector: &Selector,
    class: Option<&FieldClass>,
    value: &FieldValue,
) -> Expr {
    use ltt_read::schema::FieldKind::*;
    if choices.below(12) == 0 {
        return selector.exists();
    }
    let range = |bits: u32, signed: bool| match signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    let Some(class) = class else { return selector.exists() };
    let number = |n: i128, (low, high), choices: &mut Choices<'_>| match class.mappings() {
        _ if choices.below(8) == 0 => {
            // A bit that is set, one that may not be, or several.
            let bits = [n as u64 & (n as u64).wrapping_neg(), 1 << choices.below(64), n as u64 ^ 5];
            selector.compare(Relation::Bits, *choices.pick(&bits))
        }
        Some(mappings) if choices.below(2) == 0 => {
            of_label(choices, selector, &label_of(mappings, n))
        }
        _ => of_integer(choices, selector, n, low, high),
    };
    match (&class.kind, value) {
        (Bool(..), FieldValue::Bool(truth)) => match choices.below(3) {
            0 => selector.is_true(),
            1 => selector.compare(*choices.pick(&ORDER), *truth),
            _ => selector.one_of([u64::from(*truth)]),
        },
        (Integer(f, i), FieldValue::Uint(n)) => {
            number((*n).into(), range(f.bits, i.signed), choices)
        }
        (Integer(f, i), FieldValue::Sint(n)) => {
            number((*n).into(), range(f.bits, i.signed), choices)
        }
        (VarInteger(i), FieldValue::Uint(n)) => number((*n).into(), range(64, i.signed), choices),
        (VarInteger(i), FieldValue::Sint(n)) => number((*n).into(), range(64, i.signed), choices),
        (BitArray(f) | BitMap(f, _), FieldValue::Bits(n)) => {
            number((*n).into(), range(f.bits, false), choices)
        }
        (Float(_), FieldValue::Float(x)) if x.is_finite() => {
            let literal = match choices.below(3) {
                0 => LiteralKind::decimal(*x).expect("a finite number"),
                1 => LiteralKind::Integer((x.clamp(-1e18, 1e18) as i128).into()),
                _ => LiteralKind::Decimal(ExactNumber::new((x.clamp(-1e9, 1e9) * 1e9) as i128, -9)),
            };
            match choices.below(4) {
                0 => selector.one_of([
                    Literal::from(literal),
                    LiteralKind::Decimal(ExactNumber::new(5, -1)).into(),
                ]),
                _ => selector.compare(*choices.pick(&ORDER), literal),
            }
        }
        (String(_), FieldValue::Str(text)) => of_text(choices, selector, text),
        _ => selector.exists(),
    }
}

fn of_integer(
    choices: &mut Choices<'_>,
    selector: &Selector,
    n: i128,
    low: i128,
    high: i128,
) -> Expr {
    let mut near = || {
        let n = match choices.below(6) {
            0 => low,
            1 => high,
            _ => n + choices.below(5) as i128 - 2,
        };
        LiteralKind::Integer(n.clamp(low, high).into())
    };
    let (a, b, c) = (near(), near(), near());
    let beyond = match choices.below(4) {
        0 => LiteralKind::Integer((low - 1).into()),
        1 => LiteralKind::Integer((high + 1).into()),
        2 => LiteralKind::Decimal(ExactNumber::new(n * 10 + 5, -1)),
        _ => LiteralKind::decimal(n as f64).expect("a finite number"),
    };
    match choices.below(4) {
        0 => selector.one_of([a, b, c]),
        1 => selector.none_of([a, b, c]),
        2 => selector.compare(*choices.pick(&ORDER), beyond),
        _ => selector.compare(*choices.pick(&ORDER), a),
    }
}

fn label_of(mappings: &[ltt_read::schema::Mapping], n: i128) -> String {
    let has = |m: &&ltt_read::schema::Mapping| m.ranges.iter().any(|(l, h)| *l <= n && n <= *h);
    mappings.iter().find(has).unwrap_or(&mappings[0]).label.to_string()
}

fn of_label(choices: &mut Choices<'_>, selector: &Selector, label: &str) -> Expr {
    match choices.below(3) {
        0 => selector.compare(*choices.pick(&LIKENESS), pattern(choices, label, false)),
        1 => selector.one_of([label]),
        _ => selector.compare(*choices.pick(&EQUALITY), label),
    }
}

fn of_text(choices: &mut Choices<'_>, selector: &Selector, text: &str) -> Expr {
    match choices.below(4) {
        0 => selector.compare(*choices.pick(&EQUALITY), text),
        1 => selector.one_of([text, "other", ""]),
        2 => selector.none_of([text, "other"]),
        _ => selector.compare(*choices.pick(&LIKENESS), pattern(choices, text, true)),
    }
}

/// Returns a pattern that a text matches, or barely does not match if `near` is set.
fn pattern(choices: &mut Choices<'_>, text: &str, near: bool) -> String {
    let mut pattern = String::new();
    for c in text.chars() {
        match choices.below(8) {
            0 => pattern.push('?'),
            1 => pattern.push('*'),
            2 if near => {}
            _ if matches!(c, '*' | '?' | '[' | '\\') => pattern.extend(['\\', c]),
            _ => pattern.push(c),
        }
        if choices.below(8) == 0 {
            pattern.push('*');
        }
    }
    pattern
}
