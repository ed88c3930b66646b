//! Writing the events of a time window to a file, while requests are served.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use ltt_read::{Timestamp, Trace};
use lttv_common::text::Text;
use lttv_common::text::clock_text::{ClockStyle, ClockText};
use lttv_common::text_dump::EventText;
use lttv_common::text_dump::json::Json;
use lttv_common::text_dump::lttv::Lttv;
use lttv_context::{EventCall, Handle, ReadCall};
use lttv_filter::Zone;
use lttv_requests::views::TimeWindow;
use lttv_requests::{
    Control, EventsRequest, FinishReason, Owner, Scheduler, SubmitError, Urgency, Viewer,
    ViewerHandle,
};
use lttv_state::filter::KernelFilters;
use lttv_state::kernel::KernelState;
use tempfile::NamedTempFile;

use super::conjunction::Conjunction;
use crate::time_text::seconds;

/// The format of a file of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventFormat {
    /// Lines as those of LTTV's `textDump`.
    Text,
    /// A line of headings, and a line for each event.
    Csv,
    /// A JSON object on each line.
    Json,
}

/// An export, which makes progress whenever requests are served.
#[derive(Debug)]
pub struct EventExport {
    path: PathBuf,
    owner: Owner,
    window: TimeWindow,
    written: ViewerHandle<Written>,
}

/// The part of an export that is written.
struct Written {
    kernel: Handle<KernelState>,
    lines: Lines,
    file: BufWriter<NamedTempFile>,
    events: u64,
    /// The time of the last event so far.
    time: Timestamp,
    /// `true` if the request has come to its end.
    is_whole: bool,
    error: Option<io::Error>,
}

impl Viewer for Written {
    fn event(&mut self, call: &mut EventCall<'_, '_>, request: &Control<'_>) {
        if let Err(error) = self.file.write_all(self.lines.line(call, self.kernel)) {
            self.error = Some(error);
            request.stop();
        }
        self.events += 1;
        self.time = call.event_time();
    }

    fn end(&mut self, _: &mut ReadCall<'_, '_>, _: &Control<'_>, reason: FinishReason) {
        self.is_whole = reason.is_complete();
    }
}

/// The lines of a format.
struct Lines {
    format: EventFormat,
    text: Lttv,
    json: Json,
    line: Text,
}

impl EventExport {
    /// Starts to write the events of a time window that pass all filters. The file appears when
    /// all of them are written, in place of an older one.
    ///
    /// # Errors
    ///
    /// If no file can be created beside the path.
    pub fn start(
        scheduler: &mut Scheduler<'static>,
        kernel: Handle<KernelState>,
        window: TimeWindow,
        filters: Vec<Rc<KernelFilters>>,
        format: EventFormat,
        path: PathBuf,
    ) -> Result<Self, ExportError> {
        let traces: Vec<Arc<Trace>> = scheduler.context().traceset().traces().to_vec();
        let mut file = BufWriter::new(new_file(&path)?);
        if format == EventFormat::Csv {
            file.write_all(HEADINGS)?;
        }
        let owner = Owner::unique();
        let request = EventsRequest::new(owner)
            .urgency(Urgency::LOW)
            .starting_at(window.start())
            .until(window.end());
        let request = match filters.is_empty() {
            true => request,
            false => request.filter(Conjunction::new(filters)),
        };
        let written = Written {
            kernel,
            lines: Lines::new(format, &traces),
            file,
            events: 0,
            time: window.start(),
            is_whole: false,
            error: None,
        };
        let written = scheduler.submit_viewer(request, written)?;
        Ok(EventExport { path, owner, window, written })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the owner of the request.
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// Returns the number of events so far, and the part of the time window that is written, from 0
    /// to 1. `None` after the end.
    pub fn progress(&self, scheduler: &Scheduler<'static>) -> Option<(u64, f64)> {
        let written = scheduler.viewer(self.written)?;
        let passed = written.time.as_ns().abs_diff(self.window.start().as_ns());
        Some((written.events, (passed as f64 / self.window.width() as f64).min(1.0)))
    }

    /// Finishes the file if all events are written. Returns the number of events; `None` if
    /// the export continues.
    pub fn finish(&self, scheduler: &mut Scheduler<'static>) -> Option<io::Result<u64>> {
        let written = scheduler.take_viewer(self.written)?;
        Some(match written.error {
            Some(error) => Err(error),
            None if written.is_whole => persist(written.file, &self.path).map(|()| written.events),
            None => Err(io::Error::other("the export ended before all events were written")),
        })
    }

    /// Cancels the export. Nothing is left of the file.
    pub fn cancel(self, scheduler: &mut Scheduler<'static>) {
        scheduler.remove_owner(self.owner);
    }
}

/// The reason why an export cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The file cannot be created.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A request is refused.
    #[error(transparent)]
    Submit(#[from] SubmitError),
}

/// Creates a file beside a path, which it replaces later, with the permissions of new files.
fn new_file(path: &Path) -> io::Result<NamedTempFile> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask of the user removes some of these permissions.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
}

/// Puts a complete file in the place of a path. The permissions of an older one stay.
fn persist(file: BufWriter<NamedTempFile>, path: &Path) -> io::Result<()> {
    let file = file.into_inner().map_err(|error| error.into_error())?;
    // A link stays a link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if let Ok(old) = fs::metadata(&path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.persist(path)?;
    Ok(())
}

/// Writes a whole text to a file at once, in place of an older one.
///
/// # Errors
///
/// If it cannot be written. An older file stays then.
pub fn write_file(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = BufWriter::new(new_file(path)?);
    file.write_all(text)?;
    persist(file, path)
}

const HEADINGS: &[u8] = b"time,time_ns,trace,tracefile,cpu,tid,pid,comm,event,fields\n";

impl Lines {
    fn new(format: EventFormat, traces: &[Arc<Trace>]) -> Self {
        let clock = ClockText::new(ClockStyle::Seconds, Zone::local());
        let text = Lttv::new(traces, clock, false);
        Lines { format, text, json: Json::new(traces), line: Text::default() }
    }

    /// Returns the line of an event.
    fn line(&mut self, call: &EventCall<'_, '_>, kernel: Handle<KernelState>) -> &[u8] {
        self.line.clear();
        match self.format {
            EventFormat::Text => self.text.event(&call.event, None, &mut self.line),
            EventFormat::Json => self.json.event(&call.event, None, &mut self.line),
            EventFormat::Csv => self.csv(call, kernel),
        }
        self.line.as_bytes()
    }

    fn csv(&mut self, call: &EventCall<'_, '_>, kernel: Handle<KernelState>) {
        let (time, event) = (call.event_time(), &call.event);
        let mut fields = Text::default();
        self.text.fields(event, &mut fields);
        let kernel = call.extensions.get(kernel);
        let state = kernel.and_then(|kernel| kernel.trace(call.trace.index()));
        let running = kernel.and_then(|kernel| kernel.process_of(call));
        let number = |number: Option<i32>| number.map_or_else(String::new, |id| id.to_string());
        let comm = state.zip(running).map(|(state, process)| state.name(process.name()));
        let path = event.trace().path();
        let fields = String::from_utf8_lossy(fields.as_bytes());
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let cells = [
            &*seconds(time),
            &*time.as_ns().to_string(),
            &*name,
            event.tracefile().name(),
            &*event.tracefile().cpu().map_or_else(String::new, |cpu| cpu.to_string()),
            &*number(running.and_then(|process| process.tid())),
            &*number(running.and_then(|process| process.pid())),
            comm.unwrap_or_default(),
            event.event_type().name(),
            fields.trim_start_matches([',', ' ']),
        ];
        for (number, cell) in cells.iter().enumerate() {
            if number > 0 {
                self.line.push(b',');
            }
            self.line.append(quoted(cell).as_bytes());
        }
        self.line.push(b'\n');
    }
}

/// Returns a cell of a CSV file (RFC 4180).
fn quoted(cell: &str) -> String {
    match cell.contains(['"', ',', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use lttv_context::{Traceset, TracesetContext};
    use lttv_requests::Budget;

    use super::*;

    #[test]
    fn an_export_whose_request_was_cancelled_writes_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
        let mut context = TracesetContext::new(Traceset::open(path).expect("the bundled trace"));
        let kernel = context.attach(KernelState::new());
        let span = context.contexts().time_span().expect("events");
        let mut scheduler = Scheduler::new(context);
        let (window, to) = (TimeWindow::covering(span), folder.path().join("events.csv"));
        let (format, filters) = (EventFormat::Csv, Vec::new());
        let export =
            EventExport::start(&mut scheduler, kernel, window, filters, format, to.clone());
        let export = export.expect("a folder that can be written to");
        scheduler.service_chunk(Budget::events(100));
        assert!(export.finish(&mut scheduler).is_none());
        assert!(export.progress(&scheduler).is_some_and(|(events, _)| events > 0));
        scheduler.cancel_owner(export.owner());
        assert!(export.finish(&mut scheduler).is_some_and(|result| result.is_err()));
        assert!(!to.exists());
    }
}
