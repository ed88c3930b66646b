//! The figures of a family by subject, thread or process; disks, futexes and wake-ups.

use ltt_read::TraceIndex;
use lttv_state::latency::{By, Family, Figures, Row, TraceLatency};
use nix::errno::Errno;

use super::{Choice, durations, subject, thread, with_durations};
use crate::table::{Cell, Kind, Table};

/// Creates the table of the rows of a family.
pub fn rows(choice: &Choice, family: Family, latencies: &[(TraceIndex, &TraceLatency)]) -> Table {
    let has_subject = matches!(choice.by, By::Subject | By::ThreadAndSubject);
    let mut table = choice.table(family.key(), family.title());
    if has_subject {
        table = table.column("subject", subject_title(family), Kind::Text);
    }
    if matches!(choice.by, By::Thread | By::ThreadAndSubject) {
        table = table.column("tid", "TID", Kind::Integer).column("thread", "THREAD", Kind::Text);
    }
    if choice.by == By::Process {
        table = table.column("pid", "PID", Kind::Integer).column("process", "PROCESS", Kind::Text);
    }
    let mut table = with_durations(table);
    for (key, title, kind) in extra_columns(family) {
        table = table.column(key, *title, *kind);
    }
    for (trace, of) in latencies {
        let rows = of.rows(family, choice.by);
        for row in rows.iter().take(choice.rows.unwrap_or(usize::MAX)) {
            let mut cells = Vec::new();
            if has_subject {
                cells.push(subject(of, row.subject));
            }
            match choice.by {
                By::Thread | By::ThreadAndSubject => {
                    cells.extend(row.thread.into_iter().flat_map(|id| thread(of, id)));
                }
                By::Process => cells.extend(process(of, row)),
                By::Subject => {}
            }
            cells.extend(durations(row.figures.durations()));
            cells.extend(extra(family, &row.figures));
            table.push(choice.cells(*trace, cells));
        }
    }
    table
}

/// Returns the id and the name of the process of a row.
fn process(of: &TraceLatency, row: &Row) -> [Cell; 2] {
    let first = of.threads().iter().find(|thread| Some(thread.tid) == row.process);
    let any = || of.threads().iter().find(|thread| thread.pid == row.process);
    let known = row.process.and_then(|_| first.or_else(any));
    let name = known.map_or(Cell::Empty, |thread| of.name(thread.name).into());
    [row.process.into(), name]
}

fn subject_title(family: Family) -> &'static str {
    match family {
        Family::WakeUp | Family::Preemption => "PRIORITY",
        Family::Syscall => "CALL",
        Family::HardIrq | Family::Vector | Family::Softirq | Family::SoftirqRaise => "INTERRUPT",
        Family::DiskQueue | Family::DiskDevice => "REQUESTS",
        Family::FileOpen | Family::FileRead | Family::FileWrite | Family::FileSync => "FILE",
        Family::Futex => "FUTEX",
        Family::Period => "PERIOD",
    }
}

/// Returns the columns that only some families have.
fn extra_columns(family: Family) -> &'static [(&'static str, &'static str, Kind)] {
    match family {
        Family::Syscall | Family::FileOpen | Family::FileSync | Family::Futex => {
            &[("failed", "FAILED", Kind::Integer), ("errors", "ERRORS", Kind::Text)]
        }
        Family::FileRead | Family::FileWrite => &[
            ("bytes", "BYTES", Kind::Integer),
            ("failed", "FAILED", Kind::Integer),
            ("errors", "ERRORS", Kind::Text),
        ],
        Family::HardIrq | Family::Vector | Family::Softirq => &[
            ("net_total_ns", "NET TOTAL", Kind::Duration),
            ("net_max_ns", "NET MAX", Kind::Duration),
            ("interrupted", "INTERRUPTED", Kind::Integer),
        ],
        Family::DiskDevice => &[("bytes", "BYTES", Kind::Integer)],
        _ => &[],
    }
}

/// Returns the cells of the columns that only some families have.
fn extra(family: Family, figures: &Figures) -> Vec<Cell> {
    let failures = || [figures.failures().into(), errors(figures)];
    match family {
        Family::Syscall | Family::FileOpen | Family::FileSync | Family::Futex => failures().into(),
        Family::FileRead | Family::FileWrite => {
            std::iter::once(figures.bytes().into()).chain(failures()).collect()
        }
        Family::HardIrq | Family::Vector | Family::Softirq => {
            let net = figures.net();
            let total = net.map_or(Cell::Empty, |net| Cell::Duration(net.total()));
            let max = net.map_or(Cell::Empty, |net| Cell::Duration(net.greatest().value));
            vec![total, max, figures.nested().into()]
        }
        Family::DiskDevice => vec![figures.sectors().saturating_mul(512).into()],
        _ => Vec::new(),
    }
}

/// Returns the errors of system calls, the most frequent first, such as `ENOENT 3, EAGAIN 1`.
fn errors(figures: &Figures) -> Cell {
    let mut errors: Vec<_> = figures.errors().collect();
    errors.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let name = |number: u16| match Errno::from_raw(number.into()) {
        Errno::UnknownErrno => number.to_string(),
        known => format!("{known:?}"),
    };
    let texts: Vec<_> =
        errors.iter().map(|(error, count)| format!("{} {count}", name(*error))).collect();
    if texts.is_empty() { Cell::Empty } else { texts.join(", ").into() }
}

/// Returns the mean of a number over a time in ns, of which `area` is the sum over time.
fn mean_number(area: u128, time: u64) -> Cell {
    if time == 0 { Cell::Empty } else { Cell::Number(area as f64 / time as f64) }
}

/// Creates the table of the use of disks.
pub fn disks(choice: &Choice, latencies: &[(TraceIndex, &TraceLatency)]) -> Table {
    let mut table = choice
        .table("disks", "Use of disks")
        .column("disk", "DISK", Kind::Text)
        .column("name", "NAME", Kind::Text)
        .column("busy_ns", "BUSY us", Kind::Duration)
        .column("busy_percent", "BUSY %", Kind::Decimal)
        .column("depth", "DEPTH", Kind::Decimal)
        .column("depth_max", "MOST", Kind::Integer);
    for (trace, of) in latencies.iter().filter(|(_, of)| of.missing(Family::DiskDevice).is_empty())
    {
        let time = of.span().end.since(of.span().start);
        for disk in of.disks() {
            let (number, name) = (disk.number.to_string(), of.name(disk.name));
            let busy = [Cell::Duration(disk.busy), Cell::percent(disk.busy, time)];
            let [busy, percent] = busy;
            let depth = mean_number(disk.depth_time, time);
            let cells = [number.into(), name.into(), busy, percent, depth, disk.most.into()];
            table.push(choice.cells(*trace, cells));
        }
    }
    table
}

/// Creates the table of the use of futexes, those with most waiting time first.
pub fn futexes(choice: &Choice, latencies: &[(TraceIndex, &TraceLatency)]) -> Table {
    let mut table = choice
        .table("futexes", "Use of futexes")
        .column("futex", "FUTEX", Kind::Text)
        .column("waiters", "WAITERS", Kind::Decimal)
        .column("waiters_max", "MOST", Kind::Integer)
        .column("wakes", "WAKES", Kind::Integer)
        .column("woken", "WOKEN", Kind::Integer);
    for (trace, of) in latencies {
        let time = of.span().end.since(of.span().start);
        let mut futexes: Vec<_> = of.futexes().collect();
        futexes.sort_by_key(|futex| std::cmp::Reverse(futex.waiters_time));
        for futex in futexes.iter().take(choice.rows.unwrap_or(usize::MAX)) {
            let waiters = mean_number(futex.waiters_time, time);
            let (most, wakes, woken) = (futex.most, futex.wakes, futex.woken);
            let name = of.subject_of_futex(futex);
            let cells = [name.into(), waiters, most.into(), wakes.into(), woken.into()];
            table.push(choice.cells(*trace, cells));
        }
    }
    table
}

/// Creates the table of the threads that ended waits of others, those with most time first.
pub fn wakes(choice: &Choice, latencies: &[(TraceIndex, &TraceLatency)]) -> Table {
    let mut table = choice
        .table("wakes", "Who woke threads")
        .column("family", "FAMILY", Kind::Text)
        .column("waker_tid", "TID", Kind::Integer)
        .column("waker", "BY", Kind::Text)
        .column("tid", "TID", Kind::Integer)
        .column("thread", "THREAD", Kind::Text)
        .column("subject", "FUTEX", Kind::Text)
        .column("count", "COUNT", Kind::Integer)
        .column("total_ns", "TOTAL us", Kind::Duration)
        .column("max_ns", "MAX", Kind::Duration);
    for (trace, of) in latencies {
        let chosen = choice.families(latencies);
        for family in chosen.into_iter().filter(|of| [Family::WakeUp, Family::Futex].contains(of)) {
            for wakes in of.wakes(family).iter().take(choice.rows.unwrap_or(usize::MAX)) {
                let [waker_tid, waker] = thread(of, wakes.waker);
                let [tid, name] = thread(of, wakes.thread);
                let durations = &wakes.durations;
                let (family, what) = (family.key().into(), subject(of, wakes.subject));
                let total = Cell::Duration(durations.total());
                let most = Cell::Duration(durations.greatest().value);
                let count = durations.count().into();
                let cells = [family, waker_tid, waker, tid, name, what, count, total, most];
                table.push(choice.cells(*trace, cells));
            }
        }
    }
    table
}
