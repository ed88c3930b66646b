//! `lttv disk`: requests to disks, and their speed.

use std::error::Error;

use lttv_common::args::Common;
use lttv_common::cache::CacheArgs;
use lttv_common::kernel_trace;
use lttv_common::report::{Report, Usage};
use lttv_filter::Columns;
use lttv_state::stats::{DeviceFacts, StatisticsAnalysis};

use super::analysis::Analysis;
use super::selection::{NameArgs, all_of};
use crate::tables::disk::{self as tables, Disk};

const EXAMPLES: &str = "\
Examples:
  lttv disk TRACE                              all disks
  lttv disk --timerange 03:02:07..03:02:08 TRACE
  lttv disk --name vda,8:16 --format json TRACE
  lttv disk --sort bytes_written TRACE         those that were written to most first

READS, WRITES and OTHER are the requests that were completed in the window, with their BYTES. A disk
is BUSY while it has requests that were issued and not completed, also those issued before the
window; QUEUE is their average number. A disk without a name has the number MAJOR:MINOR as one.

Needs the events block_rq_issue and block_rq_complete of a kernel trace. INSERTED needs
block_rq_insert, MERGED block_rq_merge and block_bio_*merge, NAME lttng_statedump_block_device.";

/// Show requests to disks, their bytes, and how busy the disks were
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct DiskArgs {
    /// The options of all analyses.
    #[command(flatten)]
    pub common: Common,
    /// The place of saved states.
    #[command(flatten)]
    pub cache: CacheArgs,

    /// The names.
    #[command(flatten)]
    pub names: NameArgs,
}

/// Shows the requests to disks in a window.
///
/// # Errors
///
/// If the command line is wrong, if no trace has the needed events, if no disk is selected, or if
/// the output cannot be written.
pub fn run(args: &DiskArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    args.common.input.refuse_filters(
        "the times that disks are busy follow from all requests; choose disks with --name",
    )?;
    let columns = Columns::new().text("name", |name: &String| Some(name.as_str()));
    let wanted = all_of(args.names.conditions())?.map(|of| columns.compile(&of)).transpose();
    let wanted = wanted.map_err(|error| Usage::filter("--name:", &error))?;
    let mut analysis =
        Analysis::open(&args.common.input, Some(&args.cache), report, Some(&kernel_trace::DISK))?;
    let threads = args.common.input.threads_or_all(report);
    let (collected, read) = analysis.run(threads, None, StatisticsAnalysis::new());

    let is_wanted = |disk: &DeviceFacts| {
        let number = format!("{}:{}", disk.number.major, disk.number.minor);
        let names = [disk.name.to_string(), number];
        wanted.as_ref().is_none_or(|wanted| names.iter().any(|name| wanted.matches(name)))
    };
    let mut disks = Vec::new();
    for (trace, _) in analysis.spans() {
        let Some(of) = collected.traces().get(trace.0) else { continue };
        let wanted = of.devices().iter().filter(|disk| is_wanted(disk));
        disks.extend(wanted.map(|facts| Disk { trace, facts, time: of.time() }));
    }
    let table = tables::disks("Disks", analysis.spans().count() > 1, &disks);
    if table.is_empty() && wanted.is_some() {
        return Err(format!("no disk in the traces is {}", args.names.name.join(" or ")).into());
    }
    analysis.write(&args.common, vec![table])?;
    analysis.finish(report);
    Ok(read?)
}
