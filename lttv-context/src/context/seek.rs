//! Seeking a time, a position, the start and the end.

use ltt_read::Timestamp;

use super::TracesetContext;
use super::read_ahead::ReadAhead;
use crate::traceset::{StalePosition, TracesetPosition};

/// # Seeking
///
/// Seeking moves the position but not the state of extensions, except to the start: see
/// [`ContextState::update`](super::ContextState::update).
impl TracesetContext<'_> {
    /// Seeks a time: the new position is before the first event of each tracefile, in file order,
    /// that is at this time or later. Events without a time come before all times but
    /// [`Timestamp::MIN`], which is the start of the traceset: seeking it resets all extensions.
    ///
    /// No event before the position is at this time or later. If a clock goes back, events before
    /// the time may follow the position: [`Bounds::since`](crate::Bounds::since) skips them. So they
    /// may in a growing traceset, after a time later than the [`watermark`](Self::watermark).
    pub fn seek_time(&mut self, time: Timestamp) {
        self.reader.seek_time(time);
        self.moved();
        if time == Timestamp::MIN {
            self.state.reset();
        }
    }

    /// Seeks a position of this traceset. The [end](TracesetPosition::end) of a growing traceset is
    /// the one so far, and reading continues with what arrives.
    ///
    /// # Errors
    ///
    /// Returns [`StalePosition`] if the position belongs to another traceset. Nothing changes then.
    pub fn seek_position(&mut self, position: &TracesetPosition) -> Result<(), StalePosition> {
        self.check_position(position)?;
        self.reader.seek_position(position.order());
        self.moved();
        Ok(())
    }

    pub(super) fn moved(&mut self) {
        self.ahead = ReadAhead::default();
        self.state.note_moved();
        if let Some(check) = &mut self.check {
            check.selective.note_moved();
        }
    }
}
