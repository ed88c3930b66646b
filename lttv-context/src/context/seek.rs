//! Seeking a time, a position, the start and the end.

use ltt_read::Timestamp;
use ltt_read::tuning::TimeSearch;

use super::TracesetContext;
use super::read_ahead::ReadAhead;
use crate::traceset::{Revision, StalePosition, TracesetPosition};

/// A seek to a time that is done in pieces, created by [`TracesetContext::search_time`].
#[derive(Debug)]
pub struct IncrementalSeek {
    search: TimeSearch,
    generation: Revision,
}

impl IncrementalSeek {
    /// Returns the time that is sought.
    pub fn time(&self) -> Timestamp {
        self.search.time()
    }

    /// Continues the seek over at most `events` events. Returns `true` once the time is found. See
    /// [`TimeSearch::run`].
    pub fn run(&mut self, events: u64) -> bool {
        self.search.run(events)
    }
}

/// # Seeking
///
/// Seeking moves the position but not the state of extensions, except to the start: see
/// [`update_state`](Self::update_state).
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

    /// Creates a seek to a time that is done in pieces, since a seek in large packets takes
    /// milliseconds. The context stays where it is and may be used for anything else until
    /// [`seek_result`](Self::seek_result) is called.
    ///
    /// ```
    /// use lttv_context::{TracesetContext, Traceset};
    /// use ltt_read::Timestamp;
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// let span = context.contexts().time_span().expect("some events");
    /// let mut seek = context.search_time(span.end);
    /// while !seek.run(100) {
    ///     // Do other work.
    /// }
    /// context.seek_result(seek)?;
    /// let there = context.position();
    /// context.seek_time(span.end);
    /// assert_eq!(there, context.position());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search_time(&self, time: Timestamp) -> IncrementalSeek {
        IncrementalSeek { search: self.reader.search(time), generation: self.traceset().revision() }
    }

    /// Seeks the time of `seek`, with the same result as [`seek_time`](Self::seek_time). If the
    /// search is not finished, this finishes it.
    ///
    /// # Errors
    ///
    /// Returns [`StalePosition`] if `seek` belongs to another traceset. Nothing changes then.
    pub fn seek_result(&mut self, mut seek: IncrementalSeek) -> Result<(), StalePosition> {
        self.check_generation(seek.generation)?;
        if self.traceset().is_growing() {
            // The traceset may have grown since the search was created.
            self.seek_time(seek.time());
            return Ok(());
        }
        while !seek.run(u64::MAX) {}
        self.reader.seek_result(seek.search);
        self.moved();
        Ok(())
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

    fn moved(&mut self) {
        self.ahead = ReadAhead::default();
        self.state.note_moved();
        if let Some(check) = &mut self.check {
            check.selective.note_moved();
        }
    }
}
