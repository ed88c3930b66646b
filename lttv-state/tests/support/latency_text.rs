//! Latencies as text, to be compared.

use lttv_state::latency::{Family, GroupBy, TraceLatency};

/// Returns everything that a result contains, as text.
pub(crate) fn everything(of: &TraceLatency) -> String {
    let mut text = format!("{:?} {:?}\n", of.span(), of.began_before());
    for family in Family::ALL {
        for row in of.rows(family, GroupBy::ThreadAndSubject) {
            let subject = of.subject(row.subject.expect("by subject"));
            text += &format!("{family} {subject} {row:?}\n");
        }
        text += &format!("{:?}\n{:?}\n", of.top(family), of.wakes(family));
    }
    text += &format!("{:?}\n{:?}\n{:?}\n", of.open(), of.unmatched(), of.threads());
    let (disks, futexes): (Vec<_>, Vec<_>) = (of.disks().collect(), of.futexes().collect());
    text + &format!("{disks:?}\n{futexes:?}\n")
}
