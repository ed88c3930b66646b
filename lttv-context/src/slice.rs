//! Slices of time: what one thread reads at a time.

use ltt_read::{Error, Notice, Timestamp};

use crate::bounds::{Bounds, EndReason, ReadEnd};
use crate::context::TracesetContext;
use crate::traceset::Traceset;

/// A slice of time of a traceset. See [`Parallel`](crate::Parallel).
#[derive(Debug)]
pub struct Slice<'t> {
    traceset: &'t Traceset,
    number: usize,
    begin: Timestamp,
    end: Option<Timestamp>,
    pub(crate) report: Report,
}

/// What came of reading a slice.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) events: u64,
    pub(crate) stopped: bool,
    pub(crate) errors: Vec<Error>,
    pub(crate) notices: Vec<Notice>,
}

impl<'t> Slice<'t> {
    pub(crate) fn new(
        traceset: &'t Traceset,
        number: usize,
        begin: Timestamp,
        end: Option<Timestamp>,
    ) -> Self {
        Slice { traceset, number, begin, end, report: Report::default() }
    }

    /// Its number among all, in the order of time.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The traceset.
    pub fn traceset(&self) -> &Traceset {
        self.traceset
    }

    /// The time that it begins at.
    pub fn begin(&self) -> Timestamp {
        self.begin
    }

    /// The time that it ends before; `None` for that of all events.
    pub fn end(&self) -> Option<Timestamp> {
        self.end
    }

    /// A context at its begin, to add hooks to.
    pub fn context<'h>(&self) -> TracesetContext<'h> {
        let mut context = TracesetContext::new(self.traceset);
        if self.begin > Timestamp::MIN {
            context.seek_time(self.begin);
        }
        context
    }

    /// Delivers its events, in the context that it made.
    pub fn read(&mut self, context: &mut TracesetContext<'_>) -> ReadEnd {
        let bounds = self.end.map_or(Bounds::all(), |end| Bounds::all().until(end));
        let stale = ReadEnd { events: 0, reason: EndReason::EndOfTraceset };
        let read = context.middle(&bounds).unwrap_or(stale); // there is no position in them
        self.report.events += read.events;
        self.report.stopped |= read.reason == EndReason::Stopped;
        self.report.errors.append(&mut context.drain_errors());
        self.report.notices.append(&mut context.drain_notices());
        read
    }
}
