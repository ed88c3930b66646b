//! The tables of `lttv wait`.

use ltt_read::{Timestamp, TraceIndex};
use lttv_common::activity::Doing;
use lttv_common::table::{Cell, Kind, SelectError, Table};
use lttv_state::kernel::TraceState;

use super::WaitArgs;
use crate::commands::select::Select;
use crate::waits::{Cause, Details, Labels, Lives, Step, Sums, ThreadLife, Times, longest_first};

/// The tables, to which the threads of traces are added.
pub(super) struct Tables<'a> {
    args: &'a WaitArgs,
    select: &'a Select<'a>,
    has_traces: bool,
    threads: Table,
    causes: Table,
    activities: Table,
    waits: Table,
    shares: Table,
    chain: Table,
}

/// The identity of a thread: the first cells of a row.
#[derive(Clone)]
struct Thread(Vec<Cell>);

impl<'a> Tables<'a> {
    /// Creates the tables. `has_traces` adds columns for the numbers of traces.
    pub(super) fn new(args: &'a WaitArgs, select: &'a Select<'a>, has_traces: bool) -> Self {
        let table = |key, title: &str| {
            let table = Table::new(key, title);
            let table = match has_traces {
                true => table.column("trace", "TRACE", Kind::Integer),
                false => table,
            };
            table.column("tid", "TID", Kind::Integer)
        };
        let command = |table: Table| table.column("command", "COMMAND", Kind::Text);
        let times = |table: Table| {
            table
                .column("count", "COUNT", Kind::Integer)
                .column("total_ns", "TOTAL us", Kind::Duration)
                .column("longest_ns", "LONGEST us", Kind::Duration)
                .column("longest_begin_ns", "LONGEST FROM", Kind::Time)
        };
        let threads = table("threads", "Threads").column("pid", "PID", Kind::Integer);
        let threads = command(threads)
            .column("running_ns", "RUNNING us", Kind::Duration)
            .column("interrupted_ns", "INTERRUPTED us", Kind::Duration)
            .column("ready_ns", "READY us", Kind::Duration)
            .column("blocked_ns", "BLOCKED us", Kind::Duration)
            .column("waits", "WAITS", Kind::Integer)
            .column("longest_ns", "LONGEST us", Kind::Duration)
            .column("longest_begin_ns", "LONGEST FROM", Kind::Time)
            .column("longest_call", "IN", Kind::Text)
            .column("longest_cause", "CAUSE", Kind::Text)
            .column("longest_waker", "WOKEN UP BY", Kind::Text);
        let causes = command(table("causes", "Causes of waits"));
        let causes = CAUSES
            .into_iter()
            .fold(causes, |table, (key, title)| table.column(key, title, Kind::Duration));
        let activities = command(table("activities", "Activities"));
        let activities = times(activities.column("activity", "ACTIVITY", Kind::Text)).column(
            "percent",
            "%",
            Kind::Decimal,
        );
        let waits = command(table("waits", "Waits"))
            .column("call", "IN", Kind::Text)
            .column("cause", "CAUSE", Kind::Text)
            .column("waker", "WOKEN UP BY", Kind::Text);
        let other = |table: Table| {
            table.column("thread", "THREAD", Kind::Text).column("activity", "ACTIVITY", Kind::Text)
        };
        let shares = other(table("chain_threads", "Threads on the chain of wake-ups"));
        let chain = table("chain", "Chain of wake-ups")
            .column("begin_ns", "FROM", Kind::Time)
            .column("end_ns", "TO", Kind::Time)
            .column("duration_ns", "us", Kind::Duration)
            .column("depth", "DEPTH", Kind::Integer);
        let chain = other(chain).column("waker", "WOKEN UP BY", Kind::Text);
        Tables {
            args,
            select,
            has_traces,
            threads,
            causes,
            activities,
            waits: times(waits),
            shares: times(shares),
            chain,
        }
    }

    /// Adds the selected threads of a trace. `state` contains the names.
    pub(super) fn add(&mut self, trace: TraceIndex, lives: &Lives, state: &TraceState) {
        let labels = Labels { lives, state };
        for (serial, life) in lives.all() {
            let (tid, pid, command) = (life.tid(), life.pid(), labels.command(life));
            let sums = Sums::of(life);
            // The idle thread of a CPU runs when nothing else does.
            let is_left_out = life.is_idle() && self.select.is_everything();
            if sums.is_empty() || is_left_out || !self.select.has(tid, pid, command) {
                continue;
            }
            let trace = self.has_traces.then_some(Cell::Integer(trace.0 as i128));
            let ids = Thread(trace.into_iter().chain([tid.into()]).collect());
            self.add_sums(&ids, life, &sums, &labels);
            let details = || Details::new(lives, serial);
            match self.select.is_everything() {
                false => self.add_details(&ids, &details(), &labels, command),
                true if self.is_asked(&self.waits) => {
                    self.add_waits(&ids, &details(), &labels, command);
                }
                true => {}
            }
        }
    }

    /// Returns `true` if the command line names a table.
    fn is_asked(&self, table: &Table) -> bool {
        self.args.common.format.tables.iter().any(|name| name == table.key())
    }

    fn add_sums(&mut self, ids: &Thread, life: &ThreadLife, sums: &Sums, labels: &Labels<'_>) {
        let command = labels.command(life);
        let longest = sums.longest;
        let call = longest.and_then(|longest| match longest.doing {
            Doing::Blocked(call) => labels.name(call),
            _ => None,
        });
        self.threads.push(ids.row([
            life.pid().into(),
            command.into(),
            Cell::Duration(sums.running),
            Cell::Duration(sums.interrupted),
            Cell::Duration(sums.ready),
            Cell::Duration(sums.blocked),
            sums.waits().into(),
            longest.map_or(Cell::Empty, |longest| Cell::Duration(longest.time())),
            longest.map(|longest| Timestamp::from_ns(longest.begin)).into(),
            call.into(),
            longest.and_then(|longest| longest.cause()).map(Cause::label).into(),
            longest.and_then(|longest| labels.waker_of(&longest)).into(),
        ]));
        if sums.blocked > 0 {
            let [thread, disk, timer, network, interrupt, unknown, open] =
                sums.causes.map(|times| Cell::Duration(times.total));
            let causes = [thread, disk, timer, network, interrupt, unknown, open];
            let row = [command.into(), Cell::Duration(sums.blocked)].into_iter().chain(causes);
            self.causes.push(ids.row(row));
        }
    }

    fn add_details(&mut self, ids: &Thread, of: &Details, labels: &Labels<'_>, command: &str) {
        let all: u64 = of.doings.values().map(|times| times.total).sum();
        for (doing, of) in longest_first(of.doings.clone()) {
            let cells = [command.into(), labels.doing(doing).into()];
            let percent = [Cell::percent(of.total, all)];
            self.activities.push(ids.row(cells.into_iter().chain(times(of)).chain(percent)));
        }
        self.add_waits(ids, of, labels, command);
        for ((thread, doing), of) in of.shares() {
            let cells = [labels.thread(thread).into(), labels.doing(doing).into()];
            self.shares.push(ids.row(cells.into_iter().chain(times(of))));
        }
        let limit = match self.args.limit {
            0 => usize::MAX,
            limit => limit,
        };
        for step in of.chain.iter().take(limit) {
            self.chain.push(ids.row(chain_cells(step, labels)));
        }
        if of.chain.len() > limit {
            let title = format!(
                "Chain of wake-ups, the first {limit} of {} steps: see --limit",
                of.chain.len()
            );
            self.chain.set_title(title);
        }
    }

    fn add_waits(&mut self, ids: &Thread, of: &Details, labels: &Labels<'_>, command: &str) {
        for (key, of) in longest_first(of.waits.clone()) {
            let cells = [
                command.into(),
                labels.name(key.call).into(),
                key.cause.label().into(),
                key.waker.map(|waker| labels.waker(waker)).into(),
            ];
            self.waits.push(ids.row(cells.into_iter().chain(times(of))));
        }
    }

    /// Returns `true` if no thread was added.
    pub(super) fn is_empty(&self) -> bool {
        self.threads.rows().is_empty()
    }

    /// Returns the tables to write.
    pub(super) fn finish(mut self) -> Result<Vec<Table>, SelectError> {
        self.threads.sort_by(&self.args.sort)?;
        self.causes.sort_by("blocked_ns")?;
        let mut tables = vec![self.threads, self.causes];
        match self.select.is_everything() {
            false => tables.extend([self.activities, self.waits, self.shares, self.chain]),
            // The waits of all threads are too many, unless they are requested.
            true if self.args.common.format.tables.iter().any(|name| name == "waits") => {
                tables.push(self.waits);
            }
            true => {}
        }
        Ok(tables)
    }
}

impl Thread {
    fn row(&self, cells: impl IntoIterator<Item = Cell>) -> Vec<Cell> {
        self.0.iter().cloned().chain(cells).collect()
    }
}

/// The columns of times by cause: their sum, and those of [`Cause::ALL`].
const CAUSES: [(&str, &str); 8] = [
    ("blocked_ns", "BLOCKED us"),
    ("thread_ns", "THREAD us"),
    ("disk_ns", "DISK us"),
    ("timer_ns", "TIMER us"),
    ("network_ns", "NETWORK us"),
    ("interrupt_ns", "INTERRUPT us"),
    ("unknown_ns", "UNKNOWN us"),
    ("open_ns", "OPEN us"),
];

fn times(of: Times) -> [Cell; 4] {
    let begin = Timestamp::from_ns(of.longest_begin);
    [of.count.into(), Cell::Duration(of.total), Cell::Duration(of.longest), begin.into()]
}

fn chain_cells(step: &Step, labels: &Labels<'_>) -> [Cell; 7] {
    let episode = step.episode;
    [
        Timestamp::from_ns(episode.begin).into(),
        Timestamp::from_ns(episode.end).into(),
        Cell::Duration(episode.time()),
        step.depth.into(),
        labels.thread(step.thread).into(),
        labels.doing(episode.doing).into(),
        labels.waker_of(&episode).into(),
    ]
}
