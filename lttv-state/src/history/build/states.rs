//! The attributes of a history that is being built, their present states and their texts.

use super::current_state::CurrentState;
use super::reorder::Action;
use crate::history::Interval;
use crate::history::block::BlockHead;
use crate::history::block::raw_value::{Kind, RawInterval, RawValue, TextPool};
use crate::history::error::HistoryError;
use crate::history::query::history::History;
use crate::tree::{Quark, Tree};
use crate::value::StateValue;

/// The greatest depth of a stack.
const STACK_LIMIT: u32 = 100_000;

/// The size of new texts, in bytes, above which a block is written even if it has few
/// intervals.
const TEXT_BYTES_PER_BLOCK: usize = 16 << 20;

/// A text in the pool of a [`Builder`](super::builder::Builder), which can be set without a
/// lookup: see [`Builder::text`](super::builder::Builder::text).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text(pub(super) u64);

pub(super) type Observer = Box<dyn FnMut(&Interval<'_>) + Send>;

/// The attributes, their present states, and their texts.
pub(super) struct States {
    tree: Tree,
    current: CurrentState,
    pool: TextPool,
    /// The states that are already in blocks.
    stored: Stored,
    observer: Option<Observer>,
}

/// The number of attributes and texts in blocks.
#[derive(Debug, Default)]
struct Stored {
    quarks: usize,
    texts: usize,
    text_bytes: usize,
}

impl std::fmt::Debug for States {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("States").field("attributes", &self.tree.len()).finish_non_exhaustive()
    }
}

impl States {
    /// Creates the states of a history from its start, in ns, and the number of intervals
    /// in a block, if it is fixed.
    pub(super) fn new(start: i64, block_intervals: Option<u32>) -> States {
        States {
            tree: Tree::new(),
            current: CurrentState::new(start, block_intervals),
            pool: TextPool::default(),
            stored: Stored::default(),
            observer: None,
        }
    }

    /// Restores the states at the end of a history that is resumed.
    pub(super) fn restore(&mut self, history: &History) -> Result<(), HistoryError> {
        self.tree = history.tree().clone();
        self.current.grow(self.tree.len());
        history.for_each_text(|text| self.pool.intern(text))?;
        for quark in self.tree.quarks() {
            let (start, raw) = history.last_raw(quark)?;
            self.current.restore(quark, start, raw);
        }
        self.all_written();
        Ok(())
    }

    /// Takes over the attributes and texts of other states, whose values are ignored. These
    /// states must be new.
    pub(super) fn take_names(&mut self, other: States) {
        (self.tree, self.pool) = (other.tree, other.pool);
        self.current.grow(self.tree.len());
    }

    /// Returns the attributes that have a value or are above one that has.
    pub(super) fn tree_now(&self) -> Tree {
        let has_value = self.current.entries(0).map(|entry| entry.raw != RawValue::NULL);
        self.tree.restricted_to(has_value.collect())
    }

    /// Returns the start, in ns, and the value of the present state of an attribute.
    pub(super) fn get(&self, quark: Quark) -> Option<(i64, RawValue)> {
        self.current.get(quark)
    }

    pub(super) fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// Passes the last interval of each attribute to the observer.
    pub(super) fn observe_last(&mut self, end: i64) {
        if let Some(observer) = &mut self.observer {
            for entry in self.current.entries(end) {
                observer(&interval(&self.pool, entry));
            }
        }
    }

    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the texts so far.
    #[cfg(feature = "kernel")]
    pub(super) fn pool(&self) -> &TextPool {
        &self.pool
    }

    pub(super) fn add(&mut self, base: Quark, path: &str) -> Result<Quark, HistoryError> {
        let added = self.tree.add(base, path);
        self.current.grow(self.tree.len());
        Ok(added?)
    }

    pub(super) fn add_child(&mut self, parent: Quark, name: &str) -> Result<Quark, HistoryError> {
        let added = self.tree.add_child(parent, name);
        self.current.grow(self.tree.len());
        Ok(added?)
    }

    /// Encodes a value, and adds it to the pool if it is a text or a blob.
    #[inline]
    pub(super) fn encode(&mut self, value: StateValue<'_>) -> Result<RawValue, HistoryError> {
        // An error that is created in vain costs a call.
        match self.pool.encode(value) {
            Some(raw) => Ok(raw),
            None => Err(HistoryError::TooManyTexts),
        }
    }

    pub(super) fn text(&mut self, text: &str) -> Result<Text, HistoryError> {
        self.pool.intern(text.as_bytes()).map(Text).ok_or(HistoryError::TooManyTexts)
    }

    #[inline]
    pub(super) fn encode_text(&self, text: Text) -> Result<RawValue, HistoryError> {
        if text.0 >= self.pool.len() as u64 {
            return Err(HistoryError::UnknownText);
        }
        Ok(RawValue { kind: Kind::Str, bits: text.0 })
    }

    /// Returns the present interval of an attribute, up to `now`, in ns.
    pub(super) fn ongoing(&self, quark: Quark, now: i64) -> Result<Interval<'_>, HistoryError> {
        let (start, raw) = self.current.get(quark).ok_or(HistoryError::UnknownQuark(quark))?;
        Ok(Interval::new(quark, start, now, self.pool.value(raw)))
    }

    fn value(&self, quark: Quark) -> Result<StateValue<'_>, HistoryError> {
        let (_, raw) = self.current.get(quark).ok_or(HistoryError::UnknownQuark(quark))?;
        Ok(self.pool.value(raw))
    }

    pub(super) fn top(&self, stack: Quark) -> Result<StateValue<'_>, HistoryError> {
        let top = match self.depth(stack)? {
            0 => None,
            depth => self.tree.child(stack, &depth.to_string()),
        };
        top.map_or(Ok(StateValue::Null), |top| self.value(top))
    }

    fn depth(&self, stack: Quark) -> Result<u32, HistoryError> {
        match self.value(stack)? {
            StateValue::Null => Ok(0),
            StateValue::I32(depth) if depth >= 0 => Ok(depth as u32),
            _ => Err(HistoryError::NotAStack(self.tree.path(stack))),
        }
    }

    /// Sets the value of an attribute from `t` on, in ns.
    #[inline]
    pub(super) fn set(&mut self, quark: Quark, t: i64, raw: RawValue) -> Result<(), HistoryError> {
        let Some(ended) = self.current.set(quark, t, raw) else {
            return Err(HistoryError::UnknownQuark(quark));
        };
        if let (Some(ended), Some(observer)) = (ended, &mut self.observer) {
            observer(&interval(&self.pool, ended));
        }
        Ok(())
    }

    /// Changes an attribute or those below it at `t`, in ns.
    pub(super) fn apply(
        &mut self,
        quark: Quark,
        t: i64,
        action: Action,
    ) -> Result<(), HistoryError> {
        match action {
            Action::Set(raw) | Action::Interval(raw, _) => self.set(quark, t, raw),
            Action::Remove => {
                self.set(quark, t, RawValue::NULL)?;
                let below: Vec<Quark> = self.tree.descendants(quark).collect();
                below.into_iter().try_for_each(|quark| self.set(quark, t, RawValue::NULL))
            }
            Action::Push(raw) => {
                let depth = self.depth(quark)?;
                if depth >= STACK_LIMIT {
                    let path = self.tree.path(quark);
                    return Err(HistoryError::StackTooDeep { path, limit: STACK_LIMIT });
                }
                let top = self.add_child(quark, &(depth + 1).to_string())?;
                self.set(top, t, raw)?;
                self.set(quark, t, raw_depth(depth + 1))
            }
            Action::Pop => {
                let depth = self.depth(quark)?;
                if depth == 0 {
                    return Ok(());
                }
                if let Some(top) = self.tree.child(quark, &depth.to_string()) {
                    self.set(top, t, RawValue::NULL)?;
                }
                self.set(quark, t, raw_depth(depth - 1))
            }
        }
    }

    /// Returns `true` if anything is not in blocks yet.
    pub(super) fn has_unwritten(&self) -> bool {
        !self.current.is_unchanged()
            || self.tree.len() > self.stored.quarks
            || self.pool.len() > self.stored.texts
    }

    /// Returns `true` if there is enough for a block.
    #[inline]
    pub(super) fn fill_a_block(&self) -> bool {
        let text_bytes = self.pool.byte_len() - self.stored.text_bytes;
        self.current.fills_a_block() || text_bytes > TEXT_BYTES_PER_BLOCK
    }

    /// Returns a bit for each attribute that changed since the last block.
    pub(super) fn changed(&self) -> &[u64] {
        self.current.changed()
    }

    /// Iterates over the present states of all attributes, as intervals that end at `end`.
    pub(super) fn entries(&self, end: i64) -> impl Iterator<Item = RawInterval> {
        self.current.entries(end)
    }

    /// Appends a block of the changes from `base` to `horizon`, in ns. Calls
    /// `first_intervals` with the first interval of each attribute for which some ended in
    /// the block.
    pub(super) fn write_block(
        &mut self,
        out: &mut Vec<u8>,
        base: i64,
        horizon: i64,
        first_intervals: impl FnMut(RawInterval),
    ) -> BlockHead {
        let head = BlockHead {
            base,
            horizon,
            first_quark: self.stored.quarks as u32,
            first_text: self.stored.texts as u32,
            ..BlockHead::default()
        };
        self.current.write_block(out, &self.tree, &self.pool, head, first_intervals)
    }

    /// Notes that all is in blocks.
    pub(super) fn all_written(&mut self) {
        let (texts, text_bytes) = (self.pool.len(), self.pool.byte_len());
        self.stored = Stored { quarks: self.tree.len(), texts, text_bytes };
    }
}

fn interval(pool: &TextPool, entry: RawInterval) -> Interval<'_> {
    let RawInterval { quark, start, end, raw } = entry;
    Interval::new(quark, start, end, pool.value(raw))
}

fn raw_depth(depth: u32) -> RawValue {
    match depth {
        0 => RawValue::NULL,
        depth => RawValue { kind: Kind::I32, bits: depth.into() },
    }
}
