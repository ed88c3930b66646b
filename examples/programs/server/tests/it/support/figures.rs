//! Figures of latencies, as they should be and as they are served.

use std::collections::BTreeMap;

use lttv_state::latency::{Family, GroupBy, Latency, LatencyFigures};
use serde_json::Value;

use super::{entries, label};

/// Returns the rows that a tree of figures should have: name, least, greatest, count and total.
pub(crate) fn figures(latency: &Latency, families: &[Family]) -> BTreeMap<String, Vec<[u64; 4]>> {
    let of = &latency.traces()[0];
    let mut rows: BTreeMap<String, Vec<[u64; 4]>> = BTreeMap::new();
    for family in families.iter().filter(|family| of.missing(**family).is_empty()) {
        let mut add = |name: String, figures: &LatencyFigures| {
            let spread = figures.durations().spread();
            let values = [spread.least().value, spread.greatest().value];
            let row = [values[0], values[1], spread.count(), spread.total()];
            rows.entry(name).or_default().push(row);
        };
        add(family.title().to_owned(), &of.total(*family));
        for row in of.rows(*family, GroupBy::Subject) {
            add(row.subject.map_or(String::new(), |subject| of.subject(subject)), &row.figures);
        }
    }
    rows.values_mut().for_each(|rows| rows.sort_unstable());
    rows
}

/// Returns the rows of a tree of figures.
pub(crate) fn served_figures(tree: &Value) -> BTreeMap<String, Vec<[u64; 4]>> {
    let mut rows: BTreeMap<String, Vec<[u64; 4]>> = BTreeMap::new();
    for entry in entries(tree).iter().filter(|entry| entry.get("parentId").is_some()) {
        let number = |at: usize| label(entry, at).parse().unwrap_or(0);
        let row = [number(1), number(2), number(5), number(6)];
        rows.entry(label(entry, 0).to_owned()).or_default().push(row);
    }
    rows.values_mut().for_each(|rows| rows.sort_unstable());
    rows
}
