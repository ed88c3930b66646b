//! Reads traces and prints their events.

use std::path::PathBuf;
use std::sync::Arc;

use ltt_read::{Merge, Timestamp, Trace, open_all};
use lttv_examples::progress::Progress;
use lttv_examples::text_dump::EventText;
use lttv_examples::text_dump::json::Json;
use lttv_examples::text_dump::lttv::Lttv;
use lttv_examples::text_dump::notice_text::Warnings;
use lttv_examples::text_dump::number;
use lttv_examples::text_dump::output::{Output, Reader};
use lttv_examples::text_dump::palette::Color;
use lttv_examples::text_dump::pretty::Pretty;
use lttv_examples::text_dump::time_arg::{TimeArg, TimeArgError};
use lttv_examples::text_dump::trace_name::trace_name;

use crate::cli::{Cli, Format};

/// Events between two looks at progress and notices.
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
    #[error("{}: {source}", path.display())]
    Create { path: PathBuf, source: std::io::Error },
    #[error("cannot write the output: {0}")]
    Write(#[source] std::io::Error),
}

/// The times between which events are printed.
#[derive(Debug, Clone, Copy)]
struct Bounds {
    begin: Option<Timestamp>,
    end: Option<Timestamp>,
}

/// Does what the command line says.
pub(crate) fn run(cli: &Cli) -> Result<Outcome, RunError> {
    let (traces, names) = open(cli)?;
    let bounds = bounds(cli, &traces)?;
    let mut output = Output::new(cli.output.as_deref()).map_err(|source| RunError::Create {
        path: cli.output.clone().unwrap_or_default(),
        source,
    })?;
    let mut dump = Dump {
        warnings: Warnings::new(cli.clock(), &traces, &names),
        progress: Progress::new(output.is_terminal() && !cli.count),
        merge: Merge::new(&traces),
        bounds,
    };
    for warning in traces.iter().flat_map(|t| t.warnings()) {
        dump.progress.message(&format!("warning: metadata: {}", warning.message));
    }
    if let Some(begin) = bounds.begin {
        dump.merge.seek(begin);
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
    match dump.read(format, &mut output).map_err(RunError::Write)? {
        Reader::There => Ok(dump.finish()),
        Reader::Gone => Ok(Outcome::Complete),
    }
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

/// The bounds as points in time. A time of day is one of the day of the first
/// event.
fn bounds(cli: &Cli, traces: &[Arc<Trace>]) -> Result<Bounds, RunError> {
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
    Ok(Bounds { begin: resolve("--begin", begin)?, end: resolve("--end", end)? })
}

/// Where an event lies.
enum Place {
    Within,
    Outside,
    /// Beyond the end, like all that follow.
    Past,
}

impl Bounds {
    #[inline]
    fn place(self, time: Option<Timestamp>) -> Place {
        match (time, self.begin, self.end) {
            (_, None, None) => Place::Within,
            (Some(time), _, Some(end)) if time > end => Place::Past,
            (Some(time), Some(begin), _) if time < begin => Place::Outside,
            (None, ..) => Place::Outside,
            _ => Place::Within,
        }
    }
}

/// A dump under way.
struct Dump {
    warnings: Warnings,
    progress: Progress,
    merge: Merge,
    bounds: Bounds,
}

impl Dump {
    /// Counts the events within the bounds, and prints them if there is a
    /// format.
    fn read(
        &mut self,
        mut format: Option<Box<dyn EventText>>,
        output: &mut Output,
    ) -> std::io::Result<Reader> {
        let mut count = 0u64;
        while let Some(event) = self.merge.next() {
            match self.bounds.place(event.timestamp()) {
                Place::Within => {}
                Place::Outside => continue,
                Place::Past => break,
            }
            if let Some(format) = &mut format {
                format.event(&event, output.buffer());
                if output.spill()? == Reader::Gone {
                    return Ok(Reader::Gone);
                }
            }
            count += 1;
            if count.is_multiple_of(BATCH) {
                self.report();
            }
        }
        if format.is_none() {
            number::decimal(output.buffer(), count);
            output.buffer().push(b'\n');
        }
        output.flush()
    }

    /// Tells what happened since the last time.
    fn report(&mut self) {
        self.progress.update(self.merge.progress());
        for notice in self.merge.drain_notices() {
            self.progress.message(&self.warnings.text(&notice));
        }
    }

    fn finish(mut self) -> Outcome {
        self.report();
        let errors = self.merge.errors();
        for error in errors {
            self.progress.message(&format!("text_dump: error: {error}"));
        }
        if errors.is_empty() { Outcome::Complete } else { Outcome::Damaged }
    }
}
