//! Fields of one name and many types, compared with numbers at and beyond the limits of
//! all of them. Results of compiled filters are compared with arithmetic on decimal
//! digits.

use std::fmt;
use std::sync::Arc;

use ltt_read::schema::{
    BitOrder, ByteOrder, FieldClass, FieldKind, FixedLen, Format, Integer, Mapping, Schema,
    StreamClassId,
};
use ltt_read::writer::{FieldValue, MemoryTrace, presets};
use ltt_read::{Event, Merge, Trace, TraceIndex, Value as Read};
use lttv_filter::{Expression, Filters, Relation, Verdict};
use proptest::prelude::*;

use super::choices::Choices;
use super::exact::Exact;
use crate::support::config::cases;

const RELATIONS: [Relation; 6] =
    [Relation::Eq, Relation::Ne, Relation::Lt, Relation::Le, Relation::Gt, Relation::Ge];

/// The labels of the enumerations, none of which has all.
const LABELS: [&str; 4] = ["A", "B", "C", "D"];

const SELECTORS: [&str; 6] =
    ["x", "x", "event.fields.*.x", "event.time", "event.cycles", "tracefile.cpu"];

/// The type of a field, as far as literals matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Number,
    Enumeration,
    Truth,
    Float,
    Text,
    Time,
}

/// The value of an event.
#[derive(Debug, Clone)]
enum Seen {
    Integer(i128),
    Float(f64),
    Text(String),
}

/// A literal in an expression.
#[derive(Debug, Clone)]
enum Written {
    /// A number without a unit.
    Number(String),
    /// A number of ns, with the unit.
    Span(String),
    Truth(bool),
    /// A text or label.
    Text(String),
}

/// An expression that is written without parsing it.
#[derive(Debug, Clone)]
enum Tree {
    Compare(String, Relation, Written),
    In(String, bool, Vec<Written>),
    Exists(String),
    Not(Box<Tree>),
    Joined(&'static str, Vec<Tree>),
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Written::Number(text) => f.write_str(text),
            Written::Span(number) => write!(f, "{number}ns"),
            Written::Truth(truth) => write!(f, "{truth}"),
            Written::Text(text) => write!(f, "\"{text}\""),
        }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |terms: Vec<String>, sign: &str| terms.join(sign);
        match self {
            Tree::Compare(selector, relation, value) => {
                write!(f, "{selector} {} {value}", relation.symbol())
            }
            Tree::In(selector, negated, values) => {
                let values = list(values.iter().map(ToString::to_string).collect(), ", ");
                write!(f, "{selector} {}in ({values})", if *negated { "not " } else { "" })
            }
            Tree::Exists(selector) => write!(f, "exists({selector})"),
            Tree::Not(inner) => write!(f, "!({inner})"),
            Tree::Joined(sign, terms) => {
                let terms = list(terms.iter().map(ToString::to_string).collect(), sign);
                write!(f, "({terms})")
            }
        }
    }
}

/// The fields that the events of a trace have for a selector.
struct Facts {
    /// The sort of `x` and its labels, by event type; all have one.
    sorts: Vec<(Sort, Vec<Mapping>)>,
    events: Vec<Fact>,
}

struct Fact {
    event_type: usize,
    x: Seen,
    time: i128,
    cycles: i128,
    cpu: i128,
}

impl Facts {
    /// Returns the sort and labels of the field of a selector for events of a type.
    fn sort(&self, selector: &str, event_type: usize) -> Option<(Sort, &[Mapping])> {
        match selector {
            "x" | "event.fields.*.x" => {
                let (sort, labels) = &self.sorts[event_type];
                Some((*sort, labels))
            }
            "event.time" => Some((Sort::Time, &[])),
            "event.cycles" | "tracefile.cpu" => Some((Sort::Number, &[])),
            of_event => {
                let meant = format!("event.fields.e{event_type}.x");
                let (sort, labels) = &self.sorts[event_type];
                (of_event == meant).then_some((*sort, labels))
            }
        }
    }
}

impl Fact {
    fn value(&self, selector: &str) -> Seen {
        match selector {
            "event.time" => Seen::Integer(self.time),
            "event.cycles" => Seen::Integer(self.cycles),
            "tracefile.cpu" => Seen::Integer(self.cpu),
            _ => self.x.clone(),
        }
    }
}

/// The fit of a literal to a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    Fits,
    /// A label that this enumeration does not have, so that no number matches.
    NoLabel,
    Misfit,
}

fn fit(literal: &Written, relation: Relation, sort: Sort, labels: &[Mapping]) -> Fit {
    let equality = matches!(relation, Relation::Eq | Relation::Ne);
    let fits = match (literal, sort) {
        (Written::Number(_), _) => sort != Sort::Text,
        (Written::Span(_), _) => matches!(sort, Sort::Number | Sort::Enumeration | Sort::Time),
        (Written::Truth(_), _) => sort == Sort::Truth,
        (Written::Text(label), Sort::Enumeration) if equality => {
            match labels.iter().any(|mapping| *mapping.label == **label) {
                true => return Fit::Fits,
                false => return Fit::NoLabel,
            }
        }
        (Written::Text(_), _) => sort == Sort::Text && equality,
    };
    if fits { Fit::Fits } else { Fit::Misfit }
}

/// Returns whether a value compares accordingly with a literal that fits.
fn holds_of(
    value: &Seen,
    relation: Relation,
    literal: &Written,
    sort: Sort,
    labels: &[Mapping],
) -> bool {
    let exact = match literal {
        Written::Number(text) if sort == Sort::Time => {
            let is_integer = text.starts_with("0x") || !text.contains(['.', 'e', 'E']);
            Exact::of_text(text).into_time(is_integer)
        }
        Written::Number(text) | Written::Span(text) => Exact::of_text(text),
        Written::Truth(truth) => Exact::of_integer((*truth).into()),
        Written::Text(text) => {
            let is = match value {
                Seen::Text(value) => value == text,
                Seen::Integer(n) => {
                    let mut meant = labels.iter().filter(|mapping| *mapping.label == **text);
                    meant.any(|m| m.ranges.iter().any(|(low, high)| low <= n && n <= high))
                }
                Seen::Float(_) => unreachable!("does not fit"),
            };
            return is == (relation == Relation::Eq);
        }
    };
    let order = match (value, literal) {
        (Seen::Integer(n), _) => Some(Exact::of_integer(*n).cmp(&exact)),
        // A literal with a point or exponent means the nearest double, if there is one.
        (Seen::Float(x), Written::Number(text))
            if text.contains(['.', 'e']) && !text.starts_with("0x") =>
        {
            let nearest: f64 = text.parse().expect("a number");
            if nearest.is_finite() {
                x.partial_cmp(&nearest)
            } else {
                exact.compared_with_double(*x)
            }
        }
        (Seen::Float(x), _) => exact.compared_with_double(*x),
        (Seen::Text(_), _) => unreachable!("does not fit"),
    };
    match (relation, order) {
        (Relation::Ne, None) => true, // NaN
        (_, None) => false,
        (Relation::Eq, Some(order)) => order.is_eq(),
        (Relation::Ne, Some(order)) => order.is_ne(),
        (Relation::Lt, Some(order)) => order.is_lt(),
        (Relation::Le, Some(order)) => order.is_le(),
        (Relation::Gt, Some(order)) => order.is_gt(),
        (_, Some(order)) => order.is_ge(),
    }
}

fn holds(tree: &Tree, facts: &Facts, fact: &Fact) -> bool {
    match tree {
        Tree::Not(inner) => !holds(inner, facts, fact),
        Tree::Joined(sign, terms) => {
            let held = terms.iter().filter(|term| holds(term, facts, fact)).count();
            match sign.trim() {
                "&&" => held == terms.len(),
                "||" => held > 0,
                _ => held % 2 == 1,
            }
        }
        Tree::Exists(selector) => facts.sort(selector, fact.event_type).is_some(),
        Tree::Compare(selector, relation, literal) => {
            let Some((sort, labels)) = facts.sort(selector, fact.event_type) else { return false };
            match fit(literal, *relation, sort, labels) {
                Fit::Fits => holds_of(&fact.value(selector), *relation, literal, sort, labels),
                Fit::NoLabel => *relation == Relation::Ne,
                Fit::Misfit => false,
            }
        }
        Tree::In(selector, negated, literals) => {
            let Some((sort, labels)) = facts.sort(selector, fact.event_type) else { return false };
            let fit = |literal: &&Written| fit(literal, Relation::Eq, sort, labels);
            if literals.iter().all(|literal| fit(&literal) == Fit::Misfit) {
                return false;
            }
            let value = fact.value(selector);
            let is = |literal: &Written| holds_of(&value, Relation::Eq, literal, sort, labels);
            let is_one = literals.iter().filter(|l| fit(l) == Fit::Fits).any(is);
            is_one != *negated
        }
    }
}

/// Returns whether every literal fits somewhere, so that the expression can be compiled.
fn has_sense(tree: &Tree, facts: &Facts) -> bool {
    let fits = |selector: &str, relation, literal: &Written| {
        let mut sorts = (0..facts.sorts.len()).filter_map(|number| facts.sort(selector, number));
        sorts.any(|(sort, labels)| fit(literal, relation, sort, labels) == Fit::Fits)
    };
    match tree {
        Tree::Not(inner) => has_sense(inner, facts),
        Tree::Joined(_, terms) => terms.iter().all(|term| has_sense(term, facts)),
        Tree::Exists(_) => true,
        Tree::Compare(selector, relation, literal) => fits(selector, *relation, literal),
        Tree::In(selector, _, literals) => {
            literals.iter().all(|literal| fits(selector, Relation::Eq, literal))
        }
    }
}

/// Returns a number at, next to or far beyond the limits of some width, or of an event.
fn number(choices: &mut Choices<'_>, near: i128) -> String {
    let bits = 1 + choices.below(64);
    let limit = match choices.below(6) {
        0 => (1i128 << bits) - 1,
        1 => 1 << (bits - 1),
        2 => -(1 << (bits - 1)),
        3 => 1 << (50 + choices.below(20)),
        4 => choices.below(4) as i128 - 1,
        _ => near,
    };
    let n = limit + choices.below(5) as i128 - 2;
    match choices.below(12) {
        0 => format!("{n}.5"),
        1 => format!("{n}.0"),
        2 => format!("{n}.000000000000001"),
        3 => format!("{}.99999999999999999999", n),
        4 => format!("{n}e{}", choices.below(25)),
        5 => format!("{n}e-{}", choices.below(25)),
        6 => format!("{:e}", n as f64),
        7 if n >= 0 => format!("{n:#x}"),
        8 => format!("{n}{:0>1$}", choices.below(10), 1 + choices.below(40)),
        9 if choices.below(4) == 0 => format!("{n}e{}", 300 + choices.below(20)),
        _ => n.to_string(),
    }
}

/// Returns a time in seconds, or text that is not quite one.
fn time(choices: &mut Choices<'_>, ns: i128) -> Written {
    let ns = ns + choices.below(3) as i128 - 1;
    let (sign, abs) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
    let (seconds, rest) = (abs / 1_000_000_000, abs % 1_000_000_000);
    match choices.below(7) {
        0 => Written::Number(format!("{sign}{seconds}")),
        1 => Written::Number(format!("{sign}{seconds}.{rest:09}")),
        2 => Written::Number(format!("{sign}{seconds}.{rest:09}5")),
        3 => Written::Number(format!("{sign}{abs}e-9")),
        4 => Written::Span(format!("{ns}.5")),
        5 => Written::Span(ns.to_string()),
        _ => Written::Number(number(choices, seconds as i128)),
    }
}

fn literal(choices: &mut Choices<'_>, selector: &str, fact: &Fact) -> Written {
    let near = match fact.value(selector) {
        Seen::Integer(n) => n,
        Seen::Float(x) if x.is_finite() => x.clamp(-1e30, 1e30) as i128,
        _ => 0,
    };
    if selector == "event.time" {
        return time(choices, near);
    }
    match choices.below(24) {
        0 => Written::Span(near.to_string()),
        1 => Written::Span(format!("{near}.25")),
        2 => Written::Truth(choices.below(2) == 0),
        3 | 4 => Written::Text((*choices.pick(&LABELS)).to_owned()),
        5 => match fact.value(selector) {
            Seen::Float(x) if x.is_finite() => Written::Number(format!("{x:e}")),
            Seen::Text(text) => Written::Text(text),
            _ => Written::Number(near.to_string()),
        },
        _ => Written::Number(number(choices, near)),
    }
}

fn tree(choices: &mut Choices<'_>, facts: &Facts, depth: usize) -> Tree {
    let kind = if depth == 0 { 0 } else { choices.below(9) };
    if (4..=6).contains(&kind) {
        let sign = [" && ", " || ", " ^ "][kind - 4];
        let count = 2 + choices.below(3);
        return Tree::Joined(sign, (0..count).map(|_| tree(choices, facts, depth - 1)).collect());
    }
    if kind == 7 {
        return Tree::Not(Box::new(tree(choices, facts, depth - 1)));
    }
    let fact = &facts.events[choices.below(facts.events.len())];
    let selector = match choices.below(8) {
        7 => format!("event.fields.e{}.x", fact.event_type),
        at => SELECTORS.get(at).unwrap_or(&"x").to_string(),
    };
    match choices.below(20) {
        0 => Tree::Exists(selector),
        1..=5 => {
            let count = 1 + choices.below(4);
            let literals = (0..count).map(|_| literal(choices, &selector, fact)).collect();
            Tree::In(selector, choices.below(2) == 0, literals)
        }
        _ => {
            let literal = literal(choices, &selector, fact);
            Tree::Compare(selector, *choices.pick(&RELATIONS), literal)
        }
    }
}

/// Returns a class of fields of the name, some values to write, its sort and labels.
fn class(
    choices: &mut Choices<'_>,
    format: Format,
) -> (FieldClass, Vec<FieldValue>, Sort, Vec<Mapping>) {
    let order = *choices.pick(&[ByteOrder::Little, ByteOrder::Big]);
    let bits = 1 + choices.below(64) as u32;
    let fixed = |bits| FixedLen { bits, byte_order: order, bit_order: BitOrder::Natural };
    let signed = choices.below(2) == 0;
    let (low, high) = match signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    let some = choices.below(1 << 16) as i128;
    let numbers = [low, high, (low + 1).min(high), 0, 1.min(high), some.clamp(low, high)];
    let value =
        |n: i128| if signed { FieldValue::Sint(n as i64) } else { FieldValue::Uint(n as u64) };
    let values: Vec<FieldValue> = numbers.iter().map(|n| value(*n)).collect();
    let plain = Integer { signed, ..Integer::default() };
    let kinds = if format == Format::Ctf2 { 9 } else { 6 };
    match choices.below(kinds) {
        3 => {
            let wide = choices.below(2) == 0;
            let floats = [
                0.0,
                -0.0,
                1.5,
                -1.0,
                0.1,
                f64::NAN,
                f64::INFINITY,
                f64::NEG_INFINITY,
                9_007_199_254_740_992.0,
                9_223_372_036_854_775_808.0,
                1e23,
                f64::MAX,
                -256.0,
                18_446_744_073_709_551_616.0,
                5e-324,
                4_294_967_296.0,
            ];
            let class = FieldClass::new(FieldKind::Float(fixed(if wide { 64 } else { 32 })), 8);
            (class, floats.map(FieldValue::Float).to_vec(), Sort::Float, Vec::new())
        }
        4 => {
            let texts = ["A", "B", "", "5", "text"];
            let texts = texts.map(|text| FieldValue::Str(text.to_owned())).to_vec();
            (FieldClass::string(), texts, Sort::Text, Vec::new())
        }
        5 => {
            let first = choices.below(LABELS.len());
            let labels = LABELS.iter().cycle().skip(first).take(2);
            let ranges = [vec![(0, 0), (high, high)], vec![(low, 0.min(high))]];
            let mapping = |(label, ranges): (&&str, Vec<(i128, i128)>)| Mapping {
                label: (*label).into(),
                ranges,
            };
            let mappings: Vec<Mapping> = labels.zip(ranges).map(mapping).collect();
            let integer = Integer { mappings: Some(mappings.clone().into()), ..plain };
            let class = FieldClass::new(FieldKind::Integer(fixed(bits), integer), 1);
            (class, values, Sort::Enumeration, mappings)
        }
        6 => {
            let class = FieldClass::new(FieldKind::Bool(fixed(bits), None), 1);
            (class, vec![FieldValue::Bool(false), FieldValue::Bool(true)], Sort::Truth, Vec::new())
        }
        7 => {
            let limits = match signed {
                true => vec![
                    FieldValue::Sint(i64::MIN),
                    FieldValue::Sint(-1),
                    FieldValue::Sint(i64::MAX),
                ],
                false => {
                    vec![FieldValue::Uint(0), FieldValue::Uint(300), FieldValue::Uint(u64::MAX)]
                }
            };
            (FieldClass::new(FieldKind::VarInteger(plain), 8), limits, Sort::Number, Vec::new())
        }
        8 => {
            let all = u64::MAX >> (64 - bits);
            let values =
                vec![FieldValue::Bits(0), FieldValue::Bits(all), FieldValue::Bits(all / 2)];
            let class = FieldClass::new(FieldKind::BitArray(fixed(bits)), 1);
            (class, values, Sort::Number, Vec::new())
        }
        _ => {
            let class = FieldClass::new(FieldKind::Integer(fixed(bits), plain), 1);
            (class, values, Sort::Number, Vec::new())
        }
    }
}

/// Builds a trace of event types that all have an `x`, of different types.
fn trace(choices: &mut Choices<'_>) -> (Arc<Trace>, Vec<(Sort, Vec<Mapping>)>) {
    let format = *choices.pick(&[Format::Ctf1, Format::Ctf2]);
    let mut schema: Schema = presets::lttng_kernel(format);
    schema.clocks[0].offset_seconds = *choices.pick(&[0, -3, 1_795_233_416, -9_000_000_000]);
    schema.clocks[0].offset_cycles = *choices.pick(&[0, 1, 500_000_000]);
    let (mut sorts, mut types) = (Vec::new(), Vec::new());
    for number in 0..1 + choices.below(6) {
        let (class, values, sort, labels) = class(choices, format);
        let payload = FieldClass::structure([("x", class)]);
        types.push((
            schema.add_event_type(StreamClassId(0), &format!("e{number}"), payload),
            values,
        ));
        sorts.push((sort, labels));
    }
    let mut memory = MemoryTrace::new(schema);
    let mut now = 0;
    for cpu in 0..2_u64 {
        let mut stream = memory
            .stream(StreamClassId(0), &format!("channel0_{cpu}"))
            .expect("a stream class")
            .with_stream_id(cpu)
            .with_packet_context(FieldValue::fields([("cpu_id", cpu)]));
        for (event_type, values) in &types {
            for value in values {
                let payload = FieldValue::fields([("x", value.clone())]);
                stream.event(*event_type, now, payload).expect("a value that fits");
                now += *choices.pick(&[0, 1, 2, 400_000_000]);
            }
        }
        memory.add(stream).expect("a sound stream");
    }
    (memory.open().expect("a sound trace"), sorts)
}

fn fact(event: &Event<'_>) -> Fact {
    let x = match event.field("x").expect("all have it") {
        Read::Uint(n) | Read::Bits(n) => Seen::Integer(n.into()),
        Read::Sint(n) => Seen::Integer(n.into()),
        Read::Bool(truth) => Seen::Integer(truth.into()),
        Read::Float(x) => Seen::Float(x),
        other => Seen::Text(other.as_str().expect("text").to_str_lossy().into_owned()),
    };
    Fact {
        event_type: event.type_id().index(),
        x,
        time: event.timestamp().expect("a clock").as_ns().into(),
        cycles: event.cycles().expect("a clock").into(),
        cpu: event.tracefile().cpu().expect("a number in the name").into(),
    }
}

/// Checks a number of expressions on one trace.
fn check(seed: u64, expressions: usize) -> Result<(), TestCaseError> {
    let numbers = numbers(seed, 4_000 + expressions * 200);
    let mut choices = Choices::new(&numbers);
    let (trace, sorts) = trace(&mut choices);
    let traces = [trace];
    let mut merge = Merge::new(&traces);
    let mut events = Vec::new();
    while let Some(event) = merge.next() {
        events.push(fact(&event));
    }
    let facts = Facts { sorts, events };
    for _ in 0..expressions {
        let tree = tree(&mut choices, &facts, 2);
        agree(&traces, &facts, &tree)?;
    }
    Ok(())
}

/// Returns numbers to choose by (splitmix64).
fn numbers(mut seed: u64, count: usize) -> Vec<u32> {
    let mut next = || {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 16) as u32
    };
    (0..count).map(|_| next()).collect()
}

fn agree(traces: &[Arc<Trace>; 1], facts: &Facts, tree: &Tree) -> Result<(), TestCaseError> {
    let text = tree.to_string();
    let expression = Expression::parse(&text).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let printed = Expression::parse(&expression.tree().to_string()).map(Expression::into_tree);
    prop_assert_eq!(printed.as_ref(), Ok(expression.tree()), "{}", text);
    let filters = match Filters::new(&expression, traces) {
        Ok(filters) => filters,
        Err(error) => {
            prop_assert!(!has_sense(tree, facts), "{text}\n{error}");
            return Ok(());
        }
    };
    prop_assert!(has_sense(tree, facts), "{text} is compiled");
    let filter = filters.for_trace(TraceIndex(0)).expect("of the only trace");
    let mut merge = Merge::new(traces);
    let mut passing = Vec::new();
    for fact in &facts.events {
        let event = merge.next().expect("as many as before");
        let (passes, expected) = (filters.matches(&event), holds(tree, facts, fact));
        prop_assert_eq!(passes, expected, "{}: {:?} at {}", text, fact.x, fact.time);
        match filter.verdict(event.type_id()) {
            Verdict::Always => prop_assert!(passes, "{text}"),
            Verdict::Never => prop_assert!(!passes, "{text}"),
            Verdict::Depends => {}
        }
        if passes {
            let time = event.timestamp().expect("a clock");
            let within = filter.spans().iter().any(|span| span.start <= time && time <= span.end);
            prop_assert!(within, "{text}: {time:?} is in none of {:?}", filter.spans());
            prop_assert!(filter.can_match_tracefile(event.tracefile_index()), "{text}");
            passing.push((event.tracefile_index(), event.offset()));
        }
    }
    let mut read = filters.read();
    let mut found = Vec::new();
    while let Some(event) = read.next() {
        found.push((event.tracefile_index(), event.offset()));
    }
    prop_assert_eq!(&found, &passing, "{}", text);
    check_notes(traces, &filters, &text, passing.len(), facts.events.len())
}

/// Checks that the notes on a filter and its parts are correct.
fn check_notes(
    traces: &[Arc<Trace>; 1],
    filters: &Filters,
    text: &str,
    passing: usize,
    events: usize,
) -> Result<(), TestCaseError> {
    prop_assert!(!filters.matches_none() || passing == 0, "{text}");
    let noted = |message| filters.notes().diagnostics().iter().any(|n| n.message == message);
    let (nothing, everything) =
        (noted("nothing passes this filter"), noted("everything passes this filter"));
    prop_assert_eq!(nothing, filters.matches_none(), "{}", text);
    prop_assert_eq!(everything, filters.matches_all(), "{}", text);
    prop_assert!(!everything || passing == events, "{text}");
    for note in filters.notes().diagnostics() {
        let part = &text[note.span.start as usize..note.span.end as usize];
        let expected = match &*note.message {
            "this part is never true" => 0,
            "this part is always true" => events,
            _ => continue,
        };
        let part = Expression::parse(part).expect("a part of an expression");
        let part = Filters::new(&part, traces).expect("a part that makes sense");
        let mut merge = Merge::new(traces);
        let mut passing = 0;
        while let Some(event) = merge.next() {
            passing += usize::from(part.matches(&event));
        }
        prop_assert_eq!(passing, expected, "{}: {:?}", text, note);
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(200))]

    /// Checks a hundred thousand expressions in all.
    #[test]
    fn numbers_beyond_the_limits_of_fields_compare_as_numbers(seed in any::<u64>()) {
        check(seed, 500)?;
    }
}
