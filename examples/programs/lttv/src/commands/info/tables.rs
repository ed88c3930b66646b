//! The facts as tables.

use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Trace, TraceIndex, TracefileIndex};
use lttv_common::kernel_trace::{KernelEvents, USES};
use lttv_common::losses::Losses;
use lttv_common::table::{Cell, Kind, Table};

use super::count::Counts;
use super::facts::Facts;

fn known(text: &str) -> Cell {
    Some(text).filter(|text| !text.is_empty()).into()
}

/// Returns a table with a row for each trace.
pub(super) fn traces(facts: &[Facts]) -> Table {
    let mut table = Table::new("traces", "Traces")
        .column("trace", "TRACE", Kind::Integer)
        .column("path", "PATH", Kind::Text)
        .column("kind", "KIND", Kind::Text)
        .column("format", "FORMAT", Kind::Text)
        .column("tracer", "TRACER", Kind::Text)
        .column("host", "HOST", Kind::Text)
        .column("system", "SYSTEM", Kind::Text)
        .column("process", "PROCESS", Kind::Text)
        .column("session", "SESSION", Kind::Text)
        .column("clock", "CLOCK", Kind::Text)
        .column("frequency_hz", "FREQUENCY Hz", Kind::Integer)
        .column("origin", "ORIGIN", Kind::Text)
        .column("first_ns", "FIRST EVENT", Kind::Time)
        .column("last_ns", "LAST EVENT", Kind::Time)
        .column("duration_ns", "DURATION us", Kind::Duration)
        .column("events", "EVENTS", Kind::Integer)
        .column("lost_events", "LOST EVENTS", Kind::Integer)
        .column("lost_packets", "LOST PACKETS", Kind::Integer)
        .column("event_types", "TYPES", Kind::Integer)
        .column("contexts", "CONTEXTS", Kind::Text)
        .column("tracefiles", "TRACEFILES", Kind::Integer)
        .column("cpus", "CPUS", Kind::Integer)
        .column("packets", "PACKETS", Kind::Integer)
        .column("bytes", "BYTES", Kind::Integer)
        .column("uuid", "UUID", Kind::Text);
    for of in facts {
        let span = of.events_span;
        table.row([
            (of.index as u64).into(),
            known(&of.path),
            of.domain.to_string().into(),
            known(&of.format),
            known(&of.tracer),
            known(&of.host),
            known(&of.system),
            known(&of.process),
            known(&of.session),
            known(&of.clock),
            of.frequency.into(),
            known(&of.origin),
            span.map(|span| span.start).into(),
            span.map(|span| span.end).into(),
            span.map_or(Cell::Empty, |span| Cell::Duration(span.end.since(span.start))),
            of.events.into(),
            of.lost_events.into(),
            of.lost_packets.into(),
            of.event_types.into(),
            known(&of.contexts.join(" ")),
            of.tracefiles.into(),
            of.cpus.into(),
            of.packets.into(),
            of.bytes.into(),
            known(&of.uuid),
        ]);
    }
    table
}

/// Returns a table with a row for each tracefile.
pub(super) fn tracefiles(traces: &[Arc<Trace>], counts: &Counts, losses: &Losses) -> Table {
    let mut table = Table::new("tracefiles", "Tracefiles")
        .column("trace", "TRACE", Kind::Integer)
        .column("tracefile", "TRACEFILE", Kind::Text)
        .column("channel", "CHANNEL", Kind::Text)
        .column("cpu", "CPU", Kind::Integer)
        .column("files", "FILES", Kind::Integer)
        .column("packets", "PACKETS", Kind::Integer)
        .column("events", "EVENTS", Kind::Integer)
        .column("lost_events", "LOST EVENTS", Kind::Integer)
        .column("lost_packets", "LOST PACKETS", Kind::Integer)
        .column("bytes", "BYTES", Kind::Integer);
    for (index, trace) in traces.iter().enumerate() {
        for (place, of) in trace.tracefiles().iter().enumerate() {
            let lost = losses.of_tracefile(TraceIndex(index), TracefileIndex(place));
            let packets = trace.packet_index(TracefileIndex(place)).entries().len();
            table.row([
                (index as u64).into(),
                of.name().into(),
                of.channel().into(),
                of.cpu().into(),
                (of.files().count() as u64).into(),
                (packets as u64).into(),
                counts.of_tracefile(index, place).into(),
                lost.events().into(),
                lost.packets().into(),
                of.size().into(),
            ]);
        }
    }
    table
}

/// Returns a table with a row for each event type, the most frequent first.
pub(super) fn event_types(traces: &[Arc<Trace>], counts: &Counts) -> Table {
    let mut table = Table::new("event_types", "Event types")
        .column("trace", "TRACE", Kind::Integer)
        .column("name", "NAME", Kind::Text)
        .column("id", "ID", Kind::Integer)
        .column("stream_class", "STREAM CLASS", Kind::Integer)
        .column("events", "EVENTS", Kind::Integer)
        .column("percent", "%", Kind::Decimal);
    for (index, trace) in traces.iter().enumerate() {
        let schema = trace.schema();
        let all = counts.of_trace(index).unwrap_or(0);
        let ids = (0..schema.event_types.len() as u32).map(EventTypeId);
        let mut rows: Vec<_> = ids.map(|id| (counts.of_type(index, id).unwrap_or(0), id)).collect();
        rows.sort_by_key(|(count, id)| (std::cmp::Reverse(*count), id.index()));
        for (count, id) in rows {
            let of = &schema.event_types[id.index()];
            table.row([
                (index as u64).into(),
                of.name().into(),
                of.id.into(),
                schema.stream_of(id).id.into(),
                count.into(),
                Cell::percent(count, all),
            ]);
        }
    }
    table
}

/// Returns a table with a row for each command and trace.
pub(super) fn uses(kernel: &[KernelEvents]) -> Table {
    let mut table = Table::new("uses", "Commands")
        .column("trace", "TRACE", Kind::Integer)
        .column("command", "COMMAND", Kind::Text)
        .column("served", "SERVED", Kind::Text)
        .column("purpose", "SHOWS", Kind::Text)
        .column("missing", "MISSING EVENTS", Kind::Text)
        .column("useful", "MORE WITH", Kind::Text);
    for (trace, events) in (0u64..).zip(kernel) {
        for (command, purpose) in [("dump", "events"), ("tui", "events in a terminal")] {
            let (yes, none) = ("yes".into(), || Cell::Empty);
            table.row([trace.into(), command.into(), yes, purpose.into(), none(), none()]);
        }
        for of in &USES {
            let (missing, useful) = (events.missing(of), events.useful(of));
            let served = if missing.is_empty() { "yes" } else { "no" };
            table.row([
                trace.into(),
                of.command.into(),
                served.into(),
                of.purpose.into(),
                known(&missing.join(", ")),
                known(&useful.join(", ")),
            ]);
        }
    }
    table
}

/// Returns a table with the environment of each trace.
pub(super) fn environment(traces: &[Arc<Trace>]) -> Table {
    let mut table = Table::new("environment", "Environment")
        .column("trace", "TRACE", Kind::Integer)
        .column("name", "NAME", Kind::Text)
        .column("value", "VALUE", Kind::Text);
    for (index, trace) in (0u64..).zip(traces) {
        for (name, value) in &trace.schema().env {
            table.row([index.into(), (&**name).into(), value.to_string().into()]);
        }
    }
    table
}
