//! Plans: what a read evaluates, and what is left to the engine; damage.

#[path = "../../arrow/tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use common::generated::{Shape, traceset};
use datafusion::physical_plan::displayable;
use ltt_read::Merge;
use lttv_common::definitions::DefineArgs;
use lttv_context::Traceset;
use lttv_sql::{SessionOptions, TraceSession};
use lttv_state::analysis::read;
use lttv_state::spans::{Span, SpanAnalysis, SpanNames, SpanSettings, SpanVisitor};
use tokio::runtime::Runtime;

fn session(traceset: Traceset, unordered: bool) -> TraceSession {
    let threads = std::num::NonZeroUsize::new(3);
    let options = SessionOptions { threads, unordered, ..SessionOptions::default() };
    TraceSession::new(traceset, options).expect("a session")
}

fn kernel() -> TraceSession {
    session(Traceset::open(common::bundled("kernel")).expect("a trace"), false)
}

fn plan(session: &TraceSession, query: &str) -> String {
    let runtime = Runtime::new().expect("a runtime");
    let plan = runtime.block_on(async { session.sql(query).await?.create_physical_plan().await });
    displayable(plan.expect("a plan").as_ref()).indent(false).to_string()
}

fn count(session: &TraceSession, query: &str) -> i64 {
    let runtime = Runtime::new().expect("a runtime");
    let batches = runtime.block_on(async { session.sql(query).await?.collect().await });
    let batches = batches.unwrap_or_else(|error| panic!("{query}: {error}"));
    batches[0].column(0).as_primitive::<Int64Type>().value(0)
}

#[test]
fn conditions_are_evaluated_by_the_read() {
    let session = kernel();
    for condition in [
        "cpu = 1",
        "cpu in (1, 2)",
        "next_tid = 0 and prev_tid > 100",
        "next_comm = 'lttng'",
        "next_comm <> 'lttng' or next_tid between 5 and 900",
        "ts > 5",
        "timestamp >= '2020-01-01' and timestamp < '2030-01-01'",
        "stream = 'c_0'",
    ] {
        let query = format!("select next_tid from sched_switch where {condition}");
        let plan = plan(&session, &query);
        assert!(!plan.contains("FilterExec"), "{condition}\n{plan}");
        // The engine evaluates the same condition if it is no plain comparison.
        let all = count(&session, "select count(*) from sched_switch");
        let pushed =
            count(&session, &format!("select count(*) from sched_switch where {condition}"));
        let kept = format!("select count(*) from sched_switch where ({condition}) is true");
        assert_eq!(pushed, count(&session, &kept), "{condition}");
        assert!((0..=all).contains(&pushed));
    }
    let names = "select ts from events where name in ('sched_switch', 'irq_handler_entry')";
    assert!(!plan(&session, names).contains("FilterExec"));
}

#[test]
fn negations_and_unknown_conditions_are_left_to_the_engine() {
    let session = kernel();
    for condition in ["next_comm like 'l%'", "next_tid % 2 = 0", "not (next_tid = 0 or cpu = 1)"] {
        let query = format!("select next_tid from sched_switch where {condition}");
        let plain = plan(&session, &query);
        let is_simplified = condition.starts_with("not");
        assert!(plain.contains("FilterExec") || is_simplified, "{condition}\n{plain}");
    }
}

#[test]
fn time_order_needs_no_sort() {
    let session = kernel();
    for query in [
        "select ts, next_tid from sched_switch order by ts",
        "select timestamp, name from events order by timestamp limit 3",
        "select ts from events where cpu = 0 order by ts",
    ] {
        let plan = plan(&session, query);
        assert!(!plan.contains("SortExec"), "{query}\n{plan}");
    }
    let limit = plan(&session, "select name from events limit 3");
    assert!(limit.contains("limit=3"), "{limit}");
    // Where a clock goes back, the order is made.
    let shape = Shape { goes_back: true, is_damaged: false, events: 400 };
    let back = session_of_back(shape);
    let plan_of_back = plan(&back, "select ts from events order by ts");
    assert!(plan_of_back.contains("SortExec"), "{plan_of_back}");
    let runtime = Runtime::new().expect("a runtime");
    let query = "select ts from events order by ts";
    let batches = runtime.block_on(async { back.sql(query).await?.collect().await }).expect("rows");
    let times = batches.iter().flat_map(|batch| {
        batch.column(0).as_primitive::<Int64Type>().values().iter().copied().collect::<Vec<_>>()
    });
    let times: Vec<i64> = times.collect();
    assert!(times.len() == 400 && times.is_sorted());
    let unordered = session_of_unordered();
    assert!(plan(&unordered, query).contains("SortExec"));
}

#[test]
fn simple_tables_are_read_in_bulk() {
    let session = kernel();
    for (query, is_bulk) in [
        ("select name, count(*) from events group by name", true),
        ("select count(*) from events", true),
        ("select ts, tid from sched_wakeup order by ts", true),
        ("select next_comm, count(*) from sched_switch where ts > 5 group by next_comm", true),
        ("select next_comm from sched_switch where next_tid = 0", false),
        ("select fields from events", false),
    ] {
        let plan = plan(&session, query);
        assert_eq!(plan.contains("in bulk"), is_bulk, "{query}\n{plan}");
    }
    let back = session_of_back(Shape { goes_back: true, is_damaged: false, events: 400 });
    assert!(!plan(&back, "select name from events").contains("in bulk"));
}

fn session_of_back(shape: Shape) -> TraceSession {
    session(traceset(1, shape), false)
}

fn session_of_unordered() -> TraceSession {
    session(Traceset::open(common::bundled("kernel")).expect("a trace"), true)
}

#[test]
fn damage_is_never_lost() {
    let mut damaged = 0;
    let mut traces: Vec<Traceset> = (0..6)
        .map(|seed| traceset(seed, Shape { goes_back: false, is_damaged: true, events: 400 }))
        .collect();
    traces.extend(common::all_traces().iter().take(60).filter_map(|path| common::open(path)));
    for traceset in traces {
        let mut events = Merge::new(traceset.traces());
        while events.next().is_some() {}
        let errors = events.errors().len() as u64 + events.errors_omitted();
        let notices = events.take_notices().len() as u64 + events.notices_omitted();
        let session = session(traceset, false);
        let found = count(&session, "select count(*) from errors") as u64;
        assert_eq!(found > 0, errors > 0, "{errors} errors");
        assert!(
            errors <= 1 || events.errors_omitted() > 0 || found == errors,
            "{found} of {errors}"
        );
        let found = count(&session, "select count(*) from notices") as u64;
        assert_eq!(found > 0, notices > 0, "{notices} notices");
        assert_eq!(session.damage().errors.is_empty(), errors == 0);
        // A query of events reports the damage that it met.
        count(&session, "select count(*) from events");
        assert_eq!(session.damage().errors.is_empty(), errors == 0);
        damaged += usize::from(errors > 0);
    }
    assert!(damaged >= 6, "{damaged}");
}

#[test]
fn states_and_statistics() {
    let session = kernel();
    assert!(count(&session, "select count(*) from states where attribute = 'CPUs/0'") > 10);
    let cover = "select count(*) from (select end_ts, lead(start_ts) over (order by start_ts) as next \
                 from states where attribute = 'CPUs/0') as i where next is not null and next <> end_ts";
    assert_eq!(count(&session, cover), 0, "intervals of one attribute follow each other");
    assert_eq!(count(&session, "select cast(sum(events) as bigint) from statistics"), 6087);
}

/// The number and the sum of durations of all spans, by family.
#[derive(Default)]
struct Sums(BTreeMap<&'static str, (i64, i64)>);

impl SpanVisitor for Sums {
    fn span(&mut self, span: &Span, _: &SpanNames<'_>) {
        let of = self.0.entry(span.family.key()).or_default();
        *of = (of.0 + 1, of.1 + span.duration().unwrap_or(0) as i64);
    }
}

#[test]
fn spans_are_those_of_the_library() {
    let session = kernel();
    let traceset = Traceset::open(common::bundled("kernel")).expect("a trace");
    let settings = SpanSettings::new().families(SpanSettings::FAMILIES);
    let sums = read(&traceset).run(SpanAnalysis::new(settings, Sums::default()));
    let sums = sums.output.visitor.0;
    assert!(sums.len() > 5, "{sums:?}");
    for (family, (spans, time)) in sums {
        let of = |what: &str| {
            count(&session, &format!("select {what} from spans where family = '{family}'"))
        };
        assert_eq!(of("count(*)"), spans, "{family}");
        assert_eq!(of("cast(coalesce(sum(duration), 0) as bigint)"), time, "{family}");
        assert_eq!(of("count(*) filter (where end_ts < start_ts)"), 0, "{family}");
    }
    let missing =
        "select count(distinct file) from spans where name like 'open%' and error = 'ENOENT'";
    assert!(count(&session, missing) > 5);
    let arguments =
        "select count(*) from spans where family = 'syscall' and arguments like '%filename: %'";
    assert!(count(&session, arguments) > 50);
    let disordered = "select count(*) from (select start_ts, lag(start_ts) over () as before from spans) \
                      where start_ts < before";
    assert_eq!(count(&session, disordered), 0);
    // A limit ends the read.
    assert_eq!(count(&session, "select count(*) from (select * from spans limit 3)"), 3);
}

#[test]
fn periods_of_definitions_are_spans_with_values() {
    let define = common::bundled("../definitions/writes.toml").display().to_string();
    let definitions = DefineArgs { define: vec![define] }.read().expect("definitions");
    let traceset = Traceset::open(common::bundled("kernel")).expect("a trace");
    let options = SessionOptions { definitions, ..SessionOptions::default() };
    let session = TraceSession::new(traceset, options).expect("a session");
    let writes = count(&session, "select count(*) from syscall_exit_write");
    let spans = "select count(*) from spans where family = 'period' and name like 'write %' \
                 and completeness = 'whole'";
    let found = count(&session, spans);
    assert!(found > 20 && found <= writes, "{found} of {writes}");
    let with_values = format!("{spans} and \"values\" like '{{%\"written\":%}}'");
    assert_eq!(count(&session, &with_values), found);
    let without = "select count(*) from spans where family <> 'period' and \"values\" is not null";
    assert_eq!(count(&session, without), 0);
}
