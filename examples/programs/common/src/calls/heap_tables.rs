//! Tables of heaps.

use std::collections::BTreeMap;

use ltt_read::Timestamp;
use lttv_state::call_stacks::CallStacks;
use lttv_state::heap::{Heap, ProcessHeap, SiteHeap, TraceHeap};

use super::names::Names;
use crate::table::{Cell, Kind, Table};

/// The heaps of a traceset that are shown.
#[derive(Debug)]
pub struct ShownHeap<'h, F> {
    /// The figures.
    pub heap: &'h Heap,
    /// The calls collected in the same context.
    pub calls: &'h CallStacks,
    /// Returns `true` for the processes to show.
    pub is_wanted: F,
    /// The end of the window or of the traces, from which ages count.
    pub end: Timestamp,
}

impl<F: Fn(Option<i64>) -> bool> ShownHeap<'_, F> {
    fn traces(&self) -> impl Iterator<Item = (usize, &TraceHeap)> {
        self.heap.traces().iter().enumerate().filter(|(_, trace)| !trace.missing().allocations)
    }

    fn table(&self, table: Table) -> Table {
        let table = match self.traces().count() {
            0 | 1 => table,
            _ => table.column("trace", "TRACE", Kind::Integer),
        };
        table.column("process", "PROCESS", Kind::Integer)
    }

    fn row(&self, trace: usize, of: &ProcessHeap, table: &mut Table, cells: Vec<Cell>) {
        let trace = table.has_column("trace").then(|| (trace as u64).into());
        let process = of.process.map_or(Cell::Empty, Cell::from);
        table.push(trace.into_iter().chain([process]).chain(cells).collect());
    }

    /// Iterates over the processes to show, each with its trace and its numbers.
    fn processes(&self) -> impl Iterator<Item = (usize, &TraceHeap, usize, &ProcessHeap)> {
        self.traces().flat_map(|(index, trace)| {
            let processes = trace.processes().iter().enumerate();
            let wanted = processes.filter(|(_, of)| (self.is_wanted)(of.process));
            wanted.map(move |(at, of)| (index, trace, at, of))
        })
    }

    /// Returns all tables of heaps.
    pub fn tables(&self, names: &mut Names) -> Vec<Table> {
        vec![self.heaps(), self.sizes(), self.ages(), self.sites(names)]
    }

    fn heaps(&self) -> Table {
        let columns = [
            ("allocations", "ALLOCATIONS"),
            ("allocated_bytes", "BYTES"),
            ("frees", "FREES"),
            ("freed_bytes", "FREED BYTES"),
            ("null_frees", "OF NULL"),
            ("failed", "FAILED"),
            ("unknown_frees", "UNKNOWN FREES"),
            ("overwritten", "OVER LIVE"),
            ("live_blocks", "LIVE"),
            ("live_bytes", "LIVE BYTES"),
            ("peak_bytes", "PEAK BYTES"),
        ];
        let table = self.table(Table::new("heap", "Heap")).column("name", "NAME", Kind::Text);
        let mut table = (columns.into_iter())
            .fold(table, |table, (key, title)| table.column(key, title, Kind::Integer))
            .column("peak_ns", "PEAK", Kind::Time);
        for (index, _, _, of) in self.processes() {
            let numbers = [
                of.allocations,
                of.allocated_bytes,
                of.frees,
                of.freed_bytes,
                of.null_frees,
                of.failed,
                of.unknown_frees,
                of.overwritten,
                of.live_blocks,
                of.live_bytes,
                of.peak_bytes,
            ];
            let mut cells = vec![Cell::from(of.name.to_string())];
            cells.extend(numbers.map(Cell::from));
            cells.push(of.peak_time.map_or(Cell::Empty, Cell::from));
            self.row(index, of, &mut table, cells);
        }
        table
    }

    fn sizes(&self) -> Table {
        let mut table = self
            .table(Table::new("sizes", "Sizes of blocks"))
            .column("from_bytes", "FROM BYTES", Kind::Integer)
            .column("to_bytes", "TO BYTES", Kind::Integer)
            .column("allocations", "ALLOCATIONS", Kind::Integer)
            .column("bytes", "BYTES", Kind::Integer)
            .column("live_blocks", "LIVE", Kind::Integer)
            .column("live_bytes", "LIVE BYTES", Kind::Integer);
        for (index, _, _, of) in self.processes() {
            for (class, sizes) in of.classes().iter().enumerate() {
                if sizes.allocations == 0 && sizes.live_blocks == 0 {
                    continue;
                }
                let from = class.checked_sub(1).map_or(0, |bits| 1_u64 << bits);
                let to = from.saturating_mul(2).saturating_sub(1);
                let numbers =
                    [from, to, sizes.allocations, sizes.bytes, sizes.live_blocks, sizes.live_bytes];
                self.row(index, of, &mut table, numbers.map(Cell::from).to_vec());
            }
        }
        table
    }

    /// Returns the table of live blocks by age, in powers of ten.
    fn ages(&self) -> Table {
        let mut table = self
            .table(Table::new("ages", "Blocks that were not freed, by age"))
            .column("from_ns", "FROM us", Kind::Duration)
            .column("to_ns", "TO us", Kind::Duration)
            .column("live_blocks", "LIVE", Kind::Integer)
            .column("live_bytes", "LIVE BYTES", Kind::Integer);
        for (index, trace, number, of) in self.processes() {
            let mut ages: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
            for block in trace.blocks().iter().filter(|block| block.process == number) {
                let age = self.end.as_ns().saturating_sub(block.time.as_ns()).max(0) as u64;
                let power = age.checked_ilog10().unwrap_or(0);
                let sums = ages.entry(power).or_default();
                *sums = (sums.0 + 1, sums.1.saturating_add(block.size));
            }
            for (power, (blocks, bytes)) in ages.into_iter().rev() {
                let from = if power == 0 { 0 } else { 10_u64.saturating_pow(power) };
                let to = 10_u64.saturating_pow(power + 1);
                let times = [Cell::Duration(from), Cell::Duration(to)];
                let cells = times.into_iter().chain([blocks.into(), bytes.into()]);
                self.row(index, of, &mut table, cells.collect());
            }
        }
        table
    }

    /// Returns the table of allocations by call path, those with most live bytes first. Paths
    /// of different threads with equal names are one.
    fn sites(&self, names: &mut Names) -> Table {
        let mut table = self
            .table(Table::new("sites", "Allocations by call path"))
            .column("allocations", "ALLOCATIONS", Kind::Integer)
            .column("bytes", "BYTES", Kind::Integer)
            .column("live_blocks", "LIVE", Kind::Integer)
            .column("live_bytes", "LIVE BYTES", Kind::Integer)
            .column("oldest_ns", "OLDEST", Kind::Time)
            .column("path", "CALL PATH", Kind::Text);
        for (index, trace) in self.traces() {
            let Some(calls) = self.calls.traces().get(index) else { continue };
            // Without calls, this table would repeat that of heaps.
            if !calls.missing().is_served() {
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
            for ((process, path), site) in sites {
                let of = &trace.processes()[process];
                if !(self.is_wanted)(of.process) {
                    continue;
                }
                let cells = vec![
                    site.allocations.into(),
                    site.bytes.into(),
                    site.live_blocks.into(),
                    site.live_bytes.into(),
                    site.oldest.map_or(Cell::Empty, Cell::from),
                    if path.is_empty() { Cell::Empty } else { path.into() },
                ];
                self.row(index, of, &mut table, cells);
            }
        }
        table
    }
}
