//! The command line of the program `export`.

use std::path::PathBuf;

use lttv_common::args::InputArgs;

use super::file::Format;

/// Export events as Parquet, Arrow, CSV or JSON files
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "export", version, after_long_help = lttv_common::report::EXIT_STATUS)]
pub struct ExportArgs {
    /// The traces, the window and the filters.
    #[command(flatten)]
    pub input: InputArgs,

    /// The directory to create, with a folder for each table
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,

    /// Format of the files
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,

    /// Export only these event types; `*` stands for any text [default: all]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub events: Vec<String>,

    /// Export further tables
    #[arg(long, value_name = "TABLE,…", value_delimiter = ',', value_enum)]
    pub with: Vec<Further>,

    /// Add the thread that runs after each event, from the kernel's events; reads on one thread
    #[arg(long)]
    pub kernel_state: bool,
}

/// A table that is exported on demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Further {
    /// All events, with their fields as JSON
    Events,
    /// Intervals of the states of CPUs, threads, interrupts and devices
    States,
    /// CPU time and events of each thread, by CPU and kind of code
    Statistics,
}
