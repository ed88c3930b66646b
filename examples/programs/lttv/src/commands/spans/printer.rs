//! Selecting spans, putting them in order, and printing them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ltt_read::Timestamp;
use lttv_common::spans::Shown;
use lttv_common::text::output::Output;
use lttv_context::Traceset;
use lttv_state::spans::{EventReader, Span, SpanFilter, SpanNames, SpanSorter, SpanVisitor};

use super::args::SpansArgs;
use super::records::{Csv, Json};
use super::text::Lines;

/// The form of the output.
#[derive(Debug)]
pub(super) enum Form {
    Lines(Box<Lines>),
    Csv(Csv),
    Json(Json),
}

impl Form {
    fn write(&mut self, shown: &mut Shown<'_, '_, '_>, out: &mut Output) -> io::Result<()> {
        match self {
            Form::Lines(lines) => lines.write(shown, out),
            Form::Csv(csv) => csv.write(shown, out),
            Form::Json(json) => json.write(shown, out),
        }
    }
}

/// Prints spans.
#[derive(Debug)]
pub(super) struct Printer<'t> {
    traceset: &'t Traceset,
    reader: EventReader<'t>,
    filter: Option<SpanFilter>,
    sorter: Option<SpanSorter>,
    form: Form,
    out: Output,
    stop: Arc<AtomicBool>,
    is_full: bool,
    failure: Option<io::Error>,
}

impl<'t> Printer<'t> {
    pub(super) fn new(
        args: &SpansArgs,
        traceset: &'t Traceset,
        filter: Option<SpanFilter>,
        form: Form,
        out: Output,
        stop: Arc<AtomicBool>,
    ) -> Self {
        let sorter = SpanSorter::new(args.sort.into(), tempfile::tempfile);
        Printer {
            traceset,
            reader: EventReader::new(traceset),
            filter,
            sorter: Some(match args.limit.filter(|limit| *limit > 0) {
                Some(limit) => sorter.limit(limit),
                None => sorter,
            }),
            form,
            out,
            stop,
            is_full: false,
            failure: None,
        }
    }

    /// Returns `true` if the read was stopped since there were enough spans.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Writes the rest of the output.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if let Form::Csv(csv) = &mut self.form {
            csv.head(&mut self.out)?;
        }
        self.out.finish()
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

impl SpanVisitor for Printer<'_> {
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
        let Printer { traceset, reader, sorter, form, out, is_full, .. } = self;
        let Some(sorter) = sorter.as_mut().filter(|_| !*is_full) else { return };
        let result = sorter
            .pass(earliest, |span| form.write(&mut Shown { span, names, reader, traceset }, out));
        if sorter.is_full() {
            self.is_full = true;
            self.stop.store(true, Ordering::Relaxed);
        }
        self.check(result);
    }

    fn finished(&mut self, names: &SpanNames<'_>) {
        let Printer { traceset, reader, sorter, form, out, failure, .. } = self;
        let Some(sorter) = sorter.take().filter(|_| failure.is_none()) else { return };
        let result = sorter
            .finish(|span| form.write(&mut Shown { span, names, reader, traceset }, out))
            .and_then(|()| out.flush());
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }
}
