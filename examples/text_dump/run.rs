//! Reads traces and prints their events.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use ltt_read::{Merge, Timestamp, Trace, open_all};
use lttv_context::{Bounds, EndReason, Subscription, Traceset, TracesetContext};
use lttv_examples::progress::Progress;
use lttv_examples::text_dump::json::Json;
use lttv_examples::text_dump::lttv::Lttv;
use lttv_examples::text_dump::notice_text::Warnings;
use lttv_examples::text_dump::number;
use lttv_examples::text_dump::output::{Output, Reader};
use lttv_examples::text_dump::palette::Color;
use lttv_examples::text_dump::pretty::Pretty;
use lttv_examples::text_dump::time_arg::{TimeArg, TimeArgError};
use lttv_examples::text_dump::trace_name::trace_name;
use lttv_examples::text_dump::{EventText, StateAt};
use lttv_filter::{Environment, Expression, FilterError};
use lttv_state::filter::KernelFilters;
use lttv_state::kernel::KernelState;

use crate::cli::{Cli, Format};

/// Events between two reports of progress and notices.
const BATCH: u64 = 1 << 14;

/// How the work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All events were printed, or nobody wanted more.
    Complete,
    /// Some stream ended in an error, which has been told.
    Damaged,
}

/// Why nothing could be printed, or printing had to stop.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("{0}")]
    NoTrace(String),
    #[error(transparent)]
    Open(#[from] ltt_read::Error),
    #[error("{option}: {source}")]
    Time { option: &'static str, source: TimeArgError },
    #[error("--filter:\n{}", .0.render(std::io::stderr().is_terminal()).trim_end())]
    Filter(#[from] FilterError),
    #[error("{}: {source}", path.display())]
    Create { path: PathBuf, source: std::io::Error },
    #[error("cannot write the output: {0}")]
    Write(#[source] std::io::Error),
}

/// The times between which events are printed, both included.
#[derive(Debug, Clone, Copy)]
struct Window {
    begin: Option<Timestamp>,
    end: Option<Timestamp>,
}

/// Does what the command line says.
pub(crate) fn run(cli: &Cli) -> Result<Outcome, RunError> {
    let (traces, names) = open(cli)?;
    let window = window(cli, &traces)?;
    let filters = filters(cli, &traces)?;
    let mut output = Output::new(cli.output.as_deref()).map_err(|source| RunError::Create {
        path: cli.output.clone().unwrap_or_default(),
        source,
    })?;
    let dump = Dump {
        warnings: Warnings::new(cli.clock(), &traces, &names),
        progress: Progress::new(output.is_terminal() && !cli.count),
        window,
        filters,
    };
    for warning in traces.iter().flat_map(|t| t.warnings()) {
        dump.progress.message(&format!("warning: metadata: {}", warning.message));
    }
    let colored = match cli.color {
        Color::Auto => output.is_terminal(),
        Color::Always => true,
        Color::Never => false,
    };
    let format: Option<Box<dyn EventText>> = match cli.format {
        _ if cli.count => None,
        Format::Lttv => Some(Box::new(Lttv::new(&traces, cli.clock(), colored))),
        Format::Babeltrace => {
            Some(Box::new(Pretty::new(&traces, &names, cli.clock(), &cli.pretty(colored))))
        }
        Format::Json => Some(Box::new(Json::new(&traces))),
    };
    let traceset = Traceset::from(traces);
    dump.read(&traceset, format, &mut output).map_err(RunError::Write)
}

/// Opens everything, and names the traces as babeltrace does.
fn open(cli: &Cli) -> Result<(Vec<Arc<Trace>>, Vec<String>), RunError> {
    let mut traces = Vec::new();
    let mut names = Vec::new();
    for path in cli.paths().map_err(RunError::NoTrace)? {
        for trace in open_all(&path)? {
            names.push(trace_name(trace.schema(), &path, trace.paths()));
            traces.push(trace);
        }
    }
    Ok((traces, names))
}

/// The filter that events have to pass, of all that were given; times are as
/// printed.
fn filters(cli: &Cli, traces: &[Arc<Trace>]) -> Result<Option<KernelFilters>, RunError> {
    if cli.filters.is_empty() {
        return Ok(None);
    }
    let environment = Environment::new().in_zone(cli.filter_zone());
    let expression = Expression::parse_all(cli.filters.iter().map(String::as_str))?;
    Ok(Some(KernelFilters::new(&expression, traces, &environment)?))
}

/// The window as points in time. A time of day is one of the day of the first
/// event.
fn window(cli: &Cli, traces: &[Arc<Trace>]) -> Result<Window, RunError> {
    let (begin, end) = cli.bounds();
    let zone = cli.zone();
    let first = if [begin, end].into_iter().flatten().any(TimeArg::needs_date) {
        let mut merge = Merge::new(traces);
        std::iter::from_fn(|| merge.next().map(|e| e.timestamp())).flatten().next()
    } else {
        None
    };
    let resolve = |option, arg: Option<&TimeArg>| {
        let resolved = arg.map(|arg| arg.resolve(&zone, first));
        resolved.transpose().map_err(|source| RunError::Time { option, source })
    };
    Ok(Window { begin: resolve("--begin", begin)?, end: resolve("--end", end)? })
}

impl Window {
    /// Whether an event of a time is in it. Without a time it is in no window
    /// that has an end.
    #[inline]
    fn contains(self, time: Option<Timestamp>) -> bool {
        match time {
            Some(time) => {
                self.begin.is_none_or(|begin| time >= begin)
                    && self.end.is_none_or(|end| time <= end)
            }
            None => self.is_everything(),
        }
    }

    fn is_everything(self) -> bool {
        self.begin.is_none() && self.end.is_none()
    }

    /// What has to be read: up to its end, which is in it.
    fn bounds(self) -> Bounds {
        match self.end.and_then(|end| end.ns().checked_add(1)) {
            Some(behind) => Bounds::all().until(Timestamp::from_ns(behind)),
            None => Bounds::all(),
        }
    }
}

/// A dump under way.
struct Dump {
    warnings: Warnings,
    progress: Progress,
    window: Window,
    filters: Option<KernelFilters>,
}

impl Dump {
    /// Counts the events in the window, and prints them if there is a format.
    fn read(
        mut self,
        traceset: &Traceset,
        mut format: Option<Box<dyn EventText>>,
        output: &mut Output,
    ) -> std::io::Result<Outcome> {
        let (window, mut filters) = (self.window, self.filters.take());
        let (mut counted, mut outcome) = (0u64, Ok(Reader::There));
        let is_count = format.is_none();
        let mut context = TracesetContext::new(traceset);
        let prints_state = format.as_ref().is_some_and(|format| format.wants_state());
        let asks_state = filters.as_ref().is_some_and(|it| it.asks_state());
        let kernel = (prints_state || asks_state).then(|| match prints_state {
            // As LTTV, which knows nothing in advance.
            true => context.attach(KernelState::new().without_looking_ahead()),
            false => context.attach(KernelState::new()),
        });
        if let Some(kernel) = kernel {
            filters = filters.map(|filters| filters.asking(kernel));
        }
        match window.begin {
            Some(begin) if kernel.is_some() => _ = context.seek_time_with_state(begin),
            Some(begin) => context.seek_time(begin),
            None => {}
        }
        if let Some(filters) = filters.as_ref().filter(|_| !asks_state) {
            context.choose(filters.filters());
        }
        // Those that ask for the state are asked when it is there.
        let late = filters.as_ref().filter(|_| asks_state);
        // What passes can be counted without looking at it.
        let counts_all = is_count && window.is_everything() && !asks_state;
        let (count, written, out) = (&mut counted, &mut outcome, &mut *output);
        if !counts_all {
            context.on_event(Subscription::to_every_event(), move |call| {
                let passes = || late.is_none_or(|filters| filters.matches(call));
                if !window.contains(call.event.timestamp()) || !passes() {
                    return ControlFlow::Continue(());
                }
                *count += 1;
                let Some(format) = &mut format else { return ControlFlow::Continue(()) };
                let state = kernel.and_then(|kernel| {
                    let (kernel, trace) = (&call.extensions[kernel], call.trace.index());
                    let (cpu, state) = (kernel.cpu_of(call)?, kernel.trace(trace)?);
                    Some(StateAt { state, cpu, running: state.running(cpu)? })
                });
                format.event(&call.event, state, out.buffer());
                *written = out.spill();
                match written {
                    Ok(Reader::There) => ControlFlow::Continue(()),
                    Ok(Reader::Gone) | Err(_) => ControlFlow::Break(()),
                }
            });
        }
        let batch = window.bounds().looks(BATCH);
        let mut read = 0;
        // There is no position in the bounds that could be refused.
        while let Ok(end) = context.middle(&batch) {
            read += end.events;
            self.report(&mut context);
            if end.reason != EndReason::LookCount {
                break;
            }
        }
        let errors = context.drain_errors();
        drop(context);
        if outcome? == Reader::Gone {
            return Ok(Outcome::Complete);
        }
        if is_count {
            number::decimal(output.buffer(), if counts_all { read } else { counted });
            output.buffer().push(b'\n');
        }
        if output.flush()? == Reader::Gone {
            return Ok(Outcome::Complete);
        }
        for error in &errors {
            self.progress.message(&format!("text_dump: error: {error}"));
        }
        Ok(if errors.is_empty() { Outcome::Complete } else { Outcome::Damaged })
    }

    /// Tells what happened since the last time.
    fn report(&mut self, context: &mut TracesetContext<'_>) {
        self.progress.update(context.progress());
        for notice in context.drain_notices() {
            self.progress.message(&self.warnings.text(&notice));
        }
    }
}
