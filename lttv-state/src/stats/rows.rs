//! Which row of leaves belongs to which process and CPU.

use hashbrown::HashMap;

use super::leaf::Quick;
use crate::kernel::Serial;

/// Place of the leaves of a process on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Row(pub(super) u32);

/// The rows of all processes on all CPUs.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    /// How many CPUs have their places in the table.
    cpus: usize,
    /// By process, then CPU.
    table: Vec<Row>,
    /// Of the other CPUs.
    others: HashMap<(Serial, u32), Row, Quick>,
}

/// So many CPUs at most have places in the table: most are never used.
const MAX_CPUS: usize = 64;
const NONE: Row = Row(u32::MAX);

impl Rows {
    /// None yet, of so many CPUs, as far as known.
    pub(super) fn new(cpus: usize) -> Self {
        Rows { cpus: cpus.min(MAX_CPUS), ..Rows::default() }
    }

    #[inline]
    pub(super) fn get(&self, process: Serial, cpu: u32) -> Option<Row> {
        if (cpu as usize) < self.cpus {
            let row = self.table.get(process.index() * self.cpus + cpu as usize);
            return row.copied().filter(|row| *row != NONE);
        }
        self.others.get(&(process, cpu)).copied()
    }

    pub(super) fn set(&mut self, process: Serial, cpu: u32, row: Row) {
        if cpu as usize >= self.cpus {
            self.others.insert((process, cpu), row);
            return;
        }
        let at = process.index() * self.cpus;
        if self.table.len() <= at {
            self.table.resize(at + self.cpus, NONE);
        }
        self.table[at + cpu as usize] = row;
    }
}
