//! Messages that arrive before they are sent, without and with the transforms of a file.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use ltt_read::ClockTransform;
use lttv_common::args::Common;
use lttv_common::clocks::{Corrections, advice, labels, messages};
use lttv_common::report::Report;
use lttv_context::Traceset;
use lttv_context::synchronize::HostIndex;
use lttv_context::synchronize::matching::Hosts;

use super::report_errors;
use crate::tables::sync::{self as tables, Checked};

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
    let pairs: Vec<_> = pairs.into_iter().collect();
    let table = tables::checked(&pairs, &names);
    common.write(vec![table], traceset.traces())?;
    report_errors(&read, report);
    if let Some(interrupted) = read.interrupted {
        return Err(interrupted.into());
    }
    let (early, all) = pairs
        .iter()
        .fold((0, 0), |(early, all), (_, of)| (early + of.early_after, all + of.messages));
    if all == 0 {
        report.error(format!("no messages between hosts\n{}", advice::EVENTS));
    } else if early > 0 {
        let path = file.display();
        report.error(format!("{path}: {early} of {all} messages arrive before they are sent"));
    }
    Ok(())
}
