//! An index from process ids to places in the table of processes, without hashing.

use super::process::{TID_END, Tid};
use super::table::ProcessIndex;

const PAGE: usize = 1024;

/// A sparse array with an element for each possible process id.
#[derive(Debug, Default)]
pub(super) struct TidMap {
    /// Pages of places, 0 for none. A page without processes is empty.
    pages: Vec<Box<[u32]>>,
}

impl TidMap {
    /// Returns the place of a process id.
    pub(super) fn get(&self, tid: Tid) -> Option<ProcessIndex> {
        let tid = tid as usize;
        let found = *self.pages.get(tid / PAGE)?.get(tid % PAGE)?;
        (found != 0).then_some(ProcessIndex(found))
    }

    /// Sets the place of a process id greater than 0.
    pub(super) fn set(&mut self, tid: Tid, ix: Option<ProcessIndex>) {
        if !(0..TID_END).contains(&tid) {
            return;
        }
        let tid = tid as usize;
        if self.pages.len() <= tid / PAGE {
            self.pages.resize_with(tid / PAGE + 1, Box::default);
        }
        let page = &mut self.pages[tid / PAGE];
        if page.is_empty() {
            *page = vec![0; PAGE].into();
        }
        page[tid % PAGE] = ix.map_or(0, |ix| ix.0);
    }

    /// Removes all process ids, but keeps the memory.
    pub(super) fn clear(&mut self) {
        self.pages.iter_mut().for_each(|page| page.fill(0));
    }
}
