//! The program `lttv-sql`: queries of traces on the command line.

mod args;
mod output;
mod staged;

use std::error::Error;
use std::io::{self, BufRead, IsTerminal, Write};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use datafusion::error::DataFusionError;
use futures::StreamExt;
use lttv_common::cancel;
use lttv_common::inputs;
use lttv_common::progress::Progress;
use lttv_common::report::{self, Interrupted, Report, Usage};
use lttv_filter::Environment;
use tokio::runtime::Runtime;

use crate::{SessionOptions, TraceSession};
pub use args::{Format, ShellArgs};
pub use output::Results;

/// The time between two updates of the progress bar.
const TICK: Duration = Duration::from_millis(100);

const HELP: [&str; 5] = [
    "SELECT …;           a query in SQL; it may span lines and ends with a semicolon",
    ".tables [TEXT]      the tables, or those whose name contains a text",
    ".schema TABLE       the columns of a table, with their types",
    ".help               these lines",
    ".quit               the end, as is the end of the input",
];

/// Runs a query, or those of standard input.
///
/// # Errors
///
/// If the command line or the query is wrong, if no trace can be opened, if the result cannot be
/// written, or after an interrupt by the user.
pub fn run(args: &ShellArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let mut args = args.clone();
    // A query may be left out: then the first word is a trace.
    if let Some(first) = args.query.take_if(|query| std::path::Path::new(query).exists()) {
        args.input.traces.insert(0, first.into());
    }
    args.input.expression()?;
    let traceset = args.input.open(report)?;
    let filters = args.input.filters(report, traceset.traces())?;
    if filters.as_ref().is_some_and(|filters| filters.uses_state()) {
        return Err(Usage::new("--filter: queries do not follow the kernel state").into());
    }
    if let Some(path) = &args.output {
        inputs::refuse(path, traceset.traces(), &[])?;
    }
    let options = SessionOptions {
        window: args.input.window(traceset.traces())?,
        filters,
        threads: args.input.threads,
        environment: Environment::new().in_zone(args.input.zone()),
        cancel: cancel::on_interrupt()?,
        unordered: args.unordered,
        kernel_state: args.kernel_state,
        definitions: args.define.read()?,
        dataset: None,
    };
    let cancel = Arc::clone(&options.cancel);
    let session = TraceSession::new(traceset, options)?;
    let mut shell = Shell { runtime: Runtime::new()?, session, args, report, cancel };
    match shell.args.query.clone() {
        Some(query) => shell.run(&query),
        None => shell.read(),
    }
}

/// A running shell.
struct Shell<'r> {
    runtime: Runtime,
    session: TraceSession,
    args: ShellArgs,
    report: &'r mut Report,
    cancel: Arc<AtomicBool>,
}

impl Shell<'_> {
    /// Runs the queries and commands of standard input. A wrong one does not end the shell.
    fn read(&mut self) -> Result<(), Box<dyn Error>> {
        let is_terminal = io::stdin().is_terminal();
        let mut text = String::new();
        loop {
            if is_terminal {
                let prompt = if text.trim().is_empty() { "sql> " } else { " ..> " };
                let mut out = io::stdout();
                out.write_all(prompt.as_bytes())?;
                out.flush()?;
            }
            let mut line = String::new();
            let is_end = io::stdin().lock().read_line(&mut line)? == 0;
            let word = line.trim();
            if word == ".quit" || word == ".exit" {
                return Ok(());
            }
            text.push_str(&line);
            let is_command = text.trim_start().starts_with('.');
            if is_end || is_command || word.ends_with(';') {
                let query = mem::take(&mut text);
                if !query.trim().is_empty() {
                    self.run_one(&query)?;
                }
            }
            if is_end {
                return Ok(());
            }
        }
    }

    /// Runs a query of standard input, and reports its fault.
    fn run_one(&mut self, query: &str) -> Result<(), Box<dyn Error>> {
        let Err(error) = self.run(query) else { return Ok(()) };
        if error.is::<Interrupted>() && io::stdin().is_terminal() {
            self.cancel.store(false, Ordering::Relaxed);
            self.report.message(error);
            return Ok(());
        }
        match error.is::<Interrupted>() || error.is::<io::Error>() {
            true => Err(error),
            false => {
                self.report.error(error);
                Ok(())
            }
        }
    }

    fn run(&mut self, query: &str) -> Result<(), Box<dyn Error>> {
        let query = query.trim().trim_end_matches(';');
        match query.strip_prefix('.') {
            Some(command) => self.command(command),
            None => self.query(query),
        }
    }

    fn command(&self, command: &str) -> Result<(), Box<dyn Error>> {
        let (name, argument) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let argument = argument.trim();
        let lines = match name {
            "tables" => {
                let names = self.session.table_names().into_iter();
                names.filter(|name| name.contains(argument)).collect()
            }
            "schema" => self.schema(argument.trim_matches('"'))?,
            "help" => HELP.map(str::to_owned).to_vec(),
            _ => {
                let what = format_args!("there is no command .{name}: see .help");
                return Err(Usage::new(what).into());
            }
        };
        Ok(output::lines(self.args.output.as_deref(), &lines)?)
    }

    fn schema(&self, table: &str) -> Result<Vec<String>, Box<dyn Error>> {
        let quoted = format!("\"{}\"", table.replace('"', "\"\""));
        let context = self.session.context();
        let provider = self.runtime.block_on(context.table_provider(quoted));
        let provider =
            provider.map_err(|_| Usage::new(format_args!("there is no table {table:?}")))?;
        let line = |field: &Arc<arrow_schema::Field>| {
            let null = if field.is_nullable() { "" } else { " not null" };
            format!("{} {}{null}", field.name(), field.data_type())
        };
        Ok(provider.schema().fields().iter().map(line).collect())
    }

    fn query(&mut self, query: &str) -> Result<(), Box<dyn Error>> {
        let Shell { runtime, session, args, cancel, .. } = self;
        let mut rows = 0;
        let done = runtime.block_on(async {
            let frame = session.sql(query).await.map_err(|error| usage(&error))?;
            let schema = Arc::new(frame.schema().as_arrow().clone());
            let mut batches = frame.execute_stream().await?;
            let mut results = Results::open(args.format, args.output.as_deref(), &schema)?;
            let is_shown = args.output.is_none() && io::stdout().is_terminal();
            let mut progress = Progress::new(is_shown && args.format != Format::Table);
            let mut tick = tokio::time::interval(TICK);
            loop {
                tokio::select! {
                    batch = batches.next() => match batch {
                        Some(batch) => {
                            let batch = batch?;
                            rows += batch.num_rows() as u64;
                            results.write(batch)?;
                        }
                        None => break,
                    },
                    _ = tick.tick() => progress.update(session.progress()),
                }
            }
            drop(progress);
            results.finish()
        });
        if cancel.load(Ordering::Relaxed) {
            return Err(Interrupted { events: rows }.into());
        }
        let damage = session.damage();
        self.report.errors(&damage.errors, damage.errors_omitted);
        for notice in &damage.notices {
            self.report.warning(notice);
        }
        self.report.notices_omitted(damage.notices_omitted);
        done
    }
}

/// Returns the fault of a query.
fn usage(error: &DataFusionError) -> Usage {
    Usage::new(error.strip_backtrace())
}

/// Parses the command line and runs the shell.
pub fn main() -> std::process::ExitCode {
    report::main("lttv-sql", run)
}
