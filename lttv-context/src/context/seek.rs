//! Seeking a time, a position, the start and the end.

use ltt_read::{Timestamp, TraceIndex};

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

    /// Seeks a time in each trace, by trace index: the new position is before the first event of each
    /// tracefile that is at the time of its trace or later. A trace without a time is sought from its
    /// start. For an analysis that has the state of some traces from elsewhere, see
    /// [`ContextState::set`](super::ContextState::set).
    pub fn seek_times(&mut self, times: &[Timestamp]) {
        let time_in = |trace: TraceIndex| times.get(trace.0).copied().unwrap_or(Timestamp::MIN);
        let traces = (0..self.contexts().traces().len()).map(TraceIndex);
        let least = traces.map(time_in).min().unwrap_or(Timestamp::MIN);
        self.reader.seek_times(time_in, least);
        self.moved();
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
