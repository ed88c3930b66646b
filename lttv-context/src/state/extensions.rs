//! The extensions and data attached to a context.

use std::ops::{Index, IndexMut};
#[cfg(feature = "checkpoint-files")]
use std::sync::Arc;

use ltt_read::Timestamp;

#[cfg(feature = "checkpoint-files")]
use super::cell::AnyCodec;
use super::cell::{AnyExtension, Cell};
use super::handle::{Handle, Numbers};
use super::mismatch::CheckpointMismatch;
#[cfg(feature = "checkpoint-files")]
use super::saved::NoState;
use super::saved::Saved;

/// The extensions and data attached to a context.
///
/// Indexing with a [`Handle`] of another context panics. [`get`](Self::get) does not panic.
#[derive(Debug)]
pub struct Extensions {
    cells: Vec<Cell>,
    numbers: Numbers,
}

impl Extensions {
    pub(crate) fn new() -> Self {
        Extensions { cells: Vec::new(), numbers: Numbers::unique() }
    }

    /// Returns the extension or data of a handle. Returns `None` if the handle belongs to another
    /// context.
    #[inline]
    pub fn get<T: 'static>(&self, handle: Handle<T>) -> Option<&T> {
        self.cells.get(self.numbers.index(handle))?.value()
    }

    /// Returns the extension or data of a handle mutably. Returns `None` if the handle belongs to
    /// another context.
    #[inline]
    pub fn get_mut<T: 'static>(&mut self, handle: Handle<T>) -> Option<&mut T> {
        self.cells.get_mut(self.numbers.index(handle))?.value_mut()
    }

    /// Returns two extensions or data mutably at the same time. Returns `None` if they are the
    /// same, or if [`get_mut`](Self::get_mut) returns `None` for one of the handles.
    #[inline]
    pub fn get_pair_mut<T: 'static, U: 'static>(
        &mut self,
        first: Handle<T>,
        second: Handle<U>,
    ) -> Option<(&mut T, &mut U)> {
        // This is called for each event, and cheaper than `get_disjoint_mut`.
        let (first, second) = (self.numbers.index(first), self.numbers.index(second));
        let (first, second) = if first < second {
            let (before, from) = self.cells.split_at_mut_checked(second)?;
            (before.get_mut(first)?, from.first_mut()?)
        } else if first > second {
            let (before, from) = self.cells.split_at_mut_checked(first)?;
            (from.first_mut()?, before.get_mut(second)?)
        } else {
            return None;
        };
        Some((first.value_mut()?, second.value_mut()?))
    }

    /// Finds the first extension or data of a type and returns its handle.
    pub fn find<T: 'static>(&self) -> Option<Handle<T>> {
        let found = self.cells.iter().position(|cell| cell.value::<T>().is_some());
        found.map(|index| self.numbers.handle(index))
    }

    /// Returns `true` if at least one extension is attached, and not only plain data.
    pub fn keep_state(&self) -> bool {
        self.cells.iter().any(|cell| cell.extension().is_some())
    }

    /// Returns the number of extensions and data.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns `true` if neither extensions nor data are attached.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    pub(crate) fn add_data<T: 'static>(&mut self, value: T) -> Handle<T> {
        self.push(Cell::of_data(value))
    }

    pub(crate) fn push<T>(&mut self, cell: Cell) -> Handle<T> {
        self.cells.push(cell);
        self.numbers.handle(self.cells.len() - 1)
    }

    /// Iterates over the extensions: index, type name, and codec if there is one.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn codecs(&self) -> impl Iterator<Item = (usize, &'static str, Option<AnyCodec>)> {
        let cells = self.cells.iter().enumerate();
        let extensions = cells.filter_map(|(at, cell)| Some((at, cell.extension()?)));
        extensions.map(|(at, extension)| (at, extension.type_name(), extension.codec()))
    }

    /// Decodes the state of the extension at index `at` with its codec.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn read_state(
        &self,
        at: usize,
        codec: &AnyCodec,
        bytes: &[u8],
        before: Option<&Saved>,
    ) -> Option<Saved> {
        (codec.read)(self.cells.get(at)?.extension()?, bytes, before)
    }

    /// Creates a list of states that contains a placeholder for each extension or data.
    #[cfg(feature = "checkpoint-files")]
    pub(crate) fn no_states(&self) -> Vec<Saved> {
        let nothing: Saved = Arc::new(NoState);
        vec![nothing; self.cells.len()]
    }

    pub(crate) fn reset(&mut self) {
        self.cells.iter_mut().filter_map(Cell::extension_mut).for_each(AnyExtension::reset);
    }

    pub(crate) fn reach(&mut self, time: Timestamp) {
        self.cells.iter_mut().filter_map(Cell::extension_mut).for_each(|of| of.reach(time));
    }

    pub(crate) fn save(&self) -> Vec<Saved> {
        self.cells.iter().map(Cell::save).collect()
    }

    /// Checks that saved states fit the attached extensions, index by index. Placeholders for plain data
    /// fit any plain data, and are optional at the end.
    ///
    /// # Errors
    ///
    /// Returns [`CheckpointMismatch::Extension`] for the first index where a state does not fit.
    pub(crate) fn check(&self, saved: &[Saved]) -> Result<(), CheckpointMismatch> {
        for place in 0..self.cells.len().max(saved.len()) {
            let (cell, state) = (self.cells.get(place), saved.get(place));
            let extension = cell.and_then(Cell::extension);
            let attached = extension.map(AnyExtension::identity);
            let found = state.and_then(|state| state.identity());
            // Different types may have the same name.
            let both = extension.zip(state);
            if found != attached || both.is_some_and(|(of, state)| !of.matches(state)) {
                return Err(CheckpointMismatch::Extension { place, found, attached });
            }
        }
        Ok(())
    }

    /// Returns the type names of the extensions whose state depends on earlier events.
    pub(crate) fn needing_earlier_state(&self) -> Vec<&'static str> {
        let extensions = self.cells.iter().filter_map(Cell::extension);
        let needing = extensions.filter(|extension| extension.needs_earlier_state());
        needing.map(AnyExtension::type_name).collect()
    }

    pub(crate) fn restore(&mut self, saved: &[Saved]) {
        for (cell, saved) in self.cells.iter_mut().zip(saved) {
            if let Some(extension) = cell.extension_mut() {
                extension.restore(saved);
            }
        }
    }
}

impl<T: 'static> Index<Handle<T>> for Extensions {
    type Output = T;

    #[inline]
    fn index(&self, handle: Handle<T>) -> &T {
        self.get(handle).expect("the handle belongs to another context")
    }
}

impl<T: 'static> IndexMut<Handle<T>> for Extensions {
    #[inline]
    fn index_mut(&mut self, handle: Handle<T>) -> &mut T {
        self.get_mut(handle).expect("the handle belongs to another context")
    }
}
