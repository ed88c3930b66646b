//! Storing of all states in files.

use std::error::Error;
use std::path::Path;

use lttv_common::inputs;
use lttv_common::report::Usage;
use lttv_context::attributes::{Kind, Text};
use lttv_context::framework::{BatchOutcome, Failure, Module, ModuleInfo, OptionSpec};
use lttv_context::{CheckpointPolicy, Handle};
use lttv_hooks::Priority;
use lttv_state::history::{Builder, Settings};
use lttv_state::kernel_history::{KernelHistory, Recorded};

use super::{Host, at_end};

/// The default files, in the current directory. Files in a trace directory could be
/// mistaken for a part of the trace.
const HISTORY: &str = "lttv.history";
const CHECKPOINTS: &str = "lttv.checkpoints";

/// The module `precompute`.
#[derive(Debug)]
pub(super) struct Precompute;

impl Module<Host> for Precompute {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "precompute",
            summary: "Store the states of processes, CPUs and devices in files",
            description: "Stores all states of the traces in a history file, from which \
                          `lttv history` and other viewers query the state at any time \
                          without reading the traces. Also stores the state at about every \
                          50 000th event in a small file of checkpoints, from which \
                          `lttv state` continues.",
            requires: &["batchAnalysis"],
        }
    }

    fn options(&self) -> Vec<OptionSpec> {
        let files = [
            ("history", HISTORY, "The file to store states in, replaced if it exists"),
            ("checkpoints", CHECKPOINTS, "The file to store checkpoints in, replaced if it exists"),
        ];
        let option = |(name, default, help)| {
            OptionSpec::new(name, Kind::Text, help).value_name("FILE").default_value(default)
        };
        files.map(option).into()
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        if host.options.get::<Text>("begin")?.or(host.options.get("end")?).is_some() {
            let what = "a history covers whole traces: --begin and --end are not allowed";
            return Err(Usage::new(what).into());
        }
        let path = host.options.get::<Text>("history")?.map_or(HISTORY, |path| &**path).to_owned();
        let checkpoints = host.options.get::<Text>("checkpoints")?;
        let checkpoints = checkpoints.map_or(CHECKPOINTS, |path| &**path).to_owned();
        if path == checkpoints {
            return Err(Usage::new("--history and --checkpoints must be different files").into());
        }
        let work = &mut host.data;
        for output in [&path, &checkpoints] {
            inputs::refuse(Path::new(output), work.batch.context.traceset().traces(), &[])?;
        }
        let kernel = work.kernel();
        let context = &mut work.batch.context;
        let mut settings = Settings::default();
        settings.identity = Recorded::identity(context.traceset());
        let start = KernelHistory::start_of(context.contexts());
        let builder = Builder::create(&path, start, settings)?;
        let history = context.attach(KernelHistory::new(kernel, builder));
        context.state().set_policy(CheckpointPolicy::default());
        at_end(host, Priority::DEFAULT, move |host| {
            finish(host, history, &path)?;
            store(host, &checkpoints)
        });
        Ok(())
    }
}

/// Finishes the history file. If reading was interrupted, the file stays unfinished.
fn finish(
    host: &mut Host,
    history: Handle<KernelHistory>,
    path: &str,
) -> Result<(), Box<dyn Error>> {
    let work = &mut host.data;
    if work.end.as_ref().is_none_or(|end| end.outcome != BatchOutcome::Complete) {
        return Err(format!("{path} is unfinished: the traces were not read to their end").into());
    }
    let history = KernelHistory::finish(&mut work.batch.context, history)?;
    let intervals = history.intervals_count();
    let (start, end) = (history.start().as_ns(), history.end().as_ns());
    work.report.message(format_args!("{path}: {intervals} intervals from {start} to {end}"));
    Ok(())
}

/// Stores the checkpoints that were saved during the read.
fn store(host: &mut Host, path: &str) -> Result<(), Box<dyn Error>> {
    let context = &mut host.data.batch.context;
    context.state().store_checkpoints(path)?;
    let count = context.checkpoints().len();
    host.data.report.message(format_args!("{path}: {count} checkpoints"));
    Ok(())
}
