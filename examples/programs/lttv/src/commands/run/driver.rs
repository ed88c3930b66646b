//! Loading, starting and running of modules.

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write};

use clap::error::ErrorKind;
use clap::{Command, CommandFactory, FromArgMatches};
use lttv_common::cancel;
use lttv_common::losses::Losses;
use lttv_common::report::{Interrupted, Report, Usage};
use lttv_common::text::output::Output;
use lttv_context::framework::{BatchOutcome, ModuleError, Modules, Options};
use lttv_filter::nearest;

use super::PROGRAM;
use super::cli::{AFTER_MODULES, BEFORE_MODULES, Cli};
use crate::clap_options::{add_args, take_args};
use crate::loading::{LoadError, load};
use crate::modules::{Host, Registry, Work, list_fields};

/// The warning if all modules only support others.
const NOTHING_READ: &str = "no module reads the traces; add one, such as -m batchAnalysis";

/// Runs the command line of these words.
pub(super) fn run(
    program: &'static str,
    mut registry: Registry,
    words: &[OsString],
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let modules = &registry.modules;
    let mut options = Options::new();
    let texts = words.iter().map(|word| word.to_string_lossy().into_owned());
    let loaded = load(texts, modules, &mut options).map_err(|error| wrong(&error, modules))?;
    let mut command = add_args(command(program, Some(&registry)), &options);
    let matches = command.try_get_matches_from_mut(words)?;
    let cli = Cli::from_arg_matches(&matches)?;
    take_args(&matches, &mut options)?;
    if cli.list_modules {
        list(&registry)?;
        return Ok(());
    }
    if loaded.is_empty() {
        let nothing = "nothing to do: load a module, such as -m textDump; --help lists them";
        return Err(command.error(ErrorKind::MissingRequiredArgument, nothing).into());
    }

    let mut host = Host::new(Work::new(report.clone()));
    host.options = options;
    host.data.loaded = registry.results(&loaded);
    let modules = &mut registry.modules;
    modules.init(loaded.iter().map(String::as_str), &mut host)?;
    if cli.list_fields {
        list_fields(&mut host)?;
        report.clone_from(&host.data.report);
        modules.destroy(&mut host);
        return Ok(());
    }
    host.data.cancel = cancel::on_interrupt()?;
    _ = host.run();
    let ended = report_end(&mut host);
    report.clone_from(&host.data.report);
    modules.destroy(&mut host);
    Ok(ended?)
}

/// Returns the command line of a program, without options of modules. Its help lists the modules.
pub(super) fn command(program: &'static str, registry: Option<&Registry>) -> Command {
    let command = Cli::command().bin_name(program);
    match registry {
        Some(registry) => command.after_help(after_help(program, registry)),
        None => command,
    }
}

/// Returns the error of a module that cannot be loaded, with the most similar name.
fn wrong(error: &LoadError, modules: &Modules<Host>) -> Usage {
    let LoadError::Module(ModuleError::Unknown(name)) = error else {
        return Usage::new(ltt_read::ErrorChain(error));
    };
    match nearest(name, modules.infos().map(|info| info.name)) {
        Some(meant) => Usage::new(format_args!("{error}; did you mean `{meant}`?")),
        None => Usage::new(format_args!("{error}; `lttv run --list-modules` lists them")),
    }
}

/// Reports errors.
///
/// # Errors
///
/// If the work was interrupted.
fn report_end(host: &mut Host) -> Result<(), Interrupted> {
    let Work { end, failures, report, batch, window, .. } = &mut host.data;
    failures.iter().for_each(|failure| report.error(&**failure));
    let Some(end) = end else {
        report.warning(NOTHING_READ);
        return Ok(());
    };
    report.notices_omitted(end.notices_omitted);
    report.errors(&end.errors, end.errors_omitted);
    report.losses(&Losses::of(batch.context.traceset().traces(), *window), None);
    match end.outcome {
        BatchOutcome::Cancelled => Err(Interrupted { events: end.events }),
        _ => Ok(()),
    }
}

/// Returns the end of the help: the modules, one per line, and further notes.
fn after_help(program: &str, registry: &Registry) -> String {
    let mut text = format!("{BEFORE_MODULES}\n");
    for info in registry.infos() {
        // Writing to a string never fails.
        _ = writeln!(text, "  {:16} {}", info.name, info.summary);
    }
    text + "\n" + &AFTER_MODULES.replace(PROGRAM, program)
}

fn list(registry: &Registry) -> io::Result<()> {
    let mut out = Output::stdout();
    for info in registry.infos() {
        writeln!(out, "{}: {}", info.name, info.summary)?;
        if !info.requires.is_empty() {
            writeln!(out, "  requires {}", info.requires.join(", "))?;
        }
        writeln!(out, "  {}", info.description)?;
    }
    out.finish()
}
