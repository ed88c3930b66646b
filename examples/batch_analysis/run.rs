//! Starts modules, reads the traces for them, and prints what they found.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{CommandFactory, FromArgMatches};
use ltt_read::{Timestamp, open_all};
use lttv_context::Traceset;
use lttv_context::attributes::{AttributeError, Attributes, Indented, Paths};
use lttv_context::batch::{Batch, Outcome};
use lttv_context::modules::{ModuleError, Modules};
use lttv_context::options::{OptionError, Options};
use lttv_examples::batch_analysis::{Host, Work, modules};
use lttv_examples::clap_options::{add_args, take_args};
use lttv_examples::progress::Progress;
use lttv_examples::text_dump::clock_text::{ClockStyle, ClockText};
use lttv_examples::text_dump::notice_text::Warnings;
use lttv_examples::text_dump::time_arg::{TimeArg, TimeArgError};
use lttv_examples::text_dump::trace_name::trace_name;
use lttv_hooks::Priority;

use crate::cli::{Cli, Format};

/// How the work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) outcome: Outcome,
    /// Whether all was read, and all results are there.
    pub(crate) complete: bool,
}

/// Why nothing could be analysed, or printed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("{0}")]
    NoTrace(String),
    #[error(transparent)]
    Open(#[from] ltt_read::Error),
    #[error("{option}: {source}")]
    Time { option: &'static str, source: TimeArgError },
    #[error(transparent)]
    Module(#[from] ModuleError),
    #[error(transparent)]
    Option(#[from] OptionError),
    #[error(transparent)]
    Attribute(#[from] AttributeError),
    #[error("cannot wait for ctrl-c: {0}")]
    Interrupt(#[from] ctrlc::Error),
    #[error("cannot write the output: {0}")]
    Write(#[from] io::Error),
}

/// Does what the command line says.
pub(crate) fn run() -> Result<Done, RunError> {
    let mut modules = modules()?;
    let mut options = Options::new();
    modules.declare_options(&mut options)?;
    let matches = add_args(Cli::command(), &options).get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    take_args(&matches, &mut options)?;
    let selected: Vec<&str> = match &cli.modules[..] {
        [] => modules.infos().map(|info| info.name).collect(),
        names => names.iter().map(String::as_str).collect(),
    };
    if cli.list_modules {
        list(&modules)?;
        return Ok(Done { outcome: Outcome::Complete, complete: true });
    }
    // Names that are wrong should be told before traces are opened.
    modules.order(selected.iter().copied())?;

    let (traceset, warnings) = open(&cli)?;
    let mut host = Host::new(Work::new(batch(&cli, traceset)?));
    host.options = options;
    name_traces(&mut host)?;
    modules.init(selected.iter().copied(), &mut host)?;
    read_in(&mut host, warnings)?;
    _ = host.run();
    let done = tell_end(&host);
    print(&host.attributes, cli.format)?;
    modules.destroy(&mut host);
    Ok(done)
}

/// Opens everything; with it comes who words what is noticed while reading.
fn open(cli: &Cli) -> Result<(Traceset, Warnings), RunError> {
    let (mut traceset, mut names) = (Traceset::new(), Vec::new());
    for path in cli.paths().map_err(RunError::NoTrace)? {
        for trace in open_all(&path)? {
            names.push(trace_name(trace.schema(), &path, trace.paths()));
            traceset.add(trace);
        }
    }
    let clock = ClockText::new(ClockStyle::Seconds, cli.zone());
    let warnings = Warnings::new(clock, traceset.traces(), &names);
    Ok((traceset, warnings))
}

/// Tells which trace is which in the results.
fn name_traces(host: &mut Host) -> Result<(), AttributeError> {
    for (index, trace) in (0..).zip(host.data.batch.context.traceset().traces()) {
        let paths = trace.paths().iter().map(|path| path.to_string_lossy());
        let paths: Vec<_> = paths.collect();
        let tree = host.attributes.subtree_at(&format!("traces/[{index}]"))?;
        host.attributes.set(tree, "path", paths.join(", "))?;
    }
    Ok(())
}

/// A batch over the time that is wanted.
fn batch(cli: &Cli, traceset: Traceset) -> Result<Batch<'static>, RunError> {
    let mut batch = Batch::new(traceset);
    let given = [&cli.begin, &cli.end].into_iter().flatten();
    let first = match given.clone().any(TimeArg::needs_date) {
        true => batch.context.contexts().time_span().map(|span| span.begin),
        false => None,
    };
    let resolve = |option, arg: &Option<TimeArg>| {
        let resolved = arg.as_ref().map(|arg| arg.resolve(&cli.zone(), first));
        resolved.transpose().map_err(|source| RunError::Time { option, source })
    };
    if let Some(begin) = resolve("--begin", &cli.begin)? {
        batch = batch.from(begin);
    }
    if let Some(end) = resolve("--end", &cli.end)? {
        // The end that users give is included.
        batch = batch.until(Timestamp::from_ns(end.ns().saturating_add(1)));
    }
    Ok(batch)
}

/// Makes reading the core of the session's work.
fn read_in(host: &mut Host, mut warnings: Warnings) -> Result<(), RunError> {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    ctrlc::set_handler(move || {
        // Who asks twice cannot wait.
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    host.core.add(Priority::DEFAULT, move |host: &mut Host| {
        let mut progress = Progress::new(false);
        host.data.end = Some(host.data.batch.run(|report| {
            progress.update((report.done, report.total));
            for notice in &report.notices {
                progress.message(&warnings.text(notice));
            }
            match cancel.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        }));
    });
    Ok(())
}

/// Tells on standard error what went wrong.
fn tell_end(host: &Host) -> Done {
    let Work { end, failures, .. } = &host.data;
    failures.iter().for_each(|failure| eprintln!("batch_analysis: error: {failure}"));
    let Some(end) = end else { return Done { outcome: Outcome::Stopped, complete: false } };
    end.errors.iter().for_each(|error| eprintln!("batch_analysis: error: {error}"));
    if end.outcome == Outcome::Cancelled {
        eprintln!("batch_analysis: interrupted after {} events", end.events);
    }
    let sound = failures.is_empty() && end.errors.is_empty();
    Done { outcome: end.outcome, complete: sound && end.outcome != Outcome::Cancelled }
}

fn print(attributes: &Attributes, format: Format) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = match format {
        Format::Tree => write!(out, "{}", Indented(attributes)),
        Format::Paths => write!(out, "{}", Paths(attributes)),
        Format::Json => serde_json::to_writer_pretty(&mut out, attributes)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(out)),
    };
    ignore_closed(written.and_then(|()| out.flush()))
}

fn list(modules: &Modules<Host>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let written = modules.infos().try_for_each(|info| {
        writeln!(out, "{}: {}", info.name, info.summary)?;
        if !info.requires.is_empty() {
            writeln!(out, "  requires {}", info.requires.join(", "))?;
        }
        writeln!(out, "  {}", info.description)
    });
    ignore_closed(written)
}

/// Who closes a pipe has read enough.
fn ignore_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
