//! Opening of the traces.

use lttv_filter::{TimeText, Zone};
use std::path::PathBuf;

use ltt_read::Timestamp;
use lttv_common::bundled::bundled_trace;
use lttv_common::clocks::{ClockOffset, Corrections};
use lttv_common::opening::open_corrected;
use lttv_common::report::Usage;
use lttv_common::settings;
use lttv_common::text_dump::trace_name::{given_for, trace_name};
use lttv_common::time::Times;
use lttv_context::TimeSpan;
use lttv_context::attributes::{Kind, Text};
use lttv_context::framework::{
    Batch, Failure, Module, ModuleInfo, OptionError, OptionSpec, Options,
};

use super::{Host, Results};

/// The module `core`, which opens the traces.
#[derive(Debug)]
pub(super) struct Core;

impl Module<Host> for Core {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "core",
            summary: "Open the traces",
            description: "Opens all traces in the directories given, at any depth, or \
                          the bundled kernel trace if none is given. They are read together, \
                          in time order. A trace that cannot be opened is reported, and so is a \
                          time window outside of the traces.",
            requires: &[],
        }
    }

    fn options(&self) -> Vec<OptionSpec> {
        let trace = "Directory that contains traces";
        let transform = "Correct the clocks by a file of `lttv sync --write`";
        let offset = "Add an offset to all times of a machine";
        let text = |name, help| OptionSpec::new(name, Kind::Text, help).value_name("TIME");
        vec![
            OptionSpec::new("trace", Kind::Text, trace).short('t').value_name("DIR").repeatable(),
            text("begin", "Skip events before this time"),
            text("end", "Stop after the events of this time"),
            OptionSpec::flag("clock-gmt", "Take times in UTC, not in the local time zone"),
            OptionSpec::flag("sync", "Relate the clocks of machines by their messages"),
            OptionSpec::new("clock-transform", Kind::Text, transform).value_name("FILE"),
            OptionSpec::new("clock-offset", Kind::Text, offset)
                .value_name("TRACE=±TIME")
                .repeatable(),
        ]
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let options = &host.options;
        let zone = match options.is_set("clock-gmt")? {
            true => Zone::UTC,
            false => settings::current().zone(),
        };
        let given = options.all::<Text>("trace")?;
        let mut paths: Vec<PathBuf> = given.iter().map(|path| PathBuf::from(&***path)).collect();
        if paths.is_empty() {
            paths.push(bundled_trace()?);
        }
        let corrections = corrections(options)?;
        let traceset = open_corrected(&mut host.data.report, &paths, &corrections)?.traceset;
        let mut names = Vec::new();
        for trace in traceset.traces() {
            let path = given_for(trace.path(), &paths);
            for warning in trace.warnings() {
                let (path, message) = (path.display(), &warning.message);
                host.data.report.warning(format_args!("{path}: {message}"));
            }
            names.push(trace_name(trace.schema(), path, trace.paths()));
        }
        let batch = Batch::new(traceset);
        let whole = batch.context.contexts().time_span();
        let (begin, end) = (time_option(options, "begin")?, time_option(options, "end")?);
        let times = Times::new(zone.clone(), batch.context.traceset().traces());
        let window = times.window(begin.as_ref(), end.as_ref()).map_err(Usage::new)?;
        if let Err(outside) = times.inside(window) {
            // Events are printed until there are none; an analysis of nothing would mislead.
            let prints_only = |(_, results): &(_, Results)| {
                matches!(results, Results::None | Results::PrintedEvents)
            };
            match host.data.loaded.iter().all(prints_only) {
                true => host.data.report.warning(outside),
                false => return Err(Usage::new(outside).into()),
            }
        }
        let (begin, end) = (window.begin, window.end);
        let span = whole.map(|span| TimeSpan {
            start: begin.map_or(span.start, |begin| begin.max(span.start)),
            end: end.map_or(span.end, |end| end.min(span.end)),
        });
        let batch = begin.into_iter().fold(batch, Batch::since);
        // The end on the command line is inclusive.
        let after = |end: Timestamp| Timestamp::from_ns(end.as_ns().saturating_add(1));
        let batch = end.map(after).into_iter().fold(batch, Batch::until);
        let work = &mut host.data;
        (work.batch, work.names, work.zone) = (batch, names, zone);
        (work.window, work.span) = (window, span);
        Ok(())
    }
}

/// Returns the corrections of clocks.
fn corrections(options: &Options) -> Result<Corrections, Usage> {
    let sync = options.is_set("sync").map_err(Usage::new)?;
    let transform: Option<&Text> = options.get("clock-transform").map_err(Usage::new)?;
    if sync && transform.is_some() {
        return Err(Usage::new("--sync has no use with --clock-transform"));
    }
    let offsets = options.all::<Text>("clock-offset").map_err(Usage::new)?;
    let offset = |text: &Text| {
        let wrong = |error| Usage::new(format_args!("--clock-offset: {error}"));
        text.parse::<ClockOffset>().map_err(wrong)
    };
    Ok(Corrections {
        sync,
        clock_transform: transform.map(|path| PathBuf::from(&**path)),
        clock_offsets: offsets.into_iter().map(offset).collect::<Result<_, _>>()?,
    })
}

/// Returns the time given for an option, if there is one.
pub(super) fn time_option(options: &Options, name: &str) -> Result<Option<TimeText>, Usage> {
    let given: Result<Option<&Text>, OptionError> = options.get(name);
    let time = given.map_err(Usage::new)?.map(|text| text.parse::<TimeText>());
    time.transpose().map_err(|error| Usage::new(format_args!("--{name}: {error}")))
}
