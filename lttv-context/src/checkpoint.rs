//! Checkpoints: the state of all extensions at some positions, so that seeking
//! need not read everything again.

use std::fmt;
use std::sync::Arc;

use ltt_read::{Position, Timestamp};

use crate::extension::{Identity, Saved};
use crate::position::{StalePosition, TracesetPosition};

/// Saved states of all extensions of a context, by position.
///
/// A clone shares them, and may go to another thread or context: if the same
/// extensions are attached there in the same order, and to the same traceset, it
/// seeks by them too. So one pass in the background can serve a viewer.
/// [`set_checkpoints`](crate::TracesetContext::set_checkpoints) refuses any others.
#[derive(Debug, Clone, Default)]
pub struct Checkpoints {
    /// In the order of their positions.
    saved: Vec<Counted>,
    bytes: usize,
}

/// A checkpoint with the bytes that it keeps, but for what it shares with the one
/// before it.
#[derive(Debug, Clone)]
struct Counted {
    checkpoint: Checkpoint,
    bytes: usize,
}

/// The state of all extensions of a context at a position.
#[derive(Clone)]
pub struct Checkpoint {
    pub(crate) position: TracesetPosition,
    pub(crate) states: Arc<[Saved]>,
}

/// A checkpoint is not one of a context: of its traceset, or of what is attached to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointMismatch {
    /// It is of another traceset, or of this one before a change.
    #[error(transparent)]
    Stale(#[from] StalePosition),
    /// It has the state of another extension than the one that is attached, of another
    /// version of it, or one with other options.
    #[error(
        "the checkpoint has the state of {} at place {place}, attached there is {}",
        name(*found),
        name(*attached)
    )]
    Extension {
        /// Number of the extension among all that is attached, from 0.
        place: usize,
        /// What the checkpoint has there; `None` if no extension's state.
        found: Option<Identity>,
        /// What is attached there; `None` if no extension.
        attached: Option<Identity>,
    },
}

fn name(extension: Option<Identity>) -> String {
    extension.map_or_else(|| "no extension".to_owned(), |identity| identity.to_string())
}

impl Checkpoint {
    /// Where it is the state.
    pub fn position(&self) -> &TracesetPosition {
        &self.position
    }

    /// Bytes of memory that it keeps, but for what it shares with another.
    fn bytes(&self, before: Option<&Checkpoint>) -> usize {
        /// Before the content of an [`Arc`].
        const COUNTERS: usize = 2 * size_of::<usize>();
        let positions = COUNTERS + size_of_val::<[Position]>(self.position.tracefiles());
        let places = COUNTERS + size_of_val::<[Saved]>(&self.states);
        let states = self.states.iter().enumerate().map(|(at, state)| {
            COUNTERS + state.bytes(before.and_then(|before| before.states.get(at)))
        });
        size_of::<Counted>() + positions + places + states.sum::<usize>()
    }
}

impl Checkpoints {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.saved.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.saved.is_empty()
    }

    /// How many bytes of memory they keep: what neighbours share is counted once.
    /// (As far as extensions tell: see
    /// [`Extension::checkpoint_bytes`](crate::Extension::checkpoint_bytes).)
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Their positions, in order.
    pub fn positions(&self) -> impl ExactSizeIterator<Item = &TracesetPosition> {
        self.iter().map(|checkpoint| &checkpoint.position)
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Checkpoint> {
        self.saved.iter().map(|saved| &saved.checkpoint)
    }

    /// Adds those of another context, but where there is one already. No bound on
    /// their memory is kept to.
    pub fn merge(&mut self, others: &Checkpoints) {
        for checkpoint in others.iter() {
            self.insert(checkpoint.clone());
        }
    }

    /// Adds one, unless there is one at its position. Gives its number, from 1 on.
    pub(crate) fn insert(&mut self, checkpoint: Checkpoint) -> usize {
        let before = |saved: &Counted| saved.checkpoint.position < checkpoint.position;
        let at = self.saved.partition_point(before);
        let next = self.saved.get(at).map(|saved| &saved.checkpoint.position);
        if next != Some(&checkpoint.position) {
            self.saved.insert(at, Counted { checkpoint, bytes: 0 });
            self.count(at);
            // What the one behind it has new, is less now.
            self.count(at + 1);
        }
        at + 1
    }

    /// Drops those for which it is false.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&Checkpoint) -> bool) {
        let before = self.saved.len();
        self.saved.retain(|saved| keep(&saved.checkpoint));
        if self.saved.len() < before {
            self.count_all();
        }
    }

    /// Drops every other one, the first and so on, until they take no more memory
    /// than that. Gives how many times that had to be done.
    pub(crate) fn fit(&mut self, memory: usize) -> u32 {
        let mut times = 0;
        while self.bytes > memory && !self.is_empty() {
            let mut keep = true;
            self.retain(|_| {
                keep = !keep;
                keep
            });
            times += 1;
        }
        times
    }

    fn count_all(&mut self) {
        for at in 0..self.saved.len() {
            self.count(at);
        }
        self.bytes = self.saved.iter().map(|saved| saved.bytes).sum();
    }

    /// Counts anew what one has that the one before it has not.
    fn count(&mut self, at: usize) {
        let Some((saved, before)) = self.saved.get_mut(..=at).and_then(|to| to.split_last_mut())
        else {
            return;
        };
        let bytes = saved.checkpoint.bytes(before.last().map(|before| &before.checkpoint));
        self.bytes = self.bytes.saturating_sub(saved.bytes).saturating_add(bytes);
        saved.bytes = bytes;
    }

    /// The last whose next event is before a time. (One at that time may have
    /// others of the same time behind it.)
    pub fn nearest(&self, time: Timestamp) -> Option<&Checkpoint> {
        let before = |saved: &Counted| saved.checkpoint.position.time().is_some_and(|at| at < time);
        self.last_before(self.saved.partition_point(before))
    }

    /// The last that is not behind a position.
    pub fn nearest_position(&self, position: &TracesetPosition) -> Option<&Checkpoint> {
        let before = |saved: &Counted| saved.checkpoint.position <= *position;
        self.last_before(self.saved.partition_point(before))
    }

    fn last_before(&self, index: usize) -> Option<&Checkpoint> {
        Some(&self.saved.get(index.checked_sub(1)?)?.checkpoint)
    }
}

impl fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Checkpoint").field(&self.position).finish()
    }
}
