//! What was changed, for those who store or show every state.

/// What was changed by the last event, and since somebody last asked for more: some
/// of it more than once, in the order of changes. Before somebody does, no more is
/// kept than the last event.
#[derive(Debug)]
pub(super) struct Journal<T> {
    kept: bool,
    changed: Vec<T>,
    /// How much of that was told already.
    told: usize,
    /// Where the last event begins.
    last: usize,
    /// Where that begins which a new entry may repeat: what is of the last event, and was
    /// not told yet.
    new: usize,
}

impl<T> Default for Journal<T> {
    fn default() -> Self {
        Journal { kept: false, changed: Vec::new(), told: 0, last: 0, new: 0 }
    }
}

impl<T: PartialEq + Copy> Journal<T> {
    /// What changes from here on, another event does.
    #[inline]
    pub(super) fn begin_event(&mut self) {
        if !self.kept {
            // Nothing but the last event was there.
            self.changed.clear();
            return;
        }
        if self.told == self.changed.len() {
            self.changed.clear();
            self.told = 0;
        }
        self.last = self.changed.len();
        self.new = self.last;
    }

    /// Something changes.
    #[inline]
    pub(super) fn note(&mut self, what: T) {
        if self.changed.last() != Some(&what) || self.changed.len() == self.new {
            self.changed.push(what);
        }
    }

    /// What the last event changed.
    #[inline]
    pub(super) fn of_event(&self) -> &[T] {
        self.changed.get(self.last..).unwrap_or_default()
    }

    /// What changed since the last call. False if that was not kept: this is the
    /// first call, and all may have changed.
    pub(super) fn read(&mut self, into: &mut Vec<T>) -> bool {
        into.clear();
        into.extend_from_slice(self.changed.get(self.told..).unwrap_or_default());
        self.told = self.changed.len();
        self.new = self.told;
        std::mem::replace(&mut self.kept, true)
    }
}
