//! Which row of leaves belongs to which process and CPU.

use hashbrown::HashMap;

use super::leaf::Quick;
use crate::kernel::Serial;

/// Number of a process on a CPU, of whose leaves there is a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row(u32);

impl Row {
    /// In the place of one that is not there.
    pub(super) const NONE: Row = Row(u32::MAX);

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The rows of all processes on all CPUs.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    /// How many CPUs have their places in the table.
    cpus: usize,
    /// By process, then CPU.
    table: Vec<Row>,
    /// Of the other CPUs.
    others: HashMap<(Serial, u32), Row, Quick>,
    /// By row.
    all: Vec<(Serial, u32)>,
}

/// So many CPUs at most have places in the table: most are never used.
const MAX_CPUS: usize = 64;

impl Rows {
    /// None yet, of so many CPUs, as far as known.
    pub(super) fn new(cpus: usize) -> Self {
        Rows { cpus: cpus.min(MAX_CPUS), ..Rows::default() }
    }

    #[inline]
    pub(super) fn get(&self, process: Serial, cpu: u32) -> Option<Row> {
        if (cpu as usize) < self.cpus {
            let row = self.table.get(process.index() * self.cpus + cpu as usize);
            return row.copied().filter(|row| *row != Row::NONE);
        }
        self.others.get(&(process, cpu)).copied()
    }

    /// Adds one that is not there.
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

    /// The process and CPU of a row; the first process, if there is no such row.
    pub(super) fn of(&self, row: Row) -> (Serial, u32) {
        self.all.get(row.index()).copied().unwrap_or((Serial(0), 0))
    }
}
