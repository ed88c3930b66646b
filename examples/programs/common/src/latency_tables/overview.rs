//! All families at a glance, and the counters of what led to no duration.

use ltt_read::{TimeSpan, TraceIndex};
use lttv_state::latency::{Family, TraceLatency};

use super::{Choice, durations, with_durations};
use crate::table::{Cell, Kind, Table};

/// Creates the table of all chosen families. A family whose events were not recorded has no
/// figures, but the names of the events.
pub fn overview(choice: &Choice, latencies: &[(TraceIndex, &TraceLatency)]) -> Table {
    let table = choice.table("families", "Latencies").column("family", "FAMILY", Kind::Text);
    let table = with_durations(table);
    let mut table = table.column("missing", "NOT RECORDED", Kind::Text);
    let is_chosen = |of: &Family| choice.families.is_empty() || choice.families.contains(of);
    for (trace, of) in latencies {
        for family in Family::ALL.into_iter().filter(is_chosen) {
            let total = of.total(family);
            let has_none = total.durations().count() == 0;
            if family == Family::Period && has_none && choice.families.is_empty() {
                continue;
            }
            let missing = of.missing(family).join(", ");
            let mut cells = vec![family.key().into()];
            cells.extend(durations(total.durations()));
            if !missing.is_empty() {
                cells[1..].fill(Cell::Empty);
            }
            cells.push(if missing.is_empty() { Cell::Empty } else { missing.into() });
            table.push(choice.cells(*trace, cells));
        }
    }
    table
}

/// Creates the table of the figures of each interval of time, empty.
pub fn intervals(choice: &Choice) -> Table {
    let table = choice
        .table("intervals", "Latencies over time")
        .column("begin_ns", "BEGIN", Kind::Time)
        .column("family", "FAMILY", Kind::Text);
    with_durations(table)
}

impl Choice {
    /// Adds the figures of an interval of time to the table of [`intervals`].
    pub fn add_interval(
        &self,
        table: &mut Table,
        span: TimeSpan,
        latencies: &[(TraceIndex, &TraceLatency)],
    ) {
        for family in self.families(latencies) {
            for (trace, of) in latencies {
                if of.missing(family).is_empty() {
                    let mut cells = vec![span.start.into(), family.key().into()];
                    cells.extend(durations(of.total(family).durations()));
                    table.push(self.cells(*trace, cells));
                }
            }
        }
    }
}

/// Creates the table of what led to no duration.
pub fn unmatched(choice: &Choice, latencies: &[(TraceIndex, &TraceLatency)]) -> Table {
    let mut table = choice
        .table("unmatched", "Without a duration")
        .column("kind", "KIND", Kind::Text)
        .column("count", "COUNT", Kind::Integer);
    for (trace, of) in latencies {
        for (_, text, count) in of.unmatched().iter().filter(|(_, _, count)| *count > 0) {
            table.push(choice.cells(*trace, [text.into(), count.into()]));
        }
        let (before, _) = of.began_before();
        if before > 0 {
            let text = "durations that began before the window, and count as a whole";
            table.push(choice.cells(*trace, [text.into(), before.into()]));
        }
    }
    table
}
