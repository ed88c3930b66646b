//! Going to a time, to a position, to the begin and the end.

use ltt_read::{TimeSearch, Timestamp};

use crate::context::TracesetContext;
use crate::partial::Stand;
use crate::position::{StalePosition, TracesetPosition, UNKNOWN};
use crate::traceset::Generation;

/// A seek to a time, a little at a time: [`TracesetContext::search_time`] begins it.
#[derive(Debug)]
pub struct SlowSeek {
    search: TimeSearch,
    generation: Generation,
}

impl SlowSeek {
    /// What is sought.
    pub fn time(&self) -> Timestamp {
        self.search.time()
    }

    /// Goes on, over so many events at most. Whether it is through. See
    /// [`TimeSearch::go_on`].
    pub fn go_on(&mut self, events: u64) -> bool {
        self.search.go_on(events)
    }
}

/// Seeking moves the position, not the state of extensions: see
/// [`update_state`](Self::update_state).
impl TracesetContext<'_> {
    /// Goes to a time: before the first event of each tracefile at this time or
    /// later, in the order of the file. Events without a time come before all
    /// times but [`Timestamp::MIN`].
    ///
    /// No event before the place is at this time or later. Where a clock goes back, events
    /// before the time may come after it: [`Bounds::since`](crate::Bounds::since) leaves
    /// these out.
    pub fn seek_time(&mut self, time: Timestamp) {
        self.merge.seek(time);
        if let Some(stand) = &mut self.stand {
            *stand = Stand::Time(time);
        }
        self.moved();
        self.now = time.ns();
        self.latest = time.ns().checked_sub(1);
    }

    /// Begins to seek a time in pieces: in large packets a seek takes milliseconds.
    /// The context stays where it is until [`seek_found`](Self::seek_found), whatever
    /// it is used for meanwhile.
    ///
    /// ```
    /// use lttv_context::{TracesetContext, Traceset};
    /// use ltt_read::Timestamp;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let span = context.contexts().time_span().expect("some events");
    /// let mut seek = context.search_time(span.end);
    /// while !seek.go_on(100) {
    ///     // Look after other things.
    /// }
    /// context.seek_found(seek)?;
    /// let there = context.position();
    /// context.seek_time(span.end);
    /// assert_eq!(there, context.position());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search_time(&self, time: Timestamp) -> SlowSeek {
        let traceset = self.traceset();
        let search = TimeSearch::new(traceset.traces(), time);
        SlowSeek { search, generation: traceset.generation() }
    }

    /// Goes to the time that a seek was for, as [`seek_time`](Self::seek_time); does
    /// what is left of it.
    ///
    /// # Errors
    ///
    /// If it is of another traceset; then nothing changes.
    pub fn seek_found(&mut self, mut seek: SlowSeek) -> Result<(), StalePosition> {
        self.check_generation(seek.generation)?;
        while !seek.go_on(u64::MAX) {}
        let time = seek.time();
        self.merge.seek_found(seek.search);
        self.stand = None;
        self.moved();
        self.now = time.ns();
        self.latest = time.ns().checked_sub(1);
        Ok(())
    }

    /// Goes to a position.
    ///
    /// # Errors
    ///
    /// If it is of another traceset; then nothing changes.
    pub fn seek_position(&mut self, position: &TracesetPosition) -> Result<(), StalePosition> {
        self.check_position(position)?;
        self.merge.read_whole(position.tracefiles());
        self.stand = None;
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
        self.stand = None;
        self.moved();
        self.now = i64::MAX;
    }

    fn moved(&mut self) {
        (self.floor, self.ahead) = (None, None);
        self.now = i64::MIN;
        self.latest = UNKNOWN;
        self.state.is_current = false;
        self.state.at_begin = false;
        if let Some(check) = &mut self.check {
            check.moved();
        }
    }
}
