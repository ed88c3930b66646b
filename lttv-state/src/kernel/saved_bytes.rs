//! The memory use of checkpoints.

use std::sync::Arc;

use super::extension::SavedKernelState;
use super::machine::SavedState;
use super::process::ProcessRecord;
use super::saved_names::ARC_COUNTERS;
use super::table::SavedTable;

impl SavedKernelState {
    /// Returns the memory used by the checkpoint in bytes, excluding parts shared with
    /// `before`.
    pub(super) fn bytes(&self, before: Option<&SavedKernelState>) -> usize {
        let traces = self.traces.iter().enumerate().map(|(at, trace)| {
            size_of::<SavedState>() + trace.bytes(before.and_then(|before| before.traces.get(at)))
        });
        size_of::<Self>() + ARC_COUNTERS + size_of_val(&*self.packets) + traces.sum::<usize>()
    }
}

impl SavedState {
    fn bytes(&self, before: Option<&SavedState>) -> usize {
        let sources: usize = self.sources.iter().map(heap_of).sum();
        // A hash table with this capacity has one control byte per place and is at most 7/8
        // full.
        let file_tables = self.file_tables.capacity() * 8 / 7 * (size_of::<(u64, u32)>() + 1);
        self.names.bytes(before.map(|before| &before.names))
            + self.processes.bytes(before.map(|before| &before.processes))
            + heap_of(&self.cpus)
            + heap_of(&self.frequencies)
            + sources
            + heap_of(&self.devices)
            + file_tables
            + shared(&self.probes, before.map(|before| &before.probes))
            + shared(&self.syscalls, before.map(|before| &before.syscalls))
    }
}

impl SavedTable {
    fn bytes(&self, before: Option<&SavedTable>) -> usize {
        let slots = self.slots.iter().enumerate().map(|(at, process)| {
            match before.and_then(|before| before.slots.get(at)) {
                Some(before) if Arc::ptr_eq(process, before) => 0,
                before => {
                    let counters = ARC_COUNTERS.next_multiple_of(align_of::<ProcessRecord>());
                    counters + process.bytes(before.map(|before| &**before))
                }
            }
        });
        heap_of(&self.slots) + heap_of(&self.free) + slots.sum::<usize>()
    }
}

impl ProcessRecord {
    fn bytes(&self, before: Option<&ProcessRecord>) -> usize {
        let stack = match self.stack.spilled() {
            true => self.stack.capacity() * size_of_val(self.top()),
            false => 0,
        };
        let files = shared(&self.files, before.map(|before| &before.files));
        size_of::<ProcessRecord>() + stack + heap_of(&self.functions) + files
    }
}

/// Returns the size of a vector's allocation in bytes, excluding data that its elements
/// point to.
fn heap_of<T>(vector: &Vec<T>) -> usize {
    vector.capacity() * size_of::<T>()
}

/// Returns the size of a vector in bytes; 0 if `before` is the same allocation.
fn shared<T>(vector: &Arc<Vec<T>>, before: Option<&Arc<Vec<T>>>) -> usize {
    match before {
        Some(before) if Arc::ptr_eq(vector, before) => 0,
        _ => ARC_COUNTERS + size_of::<Vec<T>>() + heap_of(vector),
    }
}
