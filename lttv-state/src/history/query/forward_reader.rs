//! Reading one attribute at increasing times.

use ltt_read::Timestamp;

use super::cursor::Cursor;
use super::history::History;
use crate::history::Interval;
use crate::history::error::HistoryError;
use crate::tree::Quark;

/// A reader of one attribute, which is fast at increasing times: see [`History::forward_reader`].
#[derive(Debug, Clone)]
pub struct ForwardReader<'h> {
    history: &'h History,
    quark: Quark,
    /// The place of the last interval; `None` before the first call and after an error.
    cursor: Option<Cursor<'h>>,
}

impl History {
    /// Returns a reader of an attribute at increasing times, which are not known in advance: those
    /// at which several attributes are read depend on each other, for example.
    ///
    /// ```
    /// # use lttv_state::history::{Builder, HistoryError, Timestamp};
    /// # let ns = Timestamp::from_ns;
    /// # let mut builder = Builder::in_memory(ns(0));
    /// # let quark = builder.add("a")?;
    /// # for t in 1..100 { builder.set(quark, ns(t * 10), t as i32)?; }
    /// # let history = builder.close(ns(1_000))?;
    /// let mut reader = history.forward_reader(quark)?;
    /// assert_eq!(reader.at(ns(105))?.value, 10.into());
    /// assert_eq!(reader.at(ns(300))?.value, 30.into());
    /// # Ok::<(), HistoryError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the attribute is not in the history.
    pub fn forward_reader(&self, quark: Quark) -> Result<ForwardReader<'_>, HistoryError> {
        self.check_quark(quark)?;
        Ok(ForwardReader { history: self, quark, cursor: None })
    }
}

impl<'h> ForwardReader<'h> {
    /// Returns the interval that contains a time. A time before that of the last call is found, too,
    /// like by [`History::at`].
    ///
    /// # Errors
    ///
    /// Returns an error if the time is not in the history.
    #[inline]
    pub fn at(&mut self, time: Timestamp) -> Result<Interval<'h>, HistoryError> {
        let t = self.history.check_time(time)?;
        match &mut self.cursor {
            Some(cursor) if t >= cursor.start => match cursor.forward(t) {
                Ok(()) => cursor.interval(),
                Err(error) => {
                    self.cursor = None;
                    Err(error)
                }
            },
            cursor => cursor.insert(Cursor::new(self.history, self.quark, t)?).interval(),
        }
    }

    /// Returns the interval before the one of the last call; `None` if that was the first one, or if
    /// nothing was read yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the history is damaged.
    pub fn before(&self) -> Result<Option<Interval<'h>>, HistoryError> {
        let Some(cursor) = &self.cursor else { return Ok(None) };
        let mut cursor = cursor.clone();
        if cursor.previous()? { cursor.interval().map(Some) } else { Ok(None) }
    }
}
