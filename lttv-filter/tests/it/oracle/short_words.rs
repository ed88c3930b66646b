//! Short words and names of events that stand alone, on random traces that record threads,
//! processes and commands in various scopes. Compiled filters are compared with what is read
//! from the scopes of each event.

use std::sync::Arc;

use ltt_read::schema::{
    ByteOrder, EventTypeId, FieldClass, Format, Integer, Schema, Scope, StreamClass, StreamClassId,
};
use ltt_read::writer::{FieldValue, MemoryTrace, Record, presets};
use ltt_read::{Event, Merge, Trace, Value};
use lttv_filter::{Expression, Filters};
use proptest::prelude::*;

use super::choices::Choices;
use crate::support::config::cases;

/// The fields that are drawn for each scope.
const FIELDS: [&str; 7] = ["tid", "vtid", "pid", "vpid", "procname", "comm", "name"];
/// The names of event types.
const NAMES: [&str; 6] = ["sched_switch", "sched_waking", "irq_entry", "a:b_c", "tid", "x"];
/// Commands.
const TEXTS: [&str; 4] = ["bash", "kworker/0:1", "sched_switch", ""];

fn int32() -> FieldClass {
    let signed = Integer { signed: true, ..Integer::default() };
    FieldClass::integer(32, ByteOrder::Little, signed)
}

fn is_text(name: &str) -> bool {
    matches!(name, "procname" | "comm" | "name")
}

fn class(names: &[&str]) -> FieldClass {
    let class = |name: &&str| if is_text(name) { FieldClass::string() } else { int32() };
    FieldClass::structure(names.iter().map(|name| (*name, class(name))))
}

fn values(choices: &mut Choices<'_>, names: &[&'static str]) -> FieldValue {
    let mut value = |name: &&str| match is_text(name) {
        true => FieldValue::Str((*choices.pick(&TEXTS)).to_owned()),
        false => FieldValue::Sint(choices.below(4) as i64),
    };
    FieldValue::fields(names.iter().map(|name| (*name, value(name))).collect::<Vec<_>>())
}

fn some(choices: &mut Choices<'_>, one_in: usize) -> Vec<&'static str> {
    FIELDS.into_iter().filter(|_| choices.below(one_in) == 0).collect()
}

/// The fields of an event type by scope: payload, specific and common context.
type Scopes = [Vec<&'static str>; 3];

fn trace(choices: &mut Choices<'_>) -> (Arc<Trace>, Vec<Scopes>) {
    let mut schema: Schema = presets::lttng_ust(*choices.pick(&[Format::Ctf1, Format::Ctf2]));
    let first = &schema.stream_classes[0];
    schema.stream_classes.push(StreamClass { id: first.id + 1, ..first.clone() });
    let one_in = *choices.pick(&[1000, 8, 3]);
    let mut common = Vec::new();
    for stream in &mut schema.stream_classes {
        let names = some(choices, one_in);
        stream.common_context = (!names.is_empty()).then(|| Arc::new(class(&names)));
        common.push(names);
    }
    let mut types: Vec<Scopes> = Vec::new();
    for (number, name) in NAMES.iter().enumerate() {
        let stream = number % 2;
        let (payload, specific) = (some(choices, 4), some(choices, 2 * one_in));
        let id = schema.add_event_type(StreamClassId(stream as u32), name, class(&payload));
        let event_type = &mut schema.event_types[id.index()];
        event_type.specific_context = (!specific.is_empty()).then(|| Arc::new(class(&specific)));
        types.push([payload, specific, common[stream].clone()]);
    }
    let mut memory = MemoryTrace::new(schema);
    for cpu in 0..3_u64 {
        let stream = StreamClassId((cpu % 2) as u32);
        let mut writer = memory
            .stream(stream, &format!("channel{}_{cpu}", cpu % 2))
            .expect("a stream class")
            .with_stream_id(cpu % 2)
            .with_packet_context(FieldValue::fields([("cpu_id", cpu)]));
        for time in 0..20 {
            let number = 2 * choices.below(NAMES.len() / 2) + (cpu % 2) as usize;
            let [payload, specific, common] = &types[number];
            let context = |choices: &mut Choices<'_>, names: &[&'static str]| match names {
                [] => FieldValue::Auto,
                names => values(choices, names),
            };
            let record = Record {
                payload: values(choices, payload),
                specific_context: context(choices, specific),
                common_context: context(choices, common),
                ..Record::new(EventTypeId(number as u32), 3 * time + cpu)
            };
            writer.record(record).expect("values that fit");
        }
        memory.add(writer).expect("a sound stream");
    }
    (memory.open().expect("a sound trace"), types)
}

/// The fields that record the meaning of a word, the best first.
fn recorded(word: &str) -> &'static [&'static str] {
    match word {
        "tid" => &["tid", "vtid"],
        "pid" => &["pid", "vpid"],
        _ => &["procname", "comm"],
    }
}

/// A term, whose text and result are independent of the parser.
enum Term {
    Number(&'static str, &'static str, i64),
    Text(&'static str, &'static str, &'static str),
    Exists(&'static str),
    /// A name or pattern that stands alone.
    Alone(String),
}

impl Term {
    fn text(&self) -> String {
        match self {
            Term::Number(word, sign, n) => format!("{word} {sign} {n}"),
            Term::Text(word, sign, text) => format!("{word} {sign} {text:?}"),
            Term::Exists(word) => format!("exists({word})"),
            Term::Alone(text) => text.clone(),
        }
    }

    fn word(&self) -> Option<&'static str> {
        match self {
            Term::Number(word, ..) | Term::Text(word, ..) | Term::Exists(word) => Some(word),
            Term::Alone(_) => None,
        }
    }
}

fn term(choices: &mut Choices<'_>) -> Term {
    match choices.below(7) {
        0 | 1 => {
            let word = *choices.pick(&["tid", "pid", "cpu"]);
            let sign = *choices.pick(&["==", "!=", "<", ">="]);
            Term::Number(word, sign, choices.below(4) as i64)
        }
        2 => {
            let (word, sign) = (*choices.pick(&["comm", "name"]), *choices.pick(&["==", "!="]));
            let text = *choices.pick(&TEXTS);
            Term::Text(word, sign, text)
        }
        3 => {
            let (word, sign) = (*choices.pick(&["comm", "name"]), *choices.pick(&["=~", "!~"]));
            let pattern = *choices.pick(&["sched_*", "*", "kworker/*", "?", "bash"]);
            Term::Text(word, sign, pattern)
        }
        4 => {
            let word = *choices.pick(&["tid", "pid", "comm", "cpu", "name"]);
            Term::Exists(word)
        }
        _ => {
            let name = *choices.pick(&NAMES);
            let at = choices.below(name.len() + 1);
            Term::Alone(match choices.below(6) {
                0 => format!("{}*", &name[..at]),
                1 => format!("*{}", &name[at..]),
                2 => format!("\"{}*\"", &name[..at]),
                3 => "shed_switch".to_owned(),
                _ => name.to_owned(),
            })
        }
    }
}

fn value<'a>(event: &Event<'a>, scope: Scope, name: &str) -> Option<Value<'a>> {
    event.scope(scope)?.get(name)
}

/// Returns the value of a word.
fn meaning<'a>(event: &Event<'a>, word: &str, types: &[Scopes]) -> Option<Value<'a>> {
    let names = recorded(word);
    let has = |names: &[&str], of: &[&str]| names.iter().any(|name| of.contains(name));
    let is_known =
        types.iter().any(|[_, specific, common]| has(names, specific) || has(names, common));
    if !is_known {
        return value(event, Scope::Payload, word);
    }
    names.iter().find_map(|name| {
        let specific = value(event, Scope::SpecificContext, name);
        specific.or_else(|| value(event, Scope::CommonContext, name))
    })
}

fn holds(term: &Term, event: &Event<'_>, types: &[Scopes]) -> bool {
    let text = |value: Value<'_>| value.as_str().map(|text| text.to_str_lossy().into_owned());
    let of_word = |word: &str| meaning(event, word, types);
    match term {
        Term::Number(word, sign, wanted) => {
            let found = match *word {
                "cpu" => event.tracefile().cpu().map(i64::from),
                word => of_word(word).and_then(|value| value.as_i64()),
            };
            found.is_some_and(|found| match *sign {
                "==" => found == *wanted,
                "!=" => found != *wanted,
                "<" => found < *wanted,
                _ => found >= *wanted,
            })
        }
        Term::Text(word, sign, wanted) => {
            let found = match *word {
                "name" => Some(event.event_type().name().to_owned()),
                word => of_word(word).and_then(text),
            };
            found.is_some_and(|found| match *sign {
                "==" => found == *wanted,
                "!=" => found != *wanted,
                "=~" => like(wanted, &found),
                _ => !like(wanted, &found),
            })
        }
        Term::Exists("cpu" | "name") => true,
        Term::Exists(word) => of_word(word).is_some(),
        Term::Alone(pattern) => like(pattern.trim_matches('"'), event.event_type().name()),
    }
}

/// Matches a pattern with `*` and `?`.
fn like(pattern: &str, text: &str) -> bool {
    match (pattern.chars().next(), text.chars().next()) {
        (None, next) => next.is_none(),
        (Some('*'), next) => {
            like(&pattern[1..], text) || next.is_some_and(|c| like(pattern, &text[c.len_utf8()..]))
        }
        (Some(_), None) => false,
        (Some(p), Some(c)) => {
            (p == '?' || p == c) && like(&pattern[p.len_utf8()..], &text[c.len_utf8()..])
        }
    }
}

fn check(numbers: &[u32]) -> Result<(), TestCaseError> {
    let mut choices = Choices::new(numbers);
    let (trace, types) = trace(&mut choices);
    let traces = [trace];
    for _ in 0..40 {
        let terms: Vec<Term> = (0..1 + choices.below(3)).map(|_| term(&mut choices)).collect();
        let (sign, negated) = (*choices.pick(&["&&", "||", "^"]), choices.below(4) == 0);
        let texts: Vec<String> = terms.iter().map(Term::text).collect();
        let text = texts.join(&format!(" {sign} "));
        let text = if negated { format!("!({text})") } else { text };
        let expression =
            Expression::parse(&text).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let printed = Expression::parse(&expression.tree().to_string());
        let printed = printed.map(Expression::into_tree);
        prop_assert_eq!(printed.as_ref(), Ok(expression.tree()));
        // A word that nothing records is an error.
        let is_sound = |term: &Term| match term.word() {
            None | Some("cpu" | "name") => true,
            Some(word) => {
                let of = |names: &[&str]| names.iter().any(|name| recorded(word).contains(name));
                let is_recorded = types.iter().any(|[_, a, b]| of(a) || of(b));
                is_recorded || types.iter().any(|[payload, ..]| payload.contains(&word))
            }
        };
        let filters = match Filters::new(&expression, &traces) {
            Ok(filters) => filters,
            Err(error) => {
                prop_assert!(!terms.iter().all(is_sound), "{text}\n{error}");
                continue;
            }
        };
        prop_assert!(terms.iter().all(is_sound), "{text}");
        let mut merge = Merge::new(&traces);
        let mut passing = Vec::new();
        while let Some(event) = merge.next() {
            let results = terms.iter().map(|term| holds(term, &event, &types));
            let results: Vec<bool> = results.collect();
            let joined = match sign {
                "&&" => results.iter().all(|holds| *holds),
                "||" => results.contains(&true),
                _ => results.iter().filter(|holds| **holds).count() % 2 == 1,
            };
            let name = event.event_type().name();
            prop_assert_eq!(filters.matches(&event), joined != negated, "{}: {}", text, name);
            if joined != negated {
                passing.push((event.tracefile_index(), event.offset()));
            }
        }
        let (mut read, mut found) = (filters.read(), Vec::new());
        while let Some(event) = read.next() {
            found.push((event.tracefile_index(), event.offset()));
        }
        prop_assert_eq!(&found, &passing, "{}", text);
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn words_are_what_the_scopes_of_events_contain(
        numbers in prop::collection::vec(any::<u32>(), 1500),
    ) {
        check(&numbers)?;
    }
}
