//! Snapshots of all errors and notes. `INSTA_UPDATE=always cargo test -p lttv-filter
//! --test errors` updates them.
use std::fmt::Write;

use lttv_filter::{Expression, FilterError, FilterErrorKind, Filters};

/// Expressions with faults that are found without a trace.
const TEXTS: [&str; 46] = [
    "",
    " \t ",
    "event.name ==",
    "== 5",
    "a == == 5",
    "a = 5 b = 6",
    "a == 5 &&",
    "&& a == 5",
    "a == 5 && || b == 6",
    "(a == 5",
    "a == 5)",
    "((a == 5) && (b == 6",
    "()",
    "a == 5 && () && b == ",
    "a == my text",
    "a == 'my text",
    r#"a == "\q""#,
    r#"a == "\x9""#,
    r#"a == "\u{110000}""#,
    "a <> 5",
    "a => 5",
    "a =< 5 && b === 6",
    "a == 0x",
    "a == 0b12",
    "a == 1.",
    "a == 12parsecs",
    "a == 0xffffffffffffffffffffffffffffffffff",
    "a == 0.1nanos",
    "a == 1e9999999999",
    "event.time > 25:00",
    "event.time > 3:2",
    "event.time > 2026-02-30",
    "event.time > 2026-11-21T03:02+1",
    "1 < a < 5",
    "5",
    "'text' =~ a",
    "5 == 6",
    "a == event.name",
    "a == `b`",
    "event.name == sched_*",
    "a in 5",
    "a in ()",
    "a in (1 2)",
    "a[b] == 5",
    "a. == 5 && exists 5 && in == 3 && {x}",
    "a ~ 5 # comment",
];

/// Expressions with faults that are found when they are compiled for a trace.
const MEANINGS: [&str; 37] = [
    "next_tdi == 5",
    "event.nmae == sched_switch",
    "event.fields.sched_swich.next_tid == 5",
    "event.fields.sched_switch.next_tdi == 5",
    "event.fields.*.next_tdi == 5",
    "event.fields.next_tid == 5",
    "event.fields == 5",
    "event.context.vpdi == 5",
    "packet.context.cpu == 5",
    "packet.kontext.cpu_id == 5",
    "tracefile.cpus == 1",
    "channel.cpu == 1",
    "trace.env.hostnam == x",
    "trace.colour == red",
    "state.pid == 5",
    "event == sched_switch",
    "timestamp > 5",
    "event.name.x == 5",
    "event.name == 5",
    "event.name > \"a\"",
    "event.name =~ \"[a-\"",
    "event.name =~ \"[z-a]\"",
    "event.name =~ 5",
    "next_tid == \"swapper\"",
    "next_tid == \"42\"",
    "next_tid in (swapper, 2026-11-21)",
    "next_tid =~ \"4*\"",
    "next_tid",
    "next_tid == true",
    "next_tid == 03:02",
    "next_tid[2] == 5",
    "next_tid.x == 5",
    "next_comm == 5 || next_tid == x || next_prio in (1, two, 3)",
    "event.fields.irq_softirq_entry.name == RCUU",
    "event.fields.irq_softirq_entry.name < RCU",
    "event.fields.irq_softirq_entry.name =~ \"X*\"",
    "event.time > yesterday && event.time == 1 && event.time == nine",
];

/// Valid expressions that are never or always true.
const NOTED: [&str; 39] = [
    "next_tid == 1.5",
    "next_tid == 3000000000",
    "next_tid < -3000000000",
    "next_tid >= -99999999999999999999",
    "next_tid != 1e999",
    "next_tid in (3000000000, 0.5)",
    "next_tid not in (3000000000, 0.5)",
    "next_tid in (3000000000, 5)",
    "!(next_tid < 3000000000)",
    "next_tid == 3000000000 || next_prio == 1",
    "next_tid == 3000000000 && next_prio == 1",
    "next_prio == 1 && next_prio == 2",
    "next_prio == 3 || next_prio == 1 && next_prio == 2",
    "next_prio < 20 || !(next_prio < 20)",
    "next_prio < 20 ^ next_prio == 3000000000",
    "event.time > 99999999999.5",
    "event.time > -99999999999.5 && event.name == sched_switch",
    "event.time > 2400-01-01",
    "event.name == sched_swich",
    "event.name =~ \"*\"",
    "event.name =~ \"x*y*z\"",
    "event.name == sched_switch && event.name == sched_waking",
    "tracefile.cpu == 99",
    "tracefile.cpu >= 0",
    "tracefile.cpu == 0 && tracefile.name == channel0_1",
    "event.id == 65536",
    "exists(event.name)",
    "true",
    "false",
    "event.name == sched_switch && true",
    "event.name == sched.sched_swich",
    "event.name == kernel.sched_switch",
    "event.name =~ \"kernel.*\"",
    "event.name in (sched_swich)",
    "event.category == shced",
    "event.name == sched_switch && ret < 0",
    "next_prio == 3 || event.name =~ \"sched_*\" && ret < 0 && tracefile.cpu == 1",
    "event.category == sched && (ret < 0 || ret == 5)",
    "event.loglevel == WARNING && next_prio == 3",
];

/// Expressions without notes.
const NOT_NOTED: [&str; 13] = [
    "next_tid == 5",
    "ret != -1",
    "ret < 9223372036854775808",
    "exists(next_tid)",
    "event.name == sched_switch",
    "event.fields.irq_softirq_entry.name == RCU",
    "event.time > 03:56",
    "tracefile.cpu == 1 || next_tid in (3000000000, 5)",
    "next_comm == \"nobody\"",
    "event.name == sched.sched_switch",
    "event.name =~ \"sched.sched_*\"",
    "event.category == sched",
    "event.name in (sched_switch, sched.sched_waking)",
];

fn show(shown: &mut String, text: &str, error: &FilterError) {
    writeln!(shown, "{text}\n{}", error.render(false)).expect("writing to a string");
}

#[test]
fn of_text() {
    let mut shown = String::new();
    for text in TEXTS {
        let error = Expression::parse(text).expect_err(text);
        show(&mut shown, text, &error);
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn of_meaning() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    let traces = ltt_read::open_all(path).expect("the bundled trace");
    let mut shown = String::new();
    for text in MEANINGS {
        let expression = Expression::parse(text).expect(text);
        let error = Filters::new(&expression, &traces).expect_err(text);
        show(&mut shown, text, &error);
    }
    insta::assert_snapshot!(shown);
}

/// Expressions that are never or always true are valid, and are noted, as are such parts
/// of expressions.
#[test]
fn notes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    let traces = ltt_read::open_all(path).expect("the bundled trace");
    let notes_of = |text: &str| {
        let expression = Expression::parse(text).expect(text);
        Filters::new(&expression, &traces).expect(text).notes().clone()
    };
    let mut shown = String::new();
    for text in NOTED {
        writeln!(shown, "{text}\n{}", notes_of(text).render(false)).expect("writing to a string");
    }
    insta::assert_snapshot!(shown);
    for text in NOT_NOTED {
        assert_eq!(notes_of(text).to_string(), "", "{text}");
        assert_eq!(notes_of(text).render(false), "", "{text}");
    }
}

/// A missing expression has another kind of error than an invalid one.
#[test]
fn kinds_of_errors() {
    let kind = |text| Expression::parse(text).map_err(|error| error.kind());
    assert_eq!(kind(""), Err(FilterErrorKind::Empty));
    assert_eq!(kind(" \n\t\u{a0}"), Err(FilterErrorKind::Empty));
    assert_eq!(kind("a =="), Err(FilterErrorKind::Syntax));
    let all = |texts: &[&'static str]| Expression::parse_all(texts.iter().copied());
    assert_eq!(all(&["a == 5", ""]).map_err(|error| error.kind()), Err(FilterErrorKind::Empty));
    assert_eq!(all(&[]).map(|all| all.text().to_owned()).as_deref(), Ok("true"));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    let traces = ltt_read::open_all(path).expect("the bundled trace");
    let error = Filters::new(&Expression::parse("nothing == 5").expect("valid"), &traces);
    assert_eq!(error.map(drop).map_err(|error| error.kind()), Err(FilterErrorKind::Meaning));
}

/// `Display` writes one line per fault.
#[test]
fn display_writes_one_line_per_fault() {
    let error = Expression::parse("a < < 5 && éé <> b").unwrap_err();
    assert_eq!(
        error.to_string(),
        "column 5: expected a value, found `<`: a number, time, label or text\n\
         column 15: unknown operator `<>` (perhaps `!=`)"
    );
    assert_eq!(error.diagnostics().len(), 2);
}

/// Absurd texts are refused, in little time and stack.
#[test]
fn absurd_texts_are_refused() {
    let message =
        |text: &str| Expression::parse(text).unwrap_err().diagnostics()[0].message.clone();
    for opening in ["(", "!", "!(", "((!"] {
        let text = opening.repeat(100_000);
        assert_eq!(message(&text), "nesting exceeds 200 levels");
        let closed = format!("{text}a == 5{}", ")".repeat(text.matches('(').count()));
        assert_eq!(message(&closed), "nesting exceeds 200 levels");
    }
    let deep = |n| format!("{}a == 5{}", "(".repeat(n), ")".repeat(n));
    assert!(Expression::parse(&deep(200)).is_ok());
    assert!(Expression::parse(&deep(201)).is_err());
    let many = vec!["a == 5"; 5000].join(" || ");
    assert_eq!(message(&many), "more than 4096 comparisons");
    let long = "a".repeat(2 << 20);
    assert_eq!(message(&long), "an expression of 2097152 bytes is too long");
    assert_eq!(message(&"] ".repeat(1000)), "expected a comparison, found `]`");
}

/// A set can have any size; the number of reported faults is limited.
#[test]
fn faults_of_a_large_set_are_limited() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    let traces = ltt_read::open_all(path).expect("the bundled trace");
    let set = vec!["x"; 100_000].join(",");
    let expression = Expression::parse(&format!("ret in ({set})")).expect("valid");
    let error = Filters::new(&expression, &traces).expect_err("ret is an integer");
    assert_eq!(error.diagnostics().len(), 20);
}

/// A tree that no text corresponds to is refused, however deep it is.
#[test]
fn invalid_trees_are_refused() {
    use lttv_filter::{Expr, ExprKind, Root, Selector};
    let a = || Selector::field("a").eq(5);
    let message = |tree| Expression::new(tree).unwrap_err().to_string();
    assert!(
        message(Expr::new(ExprKind::And(vec![a()])))
            .contains("the tree cannot be expressed as text")
    );
    assert_eq!(lttv_filter::LiteralKind::decimal(f64::NAN), None);
    let empty = Selector { steps: Vec::new(), ..Selector::new(Root::Event, "x") };
    assert!(message(empty.eq(5)).contains("cannot be expressed"));
    let deep = (0..5000).fold(a(), |tree, _| !tree);
    assert!(message(deep).contains("levels deep"));
}
