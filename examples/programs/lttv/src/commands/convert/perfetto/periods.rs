//! Periods of the user: slices that may overlap.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use lttv_common::time::Window;
use lttv_context::Traceset;
use lttv_state::analysis::read;
use lttv_state::spans::{
    Completeness, EventReader, Family, Span, SpanAnalysis, SpanNames, SpanSettings, SpanVisitor,
};

use super::json::{Json, Track};
use super::tracks::HOST;

/// Writes the periods in a window.
///
/// # Errors
///
/// If they cannot be written.
pub(super) fn write<W: Write + Send>(
    traceset: &Traceset,
    window: Window,
    settings: SpanSettings,
    (threads, cancel): (usize, &Arc<AtomicBool>),
    json: &mut Json<W>,
) -> io::Result<()> {
    let (reader, stop) = (EventReader::new(traceset), cancel.clone());
    let slices = Slices { reader, json, window, stop, number: 0, failed: None };
    let analysis = SpanAnalysis::new(settings.families([Family::Period]), slices);
    let read = read(traceset).window(window.range()).threads(threads).cancel(cancel);
    let found = read.run(analysis);
    found.output.visitor.failed.map_or(Ok(()), Err)
}

/// Writes a slice for each period.
struct Slices<'s, W> {
    reader: EventReader<'s>,
    json: &'s mut Json<W>,
    window: Window,
    stop: Arc<AtomicBool>,
    /// The number of slices.
    number: u64,
    failed: Option<io::Error>,
}

impl<W: Write + Send> SpanVisitor for Slices<'_, W> {
    fn span(&mut self, span: &Span, names: &SpanNames<'_>) {
        if self.failed.is_some() {
            return;
        }
        let host = span.trace.0 as i64 * HOST;
        let tid = span.thread.tid.filter(|tid| *tid != 0);
        let pid = span.thread.pid.or(tid);
        let id = |id: Option<i32>| host + id.map_or(0, i64::from);
        let track = Track { pid: id(pid), tid: id(tid) };
        let from = self.window.begin.map_or(span.begin, |begin| span.begin.max(begin)).as_ns();
        let is_open = span.completeness == Completeness::NoEnd;
        let to = (!is_open).then_some(span.end.as_ns());
        self.number += 1;
        let category = names.period(span).map_or("period", |period| period.name());
        let (label, values) = (names.label(span), self.reader.period_values(span, names));
        let slice = (category, &*label, self.number);
        if let Err(error) = self.json.overlapping(slice, track, (from, to), &values) {
            self.failed = Some(error);
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}
