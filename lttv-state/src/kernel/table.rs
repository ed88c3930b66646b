//! The table of processes. Consecutive checkpoints share the processes that did not change.

use std::cell::{Cell, RefCell};
use std::num::NonZeroU32;
use std::sync::Arc;

use super::journal::Journal;
use super::process::{Process, ProcessRecord, Serial, Tid};
use super::tid_map::TidMap;

/// The index of a process in the table of its trace. It is valid until the process is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct ProcessIndex(pub(super) u32);

impl ProcessIndex {
    /// Creates an index, which may be vacant.
    pub(crate) fn at(index: usize) -> ProcessIndex {
        ProcessIndex(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// Returns the place as an index into tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The processes that are known and not gone.
#[derive(Debug)]
pub(super) struct ProcessTable {
    /// All places; the first one is never alive, so that 0 can mean none.
    slots: Vec<Process>,
    free: Vec<u32>,
    by_tid: TidMap,
    next_serial: u32,
    /// The number of the current epoch. Epochs end when a checkpoint is saved or restored;
    /// processes changed in this epoch have its number.
    epoch: Cell<u32>,
    /// The processes of the last checkpoint, by place.
    last_saved: RefCell<Vec<Arc<ProcessRecord>>>,
    pub(super) journal: Journal<ProcessIndex>,
}

/// A table in a checkpoint. Processes that did not change are shared between checkpoints.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SavedTable {
    pub(super) slots: Vec<Arc<ProcessRecord>>,
    pub(super) free: Vec<u32>,
    pub(super) next_serial: u32,
}

impl Default for ProcessTable {
    fn default() -> Self {
        let mut first = ProcessRecord::unknown(None, Serial(0), i64::MIN);
        first.alive = false;
        ProcessTable {
            slots: vec![Process(first)],
            free: Vec::new(),
            by_tid: TidMap::default(),
            next_serial: 0,
            epoch: Cell::new(1),
            last_saved: RefCell::default(),
            journal: Journal::default(),
        }
    }
}

impl ProcessTable {
    /// Finds the process with an id greater than 0.
    pub(super) fn find(&self, tid: Tid) -> Option<ProcessIndex> {
        self.by_tid.get(tid).map(|place| ProcessIndex(place.get()))
    }

    /// Returns the process at an index that is valid.
    pub(super) fn get(&self, ix: ProcessIndex) -> &ProcessRecord {
        &self.process(ix).0
    }

    /// Returns the process at an index that is valid, for users of the state.
    pub(super) fn process(&self, ix: ProcessIndex) -> &Process {
        &self.slots[ix.index()]
    }

    /// Returns the process at an index that is valid, and records it as changed.
    pub(super) fn get_mut(&mut self, ix: ProcessIndex) -> &mut ProcessRecord {
        self.journal.record(ix);
        let process = &mut self.slots[ix.index()].0;
        process.epoch = self.epoch.get();
        process
    }

    /// Returns the process at an index that may be stale; `None` if it is gone.
    pub(super) fn checked(&self, ix: ProcessIndex) -> Option<&Process> {
        self.slots.get(ix.index()).filter(|process| process.0.alive)
    }

    /// Adds a process of which only the id is known. The idle process and the placeholder
    /// of a CPU are not found by their id.
    pub(super) fn add(&mut self, tid: Option<Tid>, time: i64) -> ProcessIndex {
        let serial = Serial(self.next_serial);
        self.next_serial = self.next_serial.saturating_add(1);
        let mut process = ProcessRecord::unknown(tid, serial, time);
        process.epoch = self.epoch.get();
        let ix = match self.free.pop() {
            Some(free) => {
                self.slots[free as usize] = Process(process);
                ProcessIndex(free)
            }
            None => {
                self.slots.push(Process(process));
                ProcessIndex(self.slots.len() as u32 - 1)
            }
        };
        if let Some(tid) = tid.filter(|tid| *tid > 0) {
            self.by_tid.set(tid, NonZeroU32::new(ix.0));
        }
        self.journal.record(ix);
        ix
    }

    /// Marks a process as gone and frees its place.
    pub(super) fn remove(&mut self, ix: ProcessIndex) {
        let process = self.get_mut(ix);
        if !process.alive {
            return;
        }
        process.alive = false;
        let tid = process.tid;
        if let Some(tid) = tid.filter(|tid| *tid > 0 && self.find(*tid) == Some(ix)) {
            self.by_tid.set(tid, None);
        }
        self.free.push(ix.0);
    }

    /// Changes the id of a process.
    pub(super) fn renumber(&mut self, ix: ProcessIndex, tid: Tid) {
        let old = self.get_mut(ix).tid.replace(tid);
        if let Some(old) = old.filter(|old| *old > 0) {
            self.by_tid.set(old, None);
        }
        self.by_tid.set(tid, NonZeroU32::new(ix.0));
    }

    /// Iterates over the processes that are not gone.
    pub(super) fn all(&self) -> impl Iterator<Item = (ProcessIndex, &Process)> {
        let places = (0..).map(ProcessIndex).zip(&self.slots);
        places.filter(|(_, process)| process.0.alive)
    }

    /// Returns the number of places, used or not.
    pub(super) fn places(&self) -> usize {
        self.slots.len()
    }

    /// Saves the table. Processes that did not change since the last checkpoint are shared
    /// with it.
    pub(super) fn save(&self) -> SavedTable {
        let mut last_saved = self.last_saved.borrow_mut();
        let epoch = self.epoch.get();
        for (at, Process(process)) in self.slots.iter().enumerate() {
            let saved = || Arc::new(ProcessRecord { epoch: 0, ..process.clone() });
            match last_saved.get_mut(at) {
                Some(place) if process.epoch == epoch => *place = saved(),
                Some(_) => {}
                None => last_saved.push(saved()),
            }
        }
        self.epoch.set(epoch.wrapping_add(1));
        let (free, next_serial) = (self.free.clone(), self.next_serial);
        SavedTable { slots: last_saved.clone(), free, next_serial }
    }

    /// Replaces the table by that of a checkpoint.
    pub(super) fn restore(&mut self, saved: &SavedTable) {
        self.slots.clear();
        let saved_slots = saved.slots.iter().map(|process| Process(ProcessRecord::clone(process)));
        self.slots.extend(saved_slots);
        self.free.clone_from(&saved.free);
        self.next_serial = saved.next_serial;
        self.by_tid.clear();
        for (at, Process(process)) in (0..).zip(&self.slots) {
            if let Some(tid) = process.tid.filter(|tid| process.alive && *tid > 0) {
                self.by_tid.set(tid, NonZeroU32::new(at));
            }
        }
        // Saved processes have epoch 0: none has changed since the checkpoint.
        self.epoch.set(1);
        *self.last_saved.get_mut() = saved.slots.clone();
        self.journal = Journal::default();
    }
}
