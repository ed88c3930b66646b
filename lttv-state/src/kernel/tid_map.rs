//! An index from process ids to numbers, such as places in the table of processes, without
//! hashing.

use std::num::NonZeroU32;

use super::process::{TID_END, Tid};

const PAGE: usize = 1024;

/// A sparse array with an element for each possible process id.
#[derive(Debug, Clone, Default)]
pub(crate) struct TidMap {
    /// Pages of numbers, 0 for none. A page without processes is empty.
    pages: Vec<Box<[u32]>>,
}

impl TidMap {
    /// Returns the number of a process id.
    #[inline]
    pub(crate) fn get(&self, tid: Tid) -> Option<NonZeroU32> {
        let tid = tid as usize;
        NonZeroU32::new(*self.pages.get(tid / PAGE)?.get(tid % PAGE)?)
    }

    /// Sets the number of a process id; ids that no process can have are ignored.
    pub(crate) fn set(&mut self, tid: Tid, number: Option<NonZeroU32>) {
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
        page[tid % PAGE] = number.map_or(0, NonZeroU32::get);
    }

    /// Removes all process ids, but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.pages.iter_mut().for_each(|page| page.fill(0));
    }
}
