//! A record of changes, for consumers that store or display every state.

/// The items changed by the last event and since the last [`read`](Journal::read), in the
/// order of changes and possibly with duplicates. Before the first read, only the changes
/// of the last event are kept.
#[derive(Debug)]
pub(super) struct Journal<T> {
    /// True if changes are kept until the next read.
    recording: bool,
    changes: Vec<T>,
    /// The number of changes that were read already.
    reported: usize,
    /// The index of the first change of the last event.
    last: usize,
    /// The index from which on an entry must not be repeated: the start of the last event's
    /// changes that were not read yet.
    new: usize,
}

impl<T> Default for Journal<T> {
    fn default() -> Self {
        Journal { recording: false, changes: Vec::new(), reported: 0, last: 0, new: 0 }
    }
}

impl<T: PartialEq + Copy> Journal<T> {
    /// Starts an event: further changes belong to it.
    #[inline]
    pub(super) fn begin_event(&mut self) {
        if !self.recording {
            // Only changes of the last event were kept.
            self.changes.clear();
            return;
        }
        if self.reported == self.changes.len() {
            self.changes.clear();
            self.reported = 0;
        }
        self.last = self.changes.len();
        self.new = self.last;
    }

    /// Records a change, unless it repeats the last entry.
    #[inline]
    pub(super) fn record(&mut self, item: T) {
        if self.changes.last() != Some(&item) || self.changes.len() == self.new {
            self.changes.push(item);
        }
    }

    /// Returns the changes of the last event.
    #[inline]
    pub(super) fn last_event(&self) -> &[T] {
        self.changes.get(self.last..).unwrap_or_default()
    }

    /// Reads the changes since the previous call. Returns `false` if they were not kept,
    /// because this is the first call: everything may have changed.
    pub(super) fn read(&mut self, into: &mut Vec<T>) -> bool {
        into.clear();
        into.extend_from_slice(self.changes.get(self.reported..).unwrap_or_default());
        self.reported = self.changes.len();
        self.new = self.reported;
        std::mem::replace(&mut self.recording, true)
    }
}
