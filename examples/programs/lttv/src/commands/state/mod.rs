//! `lttv state`: the state of a machine at a time.

mod compute;

use lttv_filter::TimeText;
use std::error::Error;
use std::path::PathBuf;

use crate::tables::state as tables;
use ltt_read::Timestamp;
use lttv_common::args::{Common, FormatArgs, InputArgs, OutputArgs};
use lttv_common::clocks::Corrections;
use lttv_common::inputs;
use lttv_common::kernel_trace;
use lttv_common::losses::Losses;
use lttv_common::report::{Report, Usage};
use lttv_common::time::{Times, Window};

pub use compute::Method;

/// Examples of use, for the help.
pub const EXAMPLES: &str = "\
Examples:
  lttv state --at +20ms TRACE                       20 ms after the first event
  lttv state --at 03:36:56.4 --table processes --format csv TRACE
  lttv state --at -1s --method checkpoint --checkpoints FILE TRACE";

/// Print the state of each CPU and process at a time
///
/// This is the state before the first event of that time or later.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct StateArgs {
    /// Directories of kernel traces [default: the bundled kernel trace, if there is one]
    #[arg(value_name = "TRACE")]
    pub traces: Vec<PathBuf>,

    /// The time
    #[arg(long, alias = "time", value_name = "TIME", allow_hyphen_values = true)]
    pub at: TimeText,

    /// The form of the results.
    #[command(flatten)]
    pub format: FormatArgs,

    /// The destination of the results.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Way to compute the state; all give the same result
    #[arg(long, value_enum, default_value_t)]
    pub method: Method,

    /// Continue from the checkpoints in FILE, so that at most 50 000 events are read. If FILE
    /// does not exist or belongs to other traces, it is written first
    #[arg(long, value_name = "FILE")]
    pub checkpoints: Option<PathBuf>,

    /// Take times in UTC instead of the local time zone
    #[arg(long, alias = "clock-gmt")]
    pub utc: bool,

    /// The corrections of clocks.
    #[command(flatten)]
    pub clocks: Corrections,
}

/// Prints the state at a time.
///
/// # Errors
///
/// If the traces cannot be read or are of another kind, if the time is outside of them, or if
/// the output cannot be written.
pub fn run(args: &StateArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let file = args.checkpoints.as_deref();
    if file.is_some() && args.method != Method::Checkpoint {
        return Err(Usage::new("--checkpoints requires --method checkpoint").into());
    }
    let input = InputArgs {
        traces: args.traces.clone(),
        utc: args.utc,
        clocks: args.clocks.clone(),
        ..InputArgs::default()
    };
    let traceset = input.open(report)?;
    if let Some(file) = file {
        inputs::refuse(file, traceset.traces(), &[])?;
    }
    // A history has no gaps between events at which only contexts tell who runs.
    let needs = match args.method {
        Method::History => {
            kernel_trace::Use { needs: kernel_trace::HISTORY.needs, ..kernel_trace::STATE }
        }
        Method::Replay | Method::Checkpoint => kernel_trace::STATE,
    };
    kernel_trace::require(&traceset, &needs)?;
    let time = instant(args, &Times::new(input.zone(), traceset.traces()))?;
    let states = compute::states(&traceset, time, args.method, file, report)?;

    let common = Common { input, format: args.format.clone(), output: args.output.clone() };
    // The state depends on all events before it.
    let losses = Losses::of(traceset.traces(), Window { begin: None, end: Some(time) });
    common.write_with(&losses, tables::all(time, &states.snapshots), traceset.traces())?;
    report.errors(&states.errors, states.errors_omitted);
    report.losses(&losses, None);
    Ok(())
}

/// Returns the time, which must be one of the traces.
fn instant(args: &StateArgs, times: &Times<'_>) -> Result<Timestamp, Usage> {
    let time =
        times.resolve(&args.at).map_err(|error| Usage::new(format_args!("--at: {error}")))?;
    match times.events() {
        Some(events) if time < events.start || time > events.end => Err(Usage::new(format_args!(
            "--at: {time} is outside of the traces, whose events are from {} to {}",
            events.start, events.end
        ))),
        _ => Ok(time),
    }
}
