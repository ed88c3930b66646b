//! The figures of a family by subject, thread or process; disks, futexes and wake-ups.

use std::cmp::Reverse;

use lttv_common::table::{Declaration, Table, percent};
use lttv_state::latency::{Family, LatencyFigures, Row as FamilyRow, TraceLatency};

use super::keys::{error_text, with_key};
use super::{Choice, Latencies, Row, Summary, name, rows_of, subject, tid, with_durations};

/// Returns the table of the rows of a family.
pub(crate) fn rows(choice: &Choice, family: Family, latencies: &Latencies<'_>) -> Table {
    let rows = rows_of(latencies, |of| {
        let summary = |row: FamilyRow| (Summary::of(row.figures.durations()), row);
        of.rows(family, choice.by).into_iter().map(summary)
    });
    let table =
        choice.table(family.key(), family.title(), &rows).at_most(choice.rows, |row| row.trace);
    let table = with_key(table, choice, subject_title(family), |row| (row.of, Some(&row.it.1)));
    let table = with_durations(table, |row| Some(&row.it.0));
    with_extra(table, family, |row| &row.it.1.figures).build()
}

fn subject_title(family: Family) -> &'static str {
    match family {
        Family::WakeUp | Family::Preemption => "PRIORITY",
        Family::Run | Family::Blocked => "SUBJECT",
        Family::Syscall => "CALL",
        Family::HardIrq | Family::Vector | Family::Softirq | Family::SoftirqRaise => "INTERRUPT",
        Family::DiskQueue | Family::DiskDevice => "REQUESTS",
        Family::FileOpen | Family::FileRead | Family::FileWrite | Family::FileSync => "FILE",
        Family::Futex => "FUTEX",
        Family::Period => "PERIOD",
        Family::Marker => "MARKER",
    }
}

/// Adds the columns that only some families have.
fn with_extra<'r, R>(
    table: Declaration<'r, R>,
    family: Family,
    of: impl Fn(&'r R) -> &'r LatencyFigures,
) -> Declaration<'r, R> {
    let failures = |table: Declaration<'r, R>| {
        table.count("failed", "FAILED", |row| of(row).failures()).minor().text(
            "errors",
            "ERRORS",
            |row| errors(of(row)),
        )
    };
    match family {
        Family::Syscall | Family::FileOpen | Family::FileSync | Family::Futex => failures(table),
        Family::FileRead | Family::FileWrite => {
            failures(table.bytes("bytes", "BYTES", |row| of(row).bytes()))
        }
        Family::HardIrq | Family::Vector | Family::Softirq => table
            .duration("net_total_ns", "NET TOTAL", |row| of(row).net().map(|net| net.total()))
            .minor()
            .duration("net_max_ns", "NET MAX", |row| of(row).net().map(|net| net.greatest().value))
            .count("interrupted", "INTERRUPTED", |row| of(row).nested())
            .minor(),
        Family::DiskDevice => {
            table.bytes("bytes", "BYTES", |row| of(row).sectors().saturating_mul(512))
        }
        _ => table,
    }
}

/// Returns the errors of system calls, the most frequent first, such as `ENOENT 3, EAGAIN 1`.
fn errors(figures: &LatencyFigures) -> Option<String> {
    let mut errors: Vec<_> = figures.errors().collect();
    errors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let name = error_text;
    let texts: Vec<_> =
        errors.iter().map(|(error, count)| format!("{} {count}", name(*error))).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// Returns the mean of a number over the time of a row, of which `area` is the sum over time.
fn mean_number<T>(row: &Row<'_, T>, area: u128) -> Option<f64> {
    let time = time(row);
    (time != 0).then(|| area as f64 / time as f64)
}

/// Returns the length of the window of a row in ns.
fn time<T>(row: &Row<'_, T>) -> u64 {
    row.of.span().end.since(row.of.span().start)
}

/// Returns the table of the use of disks.
pub(crate) fn disks(choice: &Choice, latencies: &Latencies<'_>) -> Table {
    let has_disks = |of: &TraceLatency| of.missing(Family::DiskDevice).is_empty();
    let rows = rows_of(latencies, |of| of.disks().filter(move |_| has_disks(of)));
    choice
        .table("disks", "Use of disks", &rows)
        .text("disk", "DISK", |row| row.it.number.to_string())
        .text("name", "NAME", |row| row.of.name(row.it.name))
        .duration("busy_ns", "BUSY", |row| row.it.busy)
        .percent("busy_percent", "BUSY %", |row| percent(row.it.busy, time(row)))
        .decimal("depth", "DEPTH", |row| mean_number(row, row.it.depth_time))
        .count("depth_max", "MOST", |row| row.it.most)
        .build()
}

/// Returns the table of the use of futexes, those with most waiting time first.
pub(crate) fn futexes(choice: &Choice, latencies: &Latencies<'_>) -> Table {
    let rows = rows_of(latencies, |of| {
        let mut futexes: Vec<_> = of.futexes().collect();
        futexes.sort_by_key(|futex| Reverse(futex.waiters_time));
        futexes
    });
    choice
        .table("futexes", "Use of futexes", &rows)
        .at_most(choice.rows, |row| row.trace)
        .text("futex", "FUTEX", |row| row.of.subject_of_futex(&row.it))
        .decimal("waiters", "WAITERS", |row| mean_number(row, row.it.waiters_time))
        .count("waiters_max", "MOST", |row| row.it.most)
        .count("wakes", "WAKES", |row| row.it.wakes)
        .count("woken", "WOKEN", |row| row.it.woken)
        .build()
}

/// Returns the table of the threads that ended waits of others, those with most time first.
pub(crate) fn wakes(choice: &Choice, latencies: &Latencies<'_>) -> Table {
    let mut families = choice.families(latencies);
    families.retain(|of| [Family::WakeUp, Family::Futex].contains(of));
    let rows = rows_of(latencies, |of| {
        let of_family =
            |&family: &Family| of.wakes(family).into_iter().map(move |wakes| (family, wakes));
        families.iter().flat_map(of_family).collect::<Vec<_>>()
    });
    choice
        .table("wakes", "Who woke threads", &rows)
        .at_most(choice.rows, |row| (row.trace, row.it.0))
        .text("family", "FAMILY", |row| row.it.0.key())
        .integer("waker_tid", "TID", |row| tid(row.of, row.it.1.waker))
        .text("waker", "BY", |row| name(row.of, row.it.1.waker))
        .integer("tid", "TID", |row| tid(row.of, row.it.1.thread))
        .text("thread", "THREAD", |row| name(row.of, row.it.1.thread))
        .text("subject", "FUTEX", |row| subject(row.of, row.it.1.subject))
        .count("count", "COUNT", |row| row.it.1.durations.count())
        .duration("total_ns", "TOTAL", |row| row.it.1.durations.total())
        .duration("max_ns", "MAX", |row| row.it.1.durations.greatest().value)
        .build()
}
