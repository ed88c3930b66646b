//! Names in checkpoints. Names are only ever added, so that each checkpoint shares the
//! names of the previous one.

use std::sync::Arc;

use super::names::Names;

/// The number of names in a part, the unit of sharing.
const PART: usize = 64;

/// The names of a trace in a checkpoint.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SavedNames {
    /// The parts; all except the last one are full.
    parts: Vec<Arc<[Arc<str>]>>,
}

impl SavedNames {
    /// Returns the number of names.
    pub(super) fn len(&self) -> usize {
        match self.parts.split_last() {
            Some((last, full)) => full.len() * PART + last.len(),
            None => 0,
        }
    }

    /// Iterates over all names.
    pub(super) fn texts(&self) -> impl Iterator<Item = &Arc<str>> + Clone {
        self.parts.iter().flat_map(|part| &**part)
    }

    /// Iterates over the names from the index `first` on.
    #[cfg(feature = "checkpoint-files")]
    pub(super) fn texts_from(&self, first: usize) -> impl Iterator<Item = &Arc<str>> {
        let parts = self.parts.get(first / PART..).unwrap_or_default();
        parts.iter().flat_map(|part| &**part).skip(first % PART)
    }

    /// Appends the names that were added to `names` since these were saved.
    pub(super) fn update(&mut self, names: &Names) {
        if self.len() < names.len() {
            self.rebuild_end(&names.texts);
        }
    }

    /// Appends names.
    #[cfg(feature = "checkpoint-files")]
    pub(super) fn append<'t>(&mut self, added: impl Iterator<Item = &'t str>) {
        let full = self.len() / PART * PART;
        let mut last: Vec<Arc<str>> = self.texts_from(full).cloned().collect();
        let known = last.len();
        last.extend(added.map(Arc::from));
        if last.len() == known {
            return;
        }
        self.parts.truncate(full / PART);
        self.parts.extend(last.chunks(PART).map(Arc::from));
    }

    /// Replaces the last part, if it is not full, and adds the names after it.
    fn rebuild_end(&mut self, texts: &[Arc<str>]) {
        self.parts.truncate(self.len() / PART);
        let rest = texts.get(self.parts.len() * PART..).unwrap_or_default();
        self.parts.extend(rest.chunks(PART).map(Arc::from));
    }

    /// Returns `true` if the texts are shared with `names`, all of them and in the same
    /// order.
    pub(super) fn is_identical_to(&self, names: &Names) -> bool {
        self.len() == names.len()
            && self.texts().zip(&names.texts).all(|(saved, name)| Arc::ptr_eq(saved, name))
    }

    /// Returns the memory use on the heap in bytes, excluding parts shared with `before`.
    pub(super) fn bytes(&self, before: Option<&SavedNames>) -> usize {
        let places = self.parts.capacity() * size_of::<Arc<[Arc<str>]>>();
        let parts = self.parts.iter().enumerate().map(|(at, part)| {
            match before.and_then(|before| before.parts.get(at)) {
                Some(before) if Arc::ptr_eq(part, before) => 0,
                before => part_bytes(part, before.map_or(&[], |before| before)),
            }
        });
        places + parts.sum::<usize>()
    }
}

/// Returns the size of a part and its texts in bytes, without texts shared with `before`.
fn part_bytes(part: &[Arc<str>], before: &[Arc<str>]) -> usize {
    let texts = part.iter().enumerate().map(|(at, text)| match before.get(at) {
        Some(before) if Arc::ptr_eq(text, before) => 0,
        _ => ARC_COUNTERS + text.len(),
    });
    ARC_COUNTERS + size_of_val(part) + texts.sum::<usize>()
}

/// The size in bytes of the counters that precede the content of an [`Arc`].
pub(super) const ARC_COUNTERS: usize = 2 * size_of::<usize>();
