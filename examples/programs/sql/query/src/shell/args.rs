//! The command line of the shell.

use std::path::PathBuf;

use lttv_common::args::InputArgs;
use lttv_common::definitions::DefineArgs;

/// Ask traces in SQL
///
/// The tables are named as the event types; `events` has all events. Without a query, queries are
/// read from standard input.
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "lttv-sql", version, after_long_help = AFTER)]
pub struct ShellArgs {
    /// A query in SQL, or `.tables`, `.schema TABLE`, `.help`; may be left out before a directory
    #[arg(value_name = "QUERY")]
    pub query: Option<String>,

    /// The traces, the window and the filters of all tables of events.
    #[command(flatten)]
    pub input: InputArgs,

    /// The periods in the table of spans.
    #[command(flatten)]
    pub define: DefineArgs,

    /// Format of the results
    #[arg(short, long, value_enum, default_value_t)]
    pub format: Format,

    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Add columns of the kernel state to tables of events: the thread that runs after each
    #[arg(long)]
    pub kernel_state: bool,

    /// Sort by time where a query asks for it, also if traces seem to be in order
    #[arg(long)]
    pub unordered: bool,
}

/// A format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Format {
    /// A table for people
    #[default]
    Table,
    /// Comma-separated values
    Csv,
    /// One JSON object per line
    Json,
    /// Apache Parquet, to a file
    Parquet,
}

const AFTER: &str = "\
Examples:
  lttv-sql \"select next_comm, count(*) from sched_switch group by all\" TRACE
  lttv-sql \"explain select * from events where cpu = 1 order by ts\" TRACE
  lttv-sql .tables TRACE

Exit status: 0 if everything was read and written; 1 if something could not be read or written;
2 for a wrong command line or query.";
