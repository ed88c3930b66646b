//! A naive interpreter of expressions for events, without handles, programs or anything
//! computed in advance.

use ltt_read::Event;
use ltt_read::schema::{FieldClass, FieldKind, Schema};
use ltt_read::writer::FieldValue;
use lttv_filter::{Expr, ExprKind, Literal, LiteralKind, Relation, Root, Selector, StepKind};

use super::exact::Exact;
use super::fields::{at, leads};
use crate::support::case::Expected;

/// An event with its context.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) name: String,
    pub(crate) time: Option<i64>,
    pub(crate) tracefile: String,
    pub(crate) channel: String,
    pub(crate) cpu: Option<u32>,
    pub(crate) read: Expected,
}

impl Facts {
    pub(crate) fn of(event: &Event<'_>, read: Expected) -> Self {
        Facts {
            name: event.event_type().name().to_owned(),
            time: event.timestamp().map(|time| time.as_ns()),
            tracefile: event.tracefile().name().to_owned(),
            channel: event.tracefile().channel().to_owned(),
            cpu: event.tracefile().cpu(),
            read,
        }
    }

    /// The name with the channel.
    pub(crate) fn longer_name(&self) -> String {
        format!("{}.{}", self.channel, self.name)
    }

    /// The part of the name before the first `:`, or else the channel.
    pub(crate) fn category(&self) -> &str {
        self.name.split_once(':').map_or(&self.channel, |(category, _)| category)
    }

    /// The payload, and the specific and common context.
    pub(crate) fn roots<'a>(&'a self, schema: &'a Schema) -> [(&'a FieldClass, &'a FieldValue); 3] {
        const NONE: &FieldClass = &FieldClass {
            kind: FieldKind::Bool(
                ltt_read::schema::FixedLen {
                    bits: 1,
                    byte_order: ltt_read::schema::ByteOrder::Little,
                    bit_order: ltt_read::schema::BitOrder::Natural,
                },
                None,
            ),
            align: 1,
            attributes: None,
        };
        let event_type = &schema.event_types[self.read.event_type.index()];
        let stream = schema.stream_of(self.read.event_type);
        [
            (event_type.payload.as_deref().unwrap_or(NONE), &self.read.payload),
            (event_type.specific_context.as_deref().unwrap_or(NONE), &self.read.specific_context),
            (stream.common_context.as_deref().unwrap_or(NONE), &self.read.common_context),
        ]
    }
}

/// A value to be compared.
enum Found<'a> {
    Field(&'a FieldClass, &'a FieldValue),
    Text(&'a str),
    /// A name, and its longer form.
    Name(&'a str, String),
    Number(i128),
    Time(i128),
}

/// Returns whether an expression holds.
pub(crate) fn holds(expr: &Expr, schema: &Schema, facts: &Facts) -> bool {
    let of = |term: &Expr| holds(term, schema, facts);
    match &expr.kind {
        ExprKind::Constant(truth) => *truth,
        ExprKind::Not(inner) => !of(inner),
        ExprKind::And(terms) => terms.iter().all(of),
        ExprKind::Or(terms) => terms.iter().any(of),
        ExprKind::Xor(terms) => terms.iter().filter(|term| of(term)).count() % 2 == 1,
        _ => expr.selector().and_then(|s| find(s, schema, facts)).is_some_and(|f| leaf(expr, &f)),
    }
}

fn find<'a>(selector: &Selector, schema: &'a Schema, facts: &'a Facts) -> Option<Found<'a>> {
    let [payload, specific, common] = facts.roots(schema);
    let steps: Vec<StepKind> = selector.steps.iter().map(|step| step.kind.clone()).collect();
    let name = |n: usize| match &steps[n] {
        StepKind::Name(name) => &**name,
        _ => "",
    };
    let in_any = |roots: &[(&'a FieldClass, &'a FieldValue)], steps: &[StepKind]| {
        let (class, value) = roots.iter().find(|(class, _)| leads(class, steps))?;
        let (class, value) = at(class, value, steps)?;
        Some(Found::Field(class, value))
    };
    match (selector.root, name(0)) {
        (Root::Unqualified, "name") if steps.len() == 1 => {
            Some(Found::Name(&facts.name, facts.longer_name()))
        }
        (Root::Unqualified, "cpu") if steps.len() == 1 && facts.cpu.is_some() => {
            facts.cpu.map(|n| Found::Number(n.into()))
        }
        (Root::Unqualified, _) => in_any(&[payload, specific, common], &steps),
        (Root::Event, "context") => in_any(&[specific, common], &steps[1..]),
        (Root::Event, "fields") if steps[1] != StepKind::Any && name(1) != facts.name => None,
        (Root::Event, "fields") => in_any(&[payload], &steps[2..]),
        (Root::Event, "name") => Some(Found::Name(&facts.name, facts.longer_name())),
        (Root::Event, "category") => Some(Found::Text(facts.category())),
        (Root::Event, "time") => facts.time.map(|ns| Found::Time(ns.into())),
        (Root::Event, "cycles") => facts.read.timestamp.map(|n| Found::Number(n.into())),
        (Root::Tracefile, "name") => Some(Found::Text(&facts.tracefile)),
        (Root::Tracefile, "cpu") => facts.cpu.map(|n| Found::Number(n.into())),
        (Root::Channel, "name") => Some(Found::Text(&facts.channel)),
        _ => unreachable!("not among what is generated: {selector}"),
    }
}

fn leaf(expr: &Expr, found: &Found<'_>) -> bool {
    match &expr.kind {
        ExprKind::Exists(_) => true,
        ExprKind::Is(_) => matches!(found, Found::Field(_, FieldValue::Bool(true))),
        ExprKind::Compare { relation, value, .. } => {
            compare(found, *relation, value).unwrap_or(false)
        }
        ExprKind::In { negated, values, .. } => {
            // Values of other types do not equal the field.
            let one = |value| compare(found, Relation::Eq, value);
            let all: Vec<bool> = values.iter().filter_map(one).collect();
            !all.is_empty() && all.contains(&true) != *negated
        }
        _ => unreachable!("no leaf"),
    }
}

/// Compares values. `None` if the comparison is invalid.
fn compare(found: &Found<'_>, relation: Relation, literal: &Literal) -> Option<bool> {
    match found {
        Found::Text(text) => of_text(text, relation, &literal.kind),
        Found::Name(name, longer) => {
            let plain = of_text(name, relation, &literal.kind)?;
            match &literal.kind {
                LiteralKind::Text(text) if text.contains('.') => {
                    let longer = of_text(longer, relation, &literal.kind)?;
                    Some(match relation {
                        Relation::Ne | Relation::NotMatches => plain && longer,
                        _ => plain || longer,
                    })
                }
                _ => Some(plain),
            }
        }
        Found::Number(n) => of_number(*n, relation, &literal.kind, &[]),
        Found::Time(ns) => {
            let wanted = match &literal.kind {
                LiteralKind::Duration(ns) => Exact::of_text(&ns.to_string()),
                kind => exact(kind)?.into_time(matches!(kind, LiteralKind::Integer(_))),
            };
            ordered(relation, Exact::of_integer(*ns).cmp(&wanted))
        }
        Found::Field(class, value) => of_field(class, value, relation, &literal.kind),
    }
}

fn of_field(
    class: &FieldClass,
    value: &FieldValue,
    relation: Relation,
    literal: &LiteralKind,
) -> Option<bool> {
    let of_integer = |n: i128| of_number(n, relation, literal, class.mappings().unwrap_or(&[]));
    match (&class.kind, value) {
        (FieldKind::Bool(..), FieldValue::Bool(truth)) => match literal {
            LiteralKind::Bool(wanted) => ordered(relation, truth.cmp(wanted)),
            _ => {
                let truth = Exact::of_integer((*truth).into());
                ordered(relation, truth.cmp(&exact(literal)?))
            }
        },
        (FieldKind::Integer(..) | FieldKind::VarInteger(_), FieldValue::Uint(n))
        | (FieldKind::BitArray(_) | FieldKind::BitMap(..), FieldValue::Bits(n)) => {
            of_integer((*n).into())
        }
        (FieldKind::Integer(..) | FieldKind::VarInteger(_), FieldValue::Sint(n)) => {
            of_integer((*n).into())
        }
        (FieldKind::Float(_), FieldValue::Float(x)) => {
            let order = match literal {
                LiteralKind::Integer(n) => Exact::of_text(&n.to_string()).compared_with_double(*x),
                LiteralKind::Decimal(_) => x.partial_cmp(&literal.to_string().parse().ok()?),
                _ => return None,
            };
            match order {
                Some(order) => ordered(relation, order),
                None => Some(relation == Relation::Ne), // NaN
            }
        }
        (FieldKind::String(_), FieldValue::Str(text)) => of_text(text, relation, literal),
        (FieldKind::String(_), FieldValue::Bytes(_)) => {
            unreachable!("only sound text is generated")
        }
        _ => None,
    }
}

fn of_number(
    n: i128,
    relation: Relation,
    literal: &LiteralKind,
    labels: &[ltt_read::schema::Mapping],
) -> Option<bool> {
    if relation == Relation::Bits {
        let bits = (n as u64).to_le_bytes();
        let mask = match literal {
            LiteralKind::Integer(mask) => mask.to_string().parse::<u64>().ok()?,
            LiteralKind::Text(label) => {
                let meant = labels.iter().filter(|m| *m.label == **label);
                let ranges: Vec<_> = meant.flat_map(|m| &m.ranges).collect();
                if labels.is_empty() || ranges.iter().any(|(l, h)| l != h || *l < 0) {
                    return None;
                }
                ranges.iter().fold(0, |mask, (l, _)| mask | *l as u64)
            }
            _ => return None,
        };
        let mask = mask.to_le_bytes();
        return Some((0..64).any(|bit| bits[bit / 8] & mask[bit / 8] & 1 << (bit % 8) != 0));
    }
    match literal {
        LiteralKind::Duration(wanted) => {
            ordered(relation, Exact::of_integer(n).cmp(&Exact::of_text(&wanted.to_string())))
        }
        LiteralKind::Text(_) if labels.is_empty() => None,
        LiteralKind::Text(label) => {
            let like = matches!(relation, Relation::Matches | Relation::NotMatches);
            let is_meant = |name: &str| if like { glob(label, name) } else { name == label };
            let mut meant = labels.iter().filter(|m| is_meant(&m.label));
            let has = |ranges: &[(i128, i128)]| ranges.iter().any(|(l, h)| *l <= n && n <= *h);
            let holds = meant.any(|m| has(&m.ranges));
            match relation {
                Relation::Eq | Relation::Matches => Some(holds),
                Relation::Ne | Relation::NotMatches => Some(!holds),
                _ => None,
            }
        }
        _ => ordered(relation, Exact::of_integer(n).cmp(&exact(literal)?)),
    }
}

/// Returns the number of a literal without a unit.
fn exact(literal: &LiteralKind) -> Option<Exact> {
    let is_number = matches!(literal, LiteralKind::Integer(_) | LiteralKind::Decimal(_));
    is_number.then(|| Exact::of_text(&literal.to_string()))
}

fn of_text(text: &str, relation: Relation, literal: &LiteralKind) -> Option<bool> {
    let LiteralKind::Text(wanted) = literal else { return None };
    match relation {
        Relation::Eq => Some(text == wanted),
        Relation::Ne => Some(text != wanted),
        Relation::Matches => Some(glob(wanted, text)),
        Relation::NotMatches => Some(!glob(wanted, text)),
        _ => None,
    }
}

fn ordered(relation: Relation, order: std::cmp::Ordering) -> Option<bool> {
    match relation {
        Relation::Eq => Some(order.is_eq()),
        Relation::Ne => Some(order.is_ne()),
        Relation::Lt => Some(order.is_lt()),
        Relation::Le => Some(order.is_le()),
        Relation::Gt => Some(order.is_gt()),
        Relation::Ge => Some(order.is_ge()),
        Relation::Matches | Relation::NotMatches | Relation::Bits => None,
    }
}

/// Matches a pattern; generated patterns have `*`, `?` and escapes.
fn glob(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    slowly(&pattern, &text.chars().collect::<Vec<_>>())
}

fn slowly(pattern: &[char], text: &[char]) -> bool {
    match (pattern, text) {
        ([], rest) => rest.is_empty(),
        (['\\', c, after @ ..], [d, rest @ ..]) => c == d && slowly(after, rest),
        (['\\', _, ..], []) => false,
        (['*', after @ ..], rest) => {
            slowly(after, rest) || (!rest.is_empty() && slowly(pattern, &rest[1..]))
        }
        (['?', after @ ..], [_, rest @ ..]) => slowly(after, rest),
        ([c, after @ ..], [d, rest @ ..]) => c == d && slowly(after, rest),
        ([_, ..], []) => false,
    }
}
