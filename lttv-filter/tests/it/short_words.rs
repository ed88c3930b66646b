//! Short words and names of events that stand alone, on the bundled traces. Counts are
//! computed from the contexts and tracefiles of events.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use ltt_read::schema::Scope;
use ltt_read::{Event, Merge, Trace, open_all};
use lttv_filter::{Expression, Filters, Vocabulary};

fn bundled(name: &str) -> Vec<Arc<Trace>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces").join(name);
    open_all(path).expect("a bundled trace")
}

fn compile(text: &str, traces: &[Arc<Trace>]) -> Filters {
    let expression = Expression::parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    Filters::new(&expression, traces).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// Returns the number of events that pass, the same by both ways of reading.
fn passed(text: &str, traces: &[Arc<Trace>]) -> usize {
    let filters = compile(text, traces);
    let (mut events, mut count) = (filters.read(), 0);
    while events.next().is_some() {
        count += 1;
    }
    assert_eq!(count, matching(traces, |event| filters.matches(event)), "{text}");
    count
}

fn matching(traces: &[Arc<Trace>], passes: impl Fn(&Event<'_>) -> bool) -> usize {
    let (mut merge, mut count) = (Merge::new(traces), 0);
    while let Some(event) = merge.next() {
        count += usize::from(passes(&event));
    }
    merge.finish().expect("a sound trace");
    count
}

fn context(event: &Event<'_>, name: &str) -> Option<i64> {
    event.scope(Scope::CommonContext)?.get(name)?.as_i64()
}

fn context_text(event: &Event<'_>, name: &str) -> Option<String> {
    let value = event.scope(Scope::CommonContext)?.get(name)?;
    Some(value.as_str()?.to_str_lossy().into_owned())
}

/// Counts the events by a value that they record.
fn counts<K: Ord>(
    traces: &[Arc<Trace>],
    of: impl Fn(&Event<'_>) -> Option<K>,
) -> BTreeMap<K, usize> {
    let (mut merge, mut counts) = (Merge::new(traces), BTreeMap::new());
    while let Some(event) = merge.next() {
        if let Some(key) = of(&event) {
            *counts.entry(key).or_default() += 1;
        }
    }
    counts
}

#[test]
fn tid_and_comm_are_contexts_of_the_kernel_trace() {
    let traces = bundled("kernel");
    let tids = counts(&traces, |event| context(event, "tid"));
    assert!(tids.len() > 20);
    for (tid, expected) in &tids {
        assert_eq!(passed(&format!("tid == {tid}"), &traces), *expected, "{tid}");
    }
    let below = tids.range(..100).map(|(_, count)| count).sum::<usize>();
    assert_eq!(passed("tid < 100", &traces), below);
    let names = counts(&traces, |event| context_text(event, "procname"));
    let workers = names.iter().filter(|(name, _)| name.starts_with("kworker"));
    assert_eq!(passed("comm =~ \"kworker*\"", &traces), workers.map(|(_, n)| n).sum::<usize>());
    assert_eq!(passed("comm =~ kworker*", &traces), passed("comm =~ \"kworker*\"", &traces));
    for (name, expected) in &names {
        assert_eq!(passed(&format!("comm == {name:?}"), &traces), *expected, "{name}");
    }
}

/// The test of a recorded thread is prepared like that of any other integer.
#[test]
fn a_recorded_tid_is_tested_like_other_fields() {
    use ltt_read::selection::EventSelection;
    let traces = bundled("kernel");
    let (word, field) =
        (compile("tid == 146", &traces), compile("event.context.tid == 146", &traces));
    assert!(!word.uses_state());
    for id in 0..traces[0].schema().event_types.len() as u32 {
        let id = ltt_read::schema::EventTypeId(id);
        let shortcut =
            |filters: &Filters| format!("{:?}", filters.shortcut(ltt_read::TraceIndex(0), id));
        assert_eq!(shortcut(&word), shortcut(&field));
        assert!(word.shortcut(ltt_read::TraceIndex(0), id).is_some());
    }
}

#[test]
fn tid_pid_and_comm_are_contexts_of_user_space_traces() {
    let mut known = 0;
    for name in ["ust", "ust-ctf2"] {
        let traces = bundled(name);
        for (word, field) in [("tid", "vtid"), ("pid", "vpid")] {
            for (value, expected) in counts(&traces, |event| context(event, field)) {
                assert_eq!(passed(&format!("{word} == {value}"), &traces), expected, "{word}");
                known += 1;
            }
        }
        for (text, expected) in counts(&traces, |event| context_text(event, "procname")) {
            assert_eq!(passed(&format!("comm == {text:?}"), &traces), expected, "{text}");
            known += 1;
        }
    }
    eprintln!("{known} values");
}

#[test]
fn cpu_is_that_of_the_tracefile() {
    for name in ["kernel", "ust", "ust-ctf2", "legacy"] {
        let traces = bundled(name);
        let cpus = counts(&traces, |event| event.tracefile().cpu());
        for (cpu, expected) in &cpus {
            assert_eq!(passed(&format!("cpu == {cpu}"), &traces), *expected, "{name} {cpu}");
        }
        let tracefiles = traces.iter().map(|trace| trace.tracefiles().len()).sum::<usize>();
        let filters = compile("cpu == 0", &traces);
        let can = (0..traces.len()).flat_map(|trace| {
            let tracefiles = 0..traces[trace].tracefiles().len();
            tracefiles.map(move |tracefile| (trace, tracefile))
        });
        let read = can.filter(|(trace, tracefile)| {
            filters.can_match(ltt_read::TraceIndex(*trace), ltt_read::TracefileIndex(*tracefile))
        });
        assert!(read.count() < tracefiles, "{name}: other CPUs are not read");
    }
}

/// `cpu == 2` once matched a field of the payload.
#[test]
fn a_field_of_the_payload_is_reached_by_its_long_name() {
    let traces = bundled("kernel");
    let field = |name: &'static str, wanted: i64| {
        matching(&traces, |event| {
            let payload = event.scope(Scope::Payload);
            payload.and_then(|it| it.get(name)).and_then(|v| v.as_i64()) == Some(wanted)
        })
    };
    for (name, wanted) in [("tid", 146), ("tid", 7), ("pid", 1), ("cpu", 2)] {
        let text = format!("event.fields.*.{name} == {wanted}");
        let exists = format!("exists(event.fields.*.{name})");
        let expression = Expression::parse(&exists).expect("sound");
        if Filters::new(&expression, &traces).is_ok() {
            assert_eq!(passed(&text, &traces), field(name, wanted), "{text}");
        }
    }
    assert!(passed("event.fields.*.tid == 146", &traces) > 0);
    let notes = compile("sched_wak* && tid == 146", &traces).notes().to_string();
    assert_eq!(
        notes,
        "column 15: `tid` is the thread that the event belongs to, not the field of this name \
         (perhaps `event.fields.*.tid`)"
    );
    // Not where other events can pass, and not for other fields.
    for text in ["tid == 146", "sched_* && tid == 146", "syscall_* && tid > 5", "cpu == 1"] {
        assert_eq!(compile(text, &traces).notes().to_string(), "", "{text}");
    }
    // A value that the word never has.
    let notes = compile("irq_* && name == TIMER", &traces).notes().to_string();
    assert!(notes.contains("(perhaps `event.fields.*.name`)"), "{notes}");
}

#[test]
fn names_and_patterns_stand_alone() {
    let traces = bundled("kernel");
    let named =
        |passes: fn(&str) -> bool| matching(&traces, |event| passes(event.event_type().name()));
    for (text, expected) in [
        ("sched_switch", named(|name| name == "sched_switch")),
        ("sched_*", named(|name| name.starts_with("sched_"))),
        ("*_switch", named(|name| name.ends_with("_switch"))),
        ("sched_wak?ng", named(|name| name == "sched_waking")),
        ("sched.sched_switch", named(|name| name == "sched_switch")),
        ("sched.sched_*", named(|name| name.starts_with("sched_"))),
        ("\"sched_*\"", named(|name| name.starts_with("sched_"))),
        ("'sched_[sw]*'", named(|name| name.starts_with("sched_s") || name.starts_with("sched_w"))),
        ("`sched_switch`", named(|name| name == "sched_switch")),
        ("sched_switch || irq_*", named(|n| n == "sched_switch" || n.starts_with("irq_"))),
        ("!sched_* and not irq_*", named(|n| !n.starts_with("sched_") && !n.starts_with("irq_"))),
        ("*", named(|_| true)),
        ("name == sched_switch", named(|name| name == "sched_switch")),
        ("name =~ sched_*", named(|name| name.starts_with("sched_"))),
    ] {
        assert_eq!(passed(text, &traces), expected, "{text}");
        assert!(expected > 0, "{text}");
    }
    let expected = matching(&traces, |event| {
        event.event_type().name() == "sched_switch" && event.tracefile().cpu() == Some(1)
    });
    assert_eq!(passed("sched_switch && cpu == 1", &traces), expected);
    assert_eq!(passed("(sched_switch) & cpu = 1", &traces), expected);
}

#[test]
fn an_unknown_name_is_noted_with_the_nearest_one() {
    let traces = bundled("kernel");
    let notes = |text: &str| compile(text, &traces).notes().to_string();
    for (text, place, expected) in [
        (
            "shed_switch",
            1,
            "nothing passes this filter: no event has this name (perhaps `sched_switch`)",
        ),
        (
            "shed_*",
            1,
            "nothing passes this filter: no name of an event matches this (perhaps `sched_*`)",
        ),
        (
            "cpu == 1 || shed_switch",
            13,
            "this part is never true: no event has this name (perhaps `sched_switch`)",
        ),
        (
            "event.name == shed_switch",
            15,
            "nothing passes this filter: `event.name` never equals this (perhaps `\"sched_switch\"`)",
        ),
        (
            "name == shed_switch",
            9,
            "nothing passes this filter: `name` never equals this (perhaps `\"sched_switch\"`)",
        ),
        (
            "name =~ \"shed_*\"",
            9,
            "nothing passes this filter: `name` never matches this (perhaps `\"sched_*\"`)",
        ),
        ("cpu == 99", 1, "nothing passes this filter: `cpu` is between 0 and 7 everywhere"),
    ] {
        assert_eq!(notes(text), format!("column {place}: {expected}"), "{text}");
        assert_eq!(passed(text.split(" || ").last().unwrap_or(text), &traces), 0, "{text}");
    }
    for text in ["sched_switch", "sched_*", "event.category == sched", "cpu == 1 && irq_*"] {
        assert_eq!(notes(text), "", "{text}");
    }
    assert_eq!(notes("*"), "column 1: everything passes this filter");
}

/// A name that is a field of another type is still refused, unless an event has it, too.
#[test]
fn a_number_alone_is_no_condition() {
    let traces = bundled("kernel");
    for text in ["next_tid", "tid", "cpu", "sched_switch || ret"] {
        let expression = Expression::parse(text).expect(text);
        let error = Filters::new(&expression, &traces).expect_err(text).to_string();
        assert!(error.contains("alone is neither true nor false"), "{text}: {error}");
    }
}

#[test]
fn patterns_of_names_are_no_values() {
    for (text, expected) in [
        (
            "event.name == sched_*",
            "column 15: only `=~` and `!~` take a pattern (elsewhere, text with such characters has to be quoted)",
        ),
        (
            "sched_* == 5",
            "column 1: a pattern stands on the right (alone, it is a pattern of names of events)",
        ),
        (
            "5",
            "column 1: a value alone is neither true nor false: it has to be compared with a field",
        ),
    ] {
        let error = Expression::parse(text).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

#[test]
fn words_and_names_are_completed() {
    let traces = bundled("kernel");
    let vocabulary = Vocabulary::new(&traces);
    let texts = |text: &str| -> Vec<String> {
        let all = vocabulary.complete(text, text.len()).into_iter();
        all.map(|candidate| candidate.text).collect()
    };
    for word in ["tid", "comm", "cpu", "name"] {
        assert_eq!(texts(word)[0], word);
    }
    assert_eq!(texts("sched_sw"), ["sched_switch"]);
    assert_eq!(texts("sched_switch "), ["&&", "||", "^"]);
    assert_eq!(texts("sched_* "), ["&&", "||", "^"]);
    assert_eq!(texts("(sched_switch && cpu == 1 "), ["&&", "||", "^", ")"]);
    assert_eq!(texts("sched_switch && ")[0], "prev_comm");
    assert_eq!(texts("cpu == ").len(), 8);
    assert!(texts("name == sched_sw").contains(&"\"sched_switch\"".to_owned()));
    assert!(texts("ti").contains(&"tid".to_owned()));
    // A hidden field is offered by its long name.
    assert!(texts("sched_wakeup && tid").contains(&"event.fields.*.tid".to_owned()));
}

/// The CPU of an event may be in the context of its type as well as in that of all types.
#[test]
fn cpu_is_a_context_of_events_in_tracefiles_of_several_cpus() {
    for context in ["stream { event.context := struct { u8 cpu_id; };", "stream {"] {
        let own = if context == "stream {" { "context := struct { u8 cpu_id; };" } else { "" };
        let metadata = format!(
            "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }};
            typealias integer {{ size = 8; align = 8; }} := u8;
            {context} event.header := struct {{ u8 id; }}; }};
            event {{ name = \"one\"; id = 1; {own} fields := struct {{ u8 x; }}; }};"
        );
        let data = vec![1, 3, 0, 1, 4, 0, 1, 3, 0];
        let trace = Trace::from_memory(metadata.as_bytes(), [("stream".to_owned(), data)]);
        let traces = [trace.expect("a sound trace")];
        assert_eq!([3, 4, 0].map(|cpu| passed(&format!("cpu == {cpu}"), &traces)), [2, 1, 0]);
    }
}
