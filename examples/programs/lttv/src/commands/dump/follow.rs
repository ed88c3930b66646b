//! Printing of events while they are recorded, from directories, recordings of perf, standard input or a relay daemon.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use ltt_read::live::list_sessions;
use ltt_read::{Merge, Notice, NoticeKind, Trace};
use lttv_common::cancel;
use lttv_common::follow::{PAUSE, Place};
use lttv_common::report::{self, Report, Usage};
use lttv_common::text::number;
use lttv_common::text::output::{Output, Reader};
use lttv_common::text_dump::EventText;
use lttv_common::text_dump::notice_text::Warnings;
use lttv_common::text_dump::trace_name::{given_for, trace_name};
use lttv_context::{Recording, RecordingError, RecordingState};
use lttv_state::filter::KernelFilters;

use super::{Form, Job};

/// The longest time for which data is fetched before it is printed.
const STEP: Duration = Duration::from_millis(50);

/// Prints events while they are recorded, or lists live sessions, if the command line asks for
/// it. Returns `false` if it does not.
///
/// # Errors
///
/// If the command line is wrong, if what is followed cannot be read any further, or if the output
/// cannot be written.
pub(super) fn print(job: &Job, report: &mut Report) -> Result<bool, Box<dyn Error>> {
    let (paths, args) = (&job.input.traces, job.follow);
    let place = Place::new(paths, args)?;
    let paths = match &place {
        Place::Recorded => return Ok(false),
        Place::Daemon(daemon) => {
            list(daemon)?;
            return Ok(true);
        }
        // Without a path, the bundled trace.
        Place::Growing => job.input.paths()?,
        Place::Session { .. } => Vec::new(),
    };
    refuse_without_effect(job)?;
    let Some(recording) = place.recording(&paths, args, None)? else { return Ok(false) };
    Following::new(job, recording, paths, report)?.run()?;
    Ok(true)
}

/// Lists the sessions of a relay daemon, as babeltrace2 does.
fn list(daemon: &str) -> Result<(), Box<dyn Error>> {
    let mut output = Output::stdout();
    let port = format!(":{}", ltt_read::live::DEFAULT_PORT);
    let host = daemon.strip_suffix(&port).unwrap_or(daemon);
    for session in list_sessions(daemon)? {
        output.buffer().append(format!("net://{host}/host/{session}\n").as_bytes());
    }
    Ok(output.finish()?)
}

/// Refuses options that have no effect while traces are recorded.
fn refuse_without_effect(job: &Job) -> Result<(), Usage> {
    let reason = "the traces are still being recorded";
    if job.input.has_window() {
        return Err(Usage::new(format_args!("a time window has no use here: {reason}")));
    }
    if let Form::Lttv(options) = &job.form
        && (options.process || options.process_state)
    {
        return Err(Usage::new(format_args!("--process has no use here: {reason}")));
    }
    if matches!(job.form, Form::Rows(_)) {
        return Err(Usage::new(format_args!("--columns and --top have no use here: {reason}")));
    }
    job.input.clocks.refuse(reason)
}

/// The state while events are printed.
struct Following<'a> {
    job: &'a Job,
    recording: Recording,
    /// The directories that the user gave.
    given: Vec<PathBuf>,
    report: &'a mut Report,
    output: Output,
    merge: Merge,
    format: Option<Box<dyn EventText>>,
    names: Vec<String>,
    filters: Option<KernelFilters>,
    /// The numbers of event types and tracefiles for which the filters were compiled.
    extent: Vec<(usize, usize)>,
    events: u64,
    losses: Losses,
}

/// The sums of what the tracer lost so far.
#[derive(Debug, Default)]
struct Losses {
    packets: u64,
    events: u64,
}

impl Losses {
    fn add(&mut self, notice: &Notice) {
        match notice.kind {
            NoticeKind::LostPackets { count, .. } => {
                self.packets = self.packets.saturating_add(count);
            }
            NoticeKind::DiscardedEvents { count, .. } => {
                self.events = self.events.saturating_add(count.unwrap_or(1));
            }
            _ => {}
        }
    }
}

impl<'a> Following<'a> {
    fn new(
        job: &'a Job,
        recording: Recording,
        given: Vec<PathBuf>,
        report: &'a mut Report,
    ) -> Result<Self, Box<dyn Error>> {
        job.input.expression()?;
        let mut output = job.output.open(&[])?;
        let mut format = job.printer(&[], &[], output.is_terminal())?;
        format.iter().flat_map(|it| it.warnings()).for_each(|warning| report.warning(warning));
        format.iter_mut().for_each(|format| format.start(output.buffer()));
        Ok(Following {
            merge: Merge::new(&[]),
            names: Vec::new(),
            filters: None,
            extent: Vec::new(),
            events: 0,
            losses: Losses::default(),
            job,
            recording,
            given,
            report,
            output,
            format,
        })
    }

    /// Prints events until the source ends or the user interrupts.
    fn run(mut self) -> Result<(), Box<dyn Error>> {
        let interrupt = cancel::on_interrupt()?;
        let end = loop {
            if interrupt.load(Ordering::Relaxed) {
                // An error that was not returned yet.
                if let Err(error) = self.recording.poll(Duration::ZERO, &mut self.merge) {
                    self.report.error(error);
                }
                self.report_unread();
                break Ok(());
            }
            match self.recording.poll(STEP, &mut self.merge) {
                Ok(RecordingState::Idle) => thread::sleep(PAUSE),
                Ok(RecordingState::Busy) => {
                    if self.read()? == Reader::Gone {
                        return Ok(());
                    }
                }
                Ok(RecordingState::Ended) => break Ok(()),
                Err(RecordingError::Read(error)) => self.report.error(error),
                Err(error) => break Err(error.into()),
            }
        };
        self.finish()?;
        end
    }

    /// Reports what has not been read so far because there is no valid metadata.
    fn report_unread(&mut self) {
        let errors = self.recording.metadata_errors();
        errors.iter().for_each(|error| self.report.error(error));
        if errors.is_empty() && self.recording.traceset().traces().is_empty() {
            let paths = self.given.iter();
            paths.for_each(|path| {
                self.report.error(format!("{}: no trace", path.display()));
            });
        }
    }

    /// Prints the events that are final.
    fn read(&mut self) -> Result<Reader, Box<dyn Error>> {
        self.prepare()?;
        let Following { merge, format, filters, output, events, .. } = self;
        let passes = |event: &ltt_read::Event<'_>| {
            filters.as_ref().is_none_or(|filters| filters.filters().matches(event))
        };
        let mut reader = Reader::There;
        while let Some(event) = merge.next() {
            if !passes(&event) {
                continue;
            }
            *events += 1;
            if let Some(format) = format {
                format.event(&event, None, output.buffer());
                reader = output.spill()?;
                if reader == Reader::Gone {
                    return Ok(reader);
                }
            }
        }
        if reader == Reader::There {
            reader = output.flush()?;
        }
        let notices = merge.take_notices();
        if !notices.is_empty() {
            let mut warnings = Warnings::new(
                self.job.clock(self.recording.traceset().traces()),
                self.recording.traceset().traces(),
                &self.names,
            );
            for notice in &notices {
                self.losses.add(notice);
                report::line(&warnings.text(notice));
            }
        }
        let errors = merge.take_errors();
        self.report.errors(&errors, 0);
        Ok(reader)
    }

    /// Prepares names, format and filters for the traces as they are now.
    fn prepare(&mut self) -> Result<(), Box<dyn Error>> {
        let traces = self.recording.traceset().traces().to_vec();
        for trace in traces.iter().skip(self.names.len()) {
            let given = given_for(trace.path(), &self.given);
            self.names.push(trace_name(trace.schema(), given, trace.paths()));
            for warning in trace.warnings() {
                self.report.warning(format_args!("metadata: {}", warning.message));
            }
        }
        if let Some(format) = &mut self.format {
            format.continue_with(&traces, &self.names);
        }
        self.compile_filters(&traces)
    }

    /// Compiles the filters for the traces as they are now, unless they declare nothing new.
    fn compile_filters(&mut self, traces: &[Arc<Trace>]) -> Result<(), Box<dyn Error>> {
        let extent =
            |trace: &Arc<Trace>| (trace.schema().event_types.len(), trace.tracefiles().len());
        let extents: Vec<_> = traces.iter().map(extent).collect();
        if !self.job.input.selects_events() || traces.is_empty() || extents == self.extent {
            return Ok(());
        }
        self.extent = extents;
        self.filters = self.job.input.filters(self.report, traces)?;
        if self.filters.as_ref().is_some_and(KernelFilters::uses_state) {
            let what = "--filter: the state is not known while traces are recorded";
            return Err(Usage::new(what).into());
        }
        Ok(())
    }

    /// Writes what is after the last event, and reports losses.
    fn finish(mut self) -> io::Result<()> {
        match &mut self.format {
            Some(format) => format.finish(self.output.buffer()),
            None => {
                number::decimal(self.output.buffer(), self.events);
                self.output.buffer().push(b'\n');
            }
        }
        let missing = self.recording.live().map_or(0, |reader| reader.client().missing_packets());
        self.losses.packets = self.losses.packets.saturating_add(missing);
        if self.output.flush()? == Reader::There
            && (self.losses.packets, self.losses.events) != (0, 0)
        {
            let Losses { packets, events } = self.losses;
            self.report.warning(format_args!(
                "{packets} packets are missing, and the tracer discarded {events} events"
            ));
        }
        Ok(())
    }
}
