//! Checkpoints: the state of all extensions at some positions, so that seeking
//! need not read everything again.

use std::fmt;
use std::sync::Arc;

use ltt_read::Timestamp;

use crate::extension::Saved;
use crate::position::TracesetPosition;

/// Saved states of all extensions of a context, by position.
///
/// A clone shares them, and may go to another thread or context: if the same
/// extensions are attached there in the same order, and to the same traceset, it
/// seeks by them too. So one pass in the background can serve a viewer.
#[derive(Debug, Clone, Default)]
pub struct Checkpoints {
    /// In the order of their positions.
    saved: Vec<Checkpoint>,
}

/// The state of all extensions of a context at a position.
#[derive(Clone)]
pub struct Checkpoint {
    pub(crate) position: TracesetPosition,
    pub(crate) states: Arc<[Saved]>,
}

impl Checkpoint {
    /// Where it is the state.
    pub fn position(&self) -> &TracesetPosition {
        &self.position
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

    /// Their positions, in order.
    pub fn positions(&self) -> impl ExactSizeIterator<Item = &TracesetPosition> {
        self.saved.iter().map(|checkpoint| &checkpoint.position)
    }

    /// Adds those of another context, but where there is one already. No bound on
    /// their number is kept to.
    pub fn merge(&mut self, others: &Checkpoints) {
        others.saved.iter().for_each(|checkpoint| self.insert(checkpoint.clone()));
    }

    /// Adds one, unless there is one at its position.
    pub(crate) fn insert(&mut self, checkpoint: Checkpoint) {
        let at = self.saved.partition_point(|saved| saved.position < checkpoint.position);
        if self.saved.get(at).is_none_or(|saved| saved.position != checkpoint.position) {
            self.saved.insert(at, checkpoint);
        }
    }

    /// Drops those for which it is false.
    pub(crate) fn retain(&mut self, keep: impl FnMut(&Checkpoint) -> bool) {
        self.saved.retain(keep);
    }

    /// Drops every other one.
    pub(crate) fn thin_out(&mut self) {
        let mut keep = false;
        self.saved.retain(|_| {
            keep = !keep;
            keep
        });
    }

    /// The last whose next event is before a time. (One at that time may have
    /// others of the same time behind it.)
    pub fn nearest(&self, time: Timestamp) -> Option<&Checkpoint> {
        let before = |saved: &Checkpoint| saved.position.time().is_some_and(|at| at < time);
        self.last_before(self.saved.partition_point(before))
    }

    /// The last that is not behind a position.
    pub fn nearest_position(&self, position: &TracesetPosition) -> Option<&Checkpoint> {
        self.last_before(self.saved.partition_point(|saved| saved.position <= *position))
    }

    fn last_before(&self, index: usize) -> Option<&Checkpoint> {
        self.saved.get(index.checked_sub(1)?)
    }
}

impl fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Checkpoint").field(&self.position).finish()
    }
}
