//! Loading, starting and running of modules.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};
use lttv_context::framework::{BatchOutcome, Modules, Options};
use lttv_examples::clap_options::{add_args, take_args};
use lttv_examples::loading::load;
use lttv_examples::modules::{Host, Work, list_fields, modules};
use lttv_examples::report::{self, Report, Usage};
use lttv_examples::text_dump::output::Output;

use crate::cli::{AFTER_MODULES, BEFORE_MODULES, Cli};

/// The exit status of an interrupted program, as in shells.
const INTERRUPTED: u8 = 130;

/// The warning if all modules only support others.
const NOTHING_READ: &str = "no module reads the traces; add one, such as -m batchAnalysis";

/// Runs the command line.
pub(crate) fn main() -> ExitCode {
    let mut answer = None;
    let status = report::main_with_status("lttv", |report| match run(report) {
        Err(error) => match error.downcast::<clap::Error>() {
            Ok(error) => {
                answer = Some(*error);
                Ok(None)
            }
            Err(error) => Err(error),
        },
        done => done,
    });
    answer.map_or(status, |answer| report::print_answer("lttv", &answer))
}

/// Runs the command line. Returns an exit status of its own if it has one.
fn run(report: &mut Report) -> Result<Option<u8>, Box<dyn Error>> {
    let mut modules = modules()?;
    let mut options = Options::new();
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let loaded = load(words, &modules, &mut options).map_err(Usage::new)?;
    let mut command = add_args(Cli::command(), &options).after_help(after_help(&modules));
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    let cli = Cli::from_arg_matches(&matches)?;
    take_args(&matches, &mut options)?;
    if cli.list_modules {
        list(&modules)?;
        return Ok(None);
    }
    if loaded.is_empty() {
        let nothing = "nothing to do: load a module, such as -m textDump; --help lists them";
        return Err(command.error(ErrorKind::MissingRequiredArgument, nothing).into());
    }

    let mut host = Host::new(Work::new(report.clone()));
    host.options = options;
    host.data.loaded.clone_from(&loaded);
    modules.init(loaded.iter().map(String::as_str), &mut host)?;
    if cli.list_fields {
        list_fields(&mut host)?;
        report.clone_from(&host.data.report);
        modules.destroy(&mut host);
        return Ok(None);
    }
    let cancel = Arc::clone(&host.data.cancel);
    ctrlc::set_handler(move || {
        // A second interrupt ends the program at once.
        if cancel.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    })
    .map_err(|error| format!("cannot handle Ctrl-C: {error}"))?;
    _ = host.run();
    let is_cancelled = report_end(&mut host);
    report.clone_from(&host.data.report);
    modules.destroy(&mut host);
    Ok(is_cancelled.then_some(INTERRUPTED))
}

/// Reports errors. Returns `true` if the work was interrupted.
fn report_end(host: &mut Host) -> bool {
    let Work { end, failures, report, .. } = &mut host.data;
    failures.iter().for_each(|failure| report.error(failure));
    let Some(end) = end else {
        report.warning(NOTHING_READ);
        return false;
    };
    report.notices_omitted(end.notices_omitted);
    report.errors(&end.errors, end.errors_omitted);
    let is_cancelled = end.outcome == BatchOutcome::Cancelled;
    if is_cancelled {
        report.message(format_args!("interrupted after {} events", end.events));
    }
    is_cancelled
}

/// Returns the end of the help: the modules, one per line, and further notes.
fn after_help(modules: &Modules<Host>) -> String {
    let mut text = format!("{BEFORE_MODULES}\n");
    for info in modules.infos() {
        // Writing to a string never fails.
        _ = writeln!(text, "  {:16} {}", info.name, info.summary);
    }
    text + "\n" + AFTER_MODULES
}

fn list(modules: &Modules<Host>) -> io::Result<()> {
    let mut out = Output::stdout();
    for info in modules.infos() {
        writeln!(out, "{}: {}", info.name, info.summary)?;
        if !info.requires.is_empty() {
            writeln!(out, "  requires {}", info.requires.join(", "))?;
        }
        writeln!(out, "  {}", info.description)?;
    }
    out.finish()
}
