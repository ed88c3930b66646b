//! `lttv latency`: how long threads wait for CPUs, and system calls, interrupts, disk requests and
//! periods take.

mod by;
mod measure;

use std::error::Error;
use std::time::Duration;

use crate::tables::latency::{self as tables, Choice};
use ltt_read::{TimeSpan, TraceIndex};
use lttv_common::args::Common;
use lttv_common::report::Report;
use lttv_common::table::{Format, Table};
use lttv_common::time::parse_length;
use lttv_state::latency::{Family, GroupBy, LatencyAnalysis, TraceLatency};

use self::by::ByParser;
pub use self::by::{By, Division};
pub(super) use self::measure::{MeasureArgs, Measured, whole};
use super::every::check_count;

const EXAMPLES: &str = "\
Examples:
  lttv latency TRACE                                    all families at a glance
  lttv latency --family syscall TRACE                   system calls: figures, longest, distribution
  lttv latency --family wake-up --by thread --top 20 TRACE
  lttv latency --family read --by size --table read,histogram TRACE
                                                        by size, each with its distribution
  lttv latency --family irq,softirq --timerange +1s..+2s TRACE
  lttv latency --family disk --every 100ms TRACE        one line for each 100 ms
  lttv latency --family syscall --comm 'nginx*' --over 10ms TRACE
  lttv latency --family wake-up --tid 4711 TRACE        of one thread: figures, longest, distribution
  lttv latency -e 'name =~ \"open*\" && result < 0' TRACE
  lttv latency --family run,blocked --by thread TRACE    runs on CPUs, and waits
  lttv latency --period 'request : my:begin : my:end' --period-key 'request : id' TRACE
  lttv latency --define locks TRACE                     waits for locks of the kernel, by kind
  lttv latency --format json TRACE

Durations that end in the window are counted, from their true begin. Percentiles have an error of at
most 1 %; all other figures are exact. DEVIATION is that of a sample (n - 1). A family whose events
were not recorded has no figures, but the names of the events.

With a selection or -e, figures are those of the spans that `lttv spans` shows for the same options; see
there for the names in expressions.

A period lasts from an event that passes the first expression to the first later one that passes the
second. --period-key gives the fields that both events share, and --period-captures those by whose
values periods are grouped, of the first event and, after a colon, of the second one. Besides fields
there are the words cpu, tid, pid and comm.

A file has a table [[span]] for each period, with name, begin, end, and perhaps parent, key = [\"FIELD\",
\"FIELD=FIELD AT END\"], labels-at-begin = [\"LABEL=FIELD\"], labels-at-end, values-at-begin and values-at-end.
Labels group periods; values are numbers of single ones.

Without --top, text has 10 rows and the 10 longest durations of each family, JSON and CSV all rows and the 100
longest.";

/// Show how long threads wait for CPUs, and system calls, interrupts, disks and periods take
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct LatencyArgs {
    /// The options of all analyses.
    #[command(flatten)]
    pub common: Common,
    /// The durations.
    #[command(flatten)]
    pub measure: MeasureArgs,

    /// Divide the figures of a family by this, or by a label or value of periods [default: name]; with --table top or histogram also the
    /// longest ones and the distribution
    #[arg(long, value_name = "WHAT|LABEL|VALUE", value_parser = ByParser)]
    pub by: Option<By>,

    /// Show distributions in this many equal bins instead of bins between powers of two
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub bins: Option<u32>,

    /// Show the figures of each interval of this length, such as 100ms
    #[arg(long, value_name = "LENGTH", value_parser = parse_length)]
    pub every: Option<u64>,
}

/// The number of rows in text, unless another one is given.
const USUAL_ROWS: usize = 10;
/// The number of longest durations in JSON and CSV, unless another one is given.
const USUAL_TOP: usize = 100;
/// Shows the latencies in a window.
///
/// # Errors
///
/// If the command line is wrong, if no trace has the needed events, or if the output cannot be
/// written.
pub fn run(args: &LatencyArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let input = &args.common.input;
    let is_text = args.common.format.format == Format::Text;
    let usual_top = if is_text { USUAL_ROWS } else { USUAL_TOP };
    let Measured { mut analysis, settings, is_selected, periods } =
        args.measure.open(input, report)?;
    let (by, value) =
        args.by.as_ref().map_or(Ok((GroupBy::Subject, None)), |by| by.resolve(&periods))?;
    let mut choice = args.choice(by, value);
    let settings = settings
        .top(
            args.common.format.top.map_or(usual_top, |top| if top == 0 { usize::MAX } else { top }),
        )
        .divide(choice.by);
    let settings = match &choice.value {
        Some((name, _)) => settings.divide_by_value(name),
        None => settings,
    };
    let settings = if choice.has_row_top { settings.top_of_rows() } else { settings };
    choice.is_selected = is_selected;
    choice.has_traces = analysis.spans().count() > 1;
    let span = whole(&analysis);
    let settings = match (args.every, span) {
        (Some(length), Some(span)) => {
            check_count(Duration::from_nanos(length), span)?;
            settings.every(span.start, length)
        }
        _ => settings,
    };
    let threads = input.threads_or_all(report);
    let (latency, read) = analysis.run(threads, None, LatencyAnalysis::new(settings));
    let of = |(index, _): (TraceIndex, TimeSpan)| Some((index, latency.trace(index)?.clone()));
    let taken: Vec<_> = analysis.spans().filter_map(of).collect();
    let tables = match args.every {
        None => args.tables(&taken, &choice),
        Some(length) => {
            // After an interrupt, the window ends earlier.
            let end = whole(&analysis).map(|span| span.end);
            let span = span.zip(end).map(|(span, end)| TimeSpan { end, ..span });
            let taken: Vec<_> = taken.iter().map(|(index, of)| (*index, of)).collect();
            let rows = span.map_or_else(Vec::new, |span| choice.intervals(span, length, &taken));
            vec![tables::intervals(&choice, &rows)]
        }
    };
    // The tables have been cut, those of longest durations for each row.
    let mut common = args.common.clone();
    common.format.top = None;
    analysis.write(&common, tables)?;
    analysis.finish(report);
    Ok(read?)
}

impl LatencyArgs {
    fn choice(&self, by: GroupBy, value: Option<(String, bool)>) -> Choice {
        let is_text = self.common.format.format == Format::Text;
        let usual_rows = is_text.then_some(USUAL_ROWS);
        let of_rows = |table: &str| {
            self.by.is_some() && self.common.format.tables.iter().any(|name| name == table)
        };
        Choice {
            families: self.measure.families(),
            by,
            value,
            rows: self.common.format.top.or(usual_rows).filter(|rows| *rows > 0),
            bins: self.bins,
            has_row_top: of_rows("top"),
            has_row_histogram: of_rows("histogram"),
            has_traces: false,
            is_selected: false,
        }
    }

    /// Returns the tables: in text without a choice of families or tables, only the overview.
    fn tables(&self, taken: &[(TraceIndex, TraceLatency)], choice: &Choice) -> Vec<Table> {
        let taken: Vec<_> = taken.iter().map(|(index, of)| (*index, of)).collect();
        let format = &self.common.format;
        let is_short = format.format == Format::Text
            && self.measure.family.is_empty()
            && self.by.is_none()
            && format.tables.is_empty()
            && format.columns.is_empty();
        let mut all = vec![tables::overview(choice, "Latencies", &taken)];
        if is_short {
            all.extend(
                choice
                    .families(&taken)
                    .contains(&Family::Period)
                    .then(|| tables::rows(choice, Family::Period, &taken)),
            );
        } else {
            // Without a choice, tables of families without figures can be selected as well.
            let families = match choice.families.is_empty() && format.format != Format::Text {
                true => Family::LATENCIES.to_vec(),
                false => choice.families(&taken),
            };
            all.extend(families.iter().map(|family| tables::rows(choice, *family, &taken)));
            all.push(tables::top(choice, &taken));
            all.push(tables::histogram(choice, &taken));
            let has = |of: &[Family]| of.iter().any(|of| families.contains(of));
            let has_use = |of: &[Family]| !choice.is_selected && has(of);
            all.extend(has_use(&[Family::DiskDevice]).then(|| tables::disks(choice, &taken)));
            all.extend(has_use(&[Family::Futex]).then(|| tables::futexes(choice, &taken)));
            let wakes = has(&[Family::WakeUp, Family::Futex]);
            all.extend(wakes.then(|| tables::wakes(choice, &taken)));
            all.push(tables::open(choice, &taken));
        }
        if !choice.is_selected {
            all.push(tables::unmatched(choice, &taken));
        }
        all
    }
}
