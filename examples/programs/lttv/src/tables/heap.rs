//! Tables of heaps.

use std::collections::BTreeMap;

use ltt_read::{Timestamp, TraceIndex};
use lttv_common::calls::names::Names;
use lttv_common::table::{Declaration, Table, known};
use lttv_state::call_stacks::CallStacks;
use lttv_state::heap::{Heap, ProcessHeap, SiteHeap, TraceHeap};

/// The heaps of a traceset that are shown.
#[derive(Debug)]
pub(crate) struct ShownHeap<'h, F> {
    /// The figures.
    pub heap: &'h Heap,
    /// The calls collected in the same context.
    pub calls: &'h CallStacks,
    /// Returns `true` for the processes to show.
    pub is_wanted: F,
    /// The end of the window or of the traces, from which ages count.
    pub end: Timestamp,
}

impl<F: Fn(&ProcessHeap) -> bool> ShownHeap<'_, F> {
    fn traces(&self) -> impl Iterator<Item = (TraceIndex, &TraceHeap)> {
        let traces = (0..).map(TraceIndex).zip(self.heap.traces());
        traces.filter(|(_, trace)| trace.has_allocations())
    }

    /// Starts a table whose rows are of processes.
    fn table<'r, R>(
        &self,
        (key, title): (&'static str, &str),
        rows: &'r [(TraceIndex, &ProcessHeap, R)],
    ) -> Declaration<'r, (TraceIndex, &'r ProcessHeap, R)> {
        Table::of(key, title, rows).trace_if(self.traces().nth(1).is_some(), |row| row.0).integer(
            "process",
            "PROCESS",
            |row| row.1.process,
        )
    }

    /// Iterates over the processes to show, each with its trace and its numbers.
    fn processes(&self) -> impl Iterator<Item = (TraceIndex, &TraceHeap, usize, &ProcessHeap)> {
        self.traces().flat_map(|(index, trace)| {
            let processes = trace.processes().iter().enumerate();
            let wanted = processes.filter(|(_, of)| (self.is_wanted)(of));
            wanted.map(move |(at, of)| (index, trace, at, of))
        })
    }

    /// Returns all tables of heaps.
    pub(crate) fn tables(&self, names: &mut Names) -> Vec<Table> {
        vec![self.heaps(), self.sizes(), self.ages(), self.sites(names)]
    }

    fn heaps(&self) -> Table {
        let rows: Vec<_> = self.processes().map(|(trace, _, _, of)| (trace, of, ())).collect();
        self.table(("heap", "Heap"), &rows)
            .text("name", "NAME", |row| row.1.name.to_string())
            .count("allocations", "ALLOCATIONS", |row| row.1.allocations)
            .bytes("allocated_bytes", "BYTES", |row| row.1.allocated_bytes)
            .count("frees", "FREES", |row| row.1.frees)
            .bytes("freed_bytes", "FREED BYTES", |row| row.1.freed_bytes)
            .count("null_frees", "OF NULL", |row| row.1.null_frees)
            .minor()
            .count("failed", "FAILED", |row| row.1.failed)
            .minor()
            .count("unknown_frees", "UNKNOWN FREES", |row| row.1.unknown_frees)
            .minor()
            .count("overwritten", "OVER LIVE", |row| row.1.overwritten)
            .minor()
            .count("live_blocks", "LIVE", |row| row.1.live_blocks)
            .minor()
            .bytes("live_bytes", "LIVE BYTES", |row| row.1.live_bytes)
            .bytes("peak_bytes", "PEAK BYTES", |row| row.1.peak_bytes)
            .time("peak_ns", "PEAK", |row| row.1.peak_time)
            .build()
    }

    fn sizes(&self) -> Table {
        let mut rows = Vec::new();
        for (index, _, _, of) in self.processes() {
            let classes = of.classes().iter().enumerate();
            let used = classes.filter(|(_, of)| of.allocations > 0 || of.live_blocks > 0);
            rows.extend(used.map(|(class, sizes)| {
                let from = class.checked_sub(1).map_or(0, |bits| 1_u64 << bits);
                (index, of, (from, sizes))
            }));
        }
        self.table(("sizes", "Sizes of blocks"), &rows)
            .bytes("from_bytes", "FROM BYTES", |row| row.2.0)
            .bytes("to_bytes", "TO BYTES", |row| row.2.0.saturating_mul(2).saturating_sub(1))
            .count("allocations", "ALLOCATIONS", |row| row.2.1.allocations)
            .bytes("bytes", "BYTES", |row| row.2.1.bytes)
            .count("live_blocks", "LIVE", |row| row.2.1.live_blocks)
            .minor()
            .bytes("live_bytes", "LIVE BYTES", |row| row.2.1.live_bytes)
            .build()
    }

    /// Returns the table of live blocks by age, in powers of ten.
    fn ages(&self) -> Table {
        let mut rows = Vec::new();
        for (index, trace, number, of) in self.processes() {
            let mut ages: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
            for block in trace.blocks().iter().filter(|block| block.process == number) {
                let age = self.end.as_ns().saturating_sub(block.time.as_ns()).max(0) as u64;
                let power = age.checked_ilog10().unwrap_or(0);
                let sums = ages.entry(power).or_default();
                *sums = (sums.0 + 1, sums.1.saturating_add(block.size));
            }
            rows.extend(ages.into_iter().rev().map(|sums| (index, of, sums)));
        }
        let from = |power: u32| if power == 0 { 0 } else { 10_u64.saturating_pow(power) };
        self.table(("ages", "Blocks that were not freed, by age"), &rows)
            .duration("from_ns", "FROM", |row| from(row.2.0))
            .duration("to_ns", "TO", |row| 10_u64.saturating_pow(row.2.0 + 1))
            .count("live_blocks", "LIVE", |row| row.2.1.0)
            .minor()
            .bytes("live_bytes", "LIVE BYTES", |row| row.2.1.1)
            .build()
    }

    /// Returns the table of allocations by call path, those with most live bytes first. Paths
    /// of different threads with equal names are one.
    fn sites(&self, names: &mut Names) -> Table {
        let mut rows = Vec::new();
        for (index, trace) in self.traces() {
            let Some(calls) = self.calls.traces().get(index.0) else { continue };
            // Without calls, this table would repeat that of heaps.
            if !calls.has_calls() {
                continue;
            }
            let mut sites: BTreeMap<(usize, String), SiteHeap> = BTreeMap::new();
            for site in trace.sites() {
                let path = site.path.map(|path| names.path(self.calls, calls, path));
                let key = (site.process, path.unwrap_or_default());
                let Some(sum) = sites.get_mut(&key) else {
                    sites.insert(key, site);
                    continue;
                };
                sum.allocations += site.allocations;
                sum.bytes = sum.bytes.saturating_add(site.bytes);
                sum.live_blocks += site.live_blocks;
                sum.live_bytes = sum.live_bytes.saturating_add(site.live_bytes);
                sum.oldest = [sum.oldest, site.oldest].into_iter().flatten().min();
            }
            let mut sites: Vec<_> = sites.into_iter().collect();
            sites.sort_by_key(|(_, of)| (u64::MAX - of.live_bytes, u64::MAX - of.bytes));
            let of_process = |((process, path), site)| (&trace.processes()[process], path, site);
            let wanted = sites.into_iter().map(of_process);
            let wanted =
                wanted.filter(|(of, ..): &(&ProcessHeap, String, SiteHeap)| (self.is_wanted)(of));
            rows.extend(wanted.map(|(of, path, site)| (index, of, (path, site))));
        }
        self.table(("sites", "Allocations by call path"), &rows)
            .count("allocations", "ALLOCATIONS", |row| row.2.1.allocations)
            .bytes("bytes", "BYTES", |row| row.2.1.bytes)
            .count("live_blocks", "LIVE", |row| row.2.1.live_blocks)
            .minor()
            .bytes("live_bytes", "LIVE BYTES", |row| row.2.1.live_bytes)
            .time("oldest_ns", "OLDEST", |row| row.2.1.oldest)
            .text("path", "CALL PATH", |row| known(&row.2.0))
            .build()
    }
}
