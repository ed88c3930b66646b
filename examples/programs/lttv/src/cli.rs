//! The command line: the subcommands, and help where the parser alone would give little.

mod extension;

use std::ffi::OsString;
use std::io::{IsTerminal, stdin, stdout};
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use lttv::commands::calls::CallsArgs;
use lttv::commands::chart::{ChartArgs, FlameArgs};
use lttv::commands::compare::CompareArgs;
use lttv::commands::completions::CompletionsArgs;
use lttv::commands::convert::ConvertArgs;
use lttv::commands::counters::CountersArgs;
use lttv::commands::critical_path::CriticalPathArgs;
use lttv::commands::disk::DiskArgs;
use lttv::commands::dump::DumpArgs;
use lttv::commands::history::HistoryArgs;
use lttv::commands::info::InfoArgs;
use lttv::commands::irq::IrqArgs;
use lttv::commands::latency::LatencyArgs;
use lttv::commands::man::ManArgs;
use lttv::commands::record::RecordArgs;
use lttv::commands::run::{self, RunArgs};
use lttv::commands::serve::ServeArgs;
use lttv::commands::spans::SpansArgs;
use lttv::commands::sql::SqlArgs;
use lttv::commands::state::StateArgs;
use lttv::commands::stats::StatsArgs;
use lttv::commands::sync::SyncArgs;
use lttv::commands::usage::UsageArgs;
use lttv::commands::wait::WaitArgs;
use lttv::commands::why::WhyArgs;
use lttv_common::settings::Place;
use lttv_tui::program::TuiArgs;

/// Read, analyse and show traces of Linux: LTTng, CTF, and LTTng 0.x
#[derive(Debug, Parser)]
#[command(name = "lttv", version, long_version = LONG_VERSION, max_term_width = 100)]
#[command(after_help = AFTER_HELP, after_long_help = AFTER_LONG_HELP)]
pub(crate) struct Cli {
    #[command(flatten)]
    configuration: Configuration,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The options of all subcommands.
#[derive(Debug, Args)]
struct Configuration {
    /// Read the settings from this file instead of ~/.config/lttv/config.toml
    #[arg(long, value_name = "FILE", global = true, help_heading = "Configuration")]
    config: Option<PathBuf>,

    /// Use no configuration file
    #[arg(long, global = true, conflicts_with = "config", help_heading = "Configuration")]
    no_config: bool,
}

/// The subcommands, in the order of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Record(RecordArgs),
    Dump(DumpArgs),
    Info(InfoArgs),
    Stats(StatsArgs),
    State(StateArgs),
    Wait(WaitArgs),
    CriticalPath(CriticalPathArgs),
    Irq(IrqArgs),
    Disk(DiskArgs),
    Usage(UsageArgs),
    Calls(CallsArgs),
    Latency(LatencyArgs),
    Spans(SpansArgs),
    Why(WhyArgs),
    Counters(CountersArgs),
    History(HistoryArgs),
    Chart(ChartArgs),
    /// Draw a flame graph: the same as `lttv chart flame`
    #[command(after_help = FLAME_HELP)]
    Flame(FlameArgs),
    Compare(CompareArgs),
    Sync(SyncArgs),
    Convert(ConvertArgs),
    Tui(TuiArgs),
    Serve(ServeArgs),
    Sql(SqlArgs),
    Run(RunArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

const LONG_VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\nFormats: CTF 1.8 and CTF 2 (LTTng, barectf, perf and others), LTTng 0.x, and the Linux \
     Trace Toolkit since 2003\
     \nJSON: version 1 of docs/json"
);

const FLAME_HELP: &str = "\
Examples:
  lttv flame -o cpu.svg perf.data
  lttv flame --of off-cpu --by process -o waits.svg perf.data

`lttv chart flame --help` tells which stacks there are.";

const AFTER_HELP: &str = "\
Examples:
  lttv record -- make
  lttv dump TRACE -e sched_switch
  lttv help dump

`lttv PATH` opens a trace, `lttv` alone lists those nearby. `lttv COMMAND --help` describes a command.";

const AFTER_LONG_HELP: &str = "\
Examples:
  lttv record -- make
  lttv dump TRACE -e sched_switch
  lttv help dump

`lttv PATH` opens a trace: in the terminal, or as `lttv info` if the output is none. `lttv` alone lists
the traces of the current directory and of ~/lttng-traces. `lttv COMMAND --help` describes a command.

TRACE is a directory that contains traces, at any depth, a recording of ftrace or perf, or an archive
of those: .tar, .tar.gz, .tar.zst, .zip, .gz or .zst.

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
        if let Some(cli) = Cli::of_one_command(&words) {
            return cli;
        }
        let asks_help = words.get(1).is_some_and(|word| word == "help");
        let mut command = if asks_help { documented() } else { full_command() };
        match command.try_get_matches_from_mut(&words) {
            Ok(matches) => {
                let matches = extension::with_format(&mut command, matches, words)?;
                Cli::from_arg_matches(&matches)
            }
            Err(error) => match path_in_place_of_command(&error, &words) {
                Some(at) => {
                    let is_terminal = stdin().is_terminal() && stdout().is_terminal();
                    let name = if is_terminal { "tui" } else { "info" };
                    let mut words = words;
                    words.insert(at, name.into());
                    Cli::of_words(words.into_iter())
                }
                None => Err(error),
            },
        }
    }

    /// Parses a command line with its subcommand alone: the others would be a quarter of the time
    /// that printing a small trace takes. Returns `None` for all that needs them: errors, help.
    fn of_one_command(words: &[OsString]) -> Option<Result<Cli, clap::Error>> {
        let name = words.get(1)?.to_str()?;
        let augment = match name {
            "record" => RecordArgs::augment_args,
            "dump" => DumpArgs::augment_args,
            "info" => InfoArgs::augment_args,
            "stats" => StatsArgs::augment_args,
            "state" => StateArgs::augment_args,
            "wait" => WaitArgs::augment_args,
            "critical-path" => CriticalPathArgs::augment_args,
            "irq" => IrqArgs::augment_args,
            "disk" => DiskArgs::augment_args,
            "usage" => UsageArgs::augment_args,
            "calls" => CallsArgs::augment_args,
            "latency" => LatencyArgs::augment_args,
            "spans" => SpansArgs::augment_args,
            "why" => WhyArgs::augment_args,
            "counters" => CountersArgs::augment_args,
            "history" => HistoryArgs::augment_args,
            "chart" => ChartArgs::augment_args,
            "flame" => FlameArgs::augment_args,
            "compare" => CompareArgs::augment_args,
            "sync" => SyncArgs::augment_args,
            "convert" => ConvertArgs::augment_args,
            "tui" => TuiArgs::augment_args,
            "serve" => ServeArgs::augment_args,
            "sql" => SqlArgs::augment_args,
            "run" => RunArgs::augment_args,
            _ => return None,
        };
        let command = Configuration::augment_args(clap::Command::new("lttv"));
        let mut command = command.subcommand(augment(clap::Command::new(name.to_owned())));
        let matches = command.try_get_matches_from_mut(words).ok()?;
        let matches = extension::with_format(&mut command, matches, words.to_owned());
        match matches.map(|matches| Cli::from_arg_matches(&matches)) {
            Ok(Ok(cli)) => Some(Ok(cli)),
            Ok(Err(_)) => None,
            Err(refused) => Some(Err(refused)),
        }
    }

    /// Returns the place of the configuration file.
    pub(crate) fn settings_place(&self) -> Place {
        match &self.configuration.config {
            _ if self.configuration.no_config => Place::None,
            Some(path) => Place::Given(path.clone()),
            None => Place::of_environment(|name| std::env::var_os(name)),
        }
    }
}

/// Returns the command line with all that is known of it: the driver parses its options itself.
pub(crate) fn documented() -> clap::Command {
    full_command().mut_subcommand("run", |_| run::command())
}

/// Returns the command line with its help: an option that a subcommand always refuses, with the
/// reason, is not in the help of that subcommand.
fn full_command() -> clap::Command {
    const WITHOUT_FILTERS: [&str; 6] =
        ["wait", "critical-path", "usage", "disk", "calls", "compare"];
    let hidden = |command: clap::Command, name: &str| {
        command.mut_subcommand(name, |of| of.mut_arg("filters", |filters| filters.hide(true)))
    };
    WITHOUT_FILTERS.into_iter().fold(Cli::command(), hidden)
}

/// Returns the position of a path that is there in place of a subcommand.
fn path_in_place_of_command(error: &clap::Error, words: &[OsString]) -> Option<usize> {
    let ContextValue::String(word) = error.get(ContextKind::InvalidSubcommand)? else {
        return None;
    };
    let is_path =
        word == "-" || word.contains(std::path::MAIN_SEPARATOR) || Path::new(word).exists();
    words.iter().position(|of| is_path && of.as_os_str() == word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        std::iter::once("lttv").chain(line.split(' ')).map(OsString::from).collect()
    }

    #[test]
    fn one_command_is_parsed_as_among_all_others() {
        let lines = [
            "dump",
            "dump TRACE -e sched_switch --begin -1s --columns time,name",
            "--config FILE dump",
            "dump --config FILE TRACE",
            "info --no-config TRACE",
            "stats --timerange +1s..+2s --top 5 TRACE OTHER",
            "state --at +20ms --method checkpoint",
            "wait --tid 1,2 --sort blocked_ns",
            "irq --cpu 2",
            "disk --name 8:16",
            "latency --family irq,softirq --by thread --every 10ms",
            "why --at +20ms --tid 210 --family syscall TRACE",
            "counters --define cpu-frequency --every 10ms TRACE",
            "history range FILE ** --each 10ms --format json",
            "chart flow --all -o OUT",
            "compare A B --table cpu",
            "sync A B --write FILE --reference A --columns host,offset_ns",
            "tui TRACE",
            "serve TRACE",
            "record --for disk,wait --time 5s -o OUT -- make -j4 --help",
            "flame --of off-cpu -o OUT TRACE",
            "sql TRACE -c QUERY --help",
            "run -m textDump -t TRACE",
        ];
        for line in lines {
            let all = Cli::command().try_get_matches_from(words(line)).expect(line);
            let all = Cli::from_arg_matches(&all).expect(line);
            if let Some(one) = Cli::of_one_command(&words(line)) {
                let one = one.expect(line);
                assert_eq!(format!("{one:?}"), format!("{all:?}"), "{line}");
            } else {
                assert!(line.starts_with("--"), "{line}");
            }
        }
        for wrong in ["dumb", "dump --colums=x", "dump --help", "stats --top many", "--version"] {
            assert!(Cli::of_one_command(&words(wrong)).is_none(), "{wrong}");
        }
    }
}
