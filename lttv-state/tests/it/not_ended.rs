//! Durations that have not ended at the end of a window, and figures with a selection of everything.

use crate::spans::spans;
use crate::support;
use ltt_read::{TimeSpan, Timestamp};
use lttv_context::Traceset;
use lttv_filter::{Environment, Expression};
use lttv_state::analysis::read;
use lttv_state::latency::{GroupBy, LatencyAnalysis, Settings, TraceLatency};
use lttv_state::spans::{Completeness, Family, SpanFilter};

fn line(time: u64, cpu: u32, name: &str, fields: &str) -> String {
    format!("[0.{time:09}] h {name}: {{ cpu_id = {cpu} }}, {{ {fields} }}")
}

fn switch(time: u64, cpu: u32, (prev, state): (i32, i32), next: i32) -> String {
    let fields = format!(
        "prev_comm = \"t{prev}\", prev_tid = {prev}, prev_prio = 20, prev_state = {state}, \
         next_comm = \"t{next}\", next_tid = {next}, next_prio = 20"
    );
    line(time, cpu, "sched_switch", &fields)
}

fn traceset(lines: &[String]) -> Traceset {
    Traceset::from(vec![support::event_text::trace_of(lines.iter().map(String::as_str))])
}

/// Returns the latencies of a traceset in a window, without a selection or with one.
fn latency(
    traceset: &Traceset,
    window: Option<TimeSpan>,
    selection: Option<&str>,
) -> Vec<TraceLatency> {
    let settings = Settings::new().families(Family::ALL).top(20);
    let settings = match selection {
        Some(text) => {
            let expression = Expression::parse(text).expect("an expression");
            let filter = SpanFilter::new(&expression, traceset, &Environment::new());
            settings.select(filter.expect("a filter"), traceset)
        }
        None => settings,
    };
    let read = read(traceset).threads(2);
    let read = match window {
        Some(window) => read.window(window.start..=window.end),
        None => read,
    };
    read.run(LatencyAnalysis::new(settings)).output.traces().to_vec()
}

/// Returns what is open at the end of a trace: family, thread and label.
fn open(of: &TraceLatency) -> Vec<(Family, Option<i32>, String)> {
    let row = |open: &lttv_state::latency::Open| {
        let thread = of.thread(open.thread).map(|thread| thread.tid);
        (open.family, thread, of.subject_of_open(open))
    };
    of.open().iter().map(row).collect()
}

#[test]
fn threads_that_exit_leave_no_call_open() {
    let exits = [
        // 100 exits, 101 is killed while it waits for a futex, 102 is switched out dead.
        switch(10, 0, (0, 0), 100),
        switch(11, 1, (0, 0), 101),
        switch(12, 2, (0, 0), 102),
        line(15, 0, "syscall_entry_read", "fd = 3"),
        line(20, 1, "syscall_entry_futex", "uaddr = 64, op = 128"),
        line(21, 2, "syscall_entry_exit", "error_code = 0"),
        line(22, 0, "syscall_exit_read", "ret = 0"),
        line(30, 0, "syscall_entry_exit_group", "error_code = 0"),
        switch(35, 2, (102, 32), 0),
        line(40, 1, "sched_process_exit", "comm = \"t101\", tid = 101"),
        line(41, 0, "sched_process_exit", "comm = \"t100\", tid = 100"),
    ];
    let found = &latency(&traceset(&exits), None, None)[0];
    let runs = [(Family::Run, Some(100), String::new()), (Family::Run, Some(101), String::new())];
    assert_eq!(open(found), runs);
    // The wait of the killed thread counts up to its exit.
    let futex = found.futexes().next().expect("a futex");
    assert_eq!((futex.most, futex.waiters_time), (1, 20));
    // Before its exit, it is open, as a call and as a wait.
    let found = &latency(&traceset(&exits[..6]), None, None)[0];
    let expected = [
        (Family::Syscall, Some(100), "read".to_owned()),
        (Family::FileRead, Some(100), String::new()),
        (Family::Syscall, Some(101), "futex".to_owned()),
        (Family::Futex, Some(101), "? 0x40".to_owned()),
        (Family::Syscall, Some(102), "exit".to_owned()),
    ];
    let calls = open(found).into_iter().filter(|of| of.0 != Family::Run);
    assert_eq!(calls.collect::<Vec<_>>(), expected);
    // As spans, calls that do not return end without an end event when the thread does.
    let all = spans(&traceset(&exits), 1, None);
    let calls = all.iter().filter(|of| of.span.completeness == Completeness::NoEnd);
    let calls = calls.filter(|of| [Family::Syscall, Family::Futex].contains(&of.span.family));
    let calls: Vec<_> = calls.map(|of| (of.span.family, &*of.label, of.span.end.as_ns())).collect();
    let expected = [
        (Family::Syscall, "exit", 35),
        (Family::Syscall, "futex", 40),
        (Family::Futex, "? 0x40", 40),
        (Family::Syscall, "exit_group", 41),
    ];
    assert_eq!(calls, expected);
}

#[test]
fn what_has_not_ended_is_what_spans_show_as_unfinished() {
    let mut compared = 0;
    for (name, traceset) in support::kernel_traces() {
        for window in windows(&traceset) {
            let end = |of: &TraceLatency| of.span().end;
            let latencies = latency(&traceset, window, None);
            let all = spans(&traceset, 2, window);
            for (at, of) in latencies.iter().enumerate() {
                let unfinished = all.iter().filter(|of| {
                    let is_open = of.span.completeness == Completeness::NoEnd;
                    is_open && of.span.trace.0 == at
                });
                let is_at_end = |span: &&crate::spans::Named| span.span.end == end(of);
                let row = |of: &crate::spans::Named| (of.span.begin, of.span.family);
                let mut expected: Vec<_> = unfinished.filter(is_at_end).map(row).collect();
                expected.sort_unstable();
                let found: Vec<_> = of.open().iter().map(|of| (of.begin, of.family)).collect();
                // Calls that ended with their threads, or whose exits were lost, may end last.
                let missing = found.iter().filter(|of| !expected.contains(of)).count();
                assert_eq!(missing, 0, "{name} {window:?}");
                assert!(expected.len() - found.len() <= 1, "{name} {window:?}");
                compared += found.len();
            }
        }
    }
    support::report(&format!("{compared} open spans were compared"));
    assert!(compared > 100);
}

/// Returns windows of a traceset: all, and parts of the time of its events.
fn windows(traceset: &Traceset) -> Vec<Option<TimeSpan>> {
    let ends: Vec<Timestamp> = spans(traceset, 2, None).iter().map(|of| of.span.end).collect();
    let (Some(first), Some(last)) = (ends.iter().min(), ends.iter().max()) else {
        return vec![None];
    };
    let at = |part: u64| first.saturating_add(last.since(*first) / 7 * part);
    let part = |from, to| Some(TimeSpan { start: at(from), end: at(to) });
    vec![None, part(0, 3), part(2, 3), part(5, 7)]
}

#[test]
fn a_selection_of_everything_changes_nothing() {
    let mut compared = 0;
    for (name, traceset) in support::kernel_traces() {
        for window in windows(&traceset) {
            let all = latency(&traceset, window, None);
            let selected = latency(&traceset, window, Some("duration >= 0 || begin >= 0"));
            for (all, selected) in all.iter().zip(&selected) {
                for family in Family::ALL {
                    for by in [GroupBy::Subject, GroupBy::Thread, GroupBy::ThreadAndSubject] {
                        let rows = all.rows(family, by);
                        assert_eq!(selected.rows(family, by), rows, "{name} {window:?} {family}");
                        compared += rows.len();
                    }
                    assert_eq!(selected.top(family), all.top(family), "{name} {window:?}");
                    assert_eq!(selected.wakes(family), all.wakes(family), "{name} {window:?}");
                }
                assert_eq!(selected.open(), all.open(), "{name} {window:?}");
                assert_eq!(open(selected), open(all), "{name} {window:?}");
            }
        }
    }
    support::report(&format!("{compared} rows were compared"));
    assert!(compared > 1_000);
}

/// A request is completed in two parts, the first of them before the end of a window.
#[test]
fn sectors_of_requests_count_where_their_durations_do() {
    let fields = |sector, sectors| {
        format!("dev = 8388608, sector = {sector}, nr_sector = {sectors}, rwbs = 1")
    };
    let lines = [
        line(10, 0, "block_rq_issue", &fields(0, 16)),
        line(20, 0, "block_rq_complete", &fields(0, 8)),
        line(25, 0, "block_rq_issue", &fields(100, 8)),
        line(30, 0, "block_rq_complete", &fields(8, 8)),
        line(40, 0, "block_rq_complete", &fields(100, 8)),
    ];
    let traceset = traceset(&lines);
    let at = Timestamp::from_ns;
    for (start, end, requests, sectors) in [(0, 40, 2, 24), (0, 27, 0, 0), (28, 40, 2, 24)] {
        for selection in [None, Some("duration >= 0")] {
            let window = Some(TimeSpan { start: at(start), end: at(end) });
            let of = &latency(&traceset, window, selection)[0];
            let total = of.total(Family::DiskDevice);
            let found = (total.durations().count(), total.sectors());
            assert_eq!(found, (requests, sectors), "{start}..{end} {selection:?}");
        }
    }
}

#[test]
fn the_file_that_a_copy_writes_to_is_that_of_its_second_descriptor() {
    let file = |fd, name: &str| {
        let fields = format!("pid = 100, fd = {fd}, filename = \"{name}\"");
        line(1, 0, "lttng_statedump_file_descriptor", &fields)
    };
    let lines = [
        file(7, "/data/in"),
        file(8, "/data/out"),
        switch(10, 0, (0, 0), 100),
        line(11, 0, "syscall_entry_sendfile64", "out_fd = 8, in_fd = 7, count = 100"),
        line(15, 0, "syscall_exit_sendfile64", "ret = 60"),
    ];
    let of = &latency(&traceset(&lines), None, None)[0];
    for (family, file) in [(Family::FileRead, "/data/in"), (Family::FileWrite, "/data/out")] {
        let rows = of.rows(family, GroupBy::Subject);
        let row = rows.first().expect("a row");
        let subject = of.subject(row.subject.expect("by subject"));
        assert_eq!((&*subject, row.figures.durations().count(), rows.len()), (file, 1, 1));
    }
}
