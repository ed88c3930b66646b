//! Output of dependencies as tables and as attributes.

use std::fmt::Write;
use std::time::Duration;

use ltt_read::Timestamp;
use lttv_context::attributes::{AttributeError, AttributeId, Attributes};

use super::waits::{Details, Found, Times, longest_first};
use crate::modules::table::{Table, fraction, us};
use crate::text_dump::text::Text;

impl Found<'_> {
    /// Prints the tables of a trace.
    pub(super) fn print(&self, trace: usize, out: &mut Text) {
        // Writing to a text never fails.
        if self.query.tid.is_none() {
            _ = write!(out, "{}", self.summary(trace));
        } else if self.details.is_empty() {
            _ = write!(out, "Trace {trace} has no process {}\n\n", self.query.tid.unwrap_or(0));
        }
        for of in &self.details {
            let name = self.label(of.process);
            _ = write!(
                out,
                "{}",
                self.doings(of, format!("Activities of {name} in trace {trace}"))
            );
            _ = write!(out, "{}", self.waits(of, format!("Waits of {name}")));
            _ = write!(
                out,
                "{}",
                self.shares(of, format!("Processes on the critical path of {name}"))
            );
            _ = write!(out, "{}", self.path(of, format!("Critical path of {name}")));
            if let Some(more @ 1..) = of.path.len().checked_sub(self.query.limit) {
                _ = write!(out, "  … {more} more: see --dep-limit\n\n");
            }
        }
    }

    fn summary(&self, trace: usize) -> Table {
        let mut table = Table::new(format!("Processes of trace {trace}"))
            .text("PROCESS")
            .numbers(["RUNNING us", "INTERRUPTED us", "READY us", "BLOCKED us"]);
        for (process, sums) in &self.processes {
            let times = [sums.running, sums.interrupted, sums.ready, sums.blocked];
            let [running, interrupted, ready, blocked] = times.map(us);
            table.row([self.label(*process), running, interrupted, ready, blocked]);
        }
        table
    }

    fn doings(&self, of: &Details, title: String) -> Table {
        let mut table = Table::new(title).text("WHAT").numbers(TIMES).numbers(["%"]);
        let all: u64 = of.doings.values().map(|times| times.total).sum();
        for (doing, times) in longest_first(of.doings.clone()) {
            let percent = times.total as f64 * 100.0 / all.max(1) as f64;
            let [count, total, longest] = columns(times);
            table.row([self.doing(doing), count, total, longest, fraction(percent)]);
        }
        table
    }

    fn waits(&self, of: &Details, title: String) -> Table {
        let mut table = Table::new(title).text("WHERE").text("WOKEN UP BY").numbers(TIMES);
        for ((submode, waker), times) in longest_first(of.waits.clone()) {
            let [count, total, longest] = columns(times);
            let submode = self.state.name(submode).to_owned();
            table.row([submode, self.waker(waker), count, total, longest]);
        }
        table
    }

    fn shares(&self, of: &Details, title: String) -> Table {
        let mut table = Table::new(title).text("PROCESS").text("WHAT").numbers(TIMES);
        for ((process, doing), times) in of.shares() {
            let [count, total, longest] = columns(times);
            table.row([self.label(process), self.doing(doing), count, total, longest]);
        }
        table
    }

    fn path(&self, of: &Details, title: String) -> Table {
        let mut table = Table::new(title)
            .numbers(["FROM", "TO", "us"])
            .text("PROCESS")
            .text("WHAT")
            .text("WOKEN UP BY");
        for step in of.path.iter().take(self.query.limit) {
            let episode = step.episode;
            let time = |ns| Timestamp::from_ns(ns).to_string();
            table.row([
                time(episode.begin),
                time(episode.end),
                us(episode.time()),
                // Deeper waits are indented further.
                "  ".repeat(step.depth as usize) + &self.label(step.process),
                self.doing(episode.doing),
                episode.waker.map_or(String::new(), |waker| self.waker(Some(waker))),
            ]);
        }
        table
    }

    /// Adds all results to attributes.
    pub(super) fn export(
        &self,
        into: &mut Attributes,
        at: AttributeId,
    ) -> Result<(), AttributeError> {
        let processes = into.subtree(at, "processes")?;
        for (process, sums) in &self.processes {
            let place = into.subtree(processes, &*self.label(*process))?;
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
            into.set(place, "process", &*self.label(of.process))?;
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
            let place = into.subtree(doings, &*self.doing(*doing))?;
            set(into, place, *times)?;
        }
        let waits = into.subtree(at, "waits")?;
        for ((submode, waker), times) in &of.waits {
            let place = into.subtree(waits, self.state.name(*submode))?;
            let place = into.subtree(place, &*self.waker(*waker))?;
            set(into, place, *times)?;
        }
        let path = into.subtree(at, "critical_path")?;
        for (number, step) in (0_u64..).zip(&of.path) {
            let place = into.subtree(path, number)?;
            into.set(place, "begin", Timestamp::from_ns(step.episode.begin))?;
            into.set(place, "end", Timestamp::from_ns(step.episode.end))?;
            into.set(place, "process", &*self.label(step.process))?;
            into.set(place, "what", &*self.doing(step.episode.doing))?;
        }
        Ok(())
    }
}

const TIMES: [&str; 3] = ["COUNT", "TOTAL us", "MAX us"];

fn columns(times: Times) -> [String; 3] {
    [times.count.to_string(), us(times.total), us(times.longest)]
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
