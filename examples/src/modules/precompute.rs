//! Stores every state of the machines for later.

use std::error::Error;

use lttv_context::Handle;
use lttv_context::attributes::{Kind, Text};
use lttv_context::batch::Outcome;
use lttv_context::modules::{Failure, Module, ModuleInfo};
use lttv_context::options::OptionSpec;
use lttv_hooks::Priority;
use lttv_state::history::{Builder, Settings};
use lttv_state::kernel_history::{KernelHistory, Recorded};

use super::{Host, report_with};

/// The module `precompute`.
#[derive(Debug)]
pub(super) struct Precompute;

impl Module<Host> for Precompute {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "precompute",
            summary: "Store the states of processes, CPUs and devices in a history file",
            description: "Stores every state that the traces tell of in a file, where the program \
                          `history` and other viewers find the state at any time without reading \
                          the traces again.",
            requires: &["batchAnalysis"],
        }
    }

    fn options(&self) -> Vec<OptionSpec> {
        let help = "The file to store states in; it is replaced";
        vec![
            OptionSpec::new("history", Kind::Text, help).value_name("FILE").default("lttv.history"),
        ]
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        if host.options.get::<Text>("begin")?.or(host.options.get("end")?).is_some() {
            return Err("a history is one of whole traces: without --begin and --end".into());
        }
        let path = host.options.get::<Text>("history")?.map_or("lttv.history", |path| &**path);
        let path = path.to_owned();
        let work = &mut host.data;
        let kernel = work.kernel();
        let context = &mut work.batch.context;
        let mut settings = Settings::default();
        settings.identity = Recorded::identity(context.traceset());
        let start = KernelHistory::start_of(context.contexts());
        let builder = Builder::create(&path, start, settings)
            .map_err(|error| format!("cannot write {path}: {error}"))?;
        let history = context.attach(KernelHistory::new(kernel, builder));
        report_with(host, Priority::DEFAULT, move |host| finish(host, history, &path));
        Ok(())
    }
}

/// Ends the file. If reading was broken off, it stays unfinished.
fn finish(
    host: &mut Host,
    history: Handle<KernelHistory>,
    path: &str,
) -> Result<(), Box<dyn Error>> {
    let work = &mut host.data;
    if work.end.as_ref().is_none_or(|end| end.outcome != Outcome::Complete) {
        return Err(format!("{path} is unfinished: the traces were not read to their end").into());
    }
    let history = KernelHistory::finish(&mut work.batch.context, history)
        .map_err(|error| format!("cannot write {path}: {error}"))?;
    let intervals = history.intervals_count();
    eprintln!("lttv: {path}: {intervals} intervals from {} to {}", history.start(), history.end());
    Ok(())
}
