//! The options that subcommands share.
//!
//! Every option that a command accepts has an effect. A command that cannot honour one refuses
//! it, with [`InputArgs::refuse_filters`] and others.

use std::error::Error;
use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use ltt_read::{ErrorChain, Timestamp, Trace};
use lttv_context::{MAX_THREADS, Traceset};
use lttv_filter::{Environment, Expression, TimeRangeText, TimeText, Zone};
use lttv_state::filter::KernelFilters;

use crate::bundled::bundled_trace;
use crate::clocks::{Corrected, Corrections};
use crate::escape::Escapes;
use crate::host;
use crate::inputs;
use crate::losses::Losses;
use crate::opening::open_corrected;
use crate::report::{Report, Usage};
use crate::settings;
use crate::table::{self, Format, Select, Table, TextStyle};
use crate::text::output::Output;
use crate::text::palette::Color;
use crate::time::{Times, Window, clock_of, parse_length};

/// The options of an analysis: what to read, and how to write the results.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Common {
    /// The traces, the window and the filters.
    #[command(flatten)]
    pub input: InputArgs,
    /// The form of the results.
    #[command(flatten)]
    pub format: FormatArgs,
    /// The destination of the results.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The options that select what is read.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct InputArgs {
    /// Directories that contain traces, recordings of perf or ftrace, archives of them, or `-` for standard input
    /// [default: the bundled kernel trace, if there is one]
    #[arg(value_name = "TRACE")]
    pub traces: Vec<PathBuf>,

    /// Start of the time window
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Selection")]
    pub begin: Option<TimeText>,

    /// End of the time window, inclusive
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Selection")]
    pub end: Option<TimeText>,

    /// Same as --begin=FROM --end=TO; each may be empty
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true, help_heading = "Selection")]
    #[arg(conflicts_with_all = ["begin", "end"])]
    pub timerange: Option<TimeRangeText>,

    /// The middle of the time window: what happened around this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = "Selection")]
    #[arg(conflicts_with_all = ["begin", "end", "timerange"])]
    pub around: Option<TimeText>,

    /// The length of the time window of --around, such as 1ms [default: 10ms]
    #[arg(long, value_name = "LENGTH", value_parser = parse_length, help_heading = "Selection")]
    #[arg(requires = "around")]
    pub width: Option<u64>,

    /// Use only events for which this expression is true; several must all be true
    #[arg(
        short = 'e',
        long = "filter",
        value_name = "EXPR",
        allow_hyphen_values = true,
        help_heading = "Selection"
    )]
    pub filters: Vec<String>,

    /// Further expressions that events must pass, which stand for other options.
    #[arg(skip)]
    pub conditions: Vec<String>,

    /// Read with at most this many threads, where the command can
    #[arg(long, value_name = "N", help_heading = "Selection")]
    pub threads: Option<NonZeroUsize>,

    /// Take and print times in UTC instead of the local time zone
    #[arg(long, alias = "clock-gmt", help_heading = "Selection")]
    pub utc: bool,

    /// The corrections of clocks.
    #[command(flatten)]
    pub clocks: Corrections,
}

/// The options of the form of results.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct FormatArgs {
    /// Format of the results
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: Format,

    /// Write only these tables; `help` lists them with their columns
    #[arg(long = "table", value_name = "NAME", value_delimiter = ',', help_heading = "Output")]
    pub tables: Vec<String>,

    /// Write only these columns, in this order; the names are those of CSV and JSON
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "Output")]
    pub columns: Vec<String>,

    /// Sort the rows of the tables that have this column by it, the greatest first
    #[arg(long, value_name = "COLUMN", help_heading = "Output")]
    pub sort: Option<String>,

    /// Show at most this many rows of each table and each trace, 0 for all; otherwise a command with many rows shows
    /// fewer of them as text
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub top: Option<usize>,

    /// Write all columns as text, even if the lines are too long for the terminal
    #[arg(long, help_heading = "Output")]
    pub wide: bool,

    /// Write numbers, times and sizes as text with all digits
    #[arg(long, help_heading = "Output")]
    pub exact: bool,
}

/// The options of the destination of results.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct OutputArgs {
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Use of colours [default: auto, unless the configuration file says otherwise]
    #[arg(long, value_name = "WHEN", value_enum, help_heading = "Output")]
    pub color: Option<Color>,
}

/// Returns the number of threads to read with: all processors, unless a number is requested. Says so if
/// more than [`MAX_THREADS`] are requested, which is the number that is used then.
pub fn threads_or_all(requested: Option<NonZeroUsize>, report: &Report) -> usize {
    let all = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let threads = requested.map_or_else(all, NonZeroUsize::get);
    if threads > MAX_THREADS {
        report.message(format_args!(
            "--threads: {MAX_THREADS} threads are used, which is the maximum"
        ));
    }
    threads.min(MAX_THREADS)
}

impl InputArgs {
    /// Returns the number of threads to read with: see [`threads_or_all`].
    pub fn threads_or_all(&self, report: &Report) -> usize {
        threads_or_all(self.threads, report)
    }

    /// Returns 1, the number of threads that read `what`. Says so if more were requested.
    pub fn one_thread(&self, report: &Report, what: &str) -> usize {
        if self.threads.is_some_and(|threads| threads.get() > 1) {
            report.message(format_args!("one thread reads {what}"));
        }
        1
    }

    /// Returns the time zone of times that are parsed and printed.
    pub fn zone(&self) -> Zone {
        if self.utc { Zone::UTC } else { settings::current().zone() }
    }

    /// Returns the paths of the traces to read, or of the bundled trace if none is given.
    ///
    /// # Errors
    ///
    /// If no trace is given and the bundled trace cannot be found.
    pub fn paths(&self) -> Result<Vec<PathBuf>, String> {
        if !self.traces.is_empty() {
            return Ok(self.traces.clone());
        }
        bundled_trace().map(|path| vec![path])
    }

    /// Opens the traces and corrects their clocks. Reports what cannot be opened and warnings of
    /// their metadata.
    ///
    /// # Errors
    ///
    /// If no trace can be opened, or if the clocks cannot be corrected.
    pub fn open(&self, report: &mut Report) -> Result<Traceset, Box<dyn Error>> {
        Ok(self.open_corrected(report)?.traceset)
    }

    /// Opens the traces like [`open`](Self::open), and returns the corrections of their clocks as
    /// well.
    ///
    /// # Errors
    ///
    /// Those of [`open`](Self::open).
    pub fn open_corrected(&self, report: &mut Report) -> Result<Corrected, Box<dyn Error>> {
        let corrected = open_corrected(report, self.paths()?, &self.clocks)?;
        for warning in corrected.traceset.traces().iter().flat_map(|trace| trace.warnings()) {
            report.warning(format_args!("metadata: {}", warning.message));
        }
        Ok(corrected)
    }

    /// The length of the window of `--around` in ns, unless another one is given.
    pub const WIDTH: u64 = 10_000_000;

    /// Returns `true` if the window has a begin.
    pub fn has_begin(&self) -> bool {
        let from_range = self.timerange.as_ref().is_some_and(|range| range.from.is_some());
        self.begin.is_some() || self.around.is_some() || from_range
    }

    /// Returns `true` if a window is given.
    pub fn has_window(&self) -> bool {
        let to_range = self.timerange.as_ref().is_some_and(|range| range.to.is_some());
        self.has_begin() || self.end.is_some() || to_range
    }

    /// Returns the window, which may be outside of the traces.
    ///
    /// # Errors
    ///
    /// If a time cannot be resolved, or if the window ends before it starts.
    pub fn window_at(&self, times: &Times<'_>) -> Result<Window, Usage> {
        if let Some(around) = &self.around {
            let middle = times.resolve(around);
            let middle = middle
                .map_err(|error| Usage::new(format_args!("--around: {}", ErrorChain(&error))))?;
            let width = self.width.unwrap_or(Self::WIDTH);
            let ns = middle.as_ns();
            let (before, after) = (width / 2, width - width / 2);
            return Ok(Window {
                begin: Some(Timestamp::from_ns(ns.saturating_sub_unsigned(before))),
                end: Some(Timestamp::from_ns(ns.saturating_add_unsigned(after))),
            });
        }
        let (begin, end) = match &self.timerange {
            Some(range) => (range.from.as_ref(), range.to.as_ref()),
            None => (self.begin.as_ref(), self.end.as_ref()),
        };
        times.window(begin, end).map_err(Usage::new)
    }

    /// Returns the window of an analysis, which overlaps the traces.
    ///
    /// # Errors
    ///
    /// If a time cannot be resolved, if the window ends before it starts, or if it is outside of
    /// the traces.
    pub fn window(&self, traces: &[Arc<Trace>]) -> Result<Window, Usage> {
        let times = Times::new(self.zone(), traces);
        let window = self.window_at(&times)?;
        times.inside(window).map_err(Usage::new)?;
        Ok(window)
    }

    /// Returns `true` if filters or conditions of other options select events.
    pub fn selects_events(&self) -> bool {
        !self.filters.is_empty() || !self.conditions.is_empty()
    }

    /// Parses all filters and conditions into one expression. Returns `None` if there are none.
    ///
    /// # Errors
    ///
    /// If a filter is empty or wrong.
    pub fn expression(&self) -> Result<Option<Expression>, Usage> {
        self.all_of(&[&self.filters, &self.conditions])
    }

    fn all_of(&self, lists: &[&[String]]) -> Result<Option<Expression>, Usage> {
        if self.filters.iter().any(|text| text.trim().is_empty()) {
            return Err(Usage::new("--filter: an expression is empty"));
        }
        let mut all = lists.iter().copied().flatten().map(String::as_str).peekable();
        let parsed = all.peek().is_some().then(|| Expression::parse_all(all)).transpose();
        parsed.map_err(|error| Usage::filter("--filter:", &error))
    }

    /// Compiles the filters and conditions for the traces, and reports the parts of filters that are never or
    /// always true, and conditions that are never true.
    /// Returns `None` if there is no filter.
    ///
    /// # Errors
    ///
    /// If a filter is wrong, or does not fit the traces.
    pub fn filters(
        &self,
        report: &Report,
        traces: &[Arc<Trace>],
    ) -> Result<Option<KernelFilters>, Usage> {
        let environment = Environment::new().in_zone(self.zone());
        let compile = |expression| KernelFilters::new(&expression, traces, &environment);
        let compiled = |expression: Option<Expression>| {
            let compiled = expression.map(compile).transpose();
            compiled.map_err(|error| Usage::filter("--filter:", &error))
        };
        // Notes are on what the user wrote.
        let filters = compiled(self.all_of(&[&self.filters])?)?;
        if let Some(filters) = &filters {
            report.filter_notes(filters.filters().notes());
        }
        if self.conditions.is_empty() {
            return Ok(filters);
        }
        // Options that select nothing are noted, too, such as the number of a CPU that no trace has.
        for condition in &self.conditions {
            let one = compiled(self.all_of(&[std::slice::from_ref(condition)])?)?;
            if one.is_some_and(|one| one.filters().matches_none()) {
                report.message(format_args!("no event passes `{condition}`"));
            }
        }
        compiled(self.expression()?)
    }

    /// Refuses filters, for a command that follows all events.
    ///
    /// # Errors
    ///
    /// If a filter is given: the error contains `reason`.
    pub fn refuse_filters(&self, reason: &str) -> Result<(), Usage> {
        match self.filters.is_empty() {
            true => Ok(()),
            false => Err(Usage::new(format_args!("--filter has no use here: {reason}"))),
        }
    }
}

impl FormatArgs {
    /// Returns the look of text on standard output. Chosen columns are all written.
    pub fn style(&self, zone: Zone) -> TextStyle {
        let style = TextStyle::of_output(zone);
        let is_wide = self.wide || !self.columns.is_empty();
        TextStyle { width: style.width.filter(|_| !is_wide), is_exact: self.exact, ..style }
    }
}

impl OutputArgs {
    /// Returns `true` if the output is coloured.
    pub fn colored(&self, is_terminal: bool) -> bool {
        let color = self.color.or(settings::current().color());
        color.unwrap_or_default().is_on(is_terminal)
    }

    /// Opens the output.
    ///
    /// # Errors
    ///
    /// If the output would replace a file of the traces, or cannot be created.
    pub fn open(&self, traces: &[Arc<Trace>]) -> Result<Output, Box<dyn Error>> {
        if let Some(path) = &self.output {
            inputs::refuse(path, traces, &[])?;
        }
        Ok(Output::new(self.output.as_deref())?)
    }
}

impl Common {
    /// Writes the selected parts of tables, like [`write`](Self::write), with the table of
    /// losses: always in JSON, and in other formats if `--table` names it.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`write`](Self::write).
    pub fn write_with(
        &self,
        losses: &Losses,
        mut tables: Vec<Table>,
        traces: &[Arc<Trace>],
    ) -> Result<(), Box<dyn Error>> {
        let FormatArgs { format, tables: names, .. } = &self.format;
        if *format == Format::Json || names.iter().any(|name| name == Losses::TABLE) {
            tables.push(losses.table(traces));
        }
        self.write(tables, traces)
    }

    /// Writes the selected parts of tables in the selected format.
    ///
    /// # Errors
    ///
    /// If a selected table or column does not exist, or if the output cannot be written.
    pub fn write(&self, tables: Vec<Table>, traces: &[Arc<Trace>]) -> Result<(), Box<dyn Error>> {
        self.write_and(tables, traces, |_| Ok(()))
    }

    /// Writes the selected parts of tables in the selected format, and then more. Within another program, the
    /// [host] receives the tables.
    ///
    /// # Errors
    ///
    /// If a selected table or column does not exist, or if the output cannot be written.
    pub fn write_and(
        &self,
        tables: Vec<Table>,
        traces: &[Arc<Trace>],
        more: impl FnOnce(&mut Output) -> io::Result<()>,
    ) -> Result<(), Box<dyn Error>> {
        let FormatArgs { tables: names, columns, sort, top, wide, exact, .. } = self.format.clone();
        if self.format.format != Format::Text && (wide || exact) {
            return Err(Usage::new(
                "--wide and --exact need --format text: other formats have all columns and digits",
            )
            .into());
        }
        let (format, tables) = match names.iter().chain(&columns).any(|name| name == "help") {
            true => (Format::Text, vec![table::contents(&tables)]),
            false => {
                let select = Select { tables: names, columns, sort, top };
                (self.format.format, select.apply(self.format.format, tables).map_err(Usage::new)?)
            }
        };
        if let Some(host) = host::current() {
            host.add_tables(tables);
            return Ok(());
        }
        let mut out = self.output.open(traces)?.escaping(match format {
            Format::Json => Escapes::Json,
            Format::Text | Format::Csv => Escapes::Text,
        });
        let mut style = self.format.style(self.input.zone());
        style.clock = clock_of(style.clock, traces);
        if self.output.output.is_some() {
            style.width = None;
        }
        table::write(&mut out, format, &style, &tables)?;
        more(&mut out)?;
        Ok(out.finish()?)
    }
}
