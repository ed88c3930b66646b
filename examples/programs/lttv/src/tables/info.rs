//! The facts about traces as tables.

use std::cmp::Reverse;
use std::sync::Arc;

use ltt_read::schema::{EventTypeId, Schema};
use ltt_read::{Trace, TraceIndex, TracefileIndex};
use lttv_common::definitions::Definitions;
use lttv_common::kernel_trace::{FLAME, USES};
use lttv_common::losses::Losses;
use lttv_common::table::{Table, known, percent};

use lttv_state::kernel::needs::{Need, RecordedEvents};

use crate::models::contents::{Counts, Facts};

/// Returns a table with a row for each trace.
pub(crate) fn traces(facts: &[Facts]) -> Table {
    Table::of("traces", "Traces", facts)
        .integer("trace", "TRACE", |of| of.index)
        .text("path", "PATH", |of| known(&of.path))
        .text("kind", "KIND", |of| of.domain.to_string())
        .text("format", "FORMAT", |of| known(&of.format))
        .text("tracer", "TRACER", |of| known(&of.tracer))
        .text("host", "HOST", |of| known(&of.host))
        .text("system", "SYSTEM", |of| known(&of.system))
        .text("process", "PROCESS", |of| known(&of.process))
        .text("session", "SESSION", |of| known(&of.session))
        .text("clock", "CLOCK", |of| known(&of.clock))
        .integer("frequency_hz", "FREQUENCY Hz", |of| of.frequency)
        .text("origin", "ORIGIN", |of| known(&of.origin))
        .minor()
        .time("first_ns", "FIRST EVENT", |of| of.events_span.map(|span| span.start))
        .time("last_ns", "LAST EVENT", |of| of.events_span.map(|span| span.end))
        .duration("duration_ns", "DURATION", |of| {
            of.events_span.map(|span| span.end.since(span.start))
        })
        .count("events", "EVENTS", |of| of.events)
        .count("lost_events", "LOST EVENTS", |of| of.lost_events)
        .count("lost_packets", "LOST PACKETS", |of| of.lost_packets)
        .count("event_types", "TYPES", |of| of.event_types)
        .text("contexts", "CONTEXTS", |of| (!of.contexts.is_empty()).then(|| of.contexts.join(" ")))
        .minor()
        .count("tracefiles", "TRACEFILES", |of| of.tracefiles)
        .minor()
        .count("cpus", "CPUS", |of| of.cpus)
        .count("packets", "PACKETS", |of| of.packets)
        .minor()
        .bytes("bytes", "BYTES", |of| of.bytes)
        .text("uuid", "UUID", |of| known(&of.uuid))
        .minor()
        .build()
}

/// Returns a table with a row for each tracefile.
pub(crate) fn tracefiles(traces: &[Arc<Trace>], counts: &Counts, losses: &Losses) -> Table {
    let of_trace = |(trace, of): (TraceIndex, &'_ Arc<Trace>)| {
        (0..of.tracefiles().len()).map(move |at| (trace, TracefileIndex(at))).collect::<Vec<_>>()
    };
    let rows: Vec<_> = (0..).map(TraceIndex).zip(traces).flat_map(of_trace).collect();
    let of = |row: &(TraceIndex, TracefileIndex)| &traces[row.0.0].tracefiles()[row.1.0];
    Table::of("tracefiles", "Tracefiles", &rows)
        .trace_if(true, |row| row.0)
        .text("tracefile", "TRACEFILE", |row| of(row).name())
        .text("channel", "CHANNEL", |row| of(row).channel())
        .integer("cpu", "CPU", |row| of(row).cpu())
        .count("files", "FILES", |row| of(row).files().count())
        .count("packets", "PACKETS", |row| traces[row.0.0].packet_index(row.1).entries().len())
        .minor()
        .count("events", "EVENTS", |row| counts.of_tracefile(row.0.0, row.1.0))
        .count("lost_events", "LOST EVENTS", |row| losses.of_tracefile(row.0, row.1).events())
        .count("lost_packets", "LOST PACKETS", |row| losses.of_tracefile(row.0, row.1).packets())
        .bytes("bytes", "BYTES", |row| of(row).size())
        .build()
}

/// An event type of a trace.
struct EventTypeRow<'t> {
    trace: TraceIndex,
    schema: &'t Schema,
    id: EventTypeId,
    count: u64,
    /// The number of events of the trace.
    all: u64,
}

/// Returns a table with a row for each event type, the most frequent first.
pub(crate) fn event_types(traces: &[Arc<Trace>], counts: &Counts) -> Table {
    let mut rows = Vec::new();
    for (trace, of) in (0..).map(TraceIndex).zip(traces) {
        let (schema, all) = (of.schema(), counts.of_trace(trace.0).unwrap_or(0));
        let count = |id| counts.of_type(trace.0, id).unwrap_or(0);
        let ids = (0..schema.event_types.len() as u32).map(EventTypeId);
        rows.extend(ids.map(|id| EventTypeRow { trace, schema, id, count: count(id), all }));
    }
    rows.sort_by_key(|row| (row.trace.0, Reverse(row.count), row.id.index()));
    Table::of("event_types", "Event types", &rows)
        .trace_if(true, |row| row.trace)
        .text("name", "NAME", |row| row.schema.event_types[row.id.index()].name())
        .integer("id", "ID", |row| row.schema.event_types[row.id.index()].id)
        .integer("stream_class", "STREAM CLASS", |row| row.schema.stream_of(row.id).id)
        .minor()
        .count("events", "EVENTS", |row| row.count)
        .percent("percent", "%", |row| percent(row.count, row.all))
        .build()
}

/// A command that a trace serves or not.
struct UseRow {
    trace: TraceIndex,
    command: &'static str,
    purpose: &'static str,
    missing: String,
    useful: String,
}

/// Returns a table with a row for each command and trace.
pub(crate) fn uses(kernel: &[RecordedEvents]) -> Table {
    let mut rows = Vec::new();
    for (trace, events) in (0..).map(TraceIndex).zip(kernel) {
        for (command, purpose) in [("dump", "events"), ("tui", "events in a terminal")] {
            let (missing, useful) = (String::new(), String::new());
            rows.push(UseRow { trace, command, purpose, missing, useful });
        }
        rows.extend(USES.iter().chain([&FLAME]).map(|of| UseRow {
            trace,
            command: of.command,
            purpose: of.purpose,
            missing: Need::list(of.missing(events)),
            useful: Need::list(of.useful(events)),
        }));
    }
    Table::of("uses", "Commands", &rows)
        .trace_if(true, |row| row.trace)
        .text("command", "COMMAND", |row| row.command)
        .text("served", "SERVED", |row| if row.missing.is_empty() { "yes" } else { "no" })
        .text("purpose", "SHOWS", |row| row.purpose)
        .wrap()
        .text("missing", "MISSING EVENTS", |row| known(&row.missing))
        .wrap()
        .text("useful", "MORE WITH", |row| known(&row.useful))
        .wrap()
        .build()
}

/// Returns a table with the events that each trace lacks, and what commands cannot show without
/// them.
pub(crate) fn missing(recorded: &[RecordedEvents]) -> Table {
    let mut rows: Vec<(TraceIndex, &Need, Vec<&str>)> = Vec::new();
    for (trace, recorded) in (0..).map(TraceIndex).zip(recorded).filter(|(_, of)| of.has_kernel()) {
        for of in &USES {
            for need in recorded.missing(of.needs) {
                let is_same =
                    |row: &&mut (TraceIndex, &Need, Vec<_>)| row.0 == trace && row.1 == need;
                match rows.iter_mut().find(is_same) {
                    Some((.., commands)) => commands.push(of.command),
                    None => rows.push((trace, need, vec![of.command])),
                }
            }
        }
    }
    Table::of("missing", "Events that were not recorded", &rows)
        .trace_if(true, |row| row.0)
        .text("events", "EVENTS", |row| row.1.events)
        .wrap()
        .text("consequence", "CONSEQUENCE", |row| row.1.consequence)
        .wrap()
        .text("commands", "COMMANDS", |row| row.2.join(", "))
        .wrap()
        .build()
}

/// Returns a table with a row for each definition of spans and counters that comes with the program and that a trace
/// serves.
pub(crate) fn definitions(served: &[Vec<(&str, Definitions)>]) -> Table {
    let mut rows: Vec<(TraceIndex, &str, &str, &str)> = Vec::new();
    for (trace, of) in (0..).map(TraceIndex).zip(served) {
        for (file, of) in of {
            rows.extend(of.periods.iter().map(|one| (trace, *file, "span", one.name())));
            rows.extend(of.counters.iter().map(|one| (trace, *file, "counter", one.name())));
        }
    }
    Table::of("definitions", "Definitions of spans and counters", &rows)
        .trace_if(true, |row| row.0)
        .text("file", "FILE", |row| row.1)
        .text("kind", "KIND", |row| row.2)
        .text("name", "NAME", |row| row.3)
        .build()
}

/// Returns a table with the environment of each trace.
pub(crate) fn environment(traces: &[Arc<Trace>]) -> Table {
    let entries = |(trace, of): (TraceIndex, &Arc<Trace>)| {
        let env = of.schema().env.iter();
        env.map(|(name, value)| (trace, name.to_string(), value.to_string())).collect::<Vec<_>>()
    };
    let rows: Vec<_> = (0..).map(TraceIndex).zip(traces).flat_map(entries).collect();
    Table::of("environment", "Environment", &rows)
        .trace_if(true, |row| row.0)
        .text("name", "NAME", |row| row.1.as_str())
        .text("value", "VALUE", |row| row.2.as_str())
        .build()
}
