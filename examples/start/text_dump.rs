//! Prints the events of traces in time order: time, CPU, name and fields.
//!
//! ```text
//! cargo run --release -p lttv-start --example text_dump -- [OPTIONS] [TRACE…]
//! ```
//!
//! `lttv dump` prints the same events in more forms, on all processors.

use std::error::Error;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::process::ExitCode;

use lttv_context::ltt_read::schema::Scope;
use lttv_context::ltt_read::{Event, Merge, Timestamp};
use lttv_context::{Bounds, ReadError, Traceset, TracesetContext};
use lttv_filter::{Expression, Filters};

const USAGE: &str = "\
usage: text_dump [OPTIONS] [TRACE…]

Prints the events of all traces at or below the directories, in time order. Without TRACE, prints
the trace that comes with the programs.

  -e, --filter EXPR    print only events for which the expression is true
      --begin TIME     skip events before this time
      --end TIME       stop after the events of this time

A time is SECONDS[.DECIMALS] since the origin of the clock, or +SECONDS[.DECIMALS] after the first
event. A filter is, for instance: sched_switch && next_comm =~ \"kworker*\"";

/// The command line.
#[derive(Debug, Default)]
struct Arguments {
    traces: Vec<String>,
    filter: Option<String>,
    begin: Option<Time>,
    end: Option<Time>,
}

/// A time of the command line.
#[derive(Debug, Clone, Copy)]
enum Time {
    /// Since the origin of the clock.
    Absolute(Timestamp),
    /// After the first event, in ns.
    AfterStart(u64),
}

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(wrong) => {
            eprintln!("text_dump: {wrong}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match print_events(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("text_dump: {error:?}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the events that the command line selects.
fn print_events(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let traceset = if arguments.traces.is_empty() {
        Traceset::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/kernel"))?
    } else {
        Traceset::open_many(&arguments.traces)?
    };
    // The expression is compiled for the types of these traces. Errors point at their place.
    let filters = match &arguments.filter {
        Some(text) => Some(Filters::new(&Expression::parse(text)?, traceset.traces())?),
        None => None,
    };
    // What hooks use lives longer than the context.
    let mut out = BufWriter::new(io::stdout().lock());
    let mut context = TracesetContext::new(&traceset);
    if let Some(filters) = filters {
        context.set_filter(filters);
    }
    let first = Merge::new(traceset.traces()).next().and_then(|event| event.timestamp());
    let first = first.unwrap_or(Timestamp::MIN);
    let mut bounds = Bounds::all();
    if let Some(begin) = arguments.begin {
        bounds = bounds.since(begin.since(first));
    }
    if let Some(end) = arguments.end {
        // The events of this time are included.
        bounds = bounds.until(end.since(first).saturating_add(1));
    }

    // An error of the hook ends the read.
    context.on_event("*", |call| print_event(&mut out, &call.event));
    let read = context.read(&bounds);
    for error in context.merge().errors() {
        eprintln!("text_dump: {error:?}");
    }
    drop(context);
    let closed = |error: &io::Error| error.kind() == ErrorKind::BrokenPipe;
    match (read, out.flush()) {
        // The reader of a pipe, such as `head`, has seen enough.
        (Err(ReadError::Hook(error)), _) if error.error.downcast_ref().is_some_and(closed) => {
            Ok(())
        }
        (_, Err(error)) if closed(&error) => Ok(()),
        (Err(error), _) => Err(error.into()),
        (_, Err(error)) => Err(error.into()),
        (Ok(read), _) if read.errors > 0 => {
            Err("a trace is damaged: its sound events are printed".into())
        }
        (Ok(_), Ok(())) => Ok(()),
    }
}

/// Prints a line: `1795233416.237946824 0 sched_switch { prev_comm: "swapper/0", … }`.
fn print_event(out: &mut impl Write, event: &Event<'_>) -> io::Result<()> {
    match event.timestamp() {
        Some(time) => write!(out, "{time}")?,
        None => write!(out, "-")?,
    }
    match event.tracefile().cpu() {
        Some(cpu) => write!(out, " {cpu}")?,
        None => write!(out, " -")?,
    }
    write!(out, " {}", event.event_type().name().escape_debug())?;
    match event.scope(Scope::Payload) {
        Some(fields) => writeln!(out, " {fields}"),
        None => writeln!(out),
    }
}

impl Arguments {
    /// Returns the arguments, or `None` if they request help.
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Option<Arguments>, String> {
        let mut arguments = Arguments::default();
        while let Some(word) = words.next() {
            // An option and its value are two words, or one with `=`.
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            let value = || joined.or_else(|| words.next()).ok_or(format!("{name} needs a value"));
            match name {
                "-h" | "--help" => return Ok(None),
                "-e" | "--filter" => arguments.filter = Some(value()?),
                "--begin" => arguments.begin = Some(Time::parse(&value()?)?),
                "--end" => arguments.end = Some(Time::parse(&value()?)?),
                _ if name.starts_with('-') => return Err(format!("unknown option {name}")),
                _ => arguments.traces.push(word),
            }
        }
        Ok(Some(arguments))
    }
}

impl Time {
    fn parse(text: &str) -> Result<Time, String> {
        let parse = |text: &str| text.parse::<Timestamp>().map_err(|e| format!("{text:?}: {e}"));
        Ok(match text.strip_prefix('+') {
            Some(after) => Time::AfterStart(parse(after)?.since(Timestamp::from_ns(0))),
            None => Time::Absolute(parse(text)?),
        })
    }

    /// Returns the time, if the first event has this one.
    fn since(self, first: Timestamp) -> Timestamp {
        match self {
            Time::Absolute(time) => time,
            Time::AfterStart(ns) => first.saturating_add(ns),
        }
    }
}
