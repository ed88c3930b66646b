//! The synchronisation of clocks as tables.

use lttv_common::clocks::{Found, drift_ppm, labels};
use lttv_common::table::Table;
use lttv_common::trace_names::trace_names;
use lttv_context::Traceset;
use lttv_context::synchronize::HostIndex;
use lttv_context::synchronize::graph::PairResult;
use lttv_context::synchronize::matching::Host;
use lttv_context::synchronize::pairs::PairQuality;

/// Returns all tables.
pub(crate) fn all(found: &Found, traceset: &Traceset) -> Vec<Table> {
    let names = labels(&found.hosts);
    vec![hosts(found, traceset, &names), pairs(found, &names), counts(found)]
}

fn hosts(found: &Found, traceset: &Traceset, names: &[String]) -> Table {
    let paths = trace_names(traceset.traces().iter().map(|trace| trace.path()));
    let traces = |host: &Host| {
        let paths = host.traces.iter().filter_map(|trace| paths.get(trace.0));
        paths.map(String::as_str).collect::<Vec<_>>().join(" ")
    };
    let name = |of: HostIndex| names.get(of.0).map(String::as_str);
    let rows: Vec<_> = (0..).map(HostIndex).zip(found.hosts.all()).collect();
    Table::of("hosts", "Hosts", &rows)
        .text("host", "HOST", |row| name(row.0).unwrap_or_default())
        .integer("island", "ISLAND", |row| found.clocks.host(row.0).map(|clock| clock.island()))
        .minor()
        .text("reference", "REFERENCE", |row| {
            let reference = found.reference(row.0).filter(|_| found.transform(row.0).is_some());
            reference.and_then(name)
        })
        .decimal("drift_ppm", "DRIFT ppm", |row| found.transform(row.0).map(|of| drift_ppm(&of)))
        .difference("offset_ns", "OFFSET", |row| found.offset(row.0))
        .duration("accuracy_ns", "ACCURACY", |row| found.accuracy(row.0))
        .text("quality", "QUALITY", |row| quality(found, row.0))
        .text("traces", "TRACES", |row| traces(row.1))
        .text("id", "CLOCK", |row| row.1.id.as_str())
        .minor()
        .build()
}

/// Returns the quality of the transform of a host or, without one, of its best pair.
fn quality(found: &Found, host: HostIndex) -> String {
    if found.transform(host).is_some() {
        let is_reference = found.reference(host) == Some(host);
        return if is_reference { "reference" } else { "accurate" }.to_owned();
    }
    let of_host = |pair: &&PairResult| pair.first == host || pair.second == host;
    let rank = |quality: &PairQuality| match quality {
        PairQuality::Contradiction(_) => 0,
        PairQuality::OneSided => 1,
        _ => 2,
    };
    let qualities = found.clocks.pairs().iter().filter(of_host).map(|pair| pair.bounds.quality());
    qualities.min_by_key(rank).unwrap_or(PairQuality::Absent).to_string()
}

fn pairs(found: &Found, names: &[String]) -> Table {
    let name = |host: HostIndex| names.get(host.0).map(String::as_str);
    let transform = |pair: &PairResult| pair.bounds.line().and_then(|line| line.transform().ok());
    Table::of("pairs", "Pairs", found.clocks.pairs())
        .text("first", "FIRST", |pair| name(pair.first))
        .text("second", "SECOND", |pair| name(pair.second))
        .count("forward", "TO SECOND", |pair| pair.forward)
        .count("backward", "TO FIRST", |pair| pair.backward)
        .decimal("drift_ppm", "DRIFT ppm", |pair| transform(pair).map(|of| drift_ppm(&of)))
        .text("slope", "SLOPE", |pair| transform(pair).map(|of| format!("{:.9}", of.slope_f64())))
        .minor()
        .duration("band_ns", "BAND", |pair| pair.weight)
        .minor()
        .difference("least_delay_ns", "LEAST DELAY", |pair| pair.least_delay)
        .duration("contradiction_ns", "CONTRADICTION", |pair| match pair.bounds.quality() {
            PairQuality::Contradiction(of) => Some(of.ns),
            _ => None,
        })
        .text("used", "USED", |pair| if pair.is_used { "yes" } else { "no" })
        .text("quality", "QUALITY", |pair| match pair.bounds.quality() {
            PairQuality::Contradiction(_) => "contradiction".to_owned(),
            other => other.to_string(),
        })
        .build()
}

fn counts(found: &Found) -> Table {
    Table::of("counts", "Ends of messages", &[found.messages.counts])
        .count("sends", "SENDS", |of| of.sends)
        .count("receives", "RECEIVES", |of| of.receives)
        .count("messages", "MESSAGES", |of| of.messages)
        .count("local", "WITHIN A HOST", |of| of.local)
        .count("repeated", "REPEATED", |of| of.repeated)
        .minor()
        .count("expired", "REPLACED", |of| of.expired)
        .minor()
        .count("dropped", "DROPPED", |of| of.dropped)
        .count("unmatched", "UNMATCHED", |of| of.pending)
        .build()
}

/// The messages from one host to another.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Checked {
    /// Their number.
    pub messages: u64,
    /// The number of messages that arrive before they are sent, without transforms.
    pub early_before: u64,
    /// The number of messages that arrive before they are sent, with transforms.
    pub early_after: u64,
    /// The least delay in ns without transforms.
    pub least_before: Option<i128>,
    /// The least delay in ns with transforms.
    pub least_after: Option<i128>,
}

/// Returns the table of messages that arrive before they are sent.
pub(crate) fn checked(pairs: &[((HostIndex, HostIndex), Checked)], names: &[String]) -> Table {
    Table::of("messages", "Messages that arrive before they are sent", pairs)
        .text("sender", "SENDER", |row| names[row.0.0.0].as_str())
        .text("receiver", "RECEIVER", |row| names[row.0.1.0].as_str())
        .count("messages", "MESSAGES", |row| row.1.messages)
        .count("early_before", "BEFORE", |row| row.1.early_before)
        .count("early_after", "AFTER", |row| row.1.early_after)
        .difference("least_delay_before_ns", "LEAST DELAY BEFORE", |row| row.1.least_before)
        .difference("least_delay_after_ns", "LEAST DELAY AFTER", |row| row.1.least_after)
        .build()
}
