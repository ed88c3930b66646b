//! Single durations: the longest ones, their distribution, and what has not ended.

use ltt_read::TraceIndex;
use lttv_state::latency::{Family, TraceLatency};

use super::{Choice, thread};
use crate::table::{Cell, Kind, Table};

/// Creates the table of the longest durations of the chosen families, the longest first.
pub fn top(choice: &Choice, latencies: &[(TraceIndex, &TraceLatency)]) -> Table {
    let mut table = choice
        .table("top", "Longest")
        .column("family", "FAMILY", Kind::Text)
        .column("duration_ns", "us", Kind::Duration)
        .column("begin_ns", "BEGIN", Kind::Time)
        .column("end_ns", "END", Kind::Time)
        .column("cpu", "CPU", Kind::Integer)
        .column("tid", "TID", Kind::Integer)
        .column("thread", "THREAD", Kind::Text)
        .column("subject", "SUBJECT", Kind::Text)
        .column("by_tid", "TID", Kind::Integer)
        .column("by", "BY", Kind::Text);
    for family in choice.families(latencies) {
        for (trace, of) in latencies {
            for sample in of.top(family) {
                let [tid, name] = thread(of, sample.thread);
                let [by_tid, by] = thread(of, sample.by);
                let cells = [
                    family.key().into(),
                    Cell::Duration(sample.duration()),
                    sample.begin.into(),
                    sample.end.into(),
                    sample.cpu.into(),
                    tid,
                    name,
                    of.subject_of(sample).into(),
                    by_tid,
                    by,
                ];
                table.push(choice.cells(*trace, cells));
            }
        }
    }
    table
}

/// The width of the longest bar, in characters.
const BAR: u64 = 40;

/// Returns a bar whose length is in proportion to a count, in eighths of characters.
pub fn bar(count: u64, most: u64, width: u64) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    // Any number greater than 0 is visible.
    let eighths = u128::from(count) * u128::from(width * 8);
    let eighths = eighths.div_ceil(u128::from(most.max(1))) as u64;
    "█".repeat((eighths / 8) as usize) + PARTS[(eighths % 8) as usize]
}

/// Creates the table of the numbers of durations by length, with a bar for each.
pub fn histogram(choice: &Choice, latencies: &[(TraceIndex, &TraceLatency)]) -> Table {
    let mut table = choice
        .table("histogram", "Distribution")
        .column("family", "FAMILY", Kind::Text)
        .column("from_ns", "FROM us", Kind::Duration)
        .column("to_ns", "TO us", Kind::Duration)
        .column("count", "COUNT", Kind::Integer)
        .column("bar", "", Kind::Text);
    for family in choice.families(latencies) {
        for (trace, of) in latencies {
            let bins = bins(family, choice.bins, of);
            let most = bins.iter().map(|bin| bin.2).max().unwrap_or(0);
            for (from, to, count) in bins {
                let cells = [
                    family.key().into(),
                    Cell::Duration(from),
                    Cell::Duration(to),
                    count.into(),
                    bar(count, most, BAR).into(),
                ];
                table.push(choice.cells(*trace, cells));
            }
        }
    }
    table
}

/// Returns the bounds in ns and the numbers of durations of the bins of a family.
fn bins(family: Family, equal: Option<u32>, of: &TraceLatency) -> Vec<(u64, u64, u64)> {
    let total = of.total(family);
    let durations = total.durations();
    let Some(bins) = equal.filter(|_| durations.count() > 0) else {
        return durations.log2_bins().map(|(bin, count)| (bin.start, bin.end, count)).collect();
    };
    let (low, high) = (durations.spread().least().value, durations.spread().greatest().value);
    let bound =
        |bin: u32| low + (u128::from(high - low) * u128::from(bin) / u128::from(bins)) as u64;
    let counts = durations.equal_bins(low..=high, bins);
    (0..).zip(counts).map(|(at, count)| (bound(at), bound(at + 1), count)).collect()
}

/// Creates the table of what had begun and not ended at the end of the window, the oldest first.
pub fn open(choice: &Choice, latencies: &[(TraceIndex, &TraceLatency)]) -> Table {
    let mut table = choice
        .table("open", "Not ended")
        .column("family", "FAMILY", Kind::Text)
        .column("age_ns", "AGE us", Kind::Duration)
        .column("begin_ns", "BEGIN", Kind::Time)
        .column("tid", "TID", Kind::Integer)
        .column("thread", "THREAD", Kind::Text)
        .column("subject", "SUBJECT", Kind::Text);
    let is_chosen = |of: &Family| choice.families.is_empty() || choice.families.contains(of);
    for (trace, of) in latencies {
        let chosen = of.open().iter().filter(|open| is_chosen(&open.family));
        for open in chosen.take(choice.rows.unwrap_or(usize::MAX)) {
            let [tid, name] = thread(of, open.thread);
            let age = Cell::Duration(of.span().end.since(open.begin));
            let what = of.subject_of_open(open).into();
            let cells = [open.family.key().into(), age, open.begin.into(), tid, name, what];
            table.push(choice.cells(*trace, cells));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn bars_are_in_proportion_and_never_empty() {
        assert_eq!(bar(0, 10, 4), "");
        assert_eq!(bar(10, 10, 4), "████");
        assert_eq!(bar(5, 10, 4), "██");
        assert_eq!(bar(1, 1_000_000, 4), "▏");
        assert_eq!(bar(u64::MAX, u64::MAX, 2), "██");
    }
}
