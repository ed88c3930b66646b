//! Selecting spans, and putting them in order.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ltt_read::Timestamp;
use lttv_common::spans::Shown;
use lttv_context::Traceset;
use lttv_state::spans::{EventReader, Span, SpanFilter, SpanNames, SpanSorter, SpanVisitor};

use super::args::SpansArgs;

/// A receiver of spans in their order.
pub trait SpanReceiver: Send {
    /// Receives a span.
    ///
    /// # Errors
    ///
    /// If it cannot be written. This ends the read.
    fn span(&mut self, shown: &mut Shown<'_, '_, '_>) -> io::Result<()>;

    /// Is called after the last span.
    ///
    /// # Errors
    ///
    /// If what is left cannot be written.
    fn finish(&mut self) -> io::Result<()>;
}

/// Passes the chosen spans on.
#[derive(Debug)]
pub(super) struct Chosen<'t, R> {
    traceset: &'t Traceset,
    reader: EventReader<'t>,
    filter: Option<SpanFilter>,
    sorter: Option<SpanSorter>,
    receiver: R,
    stop: Arc<AtomicBool>,
    is_full: bool,
    failure: Option<io::Error>,
}

impl<'t, R: SpanReceiver> Chosen<'t, R> {
    pub(super) fn new(
        args: &SpansArgs,
        traceset: &'t Traceset,
        filter: Option<SpanFilter>,
        receiver: R,
        stop: Arc<AtomicBool>,
    ) -> Self {
        let sorter = SpanSorter::new(args.sort.into(), tempfile::tempfile);
        Chosen {
            traceset,
            reader: EventReader::new(traceset),
            filter,
            sorter: Some(match args.limit.filter(|limit| *limit > 0) {
                Some(limit) => sorter.limit(limit),
                None => sorter,
            }),
            receiver,
            stop,
            is_full: false,
            failure: None,
        }
    }

    /// Returns `true` if the read was stopped since there were enough spans.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Passes the end on.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.failure.map_or(Ok(()), Err)?;
        self.receiver.finish()
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

impl<R: SpanReceiver> SpanVisitor for Chosen<'_, R> {
    fn span(&mut self, span: &Span, names: &SpanNames<'_>) {
        if self.is_full {
            return;
        }
        let reader = &mut self.reader;
        if self.filter.as_ref().is_none_or(|filter| filter.matches(span, names, reader)) {
            let result = self.sorter.as_mut().map_or(Ok(()), |sorter| sorter.push(span));
            self.check(result);
        }
    }

    fn passed(&mut self, earliest: Timestamp, names: &SpanNames<'_>) {
        let Chosen { traceset, reader, sorter, receiver, is_full, .. } = self;
        let Some(sorter) = sorter.as_mut().filter(|_| !*is_full) else { return };
        let result = sorter
            .pass(earliest, |span| receiver.span(&mut Shown { span, names, reader, traceset }));
        if sorter.is_full() {
            self.is_full = true;
            self.stop.store(true, Ordering::Relaxed);
        }
        self.check(result);
    }

    fn finished(&mut self, names: &SpanNames<'_>) {
        let Chosen { traceset, reader, sorter, receiver, failure, .. } = self;
        let Some(sorter) = sorter.take().filter(|_| failure.is_none()) else { return };
        let result =
            sorter.finish(|span| receiver.span(&mut Shown { span, names, reader, traceset }));
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }
}
