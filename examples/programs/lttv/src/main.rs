//! The Linux Trace Toolkit Viewer: one program with a subcommand for each question.
//!
//! ```text
//! cargo install --path examples/programs/lttv
//! lttv dump TRACE
//! lttv --help
//! ```
//!
//! Each subcommand is a module of [`lttv::commands`]; the program only calls them.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod cli;

use std::error::Error;
use std::process::ExitCode;

use cli::{Cli, Command, documented};
use lttv::commands::{
    calls, chart, compare, completions, convert, counters, critical_path, disk, dump, history,
    info, irq, latency, man, nearby, record, run, serve, spans, sql, state, stats, sync, usage,
    wait, why,
};
use lttv_common::report::{self, Report, Usage};
use lttv_common::settings::{self, Settings, SettingsError};
use lttv_tui::program;

fn main() -> ExitCode {
    report::main_with_status("lttv", |report| {
        let cli = Cli::of_words(std::env::args_os())?;
        let settings = Settings::load(&cli.settings_place()).map_err(|error| match error {
            SettingsError::Read { .. } => Box::<dyn Error>::from(error),
            wrong => Usage::new(wrong).into(),
        })?;
        settings::install(settings);
        match &cli.command {
            Some(command) => dispatch(command, report),
            None => nearby::run(report).map(|()| None),
        }
    })
}

/// Runs a subcommand. Returns an exit status of its own if it has one.
fn dispatch(command: &Command, report: &mut Report) -> Result<Option<u8>, Box<dyn Error>> {
    match command {
        Command::Tui(args) => return program::run(args, report),
        Command::Record(args) => return record::run(args, report),
        Command::Dump(args) => dump::run(args, report),
        Command::Info(args) => info::run(args, report),
        Command::Stats(args) => stats::run(args, report),
        Command::State(args) => state::run(args, report),
        Command::Wait(args) => wait::run(args, report),
        Command::CriticalPath(args) => critical_path::run(args, report),
        Command::Irq(args) => irq::run(args, report),
        Command::Disk(args) => disk::run(args, report),
        Command::Usage(args) => usage::run(args, report),
        Command::Calls(args) => calls::run(args, report),
        Command::Latency(args) => latency::run(args, report),
        Command::Counters(args) => counters::run(args, report),
        Command::Spans(args) => spans::run(args, report),
        Command::Why(args) => why::run(args, report),
        Command::History(args) => history::run(args, report),
        Command::Chart(args) => chart::run(args, report),
        Command::Flame(args) => chart::flame(args, report),
        Command::Compare(args) => compare::run(args, report),
        Command::Sync(args) => sync::run(args, report),
        Command::Convert(args) => convert::run(args, report),
        Command::Serve(args) => serve::run(args, report),
        Command::Sql(args) => sql::run(args, report),
        Command::Run(args) => run::run(args, report),
        Command::Completions(args) => completions::run(args, documented()),
        Command::Man(args) => man::run(args, documented(), report),
    }?;
    Ok(None)
}
