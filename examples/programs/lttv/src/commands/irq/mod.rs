//! `lttv irq`: numbers, durations and periods of interrupts.

use std::error::Error;

use lttv_common::args::Common;
use lttv_common::cache::CacheArgs;
use lttv_common::interrupts::{Interrupt, InterruptKey};
use lttv_common::kernel_trace;
use lttv_common::report::{Report, Usage};
use lttv_filter::{Columns, RecordFilter};

use super::analysis::Analysis;
use super::selection::{CpuArgs, DurationArgs, NameArgs, NumberArgs, all_of};
use crate::models::interrupts::InterruptAnalysis;
use crate::tables::interrupts as tables;

const EXAMPLES: &str = "\
Examples:
  lttv irq TRACE                                       all interrupts, by kind, number and CPU
  lttv irq --cpu 2 --timerange +1s..+1.1s TRACE        those of CPU 2 within 100 ms
  lttv irq --sort time_ns TRACE                        those that took most time first
  lttv irq --name 'virtio*' --over 20us TRACE          the long ones of some devices
  lttv irq -e 'irq_handler_entry.irq == 24' TRACE      those whose entry event passes the filter
  lttv irq --table interrupts --format csv TRACE

COUNT is the number of handlers that ended in the window, and TOTAL the time of handlers in the
window, also of those that are only partly in it; both add up over consecutive windows. AVERAGE, STD
DEV, MIN and MAX are those of handlers that are wholly in the window, and PERIOD is the time from
the start of one of them to that of the next. All times include nested interrupts.

A filter selects the entry events of handlers. With --min or --max, the handlers that run at the end of
the window do not count, since their durations are unknown.

Needs the events irq_handler_entry and irq_handler_exit, or irq_softirq_entry and irq_softirq_exit,
or those of interrupt vectors (x86_irq_vectors_*), of a kernel trace.";

/// Show numbers, durations and periods of interrupts
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct IrqArgs {
    /// The options of all analyses.
    #[command(flatten)]
    pub common: Common,
    /// The place of saved states.
    #[command(flatten)]
    pub cache: CacheArgs,

    /// The CPUs.
    #[command(flatten)]
    pub cpus: CpuArgs,

    /// The names.
    #[command(flatten)]
    pub names: NameArgs,

    /// The numbers.
    #[command(flatten)]
    pub numbers: NumberArgs,

    /// The durations.
    #[command(flatten)]
    pub durations: DurationArgs,
}

/// The properties of a handler that options select by.
struct Handler {
    cpu: u64,
    irq: u64,
    name: String,
}

impl IrqArgs {
    /// Returns the filter of the handlers that the options select; `None` if they select all.
    fn wanted(&self) -> Result<Option<RecordFilter<Columns<Handler>>>, Usage> {
        let columns = Columns::new()
            .unsigned("cpu", |of: &Handler| Some(of.cpu))
            .unsigned("irq", |of| Some(of.irq))
            .text("name", |of| Some(&of.name));
        let conditions = self.cpus.conditions().chain(self.names.conditions());
        let expression = all_of(conditions.chain(self.numbers.conditions()))?;
        let filter = expression.map(|expression| columns.compile(&expression)).transpose();
        filter.map_err(|error| Usage::filter("--cpu, --name, --irq:", &error))
    }
}

/// Shows the interrupts of a window.
///
/// # Errors
///
/// If the command line is wrong, if no trace has the needed events, or if the output cannot be
/// written.
pub fn run(args: &IrqArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    // A wrong expression is reported before anything is read.
    args.common.input.expression()?;
    let wanted = args.wanted()?;
    let mut analysis =
        Analysis::open(&args.common.input, Some(&args.cache), report, Some(&kernel_trace::IRQ))?;
    let filters = args.common.input.filters(report, analysis.traceset.traces())?;
    let threads = args.common.input.threads_or_all(report);
    let durations = args.durations.range();
    let interrupts = InterruptAnalysis { is_filtered: filters.is_some(), durations };
    let (found, read) = analysis.run(threads, filters, interrupts);
    let found = found.up_to(analysis.state(), analysis.all_spans());

    let has_traces = analysis.spans().count() > 1;
    let is_wanted = |key: &InterruptKey, of: &Interrupt| {
        let (cpu, irq) = (key.cpu.into(), key.number.into());
        wanted.as_ref().is_none_or(|of_options| {
            of_options.matches(&Handler { cpu, irq, name: of.name.clone() })
        })
    };
    let mut rows = Vec::new();
    for (trace, span) in analysis.spans() {
        let time = span.end.since(span.start);
        let of_trace = found.of_trace(trace).filter(|(key, of)| is_wanted(key, of));
        rows.extend(of_trace.map(|(key, of)| tables::Row { key, of, time }));
    }
    let durations = tables::durations("Interrupts", has_traces, &rows);
    let extremes = tables::extremes("Shortest and longest handlers", has_traces, &rows);
    analysis.write(&args.common, vec![durations, extremes])?;
    analysis.finish(report);
    Ok(read?)
}
