//! Sorting of any number of records in bounded memory.
//!
//! Records are collected in memory. Whenever it is full, they are sorted and written to a
//! file as a run. In the end all runs are merged. If there are too many to be merged at
//! once, some are merged to longer runs first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;

use super::run_file::{RunFile, RunReader};
use crate::history::block::raw_value::RawValue;
use crate::history::error::HistoryError;
use crate::tree::Quark;

/// An interval of an attribute, with its first and last time in ns. Records are sorted by
/// start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Record {
    pub(super) start: i64,
    pub(super) quark: Quark,
    pub(super) last: i64,
    pub(super) raw: RawValue,
}

/// The memory for reading each run, in bytes. It determines how many are merged at once.
const RUN_MEMORY: usize = 16 << 10;

/// The greatest number of runs that are merged at once.
const MOST_RUNS: usize = 1024;

/// The number of records between calls of the progress function.
const PROGRESS: u64 = 1 << 14;

/// Records that are being collected.
#[derive(Debug)]
pub(super) struct Sorter {
    directory: PathBuf,
    /// The memory to use, in bytes.
    memory: usize,
    records: Vec<Record>,
    file: Option<RunFile>,
    /// The places of the runs in the file.
    runs: VecDeque<Range<u64>>,
    /// The lengths of the runs in records.
    lens: VecDeque<u64>,
    len: u64,
}

impl Sorter {
    /// Creates a sorter that uses about `memory` bytes, and a file in a directory.
    pub(super) fn new(directory: PathBuf, memory: usize) -> Self {
        Sorter {
            directory,
            memory,
            records: Vec::new(),
            file: None,
            runs: VecDeque::new(),
            lens: VecDeque::new(),
            len: 0,
        }
    }

    pub(super) fn set_memory(&mut self, bytes: usize) {
        self.memory = bytes;
    }

    /// Returns the number of records.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn push(&mut self, record: Record) -> Result<(), HistoryError> {
        let most = (self.memory / size_of::<Record>()).max(1);
        if self.records.len() >= most {
            self.write_run()?;
        }
        if self.records.len() == self.records.capacity() {
            let more = self.records.len().max(64).min(most - self.records.len());
            self.records.reserve_exact(more);
        }
        self.records.push(record);
        self.len += 1;
        Ok(())
    }

    fn write_run(&mut self) -> Result<(), HistoryError> {
        self.records.sort_unstable();
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(RunFile::create(&self.directory)?),
        };
        let mut records = self.records.iter().copied();
        self.runs.push_back(file.write_run(|_| Ok(records.next()))?);
        self.lens.push_back(self.records.len() as u64);
        self.records.clear();
        Ok(())
    }

    /// Returns all records in order. Calls `progress` with the numbers of steps so far and in
    /// total.
    pub(super) fn sorted(
        mut self,
        progress: &mut impl FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<Sorted, HistoryError> {
        let at_once = (self.memory / RUN_MEMORY).clamp(2, MOST_RUNS);
        if self.file.is_some() && !self.records.is_empty() {
            self.write_run()?;
            self.records = Vec::new();
        }
        let mut steps = Steps { done: 0, all: steps(self.lens.clone(), at_once) + self.len };
        let Some(mut file) = self.file.take() else {
            self.records.sort_unstable();
            let source = Source::Memory(std::mem::take(&mut self.records).into_iter());
            return Ok(Sorted { source, steps });
        };
        let memory = self.memory / at_once;
        while self.runs.len() > at_once {
            let some: Vec<_> = self.runs.drain(..at_once).collect();
            let mut merge = Merge::new(&file, some, memory)?;
            self.runs.push_back(file.write_run(|file| {
                steps.next(progress)?;
                merge.next(file)
            })?);
        }
        let merge = Merge::new(&file, self.runs.drain(..), memory)?;
        Ok(Sorted { source: Source::File(file, merge), steps })
    }
}

/// Returns the number of records that are written again because there are too many runs.
fn steps(mut lens: VecDeque<u64>, at_once: usize) -> u64 {
    let mut steps = 0;
    while lens.len() > at_once {
        let merged = lens.drain(..at_once).sum();
        steps += merged;
        lens.push_back(merged);
    }
    steps
}

/// The progress of sorting.
#[derive(Debug)]
struct Steps {
    done: u64,
    all: u64,
}

impl Steps {
    /// Notes a step.
    fn next(
        &mut self,
        progress: &mut impl FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<(), HistoryError> {
        // The call for the end of a run is no step.
        let is_due = self.done.is_multiple_of(PROGRESS) || self.done == self.all;
        if is_due && progress(self.done, self.all).is_break() {
            return Err(HistoryError::Cancelled);
        }
        self.done = (self.done + 1).min(self.all);
        Ok(())
    }
}

/// All records in order.
#[derive(Debug)]
pub(super) struct Sorted {
    source: Source,
    steps: Steps,
}

#[derive(Debug)]
enum Source {
    Memory(std::vec::IntoIter<Record>),
    File(RunFile, Merge),
}

impl Sorted {
    /// Returns the next record; `None` at the end.
    pub(super) fn next(
        &mut self,
        progress: &mut impl FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<Option<Record>, HistoryError> {
        self.steps.next(progress)?;
        match &mut self.source {
            Source::Memory(records) => Ok(records.next()),
            Source::File(file, merge) => merge.next(file),
        }
    }
}

/// A merge of runs.
#[derive(Debug)]
struct Merge {
    readers: Vec<RunReader>,
    /// The next record of each run, with the index of the run.
    next: BinaryHeap<Reverse<(Record, usize)>>,
}

impl Merge {
    fn new(
        file: &RunFile,
        runs: impl IntoIterator<Item = Range<u64>>,
        memory: usize,
    ) -> Result<Self, HistoryError> {
        let readers = runs.into_iter().map(|run| RunReader::new(run, memory)).collect();
        let mut merge = Merge { readers, next: BinaryHeap::new() };
        for run in 0..merge.readers.len() {
            merge.advance(file, run)?;
        }
        Ok(merge)
    }

    fn next(&mut self, file: &RunFile) -> Result<Option<Record>, HistoryError> {
        let Some(Reverse((record, run))) = self.next.pop() else { return Ok(None) };
        self.advance(file, run)?;
        Ok(Some(record))
    }

    fn advance(&mut self, file: &RunFile, run: usize) -> Result<(), HistoryError> {
        if let Some(reader) = self.readers.get_mut(run)
            && let Some(record) = reader.next(file)?
        {
            self.next.push(Reverse((record, run)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn records_come_out_in_order_for_any_memory(
            starts in prop::collection::vec(-20..20_i64, 0..600),
            memory in prop_oneof![0..2000_usize, Just(1 << 16)],
        ) {
            let directory = tempfile::tempdir().unwrap();
            let mut sorter = Sorter::new(directory.path().to_owned(), memory);
            let records = (0..).zip(&starts).map(|(number, start)| Record {
                start: *start,
                quark: Quark::from_index(number % 7),
                last: i64::from(number),
                raw: RawValue { kind: crate::history::block::raw_value::Kind::I64, bits: 1 << 63 },
            });
            let mut expected: Vec<_> = records.collect();
            for record in &expected {
                sorter.push(*record).unwrap();
            }
            let capacity = sorter.records.capacity() * size_of::<Record>();
            prop_assert!(capacity <= memory.max(size_of::<Record>()), "{} bytes", capacity);
            expected.sort();
            let mut last = None;
            let mut all = 0;
            let mut progress = |done, of| {
                assert!(last <= Some(done) && done <= of && (all == 0 || all == of));
                (last, all) = (Some(done), of);
                ControlFlow::Continue(())
            };
            let mut sorted = sorter.sorted(&mut progress).unwrap();
            let mut found = Vec::new();
            while let Some(record) = sorted.next(&mut progress).unwrap() {
                found.push(record);
            }
            prop_assert_eq!(last, Some(all));
            prop_assert_eq!(found, expected);
            prop_assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        }
    }
}
