//! `lttv info`: what traces contain, and which commands they serve.

mod lines;

use std::error::Error;
use std::path::PathBuf;

use crate::models::contents::{Counts, Facts};
use crate::tables::info as tables;
use lttv_common::args::{Common, FormatArgs, InputArgs, OutputArgs};
use lttv_common::clocks::Corrections;
use lttv_common::definitions::Definitions;
use lttv_common::kernel_trace::recorded;
use lttv_common::losses::Losses;
use lttv_common::report::Report;
use lttv_common::table::{Format, Table};
use lttv_common::time::Window;
use lttv_filter::Environment;

/// Examples of use, for the help.
pub const EXAMPLES: &str = "\
Tables: traces, tracefiles, event_types (with --events), uses, missing, definitions, environment, losses.

Examples:
  lttv info ~/lttng-traces/my-session
  lttv info --events TRACE                          with the number of events of each type
  lttv info --table tracefiles --columns cpu,events,lost_events --format csv TRACE";

/// Describe traces: format, tracer, clock, times, tracefiles, losses, and what they are good for
///
/// The events of large traces are not read, so their number is unknown; --events counts them.
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct InfoArgs {
    /// Directories that contain traces [default: the bundled kernel trace, if there is one]
    #[arg(value_name = "TRACE")]
    pub traces: Vec<PathBuf>,

    /// Count the events of each type, which reads all of them
    #[arg(long)]
    pub events: bool,

    /// The form of the results.
    #[command(flatten)]
    pub format: FormatArgs,

    /// The destination of the results.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Print dates in UTC instead of the local time zone
    #[arg(long, alias = "clock-gmt")]
    pub utc: bool,

    /// The corrections of clocks.
    #[command(flatten)]
    pub clocks: Corrections,
}

/// Describes traces.
///
/// # Errors
///
/// If no trace can be opened, or if the output cannot be written.
pub fn run(args: &InfoArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let input = InputArgs {
        traces: args.traces.clone(),
        utc: args.utc,
        clocks: args.clocks.clone(),
        ..InputArgs::default()
    };
    let traceset = input.open(report)?;
    let traces = traceset.traces();
    let losses = Losses::of(traces, Window::default());
    let counts = Counts::of(traces, args.events, report);
    let kernel = recorded(&traceset);
    let facts = Facts::of(traces, &kernel, &counts, &losses);

    let environment = Environment::new().in_zone(input.zone());
    let served = traces.iter().map(|trace| Definitions::served_by(trace, &environment));
    let served: Vec<_> = served.collect();

    let FormatArgs { format, tables, columns, .. } = &args.format;
    let selects = !tables.is_empty() || !columns.is_empty();
    let is_short = *format == Format::Text && !selects;
    let mut results: Vec<Table> = match is_short {
        true => {
            let zone = input.zone();
            let each = facts.iter().zip(&kernel).zip(&served);
            each.map(|((facts, recorded), served)| lines::table(facts, recorded, served, &zone))
                .collect()
        }
        false => vec![tables::traces(&facts)],
    };
    if args.events {
        results.push(tables::event_types(traces, &counts));
    }
    if !is_short {
        results.extend([
            tables::tracefiles(traces, &counts, &losses),
            tables::uses(&kernel),
            tables::missing(&kernel),
            tables::definitions(&served),
            tables::environment(traces),
        ]);
    }
    let common = Common { input, format: args.format.clone(), output: args.output.clone() };
    common.write_with(&losses, results, traces)?;
    report.losses(&losses, counts.total());
    Ok(())
}
