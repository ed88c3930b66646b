//! `lttv sync`: the relations of the clocks of several machines.

mod args;
mod check;
mod picture;

use std::error::Error;
use std::path::Path;

use lttv_context::Traceset;
use lttv_context::synchronize::matching::Hosts;

pub use args::SyncArgs;

use crate::tables::sync as tables;
use lttv_common::args::{Common, InputArgs};
use lttv_common::clocks::{Found, Messages, advice, find_host, find_with};
use lttv_common::inputs;
use lttv_common::report::{Report, Usage};

/// Relates the clocks of traces, and writes the results.
///
/// # Errors
///
/// If the command line is wrong, if no trace can be opened, or if the output cannot be written.
pub fn run(args: &SyncArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    args.refuse_without_effect()?;
    let common = args.common();
    let traceset = common.input.open(report)?;
    for path in [&args.write, &args.picture].into_iter().flatten() {
        inputs::refuse(path, traceset.traces(), &[])?;
    }
    let hosts = Hosts::of(&traceset);
    if let Some(file) = &args.check {
        return check::run(file, &common, &traceset, hosts, report);
    }
    let named = |name: &String| find_host("--reference", name, &hosts, &traceset);
    let reference = args.reference.as_ref().map(named).transpose()?;
    let pair = args.pair.as_ref().map(|pair| pair.hosts(&hosts, &traceset)).transpose()?;
    let found = find_with(&traceset, hosts, reference)?;
    common.write(tables::all(&found, &traceset), traceset.traces())?;
    report_errors(&found.messages, report);
    if let Some(interrupted) = found.messages.interrupted {
        return Err(interrupted.into());
    }
    match found.has_relation() {
        true => explain(&found, report),
        false => {
            let reason = advice::unrelated(&found).unwrap_or_default();
            report.error(format!("{reason}\n{}", advice::EVENTS));
        }
    }
    if let Some(path) = &args.write {
        write(path, &found, &traceset, report)?;
    }
    if let Some(path) = &args.picture {
        picture::write(path, pair, &found, &traceset, report)?;
    }
    Ok(())
}

/// Reports the messages that contradict the relations, and the clocks without one.
fn explain(found: &Found, report: &Report) {
    if let Some(reason) = advice::contradicted(found) {
        report.warning(format_args!("{reason}"));
    }
    if let Some(reason) = advice::unrelated(found) {
        report.warning(format_args!("{reason}\n{}", advice::EVENTS));
    }
}

/// Writes the transforms, if there are any.
fn write(
    path: &Path,
    found: &Found,
    traceset: &Traceset,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    if !found.has_relation() {
        report.error(format!("{}: not written, since there are no transforms", path.display()));
        return Ok(());
    }
    Ok(found.file(path, traceset)?.write()?)
}

/// Reports the data that could not be read.
fn report_errors(messages: &Messages, report: &mut Report) {
    report.errors(&messages.errors, messages.errors_omitted);
}

impl SyncArgs {
    /// Returns the options that commands share.
    fn common(&self) -> Common {
        let input = InputArgs { traces: self.traces.clone(), ..InputArgs::default() };
        Common { input, format: self.format.clone(), output: self.output.clone() }
    }

    /// Refuses options without an effect.
    fn refuse_without_effect(&self) -> Result<(), Usage> {
        match (&self.pair, &self.picture) {
            (Some(_), None) => Err(Usage::new("--pair needs --picture")),
            _ => Ok(()),
        }
    }
}
