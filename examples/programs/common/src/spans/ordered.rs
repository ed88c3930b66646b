//! Spans in order.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use ltt_read::Timestamp;
use lttv_context::Traceset;
use lttv_state::spans::{
    EventReader, Span, SpanFilter, SpanNames, SpanOrder, SpanSorter, SpanVisitor,
};

use super::Shown;

/// A visitor that passes the spans which match a filter to a function, in order.
pub struct OrderedSpans<'t, F> {
    traceset: &'t Traceset,
    reader: EventReader<'t>,
    filter: Option<SpanFilter>,
    sorter: Option<SpanSorter>,
    stop: &'t AtomicBool,
    is_full: bool,
    failure: Option<io::Error>,
    show: F,
}

impl<F> std::fmt::Debug for OrderedSpans<'_, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OrderedSpans").finish_non_exhaustive()
    }
}

impl<'t, F> OrderedSpans<'t, F>
where
    F: FnMut(&mut Shown<'_, '_, '_>) -> io::Result<()> + Send,
{
    /// Creates a visitor of the spans of a traceset. It sets `stop`, which ends the read, when it has enough spans, and
    /// when `show` or a temporary file for the order fails.
    pub fn new(traceset: &'t Traceset, order: SpanOrder, stop: &'t AtomicBool, show: F) -> Self {
        OrderedSpans {
            traceset,
            reader: EventReader::new(traceset),
            filter: None,
            sorter: Some(SpanSorter::new(order, tempfile::tempfile)),
            stop,
            is_full: false,
            failure: None,
            show,
        }
    }

    /// Leaves out spans that do not match a filter.
    #[must_use]
    pub fn filter(self, filter: Option<SpanFilter>) -> Self {
        OrderedSpans { filter, ..self }
    }

    /// Leaves out all but the first spans in the order; 0 for all of them.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        if limit > 0 {
            self.sorter = self.sorter.map(|sorter| sorter.limit(limit));
        }
        self
    }

    /// Returns `true` if the read was stopped since there were enough spans.
    ///
    /// # Errors
    ///
    /// Returns the first error that was met.
    pub fn finish(self) -> io::Result<bool> {
        self.failure.map_or(Ok(self.is_full), Err)
    }

    /// Notes the first error, and stops the read.
    fn check(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.failure.get_or_insert(error);
            self.is_full = true;
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl<F> SpanVisitor for OrderedSpans<'_, F>
where
    F: FnMut(&mut Shown<'_, '_, '_>) -> io::Result<()> + Send,
{
    fn span(&mut self, span: &Span, names: &SpanNames<'_>) {
        let OrderedSpans { reader, filter, sorter, is_full, .. } = self;
        let Some(sorter) = sorter.as_mut().filter(|_| !*is_full) else { return };
        if filter.as_ref().is_none_or(|filter| filter.matches(span, names, reader)) {
            let result = sorter.push(span);
            self.check(result);
        }
    }

    fn passed(&mut self, earliest: Timestamp, names: &SpanNames<'_>) {
        let OrderedSpans { traceset, reader, sorter, show, stop, is_full, .. } = self;
        let Some(sorter) = sorter.as_mut().filter(|_| !*is_full) else { return };
        let result =
            sorter.pass(earliest, |span| show(&mut Shown { span, names, reader, traceset }));
        if sorter.is_full() {
            *is_full = true;
            stop.store(true, Ordering::Relaxed);
        }
        self.check(result);
    }

    fn finished(&mut self, names: &SpanNames<'_>) {
        let OrderedSpans { traceset, reader, sorter, show, failure, .. } = self;
        let Some(sorter) = sorter.take().filter(|_| failure.is_none()) else { return };
        let result = sorter.finish(|span| show(&mut Shown { span, names, reader, traceset }));
        self.check(result);
    }
}
