//! Output of dependencies as tables and as attributes.

use std::cmp::Reverse;
use std::time::Duration;

use ltt_read::Timestamp;
use lttv_common::table::{Cell, Kind, Table};
use lttv_common::text_dump::output::Output;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes};
use lttv_state::kernel::{Serial, TraceState};

use super::Query;
use crate::modules::print;
use crate::waits::{Details, Labels, Lives, Sums, Times, WaitKey, longest_first};

/// The results of a trace.
#[derive(Debug)]
pub(super) struct Found<'a> {
    labels: Labels<'a>,
    query: Query,
    /// The processes with their sums, by decreasing time of running.
    processes: Vec<(Serial, Sums)>,
    /// The details of the processes with the requested thread id.
    details: Vec<Details>,
}

impl<'a> Found<'a> {
    pub(super) fn new(lives: &'a Lives, state: &'a TraceState, query: Query) -> Self {
        let asked = query.tid.into_iter().flat_map(|tid| lives.with_tid(tid));
        let details = asked.map(|process| Details::new(lives, process)).collect();
        let sums = lives.all().map(|(serial, life)| (serial, Sums::of(life)));
        let mut processes: Vec<_> = sums.filter(|(_, sums)| !sums.is_empty()).collect();
        processes.sort_by_key(|(serial, sums)| (Reverse(sums.running), *serial));
        Found { labels: Labels { lives, state }, query, processes, details }
    }

    /// Prints the tables of a trace.
    pub(super) fn print(&self, trace: usize, out: &mut Output) {
        if self.query.tid.is_none() {
            print::tables(out, &[self.summary(trace)]);
        } else if self.details.is_empty() {
            let none = format!("Trace {trace} has no process {}\n\n", self.query.tid.unwrap_or(0));
            out.buffer().append(none.as_bytes());
        }
        for of in &self.details {
            let name = self.labels.thread(of.thread);
            let tables = [
                self.doings(of, format!("Activities of {name} in trace {trace}")),
                self.waits(of, format!("Waits of {name}")),
                self.shares(of, format!("Processes on the critical path of {name}")),
                self.path(of, format!("Critical path of {name}")),
            ];
            print::tables(out, &tables);
            if let Some(more @ 1..) = of.chain.len().checked_sub(self.query.limit) {
                let more = format!("  … {more} more: see --dep-limit\n\n");
                out.buffer().append(more.as_bytes());
            }
        }
    }

    fn summary(&self, trace: usize) -> Table {
        let mut table = Table::new("processes", format!("Processes of trace {trace}"))
            .column("process", "PROCESS", Kind::Text)
            .column("running_ns", "RUNNING us", Kind::Duration)
            .column("interrupted_ns", "INTERRUPTED us", Kind::Duration)
            .column("ready_ns", "READY us", Kind::Duration)
            .column("blocked_ns", "BLOCKED us", Kind::Duration);
        for (process, sums) in &self.processes {
            let times = [sums.running, sums.interrupted, sums.ready, sums.blocked];
            let [running, interrupted, ready, blocked] = times.map(Cell::Duration);
            let process = self.labels.thread(*process).into();
            table.row([process, running, interrupted, ready, blocked]);
        }
        table
    }

    fn doings(&self, of: &Details, title: String) -> Table {
        let table = Table::new("activities", title).column("what", "WHAT", Kind::Text);
        let mut table = with_times(table).column("percent", "%", Kind::Decimal);
        let all: u64 = of.doings.values().map(|times| times.total).sum();
        for (doing, times) in longest_first(of.doings.clone()) {
            let percent = times.total as f64 * 100.0 / all.max(1) as f64;
            let [count, total, longest] = cells(times);
            let doing = self.labels.doing(doing).into();
            table.row([doing, count, total, longest, Cell::Number(percent)]);
        }
        table
    }

    fn waits(&self, of: &Details, title: String) -> Table {
        let table = Table::new("waits", title).column("where", "WHERE", Kind::Text).column(
            "waker",
            "WOKEN UP BY",
            Kind::Text,
        );
        let mut table = with_times(table);
        for (key, times) in longest_first(of.waits.clone()) {
            let [count, total, longest] = cells(times);
            let place = self.labels.state.name(key.call).into();
            table.row([place, self.waker(&key).into(), count, total, longest]);
        }
        table
    }

    fn shares(&self, of: &Details, title: String) -> Table {
        let table = Table::new("path_processes", title)
            .column("process", "PROCESS", Kind::Text)
            .column("what", "WHAT", Kind::Text);
        let mut table = with_times(table);
        for ((process, doing), times) in of.shares() {
            let [count, total, longest] = cells(times);
            let process = self.labels.thread(process).into();
            table.row([process, self.labels.doing(doing).into(), count, total, longest]);
        }
        table
    }

    fn path(&self, of: &Details, title: String) -> Table {
        let mut table = Table::new("path", title)
            .column("begin_ns", "FROM", Kind::Time)
            .column("end_ns", "TO", Kind::Time)
            .column("duration_ns", "us", Kind::Duration)
            .column("process", "PROCESS", Kind::Text)
            .column("what", "WHAT", Kind::Text)
            .column("waker", "WOKEN UP BY", Kind::Text);
        for step in of.chain.iter().take(self.query.limit) {
            let episode = step.episode;
            // Deeper waits are indented further.
            let process = "  ".repeat(step.depth as usize) + &self.labels.thread(step.thread);
            table.row([
                Timestamp::from_ns(episode.begin).into(),
                Timestamp::from_ns(episode.end).into(),
                Cell::Duration(episode.time()),
                process.into(),
                self.labels.doing(episode.doing).into(),
                self.labels.waker_of(&episode).into(),
            ]);
        }
        table
    }

    /// Describes the waker of some waits.
    fn waker(&self, key: &WaitKey) -> String {
        key.waker.map_or("unknown".to_owned(), |waker| self.labels.waker(waker))
    }

    /// Adds all results to attributes.
    pub(super) fn export(
        &self,
        into: &mut Attributes,
        at: AttributeId,
    ) -> Result<(), AttributeError> {
        let processes = into.subtree(at, "processes")?;
        for (process, sums) in &self.processes {
            let place = into.subtree(processes, &*self.labels.thread(*process))?;
            for (name, time) in [
                ("running", sums.running),
                ("interrupted", sums.interrupted),
                ("ready", sums.ready),
                ("blocked", sums.blocked),
            ] {
                add(into, place, name, time)?;
            }
        }
        for (number, of) in (0_u64..).zip(&self.details) {
            let asked = into.subtree(at, "asked")?;
            let place = into.subtree(asked, number)?;
            into.set(place, "process", &*self.labels.thread(of.thread))?;
            self.export_details(into, place, of)?;
        }
        Ok(())
    }

    fn export_details(
        &self,
        into: &mut Attributes,
        at: AttributeId,
        of: &Details,
    ) -> Result<(), AttributeError> {
        let doings = into.subtree(at, "doings")?;
        for (doing, times) in &of.doings {
            let place = into.subtree(doings, &*self.labels.doing(*doing))?;
            set(into, place, *times)?;
        }
        let waits = into.subtree(at, "waits")?;
        for (key, times) in &of.waits {
            let place = into.subtree(waits, self.labels.state.name(key.call))?;
            let place = into.subtree(place, &*self.waker(key))?;
            set(into, place, *times)?;
        }
        let path = into.subtree(at, "critical_path")?;
        for (number, step) in (0_u64..).zip(&of.chain) {
            let place = into.subtree(path, number)?;
            into.set(place, "begin", Timestamp::from_ns(step.episode.begin))?;
            into.set(place, "end", Timestamp::from_ns(step.episode.end))?;
            into.set(place, "process", &*self.labels.thread(step.thread))?;
            into.set(place, "what", &*self.labels.doing(step.episode.doing))?;
        }
        Ok(())
    }
}

/// Adds the columns of [`cells`].
fn with_times(table: Table) -> Table {
    table
        .column("count", "COUNT", Kind::Integer)
        .column("total_ns", "TOTAL us", Kind::Duration)
        .column("longest_ns", "MAX us", Kind::Duration)
}

fn cells(times: Times) -> [Cell; 3] {
    [times.count.into(), Cell::Duration(times.total), Cell::Duration(times.longest)]
}

fn set(into: &mut Attributes, at: AttributeId, times: Times) -> Result<(), AttributeError> {
    into.set(at, "count", times.count)?;
    add(into, at, "total", times.total)?;
    into.set(at, "max", Duration::from_nanos(times.longest)).map(|_| ())
}

/// Adds a time in ns to the value, since processes may share a name.
fn add(
    into: &mut Attributes,
    at: AttributeId,
    name: &str,
    time: u64,
) -> Result<(), AttributeError> {
    let key = into.entry::<Duration>(at, name)?;
    if let Some(value) = into.get_mut(key) {
        *value = value.saturating_add(Duration::from_nanos(time));
    }
    Ok(())
}
