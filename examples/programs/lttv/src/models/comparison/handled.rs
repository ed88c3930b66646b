//! Occurrences and their time.

/// A number of occurrences, and their total time in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Handled {
    pub(crate) count: u64,
    pub(crate) time: u64,
}

impl Handled {
    pub(crate) fn add(&mut self, count: u64, time: u64) {
        self.count += count;
        self.time = self.time.wrapping_add(time);
    }
}
