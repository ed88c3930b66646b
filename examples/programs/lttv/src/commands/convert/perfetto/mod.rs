//! States and events as JSON for the Perfetto UI.
//!
//! The format is the JSON of Chrome's trace viewer: an object with a list of trace events, in any
//! order. `tracks` decides what is shown where, `json` writes it.

mod counters;
mod json;
mod periods;
mod threads;
mod tracks;

use std::cell::RefCell;
use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use json::Json;
use ltt_read::Trace;
use lttv_common::report::Report;
use lttv_common::time::Window;
use lttv_hooks::Flow;
use lttv_state::counters::{Counter, CounterSettings};
use lttv_state::spans::SpanSettings;
use tracks::Tracks;

use super::Conversion;
use super::in_order::InOrder;

/// The numbers of a file that was written.
pub(super) struct Written {
    /// The number of trace events.
    pub(super) count: u64,
    /// The number of wanted events that were left out, since they have no times.
    pub(super) untimed: u64,
}

/// The periods and counters to show, if there are any.
#[derive(Debug, Default)]
pub(super) struct Defined {
    pub(super) periods: Option<SpanSettings>,
    pub(super) counters: Option<(Vec<Counter>, CounterSettings)>,
}

/// Writes the window of all traces to a file, which appears when it is complete.
pub(super) fn write(
    conversion: &Conversion<'_>,
    path: &Path,
    window: Window,
    defined: Defined,
    report: &mut Report,
) -> Result<Written, Box<dyn Error>> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    let (out, file) = file.into_parts();
    let tracks = Tracks::new(conversion.traces(), window);
    let json = Json::new(BufWriter::new(out), zero(conversion.traces()))?;
    let shown = RefCell::new(Shown { tracks, json, failed: None });
    let mut reading = InOrder::new(conversion, window);
    shown.borrow_mut().apply(|tracks, json| tracks.begin(reading.state(), json))?;
    reading.read(|call, kernel, is_wanted| {
        let mut shown = shown.borrow_mut();
        match shown.apply(|tracks, json| tracks.event(call, kernel, is_wanted, json)) {
            Ok(()) => Flow::Continue(()),
            Err(error) => {
                shown.failed = Some(error);
                Flow::Break(())
            }
        }
    })?;
    report.errors(&reading.context.take_errors(), reading.context.merge().errors_omitted());
    shown.borrow_mut().apply(|tracks, json| tracks.end(reading.state(), json))?;
    drop(reading);
    let Shown { mut json, failed, tracks } = shown.into_inner();
    if let Some(error) = failed {
        return Err(error.into());
    }
    let means = (conversion.threads, &conversion.cancel);
    if let Some(settings) = defined.periods {
        periods::write(&conversion.traceset, window, settings, means, &mut json)?;
        conversion.check(0)?;
    }
    if let Some((all, settings)) = defined.counters {
        let found = counters::read(&conversion.traceset, window, settings, means);
        conversion.check(0)?;
        let left_out = found.dropped + found.dropped_changes;
        if left_out > 0 {
            report.error(format!("{left_out} values of counters are too many: they are left out"));
        }
        counters::write(&all, &found, zero(conversion.traces()), &mut json)?;
    }
    let (out, count) = json.finish()?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    file.persist(path)?;
    Ok(Written { count, untimed: tracks.untimed })
}

/// Returns the full second in which the first trace starts, in ns.
fn zero(traces: &[Arc<Trace>]) -> i64 {
    const SECOND: i64 = 1_000_000_000;
    let start = traces.iter().filter_map(|trace| trace.time_span()).map(|span| span.start).min();
    start.map_or(0, |start| start.as_ns().div_euclid(SECOND).saturating_mul(SECOND))
}

/// The tracks, and the file into which they are written.
struct Shown<W> {
    tracks: Tracks,
    json: Json<W>,
    failed: Option<io::Error>,
}

impl<W: Write> Shown<W> {
    fn apply(
        &mut self,
        change: impl FnOnce(&mut Tracks, &mut Json<W>) -> io::Result<()>,
    ) -> io::Result<()> {
        change(&mut self.tracks, &mut self.json)
    }
}
