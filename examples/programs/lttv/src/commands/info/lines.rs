//! The facts about a trace for people: one line for each of them.

use ltt_read::Timestamp;
use lttv_common::definitions::Definitions;
use lttv_common::kernel_trace::{FLAME, USES, Use};
use lttv_common::table::Table;
use lttv_common::time::date_text;
use lttv_filter::Zone;
use lttv_state::kernel::needs::RecordedEvents;

use crate::models::contents::Facts;

/// Returns a table with a row for each fact that is known, and with the commands that the trace serves.
pub(super) fn table(
    facts: &Facts,
    recorded: &RecordedEvents,
    served: &[(&str, Definitions)],
    zone: &Zone,
) -> Table {
    let title = format!("Trace {}: {}", facts.index, facts.path);
    let mut lines = Vec::new();
    let mut line = |name: &'static str, value: String| {
        if !value.is_empty() {
            lines.push((name, value));
        }
    };
    line("kind", facts.domain.to_string());
    line("format", facts.format.clone());
    line("tracer", facts.tracer.clone());
    line("host", facts.host.clone());
    line("system", facts.system.clone());
    line("process", facts.process.clone());
    line("session", facts.session.clone());
    line("clock", clock(facts));
    let time = |time: Timestamp| match facts.has_dates {
        true => format!("{}  ({time})", date_text(time, zone)),
        false => time.to_string(),
    };
    match facts.events_span {
        None => line("first event", "none has a time".to_owned()),
        Some(span) => {
            line("first event", time(span.start));
            line("last event", time(span.end));
            line("duration", duration(span.end.since(span.start)));
        }
    }
    line(
        "events",
        match facts.events {
            Some(events) => events.to_string(),
            None => "not counted (use --events)".to_owned(),
        },
    );
    line(
        "lost",
        match (facts.lost_events, facts.lost_packets) {
            (0, 0) => String::new(),
            (events, 0) => format!("{events} events"),
            (0, packets) => format!("{packets} packets"),
            (events, packets) => format!("{events} events, {packets} packets"),
        },
    );
    line("event types", facts.event_types.to_string());
    line("contexts", facts.contexts.join(", "));
    let (tracefiles, packets, bytes) = (facts.tracefiles, facts.packets, facts.bytes);
    let cpus = facts.cpus;
    line("data", format!("{tracefiles} tracefiles, {cpus} CPUs, {packets} packets, {bytes} bytes"));
    line("UUID", facts.uuid.clone());
    let (uses, others): (Vec<_>, Vec<_>) =
        USES.iter().chain([&FLAME]).partition(|of| of.is_served(recorded));
    let names = |of: Vec<&Use>| of.iter().map(|of| of.command).collect::<Vec<_>>().join(", ");
    line("commands", ["dump, tui", &names(uses)].join(", ").trim_end_matches(", ").to_owned());
    if !others.is_empty() {
        line("without events", format!("{} (--table missing,uses)", names(others)));
    } else if USES.iter().any(|of| !of.useful(recorded).is_empty()) {
        line("without events", "parts of some commands (--table missing,uses)".to_owned());
    }
    line("definitions", definitions(served));
    line("more", "--table tracefiles,environment,losses; --events".to_owned());
    Table::of("traces", title, &lines)
        .text("fact", "", |line| line.0)
        .text("value", "", |line| line.1.as_str())
        .wrap()
        .build()
}

fn clock(facts: &Facts) -> String {
    let Some(frequency) = facts.frequency else { return "none".to_owned() };
    let frequency = match frequency {
        0..1_000_000 => format!("{frequency} Hz"),
        _ if frequency.is_multiple_of(1_000_000) => format!("{} MHz", frequency / 1_000_000),
        _ => format!("{:.6} MHz", frequency as f64 / 1e6),
    };
    format!("{}, {frequency}, origin {}", facts.clock, facts.origin)
}

/// Returns the names of definitions, with the commands that take them.
fn definitions(served: &[(&str, Definitions)]) -> String {
    let names = |has_some: fn(&Definitions) -> bool, command: &str| {
        let names = served.iter().filter(|(_, of)| has_some(of)).map(|(name, _)| *name);
        let names = names.collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then(|| format!("{names} ({command})"))
    };
    let spans = names(|of| !of.periods.is_empty(), "spans --define");
    let counters = names(|of| !of.counters.is_empty(), "counters");
    spans.into_iter().chain(counters).collect::<Vec<_>>().join("; ")
}

/// Returns a length of time in seconds, with all digits.
fn duration(ns: u64) -> String {
    format!("{}.{:09} s", ns / 1_000_000_000, ns % 1_000_000_000)
}
