//! Names in checkpoints. There are only ever more of them, so that each checkpoint
//! shares what the one before it has.

use std::sync::Arc;

use super::names::Names;

/// Names in a part of them that is shared as a whole.
const PART: usize = 64;

/// The names of a trace, saved.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct SavedNames {
    /// All but the last are full.
    parts: Vec<Arc<[Arc<str>]>>,
}

impl SavedNames {
    pub(super) fn len(&self) -> usize {
        match self.parts.split_last() {
            Some((last, full)) => full.len() * PART + last.len(),
            None => 0,
        }
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &Arc<str>> + Clone {
        self.parts.iter().flat_map(|part| &**part)
    }

    /// Those that are not among the first of a number.
    #[cfg(feature = "checkpoint-files")]
    pub(super) fn texts_from(&self, first: usize) -> impl Iterator<Item = &Arc<str>> {
        let parts = self.parts.get(first / PART..).unwrap_or_default();
        parts.iter().flat_map(|part| &**part).skip(first % PART)
    }

    /// Takes over what names have been added since these were saved.
    pub(super) fn follow(&mut self, names: &Names) {
        if self.len() < names.len() {
            self.complete(&names.texts);
        }
    }

    /// As [`follow`](Self::follow), with the names that have been added.
    #[cfg(feature = "checkpoint-files")]
    pub(super) fn add<'t>(&mut self, added: impl Iterator<Item = &'t str>) {
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

    fn complete(&mut self, texts: &[Arc<str>]) {
        self.parts.truncate(self.len() / PART);
        let rest = texts.get(self.parts.len() * PART..).unwrap_or_default();
        self.parts.extend(rest.chunks(PART).map(Arc::from));
    }

    /// Whether these are the very names.
    pub(super) fn are(&self, names: &Names) -> bool {
        self.len() == names.len()
            && self.texts().zip(&names.texts).all(|(saved, name)| Arc::ptr_eq(saved, name))
    }

    /// Bytes on the heap, but for what it shares with the names before it.
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

/// Of a part and its texts, but for those that are in the same part before it.
fn part_bytes(part: &[Arc<str>], before: &[Arc<str>]) -> usize {
    let texts = part.iter().enumerate().map(|(at, text)| match before.get(at) {
        Some(before) if Arc::ptr_eq(text, before) => 0,
        _ => COUNTERS + text.len(),
    });
    COUNTERS + size_of_val(part) + texts.sum::<usize>()
}

/// Before the content of an [`Arc`].
pub(super) const COUNTERS: usize = 2 * size_of::<usize>();
