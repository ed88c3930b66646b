//! Recorded changes of a history, which a builder in another thread applies.

use ltt_read::Timestamp;

use super::builder::Builder;
use super::states::Text;
use crate::history::block::raw_value::{Kind, RawValue, TextPool};
use crate::history::error::HistoryError;
use crate::tree::{Quark, Tree};
use crate::value::StateValue;

/// A destination of attributes that change in the order of time: a builder or a draft.
pub(crate) trait Store {
    /// Returns the attributes so far.
    fn tree(&self) -> &Tree;

    /// Adds a child of an attribute, unless it exists: see [`Builder::add_child`].
    fn add_child(&mut self, parent: Quark, name: &str) -> Result<Quark, HistoryError>;

    /// Returns the present value of an attribute.
    fn value(&self, quark: Quark) -> Result<StateValue<'_>, HistoryError>;

    /// Returns the time of the last change, or the start: see [`Builder::now`].
    fn now(&self) -> Timestamp;

    /// Adds a text, unless it exists: see [`Builder::text`].
    fn text(&mut self, text: &str) -> Result<Text, HistoryError>;

    /// Returns the encoding of a number, or of null.
    fn encode(&mut self, value: StateValue<'_>) -> Result<RawValue, HistoryError>;

    /// Sets an attribute to an encoded value from a time on.
    fn set_encoded(
        &mut self,
        quark: Quark,
        t: Timestamp,
        raw: RawValue,
    ) -> Result<(), HistoryError>;

    /// Sets an attribute from a time on: to a number, or to null.
    #[inline]
    fn set(
        &mut self,
        quark: Quark,
        t: Timestamp,
        value: StateValue<'_>,
    ) -> Result<(), HistoryError> {
        let raw = self.encode(value)?;
        self.set_encoded(quark, t, raw)
    }

    /// Sets an attribute to a text from a time on.
    #[inline]
    fn set_text(&mut self, quark: Quark, t: Timestamp, text: Text) -> Result<(), HistoryError> {
        self.set_encoded(quark, t, RawValue { kind: Kind::Str, bits: text.0 })
    }
}

impl Store for Builder {
    fn tree(&self) -> &Tree {
        self.states.tree()
    }

    fn add_child(&mut self, parent: Quark, name: &str) -> Result<Quark, HistoryError> {
        self.states.add_child(parent, name)
    }

    fn value(&self, quark: Quark) -> Result<StateValue<'_>, HistoryError> {
        Ok(self.ongoing(quark)?.value)
    }

    fn now(&self) -> Timestamp {
        self.now()
    }

    fn text(&mut self, text: &str) -> Result<Text, HistoryError> {
        self.states.text(text)
    }

    #[inline]
    fn encode(&mut self, value: StateValue<'_>) -> Result<RawValue, HistoryError> {
        self.states.encode(value)
    }

    #[inline]
    fn set_encoded(
        &mut self,
        quark: Quark,
        t: Timestamp,
        raw: RawValue,
    ) -> Result<(), HistoryError> {
        self.set_raw(quark, t.as_ns(), raw)
    }
}

/// A draft of a builder's history from its present on: it numbers attributes and texts as the builder
/// does, and records all changes.
#[derive(Debug)]
pub(crate) struct Draft {
    tree: Tree,
    pool: TextPool,
    /// The present values, by attribute.
    values: Vec<RawValue>,
    now: Timestamp,
    pub(crate) changes: Changes,
}

/// The changes of a draft, in order.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    list: Vec<Change>,
    /// The texts of all changes.
    texts: String,
}

/// A change, in as little memory as possible.
#[derive(Debug, Clone, Copy)]
struct Change {
    /// The time in ns; the start of a text.
    t: i64,
    /// The bits of the value; the length of the text.
    bits: u64,
    /// The attribute, or the parent of a new one.
    quark: Quark,
    action: Action,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    /// Sets an attribute to a value.
    Set(Kind),
    /// Adds an attribute.
    Add,
    /// Adds a text.
    Text,
}

impl Draft {
    /// Creates a draft that continues a builder's history. No change may wait to be put in order.
    pub(crate) fn of(builder: &Builder) -> Self {
        let states = &builder.states;
        let values = states.entries(0).map(|entry| entry.raw).collect();
        let (tree, pool) = (states.tree().clone(), states.pool().clone());
        Draft { tree, pool, values, now: builder.now(), changes: Changes::default() }
    }
}

impl Store for Draft {
    fn tree(&self) -> &Tree {
        &self.tree
    }

    fn add_child(&mut self, parent: Quark, name: &str) -> Result<Quark, HistoryError> {
        let quark = self.tree.add_child(parent, name)?;
        if self.values.len() < self.tree.len() {
            self.values.resize(self.tree.len(), RawValue::NULL);
            self.changes.push_text(name, parent, Action::Add);
        }
        Ok(quark)
    }

    fn value(&self, quark: Quark) -> Result<StateValue<'_>, HistoryError> {
        let raw = self.values.get(quark.index()).ok_or(HistoryError::UnknownQuark(quark))?;
        Ok(self.pool.value(*raw))
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn text(&mut self, text: &str) -> Result<Text, HistoryError> {
        let known = self.pool.len();
        let id = self.pool.intern(text.as_bytes()).ok_or(HistoryError::TooManyTexts)?;
        if self.pool.len() > known {
            self.changes.push_text(text, Quark::ROOT, Action::Text);
        }
        Ok(Text(id))
    }

    #[inline]
    fn encode(&mut self, value: StateValue<'_>) -> Result<RawValue, HistoryError> {
        // An error that is created in vain costs a call.
        let Some(raw) = self.pool.encode(value) else { return Err(HistoryError::TooManyTexts) };
        Ok(raw)
    }

    #[inline]
    fn set_encoded(
        &mut self,
        quark: Quark,
        t: Timestamp,
        raw: RawValue,
    ) -> Result<(), HistoryError> {
        let Some(value) = self.values.get_mut(quark.index()) else {
            return Err(HistoryError::UnknownQuark(quark));
        };
        *value = raw;
        self.now = t;
        let (bits, action) = (raw.bits, Action::Set(raw.kind));
        self.changes.list.push(Change { t: t.as_ns(), bits, quark, action });
        Ok(())
    }
}

impl Changes {
    /// Removes all changes and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.texts.clear();
    }

    fn push_text(&mut self, text: &str, quark: Quark, action: Action) {
        let (t, bits) = (self.texts.len() as i64, text.len() as u64);
        self.texts.push_str(text);
        self.list.push(Change { t, bits, quark, action });
    }

    /// Returns the text of a change that has one.
    fn text_of(&self, change: &Change) -> &str {
        let start = change.t as usize;
        self.texts.get(start..start + change.bits as usize).unwrap_or_default()
    }
}

impl Builder {
    /// Makes the changes of a draft that continues this history, in order.
    pub(crate) fn apply(&mut self, changes: &Changes) -> Result<(), HistoryError> {
        for change in &changes.list {
            let Change { t, bits, quark, action } = *change;
            match action {
                Action::Set(kind) => self.set_raw(quark, t, RawValue { kind, bits })?,
                Action::Add => _ = self.states.add_child(quark, changes.text_of(change))?,
                Action::Text => _ = self.states.text(changes.text_of(change))?,
            }
        }
        Ok(())
    }
}
