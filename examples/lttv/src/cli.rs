//! The command line: the subcommands, and help where the parser alone would give little.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use lttv_examples::commands::chart::ChartArgs;
use lttv_examples::commands::compare::CompareArgs;
use lttv_examples::commands::completions::CompletionsArgs;
use lttv_examples::commands::disk::DiskArgs;
use lttv_examples::commands::dump::DumpArgs;
use lttv_examples::commands::history::HistoryArgs;
use lttv_examples::commands::info::InfoArgs;
use lttv_examples::commands::irq::IrqArgs;
use lttv_examples::commands::man::ManArgs;
use lttv_examples::commands::run::{self, RunArgs};
use lttv_examples::commands::state::StateArgs;
use lttv_examples::commands::stats::StatsArgs;
use lttv_examples::commands::wait::WaitArgs;
use lttv_examples::settings::Place;
use lttv_tui::program::TuiArgs;

/// Read, analyse and show traces of Linux: LTTng, CTF, and LTTng 0.x
#[derive(Debug, Parser)]
#[command(name = "lttv", version, long_version = LONG_VERSION, max_term_width = 100)]
#[command(after_help = AFTER_HELP, after_long_help = AFTER_LONG_HELP)]
#[command(arg_required_else_help = true)]
pub(crate) struct Cli {
    /// Read the settings from this file instead of ~/.config/lttv/config.toml
    #[arg(long, value_name = "FILE", global = true, help_heading = "Configuration")]
    config: Option<PathBuf>,

    /// Use no configuration file
    #[arg(long, global = true, conflicts_with = "config", help_heading = "Configuration")]
    no_config: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands, in the order of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Dump(DumpArgs),
    Info(InfoArgs),
    Stats(StatsArgs),
    State(StateArgs),
    Wait(WaitArgs),
    Irq(IrqArgs),
    Disk(DiskArgs),
    History(HistoryArgs),
    Chart(ChartArgs),
    Compare(CompareArgs),
    Tui(TuiArgs),
    Run(RunArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nFormats: CTF 1.8 and CTF 2 (LTTng, barectf, perf and others), LTTng 0.x, and the Linux \
     Trace Toolkit since 2003"
);

const AFTER_HELP: &str = "\
Examples:
  lttv dump TRACE -e sched_switch
  lttv help dump

`lttv COMMAND --help` describes a command.";

const AFTER_LONG_HELP: &str = "\
Examples:
  lttv dump TRACE -e sched_switch
  lttv help dump

`lttv COMMAND --help` describes a command. TRACE is a directory that contains traces, at any depth.

Environment:
  LTTV_CONFIG      the configuration file, in place of $XDG_CONFIG_HOME/lttv/config.toml
  NO_COLOR         no colours, unless --color=always is given
  CLICOLOR_FORCE   colours also to files and pipes
  TZ               the local time zone

Exit status: 0 if everything was read and written; 1 if something could not be read or written;
2 for a wrong command line or configuration; 130 if interrupted.";

impl Cli {
    /// Parses a command line.
    ///
    /// # Errors
    ///
    /// Returns the answer in place of a command: an error, help or the version.
    pub(crate) fn of_words(words: impl Iterator<Item = OsString>) -> Result<Cli, clap::Error> {
        let words: Vec<OsString> = words.collect();
        let asks_help = words.get(1).is_some_and(|word| word == "help");
        let mut command = if asks_help { documented() } else { Cli::command() };
        match command.try_get_matches_from_mut(words) {
            Ok(matches) => Cli::from_arg_matches(&matches),
            Err(error) => Err(explained(&error, &mut command).unwrap_or(error)),
        }
    }

    /// Returns the place of the configuration file.
    pub(crate) fn settings_place(&self) -> Place {
        match &self.config {
            _ if self.no_config => Place::None,
            Some(path) => Place::Given(path.clone()),
            None => Place::of_environment(|name| std::env::var_os(name)),
        }
    }
}

/// Returns the command line with all that is known of it: the driver parses its options itself.
pub(crate) fn documented() -> clap::Command {
    Cli::command().mut_subcommand("run", |_| run::command())
}

/// Returns a better error for a path in place of a subcommand.
fn explained(error: &clap::Error, command: &mut clap::Command) -> Option<clap::Error> {
    let ContextValue::String(word) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    let is_path = word.contains(std::path::MAIN_SEPARATOR) || Path::new(word).exists();
    is_path.then(|| {
        let message = format!(
            "`{word}` is a path, not a command\n\n  \
             lttv dump {word}    prints its events\n  \
             lttv info {word}    shows what it contains"
        );
        command.error(ErrorKind::InvalidSubcommand, message)
    })
}
