//! What was changed, for those who store every state.

/// What was changed since somebody last looked: some of it more than once, in
/// the order of changes. Nothing is kept before somebody looks.
#[derive(Debug)]
pub(super) struct Journal<T> {
    kept: bool,
    changed: Vec<T>,
}

impl<T> Default for Journal<T> {
    fn default() -> Self {
        Journal { kept: false, changed: Vec::new() }
    }
}

impl<T: PartialEq> Journal<T> {
    /// Something changes.
    #[inline]
    pub(super) fn note(&mut self, what: T) {
        if self.kept && self.changed.last() != Some(&what) {
            self.changed.push(what);
        }
    }

    /// What changed since the last call. False if that was not kept: this is the
    /// first call, and all may have changed.
    pub(super) fn read(&mut self, into: &mut Vec<T>) -> bool {
        into.clear();
        into.append(&mut self.changed);
        std::mem::replace(&mut self.kept, true)
    }
}
