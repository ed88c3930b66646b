//! The command line of `lttv dump`.

use lttv_common::args::{InputArgs, OutputArgs};
use lttv_common::cache::CacheArgs;
use lttv_common::follow::FollowArgs;
use lttv_common::report::Usage;
use lttv_common::settings;
use lttv_common::text::clock_text::ClockStyle;
use lttv_common::text::palette::Color;
use lttv_common::text_dump::rows::{Column, RowOptions};
use lttv_common::time::parse_length;

use super::{ClockArgs, Form, Job, StyleArgs};
use crate::commands::selection::{CpuArgs, NameArgs, ThreadArgs, with_conditions};

/// Print the events of traces, in time order
///
/// Each TRACE is a directory; all traces in it are read, at any depth. A TRACE of the form
/// net://HOST:PORT/host/NAME/SESSION is a live session of LTTng; net://HOST lists them.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = super::help::long())]
pub struct DumpArgs {
    /// The traces and events to read.
    #[command(flatten)]
    pub input: InputArgs,

    /// The names of events.
    #[command(flatten)]
    pub names: NameArgs,

    /// The threads.
    #[command(flatten)]
    pub threads: ThreadArgs,

    /// The CPUs.
    #[command(flatten)]
    pub cpus: CpuArgs,

    /// Print also all events within this length before and after those that are selected, such as 1ms
    #[arg(long, value_name = "LENGTH", value_parser = parse_length, help_heading = "Selection")]
    pub context: Option<u64>,

    /// Format of the output
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: DumpFormat,

    /// Print rows with these columns, as text or CSV: time, delta, thread_delta, cpu, tid, pid,
    /// comm, channel, name, trace, fields, and any field of an event by its name
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "Output")]
    pub columns: Vec<String>,

    /// Print only the N rows with the greatest values in the first column, the greatest first
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub top: Option<usize>,

    /// Read all events, but print only their number; with --threads 1, order them as well
    #[arg(long, help_heading = "Output")]
    pub count: bool,

    /// The destination.
    #[command(flatten)]
    pub output: OutputArgs,

    /// The options of traces that are being recorded.
    #[command(flatten, next_help_heading = "Recording")]
    pub follow: FollowArgs,

    /// The directory of computed data.
    #[command(flatten, next_help_heading = "Selection")]
    pub cache: CacheArgs,

    /// The notation of times.
    #[command(flatten, next_help_heading = "Notation")]
    pub clock: ClockArgs,

    /// The options of single formats.
    #[command(flatten, next_help_heading = "Notation")]
    pub style: StyleArgs,
}

const EXAMPLES: &str = "\
Examples:
  lttv dump TRACE --timerange +1..+1.02 -e sched_switch
  lttv dump TRACE --tid 4711 --name 'sched_*,irq_*' --context 100us
  lttv dump TRACE --format csv --columns time,tid,comm,name,ret -o events.csv
  lttv dump TRACE --columns thread_delta,time,tid,name --top 5    the longest gaps of threads
  lttv dump TRACE --format babeltrace --names=all                 as babeltrace2 prints it";

/// A format of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum DumpFormat {
    /// `time command/tid [CPU] event, context = value { field = value }`
    #[default]
    Text,
    /// channel.event: sec.nsec (trace/tracefile), context = value { field = value }
    Lttv,
    /// Byte for byte the output of babeltrace2
    Babeltrace,
    /// One JSON object per line
    Json,
    /// Comma-separated values with a line of column names; times and durations are in ns
    Csv,
}

impl DumpArgs {
    /// Returns the job of the command line.
    ///
    /// # Errors
    ///
    /// If an option has no effect.
    pub fn job(&self) -> Result<Job, Usage> {
        self.refuse_without_effect()?;
        let chosen = self.clock.style();
        let usual = match self.format {
            DumpFormat::Babeltrace => ClockStyle::TimeOfDay,
            DumpFormat::Text => settings::current().clock(),
            DumpFormat::Lttv | DumpFormat::Json | DumpFormat::Csv => ClockStyle::Seconds,
        };
        Ok(Job {
            input: with_conditions(&self.input, self.conditions()),
            output: self.output.clone(),
            form: match self.format {
                _ if self.count => Form::Count,
                _ if self.prints_rows() => Form::Rows(self.rows()),
                DumpFormat::Babeltrace => Form::Babeltrace(self.style.pretty()),
                DumpFormat::Json => Form::Json,
                DumpFormat::Text | DumpFormat::Csv => Form::Lines,
                DumpFormat::Lttv => Form::Lttv(self.style.lines()),
            },
            clock: chosen.unwrap_or(usual),
            is_relative: self.clock.relative,
            is_usual_clock: chosen.is_none() && self.format == DumpFormat::Text,
            follow: self.follow,
            context: self.context,
            cache: self.cache.clone(),
        })
    }

    /// Returns the conditions of the options that select events.
    fn conditions(&self) -> impl Iterator<Item = String> {
        self.names.conditions().chain(self.threads.conditions()).chain(self.cpus.conditions())
    }

    /// Returns `true` if each event is a row of columns.
    fn prints_rows(&self) -> bool {
        self.format == DumpFormat::Csv || !self.columns.is_empty() || self.top.is_some()
    }

    fn rows(&self) -> RowOptions {
        let is_csv = self.format == DumpFormat::Csv;
        // Parsing a column never fails.
        let columns = self.columns.iter().filter_map(|name| name.parse().ok()).collect();
        let usual = || Column::USUAL.to_vec();
        RowOptions {
            columns: if self.columns.is_empty() { usual() } else { columns },
            is_csv,
            formats_times: self.clock.style().is_some(),
            top: self.top,
        }
    }

    /// Refuses options without an effect.
    fn refuse_without_effect(&self) -> Result<(), Usage> {
        use DumpFormat::{Babeltrace, Csv, Json, Lttv, Text};
        let StyleArgs { no_delta, names, fields, process, process_state } = &self.style;
        let (format, rows) = (self.format, self.prints_rows());

        let has_columns = matches!(format, Text | Csv);
        let is_plain = matches!(format, Json | Csv) || rows;
        for (is_wrong, what) in [
            (
                self.input.threads.is_some() && self.follow.follow,
                "--threads has no use with --follow",
            ),
            (
                self.context.is_some()
                    && self.input.filters.is_empty()
                    && self.conditions().next().is_none(),
                "--context needs --filter, or another option that selects events",
            ),
            (self.context.is_some() && self.count, "--context has no use with --count"),
            (self.context.is_some() && self.follow.follow, "--context has no use with --follow"),
            (self.count && matches!(format, Json | Csv), "--format has no use with --count"),
            (self.count && rows, "--columns and --top have no use with --count"),
            // The options of babeltrace2 are accepted with its format.
            (
                self.count && matches!(format, Text | Lttv) && self.clock.style().is_some(),
                "--count prints no times",
            ),
            (!self.columns.is_empty() && !has_columns, "--columns needs --format text or csv"),
            (self.top.is_some() && !has_columns, "--top needs --format text or csv"),
            (self.top.is_some() && self.columns.is_empty(), "--top needs --columns"),
            (*no_delta && format != Babeltrace, "--no-delta needs --format babeltrace"),
            (!names.is_empty() && format != Babeltrace, "--names needs --format babeltrace"),
            (!fields.is_empty() && format != Babeltrace, "--fields needs --format babeltrace"),
            (
                (*process || *process_state) && format != Lttv,
                "--process and --process-state need --format lttv",
            ),
            (
                format == Json && self.clock.style().is_some(),
                "--format json always contains nanoseconds and cycles",
            ),
            (
                self.output.color == Some(Color::Always) && (is_plain || self.count),
                "--color always has no use here: neither rows, JSON nor numbers have colours",
            ),
        ] {
            if is_wrong {
                return Err(Usage::new(what));
            }
        }
        Ok(())
    }
}
