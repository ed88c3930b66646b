//! The assignment of rows to processes and CPUs.

use hashbrown::HashMap;

use crate::fast_hash::FastHash;
use crate::kernel::Serial;

/// The number of a row: the leaves of a process on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row(u32);

impl Row {
    /// The row of leaves that are in no row.
    pub(super) const NONE: Row = Row(u32::MAX);

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The rows of all processes on all CPUs.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    /// The number of CPUs with places in the table.
    cpus: usize,
    /// The rows by process and then CPU.
    table: Vec<Row>,
    /// The rows of the other CPUs.
    others: HashMap<(Serial, u32), Row, FastHash>,
    /// The process and CPU of each row.
    all: Vec<(Serial, u32)>,
}

/// The maximum number of CPUs with places in the table, in which most places remain unused.
const MAX_CPUS: usize = 64;

impl Rows {
    /// Creates an empty assignment for a number of CPUs, as far as known.
    pub(super) fn new(cpus: usize) -> Self {
        Rows { cpus: cpus.min(MAX_CPUS), ..Rows::default() }
    }

    /// Returns the row of a process on a CPU, if there is one.
    #[inline]
    pub(super) fn get(&self, process: Serial, cpu: u32) -> Option<Row> {
        if (cpu as usize) < self.cpus {
            let row = self.table.get(process.index() * self.cpus + cpu as usize);
            return row.copied().filter(|row| *row != Row::NONE);
        }
        self.others.get(&(process, cpu)).copied()
    }

    /// Adds a row for a process and CPU without one.
    pub(super) fn add(&mut self, process: Serial, cpu: u32) -> Row {
        let row = Row(self.all.len() as u32);
        self.all.push((process, cpu));
        if cpu as usize >= self.cpus {
            self.others.insert((process, cpu), row);
            return row;
        }
        let at = process.index() * self.cpus;
        if self.table.len() <= at {
            self.table.resize(at + self.cpus, Row::NONE);
        }
        self.table[at + cpu as usize] = row;
        row
    }

    /// Returns the process and CPU of a row; the first process on CPU 0 if there is no such
    /// row.
    pub(super) fn of(&self, row: Row) -> (Serial, u32) {
        self.all.get(row.index()).copied().unwrap_or((Serial(0), 0))
    }
}
