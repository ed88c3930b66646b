//! `lttv disk`: requests to disks, and their speed.

use std::borrow::Cow;
use std::error::Error;

use ltt_read::Timestamp;
use lttv_common::args::Common;
use lttv_common::kernel_trace;
use lttv_common::report::{Interrupted, Report, Usage};
use lttv_state::stats::{DeviceFacts, Statistics, StatisticsHandle, read_statistics};

use super::analysis::Analysis;
use crate::tables::disk::{self as tables, Disk};

const EXAMPLES: &str = "\
Examples:
  lttv disk TRACE                              all disks
  lttv disk --timerange 03:02:07..03:02:08 TRACE
  lttv disk --disk vda --disk 8,16 --format json TRACE
  lttv disk --sort bytes_written TRACE         those that were written to most first

READS, WRITES and OTHER are the requests that were completed in the window, with their BYTES. A disk
is BUSY while it has requests that were issued and not completed, also those issued before the
window; QUEUE is their average number.

Needs the events block_rq_issue and block_rq_complete of a kernel trace. INSERTED needs
block_rq_insert, MERGED block_rq_merge and block_bio_*merge, NAME lttng_statedump_block_device.";

/// Show requests to disks, their bytes, and how busy the disks were
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct DiskArgs {
    /// The options of all analyses.
    #[command(flatten)]
    pub common: Common,

    /// Show only the disk of this name or MAJOR,MINOR; may be repeated
    #[arg(long, value_name = "DISK")]
    pub disk: Vec<String>,

    /// Sort by this column, the greatest first [default: by first use]
    #[arg(long, value_name = "COLUMN")]
    pub sort: Option<String>,
}

/// Shows the requests to disks in a window.
///
/// # Errors
///
/// If the command line is wrong, if no trace has the needed events, if no disk is selected, or if
/// the output cannot be written.
pub fn run(args: &DiskArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    args.common.input.refuse_filters(
        "the times that disks are busy follow from all requests; choose disks with --disk",
    )?;
    let mut analysis = Analysis::open(&args.common.input, report, Some(&kernel_trace::DISK))?;
    let threads = match analysis.window.is_everything() {
        true => args.common.input.threads_or_all(),
        false => args.common.input.one_thread(report, "a time window"),
    };
    let (collected, read) = collect(&mut analysis, threads);

    let is_wanted = |disk: &DeviceFacts| {
        let number = disk.number.to_string();
        args.disk.is_empty() || args.disk.iter().any(|of| **of == *disk.name || *of == number)
    };
    let statistics: Vec<_> = analysis
        .spans()
        .map(|(trace, span)| (trace, collected.until(&analysis, span.end)))
        .collect();
    let mut disks = Vec::new();
    for (trace, of) in &statistics {
        let Some(of) = of.traces().get(trace.0) else { continue };
        let wanted = of.devices().iter().filter(|disk| is_wanted(disk));
        disks.extend(wanted.map(|facts| Disk { trace: *trace, facts, time: of.time() }));
    }
    let mut table = tables::disks("Disks", statistics.len() > 1, &disks);
    if table.rows().is_empty() && !args.disk.is_empty() {
        return Err(format!("no disk in the traces is {}", args.disk.join(" or ")).into());
    }
    if let Some(key) = &args.sort {
        table.sort_by(key).map_err(|error| Usage::new(format_args!("--sort: {error}")))?;
    }
    analysis.write(&args.common, vec![table])?;
    analysis.finish(report);
    Ok(read?)
}

/// The statistics that contain the disks.
enum Collected {
    /// Statistics of whole traces.
    Whole(Statistics),
    /// Statistics of a window, which the context collects.
    Window(StatisticsHandle),
}

/// Reads the window and collects, on several threads only whole traces.
fn collect(analysis: &mut Analysis, threads: usize) -> (Collected, Result<(), Interrupted>) {
    if threads > 1 {
        let (whole, read) = analysis.read_in_slices(threads, |context, kernel, threads, passed| {
            let read = read_statistics(context, kernel, threads, passed)?;
            Ok((read.statistics, read.kernel, read.end))
        });
        return (Collected::Whole(whole), read);
    }
    let context = &mut analysis.context;
    let window = match analysis.window.begin {
        Some(begin) => Statistics::attach_at(context, analysis.kernel, begin),
        None => Statistics::attach(context, analysis.kernel),
    };
    (Collected::Window(window), analysis.read())
}

impl Collected {
    /// Returns the statistics up to the end of the window in a trace.
    fn until(&self, analysis: &Analysis, end: Timestamp) -> Cow<'_, Statistics> {
        match self {
            Collected::Whole(whole) => Cow::Borrowed(whole),
            Collected::Window(window) => {
                Cow::Owned(window.take_until(analysis.context.extensions(), end))
            }
        }
    }
}
