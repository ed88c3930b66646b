//! The facts about each trace.

use lttv_filter::TraceTimes;
use std::sync::Arc;

use ltt_read::schema::{ClockOrigin, FieldClass, FieldKind, Format, Schema};
use ltt_read::{TimeSpan, Trace, TraceIndex, TracefileIndex};
use lttv_common::kernel_trace::Domain;
use lttv_common::losses::Losses;
use lttv_common::time::has_dates;
use lttv_state::kernel::needs::RecordedEvents;

use super::counts::Counts;

/// The facts about a trace. A text that is unknown is empty.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) index: usize,
    pub(crate) path: String,
    pub(crate) domain: Domain,
    pub(crate) format: String,
    pub(crate) uuid: String,
    pub(crate) tracer: String,
    pub(crate) host: String,
    pub(crate) system: String,
    pub(crate) process: String,
    pub(crate) session: String,
    pub(crate) clock: String,
    pub(crate) frequency: Option<u64>,
    pub(crate) origin: String,
    /// `true` if times are dates.
    pub(crate) has_dates: bool,
    /// The times of the first and the last event.
    pub(crate) events_span: Option<TimeSpan>,
    pub(crate) tracefiles: u64,
    pub(crate) cpus: u64,
    pub(crate) packets: u64,
    /// The number of events; `None` if they are not counted.
    pub(crate) events: Option<u64>,
    pub(crate) lost_events: u64,
    pub(crate) lost_packets: u64,
    pub(crate) bytes: u64,
    pub(crate) event_types: u64,
    pub(crate) contexts: Vec<String>,
}

impl Facts {
    /// Returns the facts about all traces.
    pub(crate) fn of(
        traces: &[Arc<Trace>],
        kernel: &[RecordedEvents],
        counts: &Counts,
        losses: &Losses,
    ) -> Vec<Self> {
        let each = traces.iter().zip(kernel).enumerate();
        each.map(|(index, (trace, kernel))| facts(index, trace, kernel, counts, losses)).collect()
    }
}

fn facts(
    index: usize,
    trace: &Arc<Trace>,
    kernel: &RecordedEvents,
    counts: &Counts,
    losses: &Losses,
) -> Facts {
    let schema = trace.schema();
    let text = |name| schema.env(name).map(ToString::to_string).unwrap_or_default();
    let tracefiles = trace.tracefiles();
    let mut cpus: Vec<u32> = tracefiles.iter().filter_map(|of| of.cpu()).collect();
    cpus.sort_unstable();
    cpus.dedup();
    let places = || (0..tracefiles.len()).map(TracefileIndex);
    let packets = places().map(|place| trace.packet_index(place).entries().len() as u64).sum();
    let lost = |sum: fn(&Losses) -> u64| {
        places().map(|place| sum(&losses.of_tracefile(TraceIndex(index), place))).sum()
    };
    let clock = schema.clocks.first();
    Facts {
        index,
        path: trace.path().display().to_string(),
        domain: Domain::of(trace, kernel),
        format: format(schema),
        uuid: trace.uuid().map(|uuid| uuid.to_string()).unwrap_or_default(),
        tracer: tracer(schema),
        host: text("hostname"),
        system: joined([text("sysname"), text("kernel_release")]),
        process: joined([text("procname"), text("vpid")]),
        session: joined([text("trace_name"), text("trace_creation_datetime")]),
        clock: clock.map(|clock| clock.name.to_string()).unwrap_or_default(),
        frequency: clock.map(|clock| clock.frequency),
        origin: clock.map(|clock| origin(&clock.origin)).unwrap_or_default(),
        has_dates: has_dates(trace),
        events_span: TraceTimes::of(std::slice::from_ref(trace)).events(),
        tracefiles: tracefiles.len() as u64,
        cpus: cpus.len() as u64,
        packets,
        events: counts.of_trace(index),
        lost_events: lost(Losses::events),
        lost_packets: lost(Losses::packets),
        bytes: tracefiles.iter().map(|of| of.size()).sum(),
        event_types: schema.event_types.len() as u64,
        contexts: contexts(schema),
    }
}

/// Returns the words that are not empty, with blanks between them.
fn joined<const N: usize>(words: [String; N]) -> String {
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

fn format(schema: &Schema) -> String {
    let (major, minor) = schema.version;
    match schema.format {
        Format::Ctf1 | Format::Ctf2 => format!("CTF {major}.{minor}"),
        Format::Ftrace => format!("trace.dat, version {major}"),
        Format::Perf => "perf.data".to_owned(),
        _ if schema.version == (0, 0) => "LTT of 2003".to_owned(),
        _ => format!("LTTng 0.x, format {major}.{minor}"),
    }
}

fn tracer(schema: &Schema) -> String {
    let Some(name) = schema.env_str("tracer_name") else { return String::new() };
    let parts = ["tracer_major", "tracer_minor", "tracer_patchlevel", "tracer_patch"];
    let version: Vec<_> =
        parts.iter().filter_map(|part| schema.env(part)).map(ToString::to_string).collect();
    joined([name.to_owned(), version.join(".")])
}

fn origin(origin: &ClockOrigin) -> String {
    match origin {
        ClockOrigin::UnixEpoch => "1970-01-01 00:00 UTC".to_owned(),
        ClockOrigin::Unknown => "unknown".to_owned(),
        ClockOrigin::Custom(identity) => {
            identity.name.as_deref().or(identity.uid.as_deref()).unwrap_or("unknown").to_owned()
        }
    }
}

/// Returns the names of the context fields of all events, each once.
fn contexts(schema: &Schema) -> Vec<String> {
    let common = schema.stream_classes.iter().filter_map(|of| of.common_context.as_deref());
    let specific = schema.event_types.iter().filter_map(|of| of.specific_context.as_deref());
    let mut names: Vec<String> = Vec::new();
    for class in common.chain(specific) {
        for name in members(class) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

fn members(class: &FieldClass) -> impl Iterator<Item = &str> {
    let members = match &class.kind {
        FieldKind::Struct(structure) => &*structure.members,
        _ => &[],
    };
    members.iter().map(|member| &*member.name)
}
