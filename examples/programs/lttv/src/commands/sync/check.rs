//! Messages that arrive before they are sent, without and with the transforms of a file.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use ltt_read::ClockTransform;
use lttv_common::args::Common;
use lttv_common::clocks::{Corrections, advice, labels, messages};
use lttv_common::report::Report;
use lttv_common::table::{Cell, Kind, Table};
use lttv_context::Traceset;
use lttv_context::synchronize::HostIndex;
use lttv_context::synchronize::matching::Hosts;

use super::report_errors;

/// The messages from one host to another.
#[derive(Debug, Clone, Copy, Default)]
struct Checked {
    messages: u64,
    early_before: u64,
    early_after: u64,
    least_before: Option<i128>,
    least_after: Option<i128>,
}

impl Checked {
    fn add(&mut self, before: i128, after: i128) {
        self.messages += 1;
        self.early_before += u64::from(before < 0);
        self.early_after += u64::from(after < 0);
        self.least_before = Some(self.least_before.map_or(before, |least| least.min(before)));
        self.least_after = Some(self.least_after.map_or(after, |least| least.min(after)));
    }
}

/// Checks the transforms of a file.
pub(super) fn run(
    file: &Path,
    common: &Common,
    traceset: &Traceset,
    hosts: Hosts,
    report: &mut Report,
) -> Result<(), Box<dyn Error>> {
    let of_file = Corrections { clock_transform: Some(file.to_owned()), ..Corrections::default() };
    let times = of_file.corrected(traceset.clone(), report)?.times;
    let transforms: Vec<ClockTransform> =
        hosts.all().iter().map(|host| times.transform(&host.id)).collect();
    let mut pairs: BTreeMap<(HostIndex, HostIndex), Checked> = BTreeMap::new();
    let read = messages(traceset, &hosts, |message| {
        let (from, to) = (&transforms[message.sender.0], &transforms[message.receiver.0]);
        let before = message.received.signed_ns_since(message.sent);
        let after = to.apply(message.received).signed_ns_since(from.apply(message.sent));
        pairs.entry((message.sender, message.receiver)).or_default().add(before, after);
    })?;
    let names = labels(&hosts);
    let mut table = Table::new("messages", "Messages that arrive before they are sent")
        .column("sender", "SENDER", Kind::Text)
        .column("receiver", "RECEIVER", Kind::Text)
        .column("messages", "MESSAGES", Kind::Integer)
        .column("early_before", "BEFORE", Kind::Integer)
        .column("early_after", "AFTER", Kind::Integer)
        .column("least_delay_before_ns", "LEAST DELAY BEFORE us", Kind::Duration)
        .column("least_delay_after_ns", "LEAST DELAY AFTER us", Kind::Duration);
    for ((from, to), of) in &pairs {
        table.row([
            names[from.0].as_str().into(),
            names[to.0].as_str().into(),
            of.messages.into(),
            of.early_before.into(),
            of.early_after.into(),
            of.least_before.map_or(Cell::Empty, Cell::Difference),
            of.least_after.map_or(Cell::Empty, Cell::Difference),
        ]);
    }
    common.write(vec![table], traceset.traces())?;
    report_errors(&read, report);
    if let Some(interrupted) = read.interrupted {
        return Err(interrupted.into());
    }
    let (early, all) =
        pairs.values().fold((0, 0), |(early, all), of| (early + of.early_after, all + of.messages));
    if all == 0 {
        report.error(format_args!("no messages between hosts\n{}", advice::EVENTS));
    } else if early > 0 {
        let path = file.display();
        report.error(format_args!("{path}: {early} of {all} messages arrive before they are sent"));
    }
    Ok(())
}
