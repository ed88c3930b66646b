//! The driver of LTTV: loads modules by name and runs them.
//!
//! ```text
//! lttv run -m textDump -t TRACE -e 'event.name == sched_switch'
//! lttv run -m interrupts -m diskPerformance -t TRACE -s
//! lttv run -l -t TRACE
//! lttv run -m textDump --help
//! ```
//!
//! # LTTV's options
//!
//! Options have the names that they have in LTTV, with hyphens or underscores between words
//! (`--path_output`). Differences:
//!
//! | LTTV | here |
//! |---|---|
//! | `-L`, `--modules-path` | modules are part of the program; none is loaded at run time |
//! | `-v`, `-d`, `-e`, `-f`, `--edebug` … | there is one level of messages, on standard error; `-e` and `-f` belong to the filter |
//! | `-M`, `--memory` | none: it was for finding leaks |
//! | `textFilter -l` | `-l` needs no module; `--list-fields` is its long form |
//! | `textDump -s`, `--field_names` | `--no-field-names`, since it omitted the names of fields; `-s` is `--stats` |
//! | `textDump -c`, `-p`, `--cpu_stats`, `--process_stats` | none: they had no effect, and statistics contain both |
//! | `textDump -o`, `-a` | the same options of module `print`, for the output of all modules |
//! | `precomputeState -o`, `-q`, `-r` | `precompute --history` and `--checkpoints`, with other file formats |
//! | `depanalysis --limit-events` | `depAnalysis --dep-limit`, the number of steps of the path that are printed |
//! | `sync`, `sync_chain_batch` | `--sync`, an option of all commands |
//! | `batchtest` | the tests and benchmarks of the crates |

mod cli;
mod driver;

use std::error::Error;
use std::ffi::OsString;

use lttv_common::report::Report;

use crate::modules::Registry;

/// Run modules by name, as the driver of LTTV does
#[derive(Debug, Clone, Default, clap::Args)]
#[command(disable_help_flag = true)]
pub struct RunArgs {
    /// The options of the driver and of the modules, which it parses itself
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// The words that start the driver of the program `lttv`.
const PROGRAM: &str = "lttv run";

/// Runs the modules that the command line names.
///
/// # Errors
///
/// Those of [`run_modules`].
pub fn run(args: &RunArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    run_modules(PROGRAM, Registry::new()?, &args.words, report)
}

/// Runs those of the modules that a command line names. `program` is how the help calls the program,
/// and `words` are its arguments.
///
/// ```
/// use lttv::commands::run::run_modules;
/// use lttv::modules::Registry;
/// use lttv_common::report::Report;
///
/// let words = ["-m", "eventCounts", "--events=sched_switch"].map(Into::into);
/// run_modules("counts", Registry::new()?, &words, &mut Report::new("counts"))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the command line is wrong, or if it asks for help: the error is the answer of clap. If a
/// module fails. [`Interrupted`](lttv_common::report::Interrupted) after an interrupt.
pub fn run_modules(
    program: &'static str,
    registry: Registry,
    words: &[OsString],
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    driver::run(program, registry, words, report)
}

/// Returns the command line of the driver, without options of modules.
pub fn command() -> clap::Command {
    driver::command(PROGRAM, Registry::new().ok().as_ref())
}
