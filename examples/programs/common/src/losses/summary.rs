//! The sum of losses, in one sentence.

use super::{LossRange, Losses, Lost};

/// The number of lost events or packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sum {
    /// The number of ranges.
    pub(super) ranges: u64,
    /// The number that was certainly lost.
    pub(super) least: u64,
    /// The number that was lost at most; `None` if the tracer did not count.
    pub(super) most: Option<u64>,
}

impl Losses {
    /// Returns the number of events that were certainly lost in the window.
    pub fn events(&self) -> u64 {
        self.sum(Lost::Events).least
    }

    /// Returns the number of packets that were certainly lost in the window.
    pub fn packets(&self) -> u64 {
        self.sum(Lost::Packets).least
    }

    /// Describes the numbers in a few words, such as `40 events and 1 packet`. Returns `None` if
    /// nothing was lost.
    pub fn numbers(&self) -> Option<String> {
        let units = [(Lost::Events, "event"), (Lost::Packets, "packet")];
        let sums = units.map(|(what, unit)| (self.sum(what), unit));
        let lost = sums.iter().filter(|(sum, _)| sum.ranges > 0);
        let parts: Vec<String> = lost.map(|(sum, unit)| sum.text(unit)).collect();
        (!parts.is_empty()).then(|| parts.join(" and "))
    }

    /// Describes all losses: ranges, events and their share, packets, the first time. Returns
    /// `None` if nothing was lost. `events` is the number of events that were recorded in the
    /// window, if it is known.
    pub fn summary(&self, events: Option<u64>) -> Option<String> {
        let [lost, packets] = [Lost::Events, Lost::Packets].map(|what| self.sum(what));
        let mut parts = Vec::new();
        if lost.ranges > 0 {
            let mut part = lost.text("event");
            // The share of a part of a range is unknown.
            if let Some(events) = events.filter(|_| Some(lost.least) == lost.most) {
                let all = events.saturating_add(lost.least).max(1);
                let percent = lost.least as f64 * 100.0 / all as f64;
                part += &format!(" of about {all} ({percent:.1} %)");
            }
            parts.push(part);
        }
        if packets.ranges > 0 {
            parts.push(packets.text("packet"));
        }
        let ranges = counted(lost.ranges + packets.ranges, "range");
        let first = self.first_time().unwrap_or_default();
        (!parts.is_empty()).then(|| format!("{ranges} lost {}{first}", parts.join(" and ")))
    }

    /// Describes the time of the first loss, if it is known. Ranges without a start, before the
    /// first packet of a tracefile, have only an end.
    fn first_time(&self) -> Option<String> {
        let start = self.ranges.iter().find_map(|range| range.start);
        let is_open = |range: &&LossRange| range.start.is_none();
        let end = self.ranges.iter().filter(is_open).find_map(|range| range.end);
        match (start, end) {
            (Some(start), end) if end.is_none_or(|end| start < end) => {
                Some(format!(", first at {start}"))
            }
            (_, end) => end.map(|end| format!(", first before {end}")),
        }
    }

    /// Adds the numbers of one kind.
    pub(super) fn sum(&self, what: Lost) -> Sum {
        let of_kind = |range: &&LossRange| range.what == what;
        let zero = Sum { most: Some(0), ..Sum::default() };
        self.ranges.iter().filter(of_kind).fold(zero, |sum, range| Sum {
            ranges: sum.ranges + 1,
            least: sum.least.saturating_add(range.count.unwrap_or(0)),
            most: sum.most.zip(range.at_most).map(|(a, b)| a.saturating_add(b)),
        })
    }
}

impl Sum {
    /// Returns the number with its unit.
    fn text(self, unit: &str) -> String {
        match (self.least, self.most) {
            (least, Some(most)) if least == most => counted(most, unit),
            (0, Some(most)) => format!("up to {}", counted(most, unit)),
            (least, Some(most)) => format!("{least} to {}", counted(most, unit)),
            (0, None) => format!("an unknown number of {unit}s"),
            (least, None) => format!("at least {}", counted(least, unit)),
        }
    }
}

fn counted(number: u64, unit: &str) -> String {
    if number == 1 { format!("1 {unit}") } else { format!("{number} {unit}s") }
}
