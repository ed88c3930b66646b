//! CPU times and numbers of events.

use std::fmt::Write;

use lttv_context::attributes::{AttributeError, AttributeId, Attributes, Indented};
use lttv_context::framework::{Failure, Module, ModuleInfo, OptionSpec};
use lttv_hooks::Priority;
use lttv_state::analysis::Attached;
use lttv_state::stats::StatisticsAnalysis;

use super::batch_analysis::read_once;
use super::print::Style;
use super::{Host, at_end};

/// The module `statistics`.
#[derive(Debug)]
pub(super) struct Statistics;

impl Module<Host> for Statistics {
    fn info(&self) -> ModuleInfo {
        ModuleInfo {
            name: "statistics",
            summary: "Events and times by process, CPU, function and mode",
            description: "Counts events and measures the times of processes on and off CPUs, in \
                          the attributes statistics/traces/[TRACE]/processes/PROCESS/cpu/[CPU]/\
                          functions/FUNCTION/mode_types/MODE/submodes/SUBMODE and in sums at all \
                          levels of this path. With --begin and --end, what is open at the \
                          borders of the window counts from or up to there. Printed if the \
                          module is named on the command line, which also has the traces read, \
                          or with --stats.",
            requires: &["core", "print"],
        }
    }

    fn options(&self) -> Vec<OptionSpec> {
        vec![OptionSpec::flag("stats", "Compute and print statistics").short('s')]
    }

    fn init(&mut self, host: &mut Host) -> Result<(), Failure> {
        let asked = host.data.loaded.iter().any(|(name, _)| name == "statistics");
        if asked || host.options.is_set("stats")? {
            let statistics = host.data.statistics();
            at_end(host, Priority::DEFAULT, move |host| report(host, statistics));
        }
        if asked {
            read_once(host);
        }
        Ok(())
    }
}

fn report(host: &mut Host, statistics: Attached<StatisticsAnalysis>) -> Result<(), AttributeError> {
    let found = host.data.statistics_of(statistics);
    if host.data.style != Style::Text {
        let place = host.attributes.subtree(AttributeId::ROOT, "statistics")?;
        return found.export(&mut host.attributes, place);
    }
    let mut tree = Attributes::new();
    found.export(&mut tree, AttributeId::ROOT)?;
    let mut output = host.data.output.borrow_mut();
    // Writing to a buffer never fails.
    _ = write!(output.buffer(), "\nTraceset statistics:\n\n{}\n", Indented(&tree));
    Ok(())
}
