//! Reading of traces and printing of their events.

use std::cell::Cell;
use std::error::Error;
use std::io;
use std::mem;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use ltt_read::schema::Format as SchemaFormat;
use ltt_read::{Merge, Notice, Trace};
use lttv_common::cache::{CacheArgs, KnownWaypoints};
use lttv_common::losses::Losses;
use lttv_common::opening::open_corrected;
use lttv_common::progress::Progress;
use lttv_common::report::{self, Report};
use lttv_common::text::number;
use lttv_common::text::output::{Output, Reader};
use lttv_common::text_dump::notice_text::Warnings;
use lttv_common::text_dump::trace_name::{given_for, trace_name};
use lttv_common::text_dump::{EventText, StateAt};
use lttv_common::time::{Times, Window, WindowError};
use lttv_context::{EndReason, Subscription, Traceset, TracesetContext};
use lttv_filter::Zone;
use lttv_state::filter::KernelFilters;
use lttv_state::kernel::KernelState;

use super::around::windows_around;
use super::found::Found;
use super::slices::{self, MakeFormat, Slices, batch_of};
use super::tally::{Counted, Tally};
use super::unordered::count_unordered;
use super::{Form, Job, follow};
use crate::prefetch::Prefetcher;

/// Prints or counts events.
///
/// # Errors
///
/// If the command line is wrong, if no trace can be opened, or if the output cannot be written.
pub fn print(job: &Job, report: &mut Report) -> Result<(), Box<dyn Error>> {
    // A wrong expression is reported before anything is read.
    job.input.expression()?;
    if follow::print(job, report)? {
        return Ok(());
    }
    let has_window = job.input.has_window();
    if job.is_count() && !has_window && !job.input.selects_events() {
        job.input.clocks.refuse("the number of all events depends on no time")?;
    }
    let (traces, names) = load(job, report)?;
    // Leaked, since the process ends with them: dropping a large schema takes time.
    mem::forget(traces.clone());
    let times = Times::new(job.input.zone(), &traces);
    let window = job.input.window_at(&times)?;
    let filters = job.input.filters(report, &traces)?;
    let mut output = job.output.open(&traces)?;
    for warning in traces.iter().flat_map(|t| t.warnings()) {
        report.warning(format_args!("metadata: {}", warning.message));
    }
    let is_terminal = output.is_terminal();
    let printer = job.printer(&traces, &names, is_terminal)?;
    printer.iter().flat_map(|it| it.warnings()).for_each(|warning| report.warning(warning));
    let reads_all = window.is_everything() && filters.is_none();
    let mut dump = Dump {
        warnings: Warnings::new(job.clock(&traces), &traces, &names),
        progress: Progress::new(output.is_terminal() && !job.is_count()),
        window,
        zone: job.input.zone(),
        filters,
        found: job.is_count().then(|| Found::new(&traces)),
        threads: job.input.threads_or_all(report),
        waypoints: KnownWaypoints::new(job.cache.cache(CacheArgs::LIMIT), &traces),
        prefetcher: Prefetcher::default(),
        around: None,
        has_context: job.context.is_some(),
        separates: matches!(job.form, Form::Lttv(_)),
        lost: Vec::new(),
        reads_all,
        report,
    };
    let traceset = Traceset::from(traces.clone());
    if window.begin.is_some() {
        dump.waypoints.use_stored(&traceset);
    }
    if let Some(length) = job.context
        && let Some(filters) = dump.filters.take()
    {
        let batch = batch_of(&traces);
        let passed = |context: &mut TracesetContext<'_>| {
            dump.progress.update_with(|| context.merge().progress());
        };
        dump.around = Some(windows_around(&traceset, window, filters, length, batch, passed));
    }
    if job.is_count() && dump.threads > 1 {
        let (window, filters) = (dump.window, dump.filters.as_ref());
        let passed = |now| dump.progress.update(now);
        if let Some(counted) = count_unordered(&traceset, window, filters, dump.threads, passed) {
            return Ok(dump.print_count(&traces, counted, &mut output)?);
        }
    }
    if job.is_count() && dump.filters.is_none() {
        return Ok(dump.count(&traceset, &mut output)?);
    }
    let make = || job.printer(&traces, &names, is_terminal).ok().flatten();
    Ok(dump.read(&traceset, printer, &make, &mut output)?)
}

/// Traces, and their names in babeltrace.
type Named = (Vec<Arc<Trace>>, Vec<String>);

/// Opens all traces, and names them as babeltrace does.
fn load(job: &Job, report: &mut Report) -> Result<Named, Box<dyn Error>> {
    let paths = job.input.paths()?;
    let corrected = open_corrected(report, &paths, &job.input.clocks)?;
    let traces = corrected.traceset.traces().to_vec();
    let name = |trace: &Arc<Trace>| {
        trace_name(trace.schema(), given_for(trace.path(), &paths), trace.paths())
    };
    let names = traces.iter().map(name).collect();
    Ok((traces, names))
}

/// The parts of a running dump.
struct Dump<'r> {
    report: &'r mut Report,
    warnings: Warnings,
    progress: Progress,
    window: Window,
    zone: Zone,
    filters: Option<KernelFilters>,
    /// The findings of a count, in an order that does not depend on threads; `None` if they are
    /// reported at once.
    found: Option<Found>,
    /// The number of threads to read with.
    threads: usize,
    waypoints: KnownWaypoints,
    prefetcher: Prefetcher,
    /// The windows around the events that are found, if they are printed with their context.
    around: Option<Vec<Window>>,
    /// `true` if they are.
    has_context: bool,
    /// `true` to print a line between two of these windows.
    separates: bool,
    /// `true` if all packets of all tracefiles are read.
    reads_all: bool,
    /// The losses so far, if they are.
    lost: Vec<Notice>,
}

impl Dump<'_> {
    /// Reads the events in the window, and prints or counts them.
    fn read(
        mut self,
        traceset: &Traceset,
        mut format: Option<Box<dyn EventText>>,
        make: MakeFormat<'_>,
        output: &mut Output,
    ) -> io::Result<()> {
        let (whole, mut filters) = (self.window, self.filters.take());
        let (mut counted, mut outcome) = (0u64, Ok(Reader::There));
        let is_count = format.is_none();
        let mut context = TracesetContext::new(traceset);
        let prints_state = format.as_ref().is_some_and(|format| format.wants_state());
        let asks_state = filters.as_ref().is_some_and(|it| it.uses_state());
        let is_legacy = |trace: &Arc<Trace>| trace.schema().format == SchemaFormat::Legacy;
        let as_lttv = prints_state && traceset.traces().iter().any(is_legacy);
        let kernel = (prints_state || asks_state).then(|| match as_lttv {
            // LTTV did not look ahead.
            true => context.attach(KernelState::new().without_looking_ahead()),
            false => context.attach(KernelState::new()),
        });
        if let Some(kernel) = kernel {
            filters = filters.map(|filters| filters.with_state(kernel));
        }
        if let Some(filters) = filters.as_ref().filter(|_| !asks_state) {
            context.set_filter(filters.filters());
        }
        // Filters that use the state are evaluated after it is up to date.
        let late = filters.as_ref().filter(|_| asks_state);
        // Without a window, the number of events read is the count.
        let counts_all = is_count && whole.is_everything() && !asks_state;
        if let Some(format) = &mut format {
            format.start(output.buffer());
        }
        self.prefetcher.step(|ahead| ahead.next(context.merge()));
        let (mut read, mut is_followed) = (0, false);
        let around = self.around.take();
        let has_slices = self.threads > 1
            && around.is_none()
            && kernel.is_none()
            && context.merge().progress().total >= slices::WORTH_THREADS;
        if let Some(format) = format.as_mut().filter(|it| has_slices && it.has_parts()) {
            if let Some(begin) = whole.begin {
                context.seek_time(begin);
            }
            let slices = Slices { window: whole, threads: self.threads, make };
            let report = |context: &mut TracesetContext<'_>| {
                self.passed(context);
            };
            let printed = slices.print(&mut context, &mut **format, output, report);
            (read, counted, is_followed) = (printed.read, printed.counted, printed.is_followed);
            outcome = printed.outcome;
        } else {
            let (count, written, out) = (&mut counted, &mut outcome, &mut *output);
            let printer = &mut format;
            let windows = around.unwrap_or_else(|| vec![whole]);
            let current = Rc::new(Cell::new(whole));
            let separator = Rc::new(Cell::new(false));
            if !counts_all {
                let (current, separator) = (current.clone(), separator.clone());
                context.on_event(Subscription::to_every_event(), move |call| {
                    let passes = || late.is_none_or(|filters| filters.matches(call));
                    if !current.get().contains(call.event.timestamp()) || !passes() {
                        return ControlFlow::Continue(());
                    }
                    *count += 1;
                    let Some(format) = printer else { return ControlFlow::Continue(()) };
                    if separator.take() {
                        out.buffer().append(b"--\n");
                    }
                    let state =
                        kernel.and_then(|kernel| StateAt::of(&call.extensions[kernel], call));
                    format.event(&call.event, state, out.buffer());
                    *written = out.spill();
                    match written {
                        Ok(Reader::There) => ControlFlow::Continue(()),
                        Ok(Reader::Gone) | Err(_) => ControlFlow::Break(()),
                    }
                });
            }
            'windows: for (number, window) in windows.into_iter().enumerate() {
                current.set(window);
                separator.set(self.separates && number > 0);
                match window.begin {
                    Some(begin) if kernel.is_some() => _ = context.state().seek_time(begin),
                    Some(begin) => context.seek_time(begin),
                    None => {}
                }
                let batch = window.bounds().max_examined(batch_of(traceset.traces()));
                // The bounds contain no position that could be refused.
                while let Ok(end) = context.read(&batch) {
                    read += end.events;
                    self.passed(&mut context);
                    match end.reason {
                        EndReason::ExaminedCount => continue,
                        EndReason::Stopped => break 'windows,
                        reason => is_followed = reason != EndReason::EndOfTraceset,
                    }
                    break;
                }
            }
        }
        let errors = context.take_errors();
        let omitted = (context.merge().errors_omitted(), context.merge().notices_omitted());
        drop(context);
        self.waypoints.store(traceset);
        self.report_found();
        // The number of events that were recorded is unknown if a filter skips some.
        let recorded = match whole.is_everything() {
            _ if filters.is_some() || self.has_context => None,
            true => Some(read),
            false => Some(counted),
        };
        if counted == 0 {
            self.report_outside(traceset.traces(), is_followed);
        }
        if outcome? == Reader::Gone {
            return Ok(());
        }
        if let Some(format) = &mut format {
            format.finish(output.buffer());
        }
        if is_count {
            number::decimal(output.buffer(), if counts_all { read } else { counted });
            output.buffer().push(b'\n');
        }
        self.finish(output, errors, omitted, (traceset.traces(), recorded))
    }

    /// Counts the events in the window without decoding them: this takes no more than to
    /// merge them.
    fn count(mut self, traceset: &Traceset, output: &mut Output) -> io::Result<()> {
        let traces = traceset.traces();
        let mut merge = Merge::new(traces);
        let mut tally = Tally::new(self.window);
        let batch = batch_of(traces);
        if let Some(begin) = self.window.begin {
            merge.seek(begin);
        }
        let is_followed = loop {
            self.prefetcher.step(|ahead| ahead.next(&merge));
            let read = merge.drive(batch, &mut tally);
            let is_past = tally.is_over(&mut merge);
            merge.note_waypoints(self.waypoints.sets());
            self.progress.update_with(|| merge.progress());
            self.report_notices(merge.take_notices());
            if is_past.unwrap_or(read < batch) {
                break is_past.is_some();
            }
        };
        let counted = Counted {
            events: tally.events(),
            is_followed,
            notices: Vec::new(),
            notices_omitted: merge.notices_omitted(),
            errors_omitted: merge.errors_omitted(),
            errors: merge.take_errors(),
        };
        self.waypoints.store(traceset);
        self.print_count(traces, counted, output)
    }

    /// Prints a number of events, and reports what was met while counting.
    fn print_count(
        mut self,
        traces: &[Arc<Trace>],
        counted: Counted,
        output: &mut Output,
    ) -> io::Result<()> {
        let Counted { events, is_followed, notices, errors, .. } = counted;
        self.report_notices(notices);
        self.report_found();
        number::decimal(output.buffer(), events);
        output.buffer().push(b'\n');
        if events == 0 {
            self.report_outside(traces, is_followed);
        }
        let omitted = (counted.errors_omitted, counted.notices_omitted);
        // The number of events that were recorded is unknown if a filter skips some.
        let recorded = self.filters.is_none().then_some(events);
        self.finish(output, errors, omitted, (traces, recorded))
    }

    /// Reports the losses in the window, also if it contains no events, and their sum. Those of
    /// whole traces have been reported while reading.
    fn report_losses(
        &mut self,
        traces: &[Arc<Trace>],
        recorded: Option<u64>,
        notices_omitted: u64,
    ) {
        // Of a trace that is larger than memory, the packets' headers would be read from the disk again.
        let losses = match self.reads_all && notices_omitted == 0 {
            true => Losses::from_notices(traces, &self.lost),
            false => Losses::of(traces, self.window),
        };
        if !self.window.is_everything() {
            for loss in losses.ranges() {
                report::line(&self.warnings.loss(loss));
            }
        }
        self.report.losses(&losses, recorded);
    }

    /// Reports a window that contains no event since it is outside of the traces. `is_followed`
    /// is `true` if an event after the window was read.
    fn report_outside(&self, traces: &[Arc<Trace>], is_followed: bool) {
        let first = || Merge::new(traces).next().and_then(|event| event.timestamp());
        // Finding the last event would take longer than all else.
        if is_followed
            && first().is_some_and(|first| self.window.end.is_some_and(|end| first <= end))
        {
            return;
        }
        let times = Times::new(self.zone.clone(), traces);
        if let Err(outside @ WindowError::Outside { .. }) = times.inside(self.window) {
            self.report.warning(outside);
        }
    }

    /// Finishes the output, then reports damage and losses: those of `traces`, of which a number
    /// of events was read.
    fn finish(
        &mut self,
        output: &mut Output,
        errors: Vec<ltt_read::Error>,
        (errors_omitted, notices_omitted): (u64, u64),
        (traces, recorded): (&[Arc<Trace>], Option<u64>),
    ) -> io::Result<()> {
        if output.flush()? == Reader::There {
            self.report.notices_omitted(notices_omitted);
            let errors = match &self.found {
                Some(found) => found.in_order(errors),
                None => errors,
            };
            self.report.errors(&errors, errors_omitted);
            self.report_losses(traces, recorded, notices_omitted);
        }
        Ok(())
    }

    /// Handles what has been read since the last call.
    fn passed(&mut self, context: &mut TracesetContext<'_>) {
        self.prefetcher.step(|ahead| ahead.next(context.merge()));
        context.merge().note_waypoints(self.waypoints.sets());
        self.progress.update_with(|| context.merge().progress());
        self.report_notices(context.take_notices());
    }

    /// Reports notices since the last call.
    fn report_notices(&mut self, mut notices: Vec<Notice>) {
        // Losses in a window are reported at the end, as far as they overlap it.
        if !self.window.is_everything() {
            notices.retain(|notice| !notice.kind.is_loss());
        }
        if self.reads_all {
            self.lost.extend(notices.iter().filter(|notice| notice.kind.is_loss()).cloned());
        }
        match &mut self.found {
            Some(found) => {
                if found.add(notices) {
                    self.report_found();
                }
            }
            None => notices.iter().for_each(|notice| report::line(&self.warnings.text(notice))),
        }
    }

    /// Reports the notices of a count so far.
    fn report_found(&mut self) {
        for notice in self.found.iter_mut().flat_map(Found::take_notices) {
            report::line(&self.warnings.text(&notice));
        }
    }
}
