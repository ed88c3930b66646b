//! The rows of threads: one for each thread, from its first event to its last one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ltt_read::{Timestamp, TraceIndex};
use lttv_state::history::{History, HistoryError};
use lttv_state::tree::Quark;

use super::chart::{ChartRow, Lane};

/// The rows of all threads of a history.
#[derive(Debug, Default)]
pub struct ThreadRows {
    /// The entries of the traces: index in the traceset, and id.
    pub traces: Vec<(TraceIndex, i64)>,
    /// The rows, in the order of traces and thread ids.
    pub threads: Vec<ThreadRow>,
    /// The CPUs of each trace.
    pub cpus: Vec<(TraceIndex, Vec<CpuAttributes>)>,
    /// The rows of each thread, in order of time.
    by_tid: HashMap<(TraceIndex, i64), Vec<usize>>,
}

/// The attributes of a CPU.
#[derive(Debug, Clone, Copy)]
pub struct CpuAttributes {
    /// The number.
    pub number: u32,
    /// The activity.
    pub mode: Quark,
    /// The id of the running thread.
    pub thread: Quark,
}

/// A thread: from its start to its end, with its last name.
#[derive(Debug, Clone)]
pub struct ThreadRow {
    /// The row of the chart.
    pub chart: ChartRow,
    /// The id of the entry of the trace.
    pub root: i64,
    /// The id of the entry of the parent, if it is known.
    pub parent: Option<i64>,
    /// The id of the thread.
    pub tid: i32,
    /// The names that it had, with the times from which it had them, in ns.
    names: Vec<(i64, String)>,
    /// The start, in ns.
    pub start: i64,
    /// The end, in ns.
    pub end: i64,
    /// The attribute of the CPU, if there is one.
    pub cpu: Option<Quark>,
}

/// The ids of rows, which are the same for all histories of a dataset, and the rows of the
/// complete history.
#[derive(Debug, Default)]
pub(super) struct ThreadIds {
    ids: Mutex<HashMap<(Quark, i64), i64>>,
    complete: OnceLock<Arc<ThreadRows>>,
}

impl ThreadIds {
    /// Returns the rows of a history.
    pub(super) fn rows(
        &self,
        history: &History,
        traces: &[TraceIndex],
    ) -> Result<Arc<ThreadRows>, HistoryError> {
        if let Some(rows) = self.complete.get().filter(|_| history.is_complete()) {
            return Ok(Arc::clone(rows));
        }
        let rows = Arc::new(self.read(history, traces)?);
        if history.is_complete() {
            return Ok(Arc::clone(self.complete.get_or_init(|| rows)));
        }
        Ok(rows)
    }

    /// Returns the id of a row, which starts at a time.
    fn id(&self, quark: Quark, start: i64) -> i64 {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        let next = ids.len() as i64;
        *ids.entry((quark, start)).or_insert(next)
    }

    fn read(&self, history: &History, traces: &[TraceIndex]) -> Result<ThreadRows, HistoryError> {
        let tree = history.tree();
        let mut all = ThreadRows::default();
        for trace in traces {
            let Some(base) = tree.child(Quark::ROOT, &trace.0.to_string()) else { continue };
            let root = self.id(base, i64::MIN);
            all.traces.push((*trace, root));
            let cpus = tree.child(base, "CPUs").into_iter().flat_map(|of| tree.children(of));
            let cpus = cpus.filter_map(|mode| {
                let number = tree.name(mode)?.parse().ok()?;
                Some(CpuAttributes { number, mode, thread: tree.child(mode, "Thread")? })
            });
            let mut cpus: Vec<_> = cpus.collect();
            cpus.sort_by_key(|cpu| cpu.number);
            all.cpus.push((*trace, cpus));
            let threads = tree.child(base, "Threads").into_iter().flat_map(|of| tree.children(of));
            let mut threads: Vec<(i32, Quark)> = threads
                .filter_map(|quark| {
                    Some((tree.name(quark)?.split('_').next()?.parse().ok()?, quark))
                })
                .collect();
            threads.sort_unstable();
            for (tid, quark) in threads {
                self.add(&mut all, history, (*trace, root), tid, quark)?;
            }
        }
        let parents = parents(&all);
        for (row, parent) in all.threads.iter_mut().zip(parents) {
            row.parent = parent;
        }
        break_cycles(&mut all.threads);
        Ok(all)
    }

    /// Adds the rows of one thread.
    fn add(
        &self,
        all: &mut ThreadRows,
        history: &History,
        (trace, root): (TraceIndex, i64),
        tid: i32,
        quark: Quark,
    ) -> Result<(), HistoryError> {
        let child = |name: &str| history.tree().child(quark, name);
        let whole = history.start()..history.end();
        let mut names: Vec<(i64, i64, String)> = Vec::new();
        for interval in child("Name")
            .map(|of| history.intervals(of, whole.clone()))
            .transpose()?
            .into_iter()
            .flatten()
        {
            let interval = interval?;
            if let Some(name) = interval.value.as_str() {
                let (start, end) = (interval.start.as_ns(), interval.end.as_ns());
                names.push((start, end, name.to_owned()));
            }
        }
        // A thread lives while any of these is known.
        let mut lives: Vec<(i64, i64)> =
            names.iter().map(|(start, end, _)| (*start, *end)).collect();
        for attribute in ["Kind", "PID", "PPID"].iter().filter_map(|name| child(name)) {
            for interval in history.intervals(attribute, whole.clone())? {
                let interval = interval?;
                if !interval.value.is_null() {
                    lives.push((interval.start.as_ns(), interval.end.as_ns()));
                }
            }
        }
        if lives.is_empty() {
            let is_known = |value: lttv_state::value::StateValue<'_>| !value.is_null();
            let first = history.first_with(quark, whole.clone(), is_known)?;
            let last = history.last_with(quark, whole, is_known)?;
            if let (Some(first), Some(last)) = (first, last) {
                lives.push((first.start.as_ns(), last.end.as_ns()));
            }
        }
        for (start, end) in joined(lives) {
            let id = self.id(quark, start);
            let at = |name: &str, time: i64| -> Result<String, HistoryError> {
                let Some(of) = child(name) else { return Ok(String::new()) };
                let value = history.at(of, Timestamp::from_ns(time))?.value;
                Ok(if value.is_null() { String::new() } else { value.to_string() })
            };
            // The process of a thread may become known later than the thread.
            let pid = Some(at("PID", start)?).filter(|pid| !pid.is_empty());
            let pid = pid.map_or_else(|| at("PID", end.saturating_sub(1)), Ok)?;
            let names = names.iter().filter(|(begin, _, _)| (start..end).contains(begin));
            let names: Vec<(i64, String)> =
                names.map(|(begin, _, name)| (*begin, name.clone())).collect();
            let title = names.last().map_or_else(|| format!("[{tid}]"), |(_, name)| name.clone());
            let labels = vec![title, tid.to_string(), at("PPID", start)?, pid];
            let (mode, submode) = (child("Mode"), child("Submode"));
            let lane = Lane::Thread { status: quark, mode, submode, start, end, is_idle: tid == 0 };
            let number = all.threads.len();
            all.by_tid.entry((trace, tid.into())).or_default().push(number);
            all.threads.push(ThreadRow {
                chart: ChartRow { id, labels, lane },
                root,
                parent: None,
                tid,
                names,
                start,
                end,
                cpu: child("CPU"),
            });
        }
        Ok(())
    }
}

impl ThreadRows {
    /// Returns the row of a thread at a time.
    fn row(&self, trace: TraceIndex, tid: i64, time: i64) -> Option<&ThreadRow> {
        let rows = self.by_tid.get(&(trace, tid))?;
        let after = rows.partition_point(|row| self.threads[*row].start <= time);
        let row = &self.threads[rows[after.checked_sub(1)?]];
        (time < row.end).then_some(row)
    }

    /// Returns the name that a thread had last at or before a time; empty if it is unknown.
    pub fn name(&self, trace: TraceIndex, tid: i64, time: i64) -> &str {
        let rows = self.by_tid.get(&(trace, tid)).map_or(&[][..], Vec::as_slice);
        let names = rows.iter().rev().filter_map(|row| {
            let names = &self.threads[*row].names;
            names[..names.partition_point(|(start, _)| *start <= time)].last()
        });
        names.map(|(_, name)| name.as_str()).next().unwrap_or("")
    }

    /// Returns the name of the row of a thread at a time, which is its last one; empty if it is unknown.
    pub fn title(&self, trace: TraceIndex, tid: i64, time: i64) -> &str {
        let row = self.row(trace, tid, time);
        row.and_then(|row| row.names.last()).map_or("", |(_, name)| name)
    }

    /// Returns the id of the row of a thread at a time.
    pub fn find(&self, trace: TraceIndex, tid: i64, time: i64) -> Option<i64> {
        self.row(trace, tid, time).map(|row| row.chart.id)
    }
}

/// Joins ranges that touch or overlap.
fn joined(mut ranges: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    ranges.sort_unstable();
    let mut joined: Vec<(i64, i64)> = Vec::new();
    for (start, end) in ranges {
        match joined.last_mut() {
            Some((_, last)) if start <= *last => *last = end.max(*last),
            _ => joined.push((start, end)),
        }
    }
    joined
}

/// Returns the id of the parent of each row: that of the thread with the id of the parent at the
/// start of the row.
fn parents(all: &ThreadRows) -> Vec<Option<i64>> {
    let traces: BTreeMap<i64, TraceIndex> =
        all.traces.iter().map(|(trace, id)| (*id, *trace)).collect();
    let parents = all.threads.iter().map(|row| {
        let parent = row.chart.labels[2].parse().ok().filter(|tid| *tid > 0)?;
        let trace = traces.get(&row.root)?;
        all.find(*trace, parent, row.start).filter(|id| *id != row.chart.id)
    });
    parents.collect()
}

/// Removes the parents of rows that are their own ancestors, in damaged traces.
fn break_cycles(rows: &mut [ThreadRow]) {
    let at: HashMap<i64, usize> =
        rows.iter().enumerate().map(|(number, row)| (row.chart.id, number)).collect();
    let mut known: HashSet<usize> = HashSet::new();
    for number in 0..rows.len() {
        let (mut path, mut next) = (Vec::new(), Some(number));
        let mut seen = HashSet::new();
        while let Some(here) = next.filter(|here| !known.contains(here)) {
            if !seen.insert(here) {
                rows[here].parent = None;
                break;
            }
            path.push(here);
            next = rows[here].parent.and_then(|id| at.get(&id).copied());
        }
        known.extend(path);
    }
}
