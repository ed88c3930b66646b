//! Reads traces and prints their events.

use std::io::IsTerminal;
use std::mem;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use ltt_read::{Error, Merge, Notice, Trace};
use lttv_context::{EndReason, Subscription, Traceset, TracesetContext};
use lttv_examples::filter_notes;
use lttv_examples::opening::{Loaded, open};
use lttv_examples::progress::Progress;
use lttv_examples::text_dump::json::Json;
use lttv_examples::text_dump::lttv::Lttv;
use lttv_examples::text_dump::notice_text::Warnings;
use lttv_examples::text_dump::number;
use lttv_examples::text_dump::output::{Output, Reader};
use lttv_examples::text_dump::palette::Color;
use lttv_examples::text_dump::pretty::Pretty;
use lttv_examples::text_dump::time_arg::TimeArgError;
use lttv_examples::text_dump::trace_name::{given_for, trace_name};
use lttv_examples::text_dump::{EventText, StateAt};
use lttv_filter::{Environment, Expression, FilterError};
use lttv_state::filter::KernelFilters;
use lttv_state::kernel::KernelState;

use crate::cli::{Cli, Format};
use crate::tally::Tally;
use crate::window::Window;

/// Events between two reports of progress and notices.
const BATCH: u64 = 1 << 14;

/// How the work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All events were printed, or nobody wanted more.
    Complete,
    /// Something could not be opened or read, which has been reported.
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

/// Does what the command line says.
pub(crate) fn run(cli: &Cli) -> Result<Outcome, RunError> {
    let (traces, names, complete) = load(cli)?;
    // The process ends with them: taking a large schema apart would gain nothing.
    mem::forget(traces.clone());
    let window = Window::new(cli, &traces)?;
    let filters = filters(cli, &traces)?;
    let mut output = Output::new(cli.output.as_deref()).map_err(|source| RunError::Create {
        path: cli.output.clone().unwrap_or_default(),
        source,
    })?;
    let dump = Dump {
        complete,
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
    if cli.count && dump.filters.is_none() {
        return dump.count(&traces, &mut output).map_err(RunError::Write);
    }
    let traceset = Traceset::from(traces);
    dump.read(&traceset, format, &mut output).map_err(RunError::Write)
}

/// Opens everything, and names the traces as babeltrace does. False if something could
/// not be opened.
fn load(cli: &Cli) -> Result<(Vec<Arc<Trace>>, Vec<String>, bool), RunError> {
    let paths = cli.paths().map_err(RunError::NoTrace)?;
    let Loaded { traceset, complete } = open("text_dump", &paths)?;
    let name = |trace: &Arc<Trace>| {
        trace_name(trace.schema(), given_for(trace.path(), &paths), trace.paths())
    };
    let traces = traceset.traces().to_vec();
    let names = traces.iter().map(name).collect();
    Ok((traces, names, complete))
}

/// The filter that events have to pass, of all that were given; times are as
/// printed.
fn filters(cli: &Cli, traces: &[Arc<Trace>]) -> Result<Option<KernelFilters>, RunError> {
    if cli.filters.is_empty() {
        return Ok(None);
    }
    let environment = Environment::new().in_zone(cli.filter_zone());
    let expression = Expression::parse_all(cli.filters.iter().map(String::as_str))?;
    let filters = KernelFilters::new(&expression, traces, &environment)?;
    filter_notes::report(filters.filters().notes());
    Ok(Some(filters))
}

/// A dump under way.
struct Dump {
    /// Whether all that was named could be opened.
    complete: bool,
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
            self.report(context.progress(), context.drain_notices());
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
        self.finish(output, &errors)
    }

    /// Counts the events in the window. Nobody asks anything of them, so that it takes
    /// no more than to put them in order.
    fn count(mut self, traces: &[Arc<Trace>], output: &mut Output) -> std::io::Result<Outcome> {
        let mut merge = Merge::new(traces);
        let mut tally = Tally::new(self.window);
        if let Some(begin) = self.window.begin {
            merge.seek(begin);
        }
        loop {
            let told = merge.tell(BATCH, &mut tally);
            self.report(merge.progress(), merge.drain_notices());
            if told < BATCH || tally.is_over() {
                break;
            }
        }
        number::decimal(output.buffer(), tally.events());
        output.buffer().push(b'\n');
        self.finish(output, merge.errors())
    }

    /// Ends the output, then tells what was damaged.
    fn finish(&self, output: &mut Output, errors: &[Error]) -> std::io::Result<Outcome> {
        if output.flush()? == Reader::Gone {
            return Ok(Outcome::Complete);
        }
        for error in errors {
            self.progress.message(&format!("text_dump: error: {error}"));
        }
        let complete = self.complete && errors.is_empty();
        Ok(if complete { Outcome::Complete } else { Outcome::Damaged })
    }

    /// Tells what happened since the last time.
    fn report(&mut self, progress: (u64, u64), notices: Vec<Notice>) {
        self.progress.update(progress);
        for notice in notices {
            self.progress.message(&self.warnings.text(&notice));
        }
    }
}
