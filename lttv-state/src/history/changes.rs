//! The changes that a builder is told: values, stacks, whole subtrees; and when they may
//! come.

use super::builder::{Builder, interval};
use super::code::{Code, Kind};
use super::error::Error;
use super::reorder::{Action, Change, Reorder};
use crate::tree::Quark;
use crate::value::Value;

/// No stack is deeper.
const STACK_LIMIT: u32 = 100_000;

/// New texts of so many bytes make a block, however few intervals there are.
const TEXT_BYTES_PER_BLOCK: usize = 16 << 20;

/// A text that a [`Builder`] knows, to be set without being looked up: see
/// [`Builder::text`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text(u64);

impl Builder {
    /// An attribute has a value from `t` on, in ns.
    ///
    /// # Errors
    ///
    /// If there is no such attribute, `t` is before the last change (or before
    /// the window for disorder), or writing fails. After a failure to write,
    /// nothing more can be added.
    #[inline]
    pub fn set<'v>(
        &mut self,
        quark: Quark,
        t: i64,
        value: impl Into<Value<'v>>,
    ) -> Result<(), Error> {
        let code = self.pool.code(value.into()).ok_or(Error::TooManyTexts)?;
        self.set_code(quark, t, code)
    }

    /// A text, for setting it many times: [`set_text`](Self::set_text) need not
    /// look it up.
    ///
    /// ```
    /// # use lttv_state::history::Builder;
    /// let mut builder = Builder::in_memory(0);
    /// let door = builder.add("house/door")?;
    /// let (open, closed) = (builder.text("open")?, builder.text("closed")?);
    /// for hour in 0..24 {
    ///     builder.set_text(door, hour * 60, open)?;
    ///     builder.set_text(door, hour * 60 + 5, closed)?;
    /// }
    /// assert_eq!(builder.close(1_439)?.at(door, 62)?.value, "open".into());
    /// # Ok::<(), lttv_state::history::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there are too many texts.
    pub fn text(&mut self, text: &str) -> Result<Text, Error> {
        self.pool.intern(text.as_bytes()).map(Text).ok_or(Error::TooManyTexts)
    }

    /// As [`set`](Self::set), with a text of this builder. (One of another builder
    /// may be any other text here, or be refused.)
    ///
    /// # Errors
    ///
    /// As [`set`](Self::set), and [`Error::UnknownText`].
    #[inline]
    pub fn set_text(&mut self, quark: Quark, t: i64, text: Text) -> Result<(), Error> {
        if text.0 >= self.pool.len() as u64 {
            return Err(Error::UnknownText);
        }
        self.set_code(quark, t, Code { kind: Kind::Str, bits: text.0 })
    }

    #[inline]
    fn set_code(&mut self, quark: Quark, t: i64, code: Code) -> Result<(), Error> {
        match self.reorder {
            None => {
                self.advance(t)?;
                self.set_now(quark, t, code)
            }
            Some(_) => self.delay(quark, t, Action::Set(code)),
        }
    }

    /// An attribute and all below it are null from `t` on, in ns. Their quarks
    /// stay what they are.
    ///
    /// # Errors
    ///
    /// As [`set`](Self::set).
    pub fn remove(&mut self, quark: Quark, t: i64) -> Result<(), Error> {
        self.change(quark, t, Action::Remove)
    }

    /// A value is on top of a stack from `t` on, in ns.
    ///
    /// The attribute itself tells how deep the stack is, as an `I32`, or null
    /// when it is empty. Its children `1`, `2` and so on are what is in the
    /// stack, `1` at the bottom; they are added as they are needed.
    ///
    /// # Errors
    ///
    /// As [`set`](Self::set); if the attribute's value is not a depth; if the
    /// stack is 100 000 deep already. With a window for disorder the latter two
    /// come later, at the call that makes the change take effect.
    pub fn push<'v>(
        &mut self,
        stack: Quark,
        t: i64,
        value: impl Into<Value<'v>>,
    ) -> Result<(), Error> {
        let code = self.pool.code(value.into()).ok_or(Error::TooManyTexts)?;
        self.change(stack, t, Action::Push(code))
    }

    /// The topmost value of a stack goes at `t`, in ns. If there is none, nothing
    /// happens: what was pushed may be older than the history.
    ///
    /// # Errors
    ///
    /// As [`push`](Self::push).
    pub fn pop(&mut self, stack: Quark, t: i64) -> Result<(), Error> {
        self.change(stack, t, Action::Pop)
    }

    /// The value on top of a stack now; null if there is none.
    ///
    /// # Errors
    ///
    /// If there is no such attribute, or its value is not a depth.
    pub fn top(&self, stack: Quark) -> Result<Value<'_>, Error> {
        let top = match self.depth(stack)? {
            0 => None,
            depth => self.tree.child(stack, &depth.to_string()),
        };
        top.map_or(Ok(Value::Null), |top| Ok(self.ongoing(top)?.value))
    }

    fn change(&mut self, quark: Quark, t: i64, action: Action) -> Result<(), Error> {
        match self.reorder {
            None => {
                self.advance(t)?;
                self.apply(quark, t, action)
            }
            Some(_) => self.delay(quark, t, action),
        }
    }

    #[inline]
    fn set_now(&mut self, quark: Quark, t: i64, code: Code) -> Result<(), Error> {
        let ended = self.ongoing.set(quark, t, code).ok_or(Error::UnknownQuark { quark })?;
        if let (Some(ended), Some(observer)) = (ended, &mut self.observer) {
            observer(&interval(&self.pool, ended));
        }
        Ok(())
    }

    fn apply(&mut self, quark: Quark, t: i64, action: Action) -> Result<(), Error> {
        match action {
            Action::Set(code) => self.set_now(quark, t, code),
            Action::Remove => {
                self.set_now(quark, t, Code::NULL)?;
                let below: Vec<Quark> = self.tree.descendants(quark).collect();
                below.into_iter().try_for_each(|quark| self.set_now(quark, t, Code::NULL))
            }
            Action::Push(code) => {
                let depth = self.depth(quark)?;
                if depth >= STACK_LIMIT {
                    let path = self.tree.path(quark);
                    return Err(Error::StackTooDeep { path, limit: STACK_LIMIT });
                }
                let top = self.add_child(quark, &(depth + 1).to_string())?;
                self.set_now(top, t, code)?;
                self.set_now(quark, t, depth_code(depth + 1))
            }
            Action::Pop => {
                let depth = self.depth(quark)?;
                if depth == 0 {
                    return Ok(());
                }
                if let Some(top) = self.tree.child(quark, &depth.to_string()) {
                    self.set_now(top, t, Code::NULL)?;
                }
                self.set_now(quark, t, depth_code(depth - 1))
            }
        }
    }

    fn depth(&self, stack: Quark) -> Result<u32, Error> {
        match self.ongoing(stack)?.value {
            Value::Null => Ok(0),
            Value::I32(depth) if depth >= 0 => Ok(depth as u32),
            _ => Err(Error::NotAStack { path: self.tree.path(stack) }),
        }
    }

    fn delay(&mut self, quark: Quark, t: i64, action: Action) -> Result<(), Error> {
        self.check_time(t)?;
        if !self.tree.contains(quark) {
            return Err(Error::UnknownQuark { quark });
        }
        if let Some(reorder) = &mut self.reorder {
            reorder.push(t, quark, action);
        }
        while let Some(change) = self.reorder.as_mut().and_then(Reorder::pop_ready) {
            self.apply_delayed(change)?;
        }
        Ok(())
    }

    fn apply_delayed(&mut self, change: Change) -> Result<(), Error> {
        self.advance(change.t)?;
        self.apply(change.quark, change.t, change.action)
    }

    /// Makes all changes that wait.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        while let Some(change) = self.reorder.as_mut().and_then(Reorder::pop) {
            self.apply_delayed(change)?;
        }
        Ok(())
    }

    /// Time goes on to `t`: what happened at earlier times is settled.
    #[inline]
    fn advance(&mut self, t: i64) -> Result<(), Error> {
        if t != self.now || self.now_is_settled {
            self.check_time(t)?;
            let text_bytes = self.pool.byte_len() - self.text_bytes;
            if self.ongoing.waiting() >= self.limit || text_bytes > TEXT_BYTES_PER_BLOCK {
                self.write_block()?;
            }
            (self.now, self.now_is_settled) = (t, false);
        }
        Ok(())
    }

    /// Whether there can be a change at `t`.
    fn check_time(&self, t: i64) -> Result<(), Error> {
        let earliest = self.earliest();
        match t < earliest || (t == self.now && self.now_is_settled) {
            true => Err(Error::TimeRegress { t, earliest }),
            false => Ok(()),
        }
    }
}

fn depth_code(depth: u32) -> Code {
    match depth {
        0 => Code::NULL,
        depth => Code { kind: Kind::I32, bits: depth.into() },
    }
}
