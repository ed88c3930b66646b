//! Vocabularies of the bundled traces, and completion of expressions.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use crate::oracle::words;
use crate::support::config::cases;
use ltt_read::schema::FieldKind;
use ltt_read::{Trace, open_all};
use lttv_filter::model::FieldType;
use lttv_filter::{CandidateKind, Columns, Expression, Filters, Relation, Vocabulary};
use proptest::prelude::*;

fn bundled(name: &str) -> Vec<Arc<Trace>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces").join(name);
    open_all(path).expect("a bundled trace")
}

const TRACES: [&str; 4] = ["kernel", "legacy", "ust", "ust-ctf2"];

static KERNEL: LazyLock<Vocabulary> = LazyLock::new(|| Vocabulary::new(&bundled("kernel")));

fn texts(text: &str) -> Vec<String> {
    let all = KERNEL.complete(text, text.len()).into_iter();
    all.map(|candidate| candidate.text).collect()
}

/// Each member of each payload is listed for its event, once.
#[test]
fn events_and_fields_are_those_of_the_schema() {
    for name in TRACES {
        let traces = bundled(name);
        let vocabulary = Vocabulary::new(&traces);
        let mut names = BTreeSet::new();
        for (trace, of_trace) in traces.iter().enumerate() {
            for (id, event_type) in of_trace.schema().event_types.iter().enumerate() {
                names.insert(event_type.name());
                let event = vocabulary.event(event_type.name()).expect("a known event");
                let is_type = |(t, e): (ltt_read::TraceIndex, ltt_read::schema::EventTypeId)| {
                    t.0 == trace && e.index() == id
                };
                assert_eq!(event.types().filter(|of| is_type(*of)).count(), 1);
                let Some(FieldKind::Struct(payload)) =
                    event_type.payload.as_deref().map(|class| &class.kind)
                else {
                    continue;
                };
                for member in &payload.members {
                    let is_member = |selector: &str| {
                        // Words that start other selectors are quoted.
                        let selector = selector.replace('`', "");
                        let rest = selector.strip_prefix("event.fields.*.").unwrap_or(&selector);
                        let rest = rest.strip_prefix(&*member.name);
                        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
                    };
                    let is_struct = matches!(member.class.kind, FieldKind::Struct(_));
                    let mut listed = event.fields().iter().map(|field| field.selector());
                    assert!(
                        is_struct || listed.any(is_member),
                        "{} {}",
                        event_type.name(),
                        member.name
                    );
                }
            }
        }
        assert!(vocabulary.events().iter().map(|event| event.name()).eq(names));
        let cpus: BTreeSet<u32> = traces
            .iter()
            .flat_map(|trace| trace.tracefiles().iter().filter_map(|tracefile| tracefile.cpu()))
            .collect();
        assert!(cpus.iter().eq(vocabulary.cpus()));
    }
}

#[test]
fn listed_fields_can_be_tested() {
    for name in TRACES {
        words::fields_are_valid(&bundled(name)).unwrap();
    }
}

/// A relation is listed if, and only if, a filter with it is accepted.
#[test]
fn listed_relations_are_those_that_filters_accept() {
    use Relation::*;
    for name in TRACES {
        let traces = bundled(name);
        let vocabulary = Vocabulary::new(&traces);
        let mut seen: Vec<&[FieldType]> = Vec::new();
        for field in vocabulary.selectors().iter().chain(vocabulary.fields()) {
            if seen.contains(&field.types()) {
                continue;
            }
            seen.push(field.types());
            for relation in [Eq, Ne, Lt, Le, Gt, Ge, Matches, NotMatches] {
                let accepts = |value: &str| {
                    let text = format!("{} {} {value}", field.selector(), relation.symbol());
                    let expression = Expression::parse(&text).expect("sound");
                    Filters::new(&expression, &traces).is_ok()
                };
                let mut values = vec!["5".to_owned(), "\"*\"".to_owned()];
                values.extend(field.labels().first().map(|label| format!("{label:?}")));
                let is_accepted = values.iter().any(|value| accepts(value));
                let is_listed = field.relations().contains(&relation);
                assert_eq!(is_listed, is_accepted, "{} {}", field.selector(), relation.symbol());
            }
        }
        assert!(seen.len() > 3, "{name}");
    }
}

#[test]
fn values_of_properties_are_those_of_the_traces() {
    let property = |selector: &str| {
        let mut all = KERNEL.selectors().iter();
        all.find(|field| field.selector() == selector).unwrap_or_else(|| panic!("{selector}"))
    };
    assert_eq!(property("event.name").values().len(), KERNEL.events().len());
    assert_eq!(property("tracefile.cpu").values(), ["0", "1", "2", "3", "4", "5", "6", "7"]);
    assert_eq!(property("channel.name").values(), ["\"sched\"", "\"sys\""]);
    let categories = property("event.category").values();
    assert!(categories.contains(&"\"sched\"".to_owned()) && categories.len() < 12);
    assert_eq!(property("event.time").types()[0].name(), "time");
    assert!(property("trace.env.tracer_name").values().contains(&"\"lttng-modules\"".to_owned()));
}

#[test]
fn fields_of_the_named_event_come_first() {
    let expected: Vec<String> = {
        let event = KERNEL.event("sched_switch").expect("a kernel trace");
        event.fields().iter().map(|field| field.selector().to_owned()).collect()
    };
    assert_eq!(expected.len(), 7);
    for start in [
        "event.name == sched_switch && ",
        "event.name == \"sched.sched_switch\" && ",
        "event.name =~ \"*_switch\" && (",
        "(event.name == sched_switch) && !(next_tid == 5 || ",
        "ret == 5 || event.name in (sched_switch) && ",
        "event.category == sched && exists(next_comm) & ",
    ] {
        assert_eq!(texts(start)[..7], expected, "{start}");
    }
    // Not in another part of a disjunction.
    for start in ["event.name == sched_switch || ", "(event.name == sched_switch || ret == 5) ^ "] {
        assert_eq!(texts(start)[0], "event.name", "{start}");
    }
    assert_eq!(texts("event.name == sched_switch && next_t"), ["next_tid"]);
}

#[test]
fn candidates_by_place() {
    let start = |text: &str, of: usize| texts(text).into_iter().take(of).collect::<Vec<_>>();
    assert_eq!(start("", 3), ["event.name", "event.category", "event.subname"]);
    assert_eq!(start("event.na", 1), ["name"]);
    assert_eq!(start("event.", 2), ["name", "category"]);
    assert!(texts("event.").contains(&"fields.".to_owned()));
    assert_eq!(start("event.fields.sched_sw", 1), ["sched_switch."]);
    assert_eq!(start("event.fields.sched_switch.next_t", 2), ["next_tid"]);
    assert_eq!(texts("next_tid "), ["==", "!=", "<", "<=", ">", ">=", "in (", "not in ("]);
    assert_eq!(texts("next_comm "), ["==", "!=", "=~", "!~", "in (", "not in ("]);
    assert_eq!(texts("next_tid <"), ["<", "<="]);
    assert_eq!(texts("next_tid not "), ["in ("]);
    assert_eq!(texts("next_tid in"), ["in (", "not in ("]);
    assert_eq!(texts("next_tid in (5 "), [",", ")"]);
    assert_eq!(texts("(next_tid == 5 "), ["&&", "||", "^", ")"]);
    assert_eq!(texts("exists(next_tid "), [")"]);
    assert_eq!(texts("exists "), ["("]);
    assert_eq!(texts("5 "), ["==", "!=", "<", "<=", ">", ">="]);
    assert_eq!(start("5 < next_t", 1), ["next_tid"]);
    assert_eq!(texts("event.name == sched.sched_sw"), ["\"sched.sched_switch\""]);
    assert_eq!(texts("event.name =~ 'sched_sw"), ["\"sched_switch\""]);
    assert_eq!(texts("event.name in (sched_switch, sched_wakeu"), ["\"sched_wakeup\""]);
    assert_eq!(texts("tracefile.cpu in (3, "), ["0", "1", "2", "3", "4", "5", "6", "7"]);
    assert!(texts("next_tid == ").is_empty());
    assert!(texts("next_tid[").is_empty());
    // After faults.
    assert_eq!(start("nonsense == && ) {} event.name ~ 5 || event.na", 1), ["name"]);
    assert_eq!(texts("what ").len(), 10);
}

#[test]
fn candidates_name_their_kind_span_and_event() {
    let text = "event.name == \"sched_swi && next_tid == 5";
    let [candidate] = &KERNEL.complete(text, 24)[..] else { panic!("one candidate") };
    assert_eq!((candidate.kind, &*candidate.text), (CandidateKind::Event, "\"sched_switch\""));
    assert_eq!((candidate.span.start, candidate.span.end), (14, 24));
    assert_eq!(candidate.description, "sched");
    let event = &KERNEL.events()[candidate.event.expect("an event")];
    assert_eq!(event.name(), "sched_switch");
    // A whole word is replaced, also in quotes.
    for (text, cursor, start, end) in [
        ("event.name == sched_switch && ret == 5", 17, 14, 26),
        ("event.name == \"sched_switch\" && ret == 5", 17, 14, 28),
        ("event.nam == x", 8, 6, 9),
        ("next_tid == 5", 10, 9, 11),
        ("next_tid  == 5", 9, 9, 9),
    ] {
        let candidates = KERNEL.complete(text, cursor);
        assert!(!candidates.is_empty(), "{text}");
        for candidate in candidates {
            assert_eq!((candidate.span.start, candidate.span.end), (start, end), "{text}");
        }
    }
    let cpu = &KERNEL.complete("tracefile.cpu == ", 17)[0];
    assert_eq!(cpu.kind, CandidateKind::Cpu);
    let label = &KERNEL.complete("event.fields.irq_softirq_entry.name == R", 40)[0];
    assert_eq!((label.kind, &*label.text), (CandidateKind::Label, "\"RCU\""));
}

#[test]
fn columns_have_a_vocabulary() {
    let columns = Columns::new()
        .labels("level", [("low", 0), ("high", 1)], |n: &u64| Some(*n))
        .truth("open", |n| Some(*n > 5))
        .text("request.path", |_| None);
    let vocabulary = columns.vocabulary();
    let texts = |text: &str| -> Vec<String> {
        let all = vocabulary.complete(text, text.len()).into_iter();
        all.map(|candidate| candidate.text).collect()
    };
    assert_eq!(texts("")[..3], ["level", "open", "request.path"]);
    assert_eq!(texts("level == "), ["\"low\"", "\"high\""]);
    assert_eq!(texts("open ")[6..], ["in (", "not in (", "&&", "||", "^"]);
    assert_eq!(texts("open == "), ["true", "false"]);
    assert_eq!(texts("request."), ["path"]);
    assert_eq!(texts("request.path =")[..], ["==", "=~"]);
}

#[test]
fn completion_of_bundled_traces_leads_to_filters() {
    for (seed, name) in (1..).zip(TRACES) {
        words::completion_leads_to_filters(&bundled(name), seed, 6).unwrap();
    }
}

/// Parts of expressions, valid and not.
fn texts_of_any_kind() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => prop::sample::select(vec![
            "event.name", "event.", ".", "event.fields.", "sched_switch", "next_tid", "==", "=",
            "!", "!=", "<", "=~", "in", "(", ")", "not", "&&", "||", "^", "and", "\"", "'", "`",
            "\"x\"", "5", "1.5", "03:02", "2026-11-21", "[", "]", "[0]", ",", "*", "exists",
            "true", "~", "é", "\\", "\u{2264}", "{", "state.", "next_comm", "`a b`", "0x",
        ])
        .prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    let blank = prop::sample::select(vec!["", " ", "  ", "\t"]);
    let parts = prop::collection::vec((part, blank), 0..14);
    parts.prop_map(|parts| parts.into_iter().map(|(part, blank)| part + blank).collect())
}

proptest! {
    #![proptest_config(cases(2000))]

    /// Completion does not panic, and spans are parts of the text that contain the cursor.
    #[test]
    fn any_text_can_be_completed(text in texts_of_any_kind(), cursor in 0_usize..80) {
        for candidate in KERNEL.complete(&text, cursor) {
            let (start, end) = (candidate.span.start as usize, candidate.span.end as usize);
            let cursor = text.floor_char_boundary(cursor);
            prop_assert!(start <= cursor && cursor <= end && end <= text.len());
            prop_assert!(text.is_char_boundary(start) && text.is_char_boundary(end));
        }
    }
}
