//! The options of clocks that all programs share, and their effect.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use ltt_read::{ClockTransform, Trace};
use lttv_context::Traceset;
use lttv_context::synchronize::HostIndex;
use lttv_context::synchronize::matching::Hosts;

use super::advice;
use super::error::CorrectionError;
use super::file::TransformFile;
use super::find::find;
use super::names::{find_host, label, labels};
use super::offset::ClockOffset;
use crate::escape;
use crate::report::{Report, Usage};

/// The options that correct the clocks of traces.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct Corrections {
    /// Relate the clocks of several machines by the messages between them: reads the traces
    /// once more, first
    #[arg(long, global = true, conflicts_with = "clock_transform", help_heading = "Clocks")]
    pub sync: bool,

    /// Correct the clocks by a file of `lttv sync --write`
    #[arg(long, value_name = "FILE", global = true, help_heading = "Clocks")]
    pub clock_transform: Option<PathBuf>,

    /// Add an offset such as +1.5ms to all times of a machine, named by itself or a trace
    #[arg(
        long = "clock-offset",
        value_name = "TRACE=±TIME",
        global = true,
        help_heading = "Clocks"
    )]
    pub clock_offsets: Vec<ClockOffset>,
}

/// The correction of the clock of one host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostTime {
    /// The transform.
    pub transform: ClockTransform,
    /// The name of the host to whose clock the times are mapped, if there is one.
    pub reference: Option<String>,
}

/// The corrections of the clocks of all hosts.
#[derive(Debug, Clone, Default)]
pub struct HostTimes {
    /// The corrections by the identity of hosts.
    by_host: BTreeMap<String, HostTime>,
}

/// Traces with corrected clocks.
#[derive(Debug, Clone, Default)]
pub struct Corrected {
    /// The traces.
    pub traceset: Traceset,
    /// The corrections, for traces that are added later.
    pub times: HostTimes,
}

impl Corrections {
    /// Returns `true` if no clock is corrected.
    pub fn is_empty(&self) -> bool {
        *self == Corrections::default()
    }

    /// Refuses corrections where times have no effect.
    ///
    /// # Errors
    ///
    /// If an option of clocks is given: the error contains `reason`.
    pub fn refuse(&self, reason: &str) -> Result<(), Usage> {
        let option = match self {
            Corrections { sync: true, .. } => "--sync",
            Corrections { clock_transform: Some(_), .. } => "--clock-transform",
            Corrections { clock_offsets, .. } if !clock_offsets.is_empty() => "--clock-offset",
            _ => return Ok(()),
        };
        Err(Usage::new(format_args!("{option} has no use here: {reason}")))
    }

    /// Returns the traces with corrected clocks. Reports clocks without a relation to others, and
    /// those that are not in the file: they keep the recorded times.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or has none of the clocks, if an offset names no host, or after
    /// an interrupt by the user.
    pub fn corrected(
        &self,
        traceset: Traceset,
        report: &Report,
    ) -> Result<Corrected, CorrectionError> {
        if self.is_empty() {
            return Ok(Corrected { traceset, times: HostTimes::default() });
        }
        let hosts = Hosts::of(&traceset);
        let mut by_host = match &self.clock_transform {
            Some(path) => of_file(&TransformFile::read(path)?, &hosts, report)?,
            None if self.sync => of_messages(&traceset, report)?,
            None => BTreeMap::new(),
        };
        self.add_offsets(&mut by_host, &hosts, &traceset)?;
        let times = HostTimes { by_host };
        let corrected =
            |trace: &Arc<Trace>| Ok(times.apply(trace)?.unwrap_or_else(|| Arc::clone(trace)));
        let traces = traceset.traces().iter().map(corrected);
        let traceset = traces.collect::<Result<Traceset, ltt_read::Error>>()?;
        Ok(Corrected { traceset, times })
    }

    /// Composes the transforms with the offsets.
    fn add_offsets(
        &self,
        by_host: &mut BTreeMap<String, HostTime>,
        hosts: &Hosts,
        traceset: &Traceset,
    ) -> Result<(), Usage> {
        let mut done = Vec::new();
        for ClockOffset { name, ns } in &self.clock_offsets {
            let index = find_host("--clock-offset", name, hosts, traceset)?;
            let shown = label(hosts, index);
            if done.contains(&index) {
                let text = format_args!("--clock-offset: `{shown}` has two offsets");
                return Err(Usage::new(text));
            }
            done.push(index);
            let Some(host) = hosts.all().get(index.0) else { continue };
            let unchanged = HostTime { transform: ClockTransform::IDENTITY, reference: None };
            let time = by_host.entry(host.id.clone()).or_insert(unchanged);
            let sum = time.transform.then(&ClockTransform::from_offset(*ns));
            time.transform = sum
                .map_err(|error| Usage::new(format_args!("--clock-offset: `{shown}`: {error}")))?;
        }
        Ok(())
    }
}

impl HostTimes {
    /// Returns a trace with the corrected clock of its host. `None` if the clock is not among those
    /// that are corrected.
    ///
    /// # Errors
    ///
    /// Never for a trace that was opened.
    pub fn apply(&self, trace: &Arc<Trace>) -> Result<Option<Arc<Trace>>, ltt_read::Error> {
        if self.by_host.is_empty() {
            return Ok(None);
        }
        let hosts = Hosts::of(&Traceset::from(vec![Arc::clone(trace)]));
        let time = hosts.all().first().and_then(|host| self.by_host.get(&host.id));
        time.map(|time| trace.with_clock_transforms(|_| time.transform)).transpose()
    }

    /// Returns the transform of a host by its identity: the identity if its clock is not corrected.
    pub fn transform(&self, host: &str) -> ClockTransform {
        self.by_host.get(host).map_or(ClockTransform::IDENTITY, |time| time.transform)
    }

    /// Returns `true` if no clock is corrected.
    pub fn is_empty(&self) -> bool {
        self.by_host.is_empty()
    }

    /// Returns the clocks whose times are shown, for people: the names of the hosts to whose clocks
    /// times are mapped, or `corrected` if there are none. `None` if no clock is corrected.
    pub fn clock_text(&self) -> Option<String> {
        let references = self.references();
        match (self.is_empty(), references.is_empty()) {
            (true, _) => None,
            (false, true) => Some("corrected".to_owned()),
            (false, false) => Some(references.join(", ")),
        }
    }

    /// Returns the names of the hosts to whose clocks times are mapped, each once.
    pub fn references(&self) -> Vec<&str> {
        let mut names: Vec<_> =
            self.by_host.values().filter_map(|time| time.reference.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Returns the transforms of the hosts in a file.
fn of_file(
    file: &TransformFile,
    hosts: &Hosts,
    report: &Report,
) -> Result<BTreeMap<String, HostTime>, CorrectionError> {
    let mut by_host = BTreeMap::new();
    let mut missing = Vec::new();
    for (index, host) in hosts.all().iter().enumerate() {
        match (file.transform(&host.id), file.entry(&host.id)) {
            (Some(transform), Some(entry)) => {
                let reference = entry.reference.as_ref().map(|id| {
                    let name = file.entry(id).and_then(|entry| entry.name.as_ref());
                    escape::name(name.unwrap_or(id)).into_owned()
                });
                by_host.insert(host.id.clone(), HostTime { transform, reference });
            }
            _ => missing.push(label(hosts, HostIndex(index))),
        }
    }
    let path = file.path().display();
    if by_host.is_empty() {
        let (path, names) = (path.to_string(), quoted(missing.iter()));
        return Err(CorrectionError::NoClock { path, names });
    }
    for name in missing {
        report
            .warning(format_args!("{path}: no clock of `{name}`, which keeps its recorded times"));
    }
    Ok(by_host)
}

/// Returns the transforms of the hosts that exchange messages.
fn of_messages(
    traceset: &Traceset,
    report: &Report,
) -> Result<BTreeMap<String, HostTime>, CorrectionError> {
    let found = find(traceset)?;
    if let Some(interrupted) = found.messages.interrupted {
        return Err(interrupted.into());
    }
    let names = labels(&found.hosts);
    for island in found.clocks.islands().iter().filter(|island| island.hosts.len() > 1) {
        let others = island.hosts.iter().filter(|host| **host != island.reference);
        let others: Vec<_> = others
            .map(|host| match found.accuracy(*host) {
                Some(ns) => format!("`{}` within {:.1} µs", names[host.0], ns as f64 / 1e3),
                None => format!("`{}`", names[host.0]),
            })
            .collect();
        let reference = &names[island.reference.0];
        report.message(format_args!(
            "the times are those of `{reference}`, to which are mapped: {}",
            others.join(", ")
        ));
    }
    if let Some(reason) = advice::contradicted(&found) {
        report.warning(format_args!("--sync: {reason}"));
    }
    if let Some(reason) = advice::unrelated(&found) {
        let (kept, help) = match found.hosts.all().len() {
            1 => ("", String::new()),
            _ => (
                "; the clocks that are not mapped keep the recorded times",
                format!("\n{}", advice::EVENTS),
            ),
        };
        report.warning(format_args!("--sync: {reason}{kept}{help}"));
    }
    let mut by_host = BTreeMap::new();
    for (index, host) in found.hosts.all().iter().enumerate() {
        let index = HostIndex(index);
        if let Some(transform) = found.transform(index) {
            let reference = found.reference(index).map(|of| names[of.0].clone());
            by_host.insert(host.id.clone(), HostTime { transform, reference });
        }
    }
    Ok(by_host)
}

/// Returns names in backquotes.
fn quoted<'n>(names: impl Iterator<Item = &'n String>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
