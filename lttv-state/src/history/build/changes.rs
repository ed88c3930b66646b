//! Changes of values, stacks and subtrees, and the times at which they are possible.

use ltt_read::Timestamp;

use super::builder::{Builder, interval};
use super::reorder::{Action, Change, ReorderBuffer};
use crate::history::block::raw_value::{Kind, RawValue};
use crate::history::error::HistoryError;
use crate::tree::Quark;
use crate::value::StateValue;

/// The greatest depth of a stack.
const STACK_LIMIT: u32 = 100_000;

/// The size of new texts, in bytes, above which a block is written even if it has few
/// intervals.
const TEXT_BYTES_PER_BLOCK: usize = 16 << 20;

/// A text in the pool of a [`Builder`], which can be set without a lookup: see
/// [`Builder::text`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text(u64);

impl Builder {
    /// Sets the value of an attribute from `time` on.
    ///
    /// # Errors
    ///
    /// Returns an error if the attribute does not exist, if `time` is before the last change
    /// (or before the reorder window), or if writing fails. After a failure to write,
    /// nothing more can be added.
    #[inline]
    pub fn set<'v>(
        &mut self,
        quark: Quark,
        time: Timestamp,
        value: impl Into<StateValue<'v>>,
    ) -> Result<(), HistoryError> {
        let raw = self.pool.encode(value.into()).ok_or(HistoryError::TooManyTexts)?;
        self.set_raw(quark, time.as_ns(), raw)
    }

    /// Returns a handle of a text, which is added to the builder's pool. A text that is set
    /// many times needs only one lookup if it is set by [`set_text`](Self::set_text).
    ///
    /// ```
    /// # use lttv_state::history::{Builder, Timestamp};
    /// let minute = Timestamp::from_ns;
    /// let mut builder = Builder::in_memory(minute(0));
    /// let door = builder.add("house/door")?;
    /// let (open, closed) = (builder.text("open")?, builder.text("closed")?);
    /// for hour in 0..24 {
    ///     builder.set_text(door, minute(hour * 60), open)?;
    ///     builder.set_text(door, minute(hour * 60 + 5), closed)?;
    /// }
    /// let history = builder.close(minute(24 * 60))?;
    /// assert_eq!(history.at(door, minute(62))?.value, "open".into());
    /// # Ok::<(), lttv_state::history::HistoryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if there are too many texts.
    pub fn text(&mut self, text: &str) -> Result<Text, HistoryError> {
        self.pool.intern(text.as_bytes()).map(Text).ok_or(HistoryError::TooManyTexts)
    }

    /// Sets the value of an attribute to a text of this builder, from `time` on. A text
    /// of another builder may be refused, or stand for any text of this one.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`set`](Self::set); and [`HistoryError::UnknownText`].
    #[inline]
    pub fn set_text(
        &mut self,
        quark: Quark,
        time: Timestamp,
        text: Text,
    ) -> Result<(), HistoryError> {
        if text.0 >= self.pool.len() as u64 {
            return Err(HistoryError::UnknownText);
        }
        self.set_raw(quark, time.as_ns(), RawValue { kind: Kind::Str, bits: text.0 })
    }

    #[inline]
    fn set_raw(&mut self, quark: Quark, t: i64, raw: RawValue) -> Result<(), HistoryError> {
        match self.reorder {
            None => {
                self.advance(t)?;
                self.set_now(quark, t, raw)
            }
            Some(_) => self.delay(quark, t, Action::Set(raw)),
        }
    }

    /// Sets an attribute and all below it to null from `time` on. Their quarks remain
    /// valid.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`set`](Self::set).
    pub fn remove(&mut self, quark: Quark, time: Timestamp) -> Result<(), HistoryError> {
        self.change(quark, time.as_ns(), Action::Remove)
    }

    /// Pushes a value onto a stack at a time.
    ///
    /// The value of the attribute itself is the depth of the stack, as an `I32`, or null if
    /// it is empty. Its children `1`, `2` and so on are the elements, with `1` at the
    /// bottom. They are added as needed.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`set`](Self::set). Returns an error if the attribute's value
    /// is not a depth, or if the stack has a depth of 100 000 already. With a reorder
    /// window, these two are returned by a later call, the one by which the change takes
    /// effect.
    pub fn push<'v>(
        &mut self,
        stack: Quark,
        time: Timestamp,
        value: impl Into<StateValue<'v>>,
    ) -> Result<(), HistoryError> {
        let raw = self.pool.encode(value.into()).ok_or(HistoryError::TooManyTexts)?;
        self.change(stack, time.as_ns(), Action::Push(raw))
    }

    /// Removes the topmost value of a stack at a time. An empty stack stays empty: its
    /// values may have been pushed before the start of the history.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`push`](Self::push).
    pub fn pop(&mut self, stack: Quark, time: Timestamp) -> Result<(), HistoryError> {
        self.change(stack, time.as_ns(), Action::Pop)
    }

    /// Returns the value on top of a stack now. It is null if the stack is empty.
    ///
    /// # Errors
    ///
    /// Returns an error if the attribute does not exist, or if its value is not a depth.
    pub fn top(&self, stack: Quark) -> Result<StateValue<'_>, HistoryError> {
        let top = match self.depth(stack)? {
            0 => None,
            depth => self.tree.child(stack, &depth.to_string()),
        };
        top.map_or(Ok(StateValue::Null), |top| Ok(self.ongoing(top)?.value))
    }

    fn change(&mut self, quark: Quark, t: i64, action: Action) -> Result<(), HistoryError> {
        match self.reorder {
            None => {
                self.advance(t)?;
                self.apply(quark, t, action)
            }
            Some(_) => self.delay(quark, t, action),
        }
    }

    #[inline]
    fn set_now(&mut self, quark: Quark, t: i64, raw: RawValue) -> Result<(), HistoryError> {
        let ended = self.current.set(quark, t, raw).ok_or(HistoryError::UnknownQuark { quark })?;
        if let (Some(ended), Some(observer)) = (ended, &mut self.observer) {
            observer(&interval(&self.pool, ended));
        }
        Ok(())
    }

    fn apply(&mut self, quark: Quark, t: i64, action: Action) -> Result<(), HistoryError> {
        match action {
            Action::Set(raw) => self.set_now(quark, t, raw),
            Action::Remove => {
                self.set_now(quark, t, RawValue::NULL)?;
                let below: Vec<Quark> = self.tree.descendants(quark).collect();
                below.into_iter().try_for_each(|quark| self.set_now(quark, t, RawValue::NULL))
            }
            Action::Push(raw) => {
                let depth = self.depth(quark)?;
                if depth >= STACK_LIMIT {
                    let path = self.tree.path(quark);
                    return Err(HistoryError::StackTooDeep { path, limit: STACK_LIMIT });
                }
                let top = self.add_child(quark, &(depth + 1).to_string())?;
                self.set_now(top, t, raw)?;
                self.set_now(quark, t, raw_depth(depth + 1))
            }
            Action::Pop => {
                let depth = self.depth(quark)?;
                if depth == 0 {
                    return Ok(());
                }
                if let Some(top) = self.tree.child(quark, &depth.to_string()) {
                    self.set_now(top, t, RawValue::NULL)?;
                }
                self.set_now(quark, t, raw_depth(depth - 1))
            }
        }
    }

    fn depth(&self, stack: Quark) -> Result<u32, HistoryError> {
        match self.ongoing(stack)?.value {
            StateValue::Null => Ok(0),
            StateValue::I32(depth) if depth >= 0 => Ok(depth as u32),
            _ => Err(HistoryError::NotAStack { path: self.tree.path(stack) }),
        }
    }

    fn delay(&mut self, quark: Quark, t: i64, action: Action) -> Result<(), HistoryError> {
        self.check_time(t)?;
        if !self.tree.contains(quark) {
            return Err(HistoryError::UnknownQuark { quark });
        }
        if let Some(reorder) = &mut self.reorder {
            reorder.push(t, quark, action);
        }
        while let Some(change) = self.reorder.as_mut().and_then(ReorderBuffer::pop_ready) {
            self.apply_delayed(change)?;
        }
        Ok(())
    }

    fn apply_delayed(&mut self, change: Change) -> Result<(), HistoryError> {
        self.advance(change.t)?;
        self.apply(change.quark, change.t, change.action)
    }

    /// Applies all changes that wait to be put in order.
    pub(crate) fn apply_waiting(&mut self) -> Result<(), HistoryError> {
        while let Some(change) = self.reorder.as_mut().and_then(ReorderBuffer::pop) {
            self.apply_delayed(change)?;
        }
        Ok(())
    }

    /// Advances the time to `t`, in ns. A block is written first if there is enough for one.
    #[inline]
    fn advance(&mut self, t: i64) -> Result<(), HistoryError> {
        if t != self.now || self.now_is_published {
            self.check_time(t)?;
            let text_bytes = self.pool.byte_len() - self.stored_text_bytes;
            if self.current.waiting() >= self.limit || text_bytes > TEXT_BYTES_PER_BLOCK {
                self.write_block()?;
            }
            (self.now, self.now_is_published) = (t, false);
        }
        Ok(())
    }

    /// Checks that a change at `t`, in ns, is possible.
    fn check_time(&self, t: i64) -> Result<(), HistoryError> {
        let earliest = self.earliest();
        let time = Timestamp::from_ns(t);
        match time < earliest || (t == self.now && self.now_is_published) {
            true => Err(HistoryError::TimeRegress { time, earliest }),
            false => Ok(()),
        }
    }
}

fn raw_depth(depth: u32) -> RawValue {
    match depth {
        0 => RawValue::NULL,
        depth => RawValue { kind: Kind::I32, bits: depth.into() },
    }
}
