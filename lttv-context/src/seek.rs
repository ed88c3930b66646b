//! Going to a time, to a position, to the begin and the end.

use ltt_read::Timestamp;

use crate::context::TracesetContext;
use crate::position::{StalePosition, TracesetPosition, UNKNOWN};

/// Seeking moves the position, not the state of extensions: see
/// [`update_state`](Self::update_state).
impl TracesetContext<'_> {
    /// Goes to a time: before the first event of each tracefile at this time or
    /// later, in the order of the file. Events without a time come before all
    /// times but [`Timestamp::MIN`].
    pub fn seek_time(&mut self, time: Timestamp) {
        self.merge.seek(time);
        self.moved();
        self.latest = time.ns().checked_sub(1);
    }

    /// Goes to a position.
    ///
    /// # Errors
    ///
    /// If it is of another traceset; then nothing changes.
    pub fn seek_position(&mut self, position: &TracesetPosition) -> Result<(), StalePosition> {
        self.check_position(position)?;
        self.merge.read_whole(position.tracefiles());
        self.is_partial = false;
        self.moved();
        // Events after a clock that went back still are delivered at that time.
        self.now = position.time().map_or(i64::MAX, Timestamp::ns);
        self.latest = position.latest();
        Ok(())
    }

    /// Goes before the first event, and resets all extensions.
    pub fn seek_begin(&mut self) {
        self.seek_time(Timestamp::MIN);
        self.extensions.reset();
        self.state.is_current = true;
        self.state.at_begin = true;
        self.state.events = 0;
    }

    /// Goes after the last event.
    pub fn seek_end(&mut self) {
        let end = TracesetPosition::end(self.traceset());
        self.merge.read_whole(end.tracefiles());
        self.is_partial = false;
        self.moved();
    }

    fn moved(&mut self) {
        self.now = i64::MIN;
        self.latest = UNKNOWN;
        self.state.is_current = false;
        self.state.at_begin = false;
    }
}
