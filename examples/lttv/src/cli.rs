//! The command line: the subcommands, and help where the parser alone would give little.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use lttv_examples::commands::dump::DumpArgs;
use lttv_examples::commands::run::{self, RunArgs};
use lttv_examples::report::EXIT_STATUS;

/// Read, analyse and show traces of Linux: LTTng, CTF, and LTTng 0.x
#[derive(Debug, Parser)]
#[command(name = "lttv", version, long_version = LONG_VERSION, max_term_width = 100)]
#[command(after_help = EXIT_STATUS)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands, in the order of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Dump(DumpArgs),
    Run(RunArgs),
}

const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nFormats: CTF 1.8 and CTF 2 (LTTng, barectf, perf and others), LTTng 0.x, and the Linux \
     Trace Toolkit since 2003"
);

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
        let matches = command
            .try_get_matches_from_mut(words)
            .map_err(|error| explained(&error, &mut command).unwrap_or(error))?;
        Cli::from_arg_matches(&matches)
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
        command.error(
            ErrorKind::InvalidSubcommand,
            format_args!(
                "`{word}` is a path, not a subcommand\n\n  \
                 lttv dump {word}   prints its events\n  \
                 lttv info {word}   shows what it contains"
            ),
        )
    })
}
