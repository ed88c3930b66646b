//! Loads modules, starts them, and lets them do their work.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};
use lttv_context::batch::Outcome;
use lttv_context::modules::{ModuleError, Modules};
use lttv_context::options::{OptionError, Options};
use lttv_examples::clap_options::{add_args, take_args};
use lttv_examples::loading::{LoadError, load};
use lttv_examples::modules::{Host, Work, modules};

use crate::cli::{AFTER_MODULES, BEFORE_MODULES, Cli};

/// How the work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) outcome: Outcome,
    /// Whether all was read, and all results are there.
    pub(crate) complete: bool,
}

/// Why nothing could be done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error(transparent)]
    Load(#[from] LoadError),
    #[error(transparent)]
    Module(#[from] ModuleError),
    #[error(transparent)]
    Option(#[from] OptionError),
    #[error("cannot wait for ctrl-c: {0}")]
    Interrupt(#[from] ctrlc::Error),
    #[error("cannot write the output: {0}")]
    Write(#[from] io::Error),
}

/// Does what the command line says.
pub(crate) fn run() -> Result<Done, RunError> {
    let mut modules = modules()?;
    let mut options = Options::new();
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let loaded = load(words, &modules, &mut options)?;
    let mut command = add_args(Cli::command(), &options).after_help(after_help(&modules));
    let matches = command.get_matches_mut();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    take_args(&matches, &mut options)?;
    if cli.list_modules {
        list(&modules)?;
        return Ok(Done { outcome: Outcome::Complete, complete: true });
    }
    if loaded.is_empty() {
        let nothing = "nothing to do: load a module, such as -m textDump; --help lists them";
        command.error(ErrorKind::MissingRequiredArgument, nothing).exit();
    }

    let mut host = Host::new(Work::new()?);
    host.options = options;
    host.data.loaded.clone_from(&loaded);
    modules.init(loaded.iter().map(String::as_str), &mut host)?;
    let cancel = Arc::clone(&host.data.cancel);
    ctrlc::set_handler(move || {
        // Who asks twice cannot wait.
        if cancel.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    _ = host.run();
    let done = tell_end(&host);
    modules.destroy(&mut host);
    Ok(done)
}

/// Tells on standard error what went wrong.
fn tell_end(host: &Host) -> Done {
    let Work { end, failures, complete, .. } = &host.data;
    failures.iter().for_each(|failure| eprintln!("lttv: error: {failure}"));
    // Modules may be there only for what others do with them.
    let Some(end) = end else {
        return Done { outcome: Outcome::Complete, complete: *complete };
    };
    end.errors.iter().for_each(|error| eprintln!("lttv: error: {error}"));
    if end.outcome == Outcome::Cancelled {
        eprintln!("lttv: interrupted after {} events", end.events);
    }
    let sound = *complete && failures.is_empty() && end.errors.is_empty();
    Done { outcome: end.outcome, complete: sound && end.outcome != Outcome::Cancelled }
}

/// The modules that there are, in a line each, and what else there is to say.
fn after_help(modules: &Modules<Host>) -> String {
    let mut text = format!("{BEFORE_MODULES}\n");
    for info in modules.infos() {
        // Writing to a string cannot fail.
        _ = writeln!(text, "  {:16} {}", info.name, info.summary);
    }
    text + "\n" + AFTER_MODULES
}

fn list(modules: &Modules<Host>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let written = modules.infos().try_for_each(|info| {
        writeln!(out, "{}: {}", info.name, info.summary)?;
        if !info.requires.is_empty() {
            writeln!(out, "  requires {}", info.requires.join(", "))?;
        }
        writeln!(out, "  {}", info.description)
    });
    match written {
        // Who closes a pipe has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
