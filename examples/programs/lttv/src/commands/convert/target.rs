//! The target of each trace: its folder, schema and metadata.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ltt_read::Trace;
use ltt_read::schema::{Format, Schema};
use ltt_read::writer::{Retargeted, Transfer, metadata_text};
use lttv_common::report::Report;
use lttv_state::kernel::KernelState;

use super::anonymise::Anonymiser;
use super::args::ConvertArgs;
use super::{clock, dump_types, modern_names};

/// The trace that is made of a trace.
#[derive(Debug)]
pub(super) struct Target {
    /// The folder in the output, relative to it.
    pub(super) folder: PathBuf,
    pub(super) transfer: Arc<Transfer>,
    /// The metadata of the source, if it is that of the target as well.
    pub(super) metadata: Option<Vec<u8>>,
}

impl Target {
    /// Plans the target of each trace, and reports what it cannot express.
    pub(super) fn of(
        args: &ConvertArgs,
        traces: &[Arc<Trace>],
        anonymiser: Option<&Anonymiser>,
        report: &Report,
    ) -> Vec<Target> {
        let mut folders = folders(traces);
        if let Some(anonymiser) = anonymiser {
            folders.iter_mut().for_each(|folder| *folder = anonymiser.folder(folder));
        }
        let target = |(trace, folder): (&Arc<Trace>, PathBuf)| {
            let (schema, is_same) = schema(args, trace, anonymiser, report);
            // Whatever cannot be printed was written by a tracer that read its own text.
            let metadata = is_same.then(|| metadata_of(trace)).flatten();
            Target { folder, transfer: Arc::new(Transfer::new(trace, schema)), metadata }
        };
        traces.iter().zip(folders).map(target).collect()
    }
}

/// Returns the schema of a target, and `true` if it is that of the source.
fn schema(
    args: &ConvertArgs,
    trace: &Arc<Trace>,
    anonymiser: Option<&Anonymiser>,
    report: &Report,
) -> (Schema, bool) {
    let source = trace.schema();
    let format = args.to.and_then(|to| to.format()).unwrap_or(match source.format {
        format if !format.is_ctf() => Format::Ctf1,
        format => format,
    });
    let Retargeted { mut schema, changes, .. } = Retargeted::new(source, format);
    let place = trace.path().display();
    for change in changes {
        report.warning(format_args!("{place}: {change}"));
    }
    // Asked for a version of CTF, the result has it even if the source is of a draft of it.
    let is_wanted = args.to.is_some() && format == Format::Ctf2;
    let mut is_same = source.format == format && !(is_wanted && metadata_text(&schema).is_ok());
    if args.modern_names {
        let is_changed = modern_names::apply(&mut schema);
        if !is_changed {
            report.warning(format_args!("{place}: --modern-names: no event has an old name"));
        }
        is_same &= !is_changed;
    }
    if let Some(anonymiser) = anonymiser {
        anonymiser.schema(&mut schema);
        is_same = false;
    }
    if args.dumps_state() && KernelState::follows(trace) {
        is_same &= !dump_types::add_missing(&mut schema);
    }
    if clock::is_transformed(trace) {
        clock::count_nanoseconds(&mut schema, trace);
        is_same = false;
    } else if !source.format.is_ctf() {
        clock::count_nanoseconds(&mut schema, trace);
    }
    // Metadata of the source is copied where it is the same; where it is not, it has to be
    // expressible.
    if !is_same && let Err(error) = metadata_text(&schema) {
        report.warning(format_args!("{place}: {}", ltt_read::ErrorChain(&error)));
    }
    (schema, is_same)
}

/// Returns the contents of the metadata file of a trace; of the largest if it has several,
/// since metadata only grows while a session is rotated.
fn metadata_of(trace: &Trace) -> Option<Vec<u8>> {
    let files = trace.paths().iter().map(|path| path.join("metadata"));
    let read = files.filter_map(|file| fs::read(file).ok());
    read.max_by_key(Vec::len)
}

/// Returns the folder of each trace below the folder that all have in common.
fn folders(traces: &[Arc<Trace>]) -> Vec<PathBuf> {
    let paths: Vec<&Path> = traces.iter().map(|trace| trace.path()).collect();
    let mut common = paths.first().copied().unwrap_or(Path::new(""));
    while !paths.iter().all(|path| path.starts_with(common)) {
        match common.parent() {
            Some(parent) => common = parent,
            None => return (0..paths.len()).map(|n| PathBuf::from(format!("trace{n}"))).collect(),
        }
    }
    let below = |path: &&Path| path.strip_prefix(common).unwrap_or(path).to_owned();
    paths.iter().map(below).collect()
}
