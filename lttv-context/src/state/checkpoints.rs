//! Checkpoints: saved states of all extensions, which make seeking cheaper than reading from
//! the start.

use std::sync::Arc;

use ltt_read::{Position, Timestamp};

use super::saved::Saved;
use crate::traceset::TracesetPosition;

/// Saved states of all extensions of a context, by position.
///
/// A clone shares the states and may be sent to another thread or context. If the same
/// extensions are attached there in the same order, and the traceset is the same,
/// [`set_checkpoints`](crate::ContextState::set_checkpoints) accepts the clone and the
/// context can seek with it. A pass in a background thread can thus serve a viewer.
#[derive(Debug, Clone, Default)]
pub struct Checkpoints {
    /// The checkpoints in the order of their positions.
    saved: Vec<Counted>,
    bytes: usize,
}

/// A checkpoint with the number of bytes that it occupies, without those that it shares with
/// the previous checkpoint.
#[derive(Debug, Clone)]
struct Counted {
    checkpoint: Checkpoint,
    bytes: usize,
}

/// The state of all extensions of a context at a position.
#[derive(Debug, Clone)]
#[doc(alias("snapshot"))]
pub struct Checkpoint {
    position: TracesetPosition,
    states: Arc<[Saved]>,
}

impl Checkpoint {
    pub(crate) fn new(position: TracesetPosition, states: Vec<Saved>) -> Self {
        Checkpoint { position, states: states.into() }
    }

    /// Returns the states of the extensions and data, by their index in the context.
    pub(crate) fn states(&self) -> &[Saved] {
        &self.states
    }

    /// Returns the position at which the state was saved.
    pub fn position(&self) -> &TracesetPosition {
        &self.position
    }

    /// Returns the number of bytes of memory that the checkpoint occupies, without those that it
    /// shares with `before`.
    fn bytes(&self, before: Option<&Checkpoint>) -> usize {
        /// The reference counts before the content of an [`Arc`].
        const COUNTERS: usize = 2 * size_of::<usize>();
        let positions = COUNTERS
            + self
                .position
                .order()
                .tracefiles()
                .map_or(0, |places| size_of_val::<[Position]>(places));
        let places = COUNTERS + size_of_val::<[Saved]>(&self.states);
        let states = self.states.iter().enumerate().map(|(at, state)| {
            COUNTERS + state.bytes(before.and_then(|before| before.states.get(at)))
        });
        size_of::<Counted>() + positions + places + states.sum::<usize>()
    }
}

impl Checkpoints {
    /// Returns the number of checkpoints.
    pub fn len(&self) -> usize {
        self.saved.len()
    }

    /// Returns `true` if there are no checkpoints.
    pub fn is_empty(&self) -> bool {
        self.saved.is_empty()
    }

    /// Returns the number of bytes of memory that the checkpoints occupy. Parts shared by
    /// neighbours count once. The size of each state is that reported by
    /// [`Extension::checkpoint_bytes`](crate::Extension::checkpoint_bytes).
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Iterates over the positions of the checkpoints, in order.
    pub fn positions(&self) -> impl ExactSizeIterator<Item = &TracesetPosition> {
        self.iter().map(|checkpoint| &checkpoint.position)
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Checkpoint> {
        self.saved.iter().map(|saved| &saved.checkpoint)
    }

    /// Adds the checkpoints of another context, except at positions that already have one. No
    /// memory limit applies.
    pub fn merge(&mut self, others: &Checkpoints) {
        for checkpoint in others.iter() {
            self.insert(checkpoint.clone());
        }
    }

    /// Adds a checkpoint unless there is one at its position. Returns the ordinal number of the
    /// checkpoint at that position, from 1.
    pub(crate) fn insert(&mut self, checkpoint: Checkpoint) -> usize {
        let before = |saved: &Counted| saved.checkpoint.position < checkpoint.position;
        let at = self.saved.partition_point(before);
        let next = self.saved.get(at).map(|saved| &saved.checkpoint.position);
        if next != Some(&checkpoint.position) {
            self.saved.insert(at, Counted { checkpoint, bytes: 0 });
            self.count(at);
            // The next checkpoint may share more with the new one.
            self.count(at + 1);
        }
        at + 1
    }

    /// Removes the checkpoints for which `keep` returns `false`.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&Checkpoint) -> bool) {
        let before = self.saved.len();
        self.saved.retain(|saved| keep(&saved.checkpoint));
        if self.saved.len() < before {
            self.count_all();
        }
    }

    /// Removes every other checkpoint, starting with the first, until the remaining ones occupy at
    /// most `memory` bytes. Returns how often this was done.
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

    /// Computes the bytes of a checkpoint again, without those shared with the previous one.
    fn count(&mut self, at: usize) {
        let Some((saved, before)) = self.saved.get_mut(..=at).and_then(|to| to.split_last_mut())
        else {
            return;
        };
        let bytes = saved.checkpoint.bytes(before.last().map(|before| &before.checkpoint));
        self.bytes = self.bytes.saturating_sub(saved.bytes).saturating_add(bytes);
        saved.bytes = bytes;
    }

    /// Finds the last checkpoint whose next event is before `time`. A checkpoint at exactly `time`
    /// does not count, since events of the same time may precede it.
    pub fn nearest(&self, time: Timestamp) -> Option<&Checkpoint> {
        let before = |saved: &Counted| saved.checkpoint.position.time().is_some_and(|at| at < time);
        self.last_before(self.saved.partition_point(before))
    }

    /// Finds the last checkpoint that is not after `position`.
    pub fn nearest_position(&self, position: &TracesetPosition) -> Option<&Checkpoint> {
        let before = |saved: &Counted| saved.checkpoint.position <= *position;
        self.last_before(self.saved.partition_point(before))
    }

    fn last_before(&self, index: usize) -> Option<&Checkpoint> {
        Some(&self.saved.get(index.checked_sub(1)?)?.checkpoint)
    }
}
