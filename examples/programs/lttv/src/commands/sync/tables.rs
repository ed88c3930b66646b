//! The results as tables.

use ltt_read::ClockTransform;
use lttv_common::clocks::{Found, drift_ppm, labels};
use lttv_common::table::{Cell, Kind, Table};
use lttv_common::trace_names::trace_names;
use lttv_context::Traceset;
use lttv_context::synchronize::HostIndex;
use lttv_context::synchronize::graph::PairResult;
use lttv_context::synchronize::pairs::PairQuality;

/// Returns all tables.
pub(super) fn all(found: &Found, traceset: &Traceset) -> Vec<Table> {
    let names = labels(&found.hosts);
    vec![hosts(found, traceset, &names), pairs(found, &names), counts(found)]
}

fn hosts(found: &Found, traceset: &Traceset, names: &[String]) -> Table {
    let mut table = Table::new("hosts", "Hosts")
        .column("host", "HOST", Kind::Text)
        .column("island", "ISLAND", Kind::Integer)
        .column("reference", "REFERENCE", Kind::Text)
        .column("drift_ppm", "DRIFT ppm", Kind::Decimal)
        .column("offset_ns", "OFFSET us", Kind::Duration)
        .column("accuracy_ns", "ACCURACY us", Kind::Duration)
        .column("quality", "QUALITY", Kind::Text)
        .column("traces", "TRACES", Kind::Text)
        .column("id", "CLOCK", Kind::Text);
    let paths = trace_names(traceset.traces().iter().map(|trace| trace.path()));
    for (number, host) in found.hosts.all().iter().enumerate() {
        let index = HostIndex(number);
        let transform = found.transform(index);
        let reference = found.reference(index).filter(|_| transform.is_some());
        let traces: Vec<_> =
            host.traces.iter().filter_map(|trace| paths.get(trace.0)).map(String::as_str).collect();
        table.push(vec![
            names.get(number).map(String::as_str).unwrap_or_default().into(),
            found.clocks.host(index).map(|clock| clock.island() as u64).into(),
            reference.and_then(|of| names.get(of.0)).map(String::as_str).into(),
            transform.map_or(Cell::Empty, |of| Cell::Number(drift_ppm(&of))),
            found.offset(index).map_or(Cell::Empty, Cell::Difference),
            found.accuracy(index).map_or(Cell::Empty, Cell::Duration),
            quality(found, index).into(),
            traces.join(" ").into(),
            host.id.as_str().into(),
        ]);
    }
    table
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
    let mut table = Table::new("pairs", "Pairs")
        .column("first", "FIRST", Kind::Text)
        .column("second", "SECOND", Kind::Text)
        .column("forward", "TO SECOND", Kind::Integer)
        .column("backward", "TO FIRST", Kind::Integer)
        .column("drift_ppm", "DRIFT ppm", Kind::Decimal)
        .column("slope", "SLOPE", Kind::Text)
        .column("band_ns", "BAND us", Kind::Duration)
        .column("least_delay_ns", "LEAST DELAY us", Kind::Duration)
        .column("contradiction_ns", "CONTRADICTION us", Kind::Duration)
        .column("used", "USED", Kind::Text)
        .column("quality", "QUALITY", Kind::Text);
    for pair in found.clocks.pairs() {
        let name = |host: HostIndex| Cell::from(names.get(host.0).map(String::as_str));
        let line = pair.bounds.line();
        let quality = pair.bounds.quality();
        let (contradiction, text) = match quality {
            PairQuality::Contradiction(of) => (Cell::Duration(of.ns), "contradiction".to_owned()),
            other => (Cell::Empty, other.to_string()),
        };
        let transform = line.and_then(|line| line.transform().ok());
        table.push(vec![
            name(pair.first),
            name(pair.second),
            pair.forward.into(),
            pair.backward.into(),
            transform.map_or(Cell::Empty, |of| Cell::Number(drift_ppm(&of))),
            transform.map(|of: ClockTransform| format!("{:.9}", of.slope_f64())).into(),
            pair.weight.map_or(Cell::Empty, Cell::Duration),
            pair.least_delay.map_or(Cell::Empty, Cell::Difference),
            contradiction,
            if pair.is_used { "yes" } else { "no" }.into(),
            text.into(),
        ]);
    }
    table
}

fn counts(found: &Found) -> Table {
    let mut table = Table::new("counts", "Ends of messages")
        .column("sends", "SENDS", Kind::Integer)
        .column("receives", "RECEIVES", Kind::Integer)
        .column("messages", "MESSAGES", Kind::Integer)
        .column("local", "WITHIN A HOST", Kind::Integer)
        .column("repeated", "REPEATED", Kind::Integer)
        .column("expired", "REPLACED", Kind::Integer)
        .column("dropped", "DROPPED", Kind::Integer)
        .column("unmatched", "UNMATCHED", Kind::Integer);
    let of = found.messages.counts;
    table.row([
        of.sends.into(),
        of.receives.into(),
        of.messages.into(),
        of.local.into(),
        of.repeated.into(),
        of.expired.into(),
        of.dropped.into(),
        of.pending.into(),
    ]);
    table
}
