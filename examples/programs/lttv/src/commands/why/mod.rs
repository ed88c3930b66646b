//! `lttv why`: where the time of one span went.

mod answer;
mod families;
mod find;
mod fit;
mod json;
mod text;
mod within;

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::ValueEnum;
use ltt_read::{ErrorChain, TimeSpan, Timestamp};
use lttv_common::args::{InputArgs, OutputArgs};
use lttv_common::cache::CacheArgs;
use lttv_common::clocks::Corrections;
use lttv_common::escape::Escapes;
use lttv_common::kernel_trace;
use lttv_common::report::{Report, Usage};
use lttv_common::settings;
use lttv_common::text::clock_text::ClockText;
use lttv_common::time::{Times, Window, clock_of};
use lttv_filter::{Environment, TimeText};
use lttv_state::spans::{Family, SpanFilter, SpanSettings};

use self::answer::Answer;
use super::analysis::Analysis;
use super::selection::SelectionArgs;
use super::spans::Lines;
use lttv_common::definitions::PeriodArgs;

const EXAMPLES: &str = "\
Examples:
  lttv why TRACE --at 03:56:56.5 --tid 211             the system call of thread 211 at that time
  lttv why TRACE --at 03:56:56.5 --tid 211 --family wake-up,preemption
                                                       its wait for a CPU
  lttv why TRACE --at 03:56:56.5 --family irq --cpu 3  the handler on CPU 3
  lttv why TRACE --at +12ms --tid 211 --format json

The span is the innermost one at the time that passes all options: a period or system call of the thread, or
else what it did. `lttv latency --table top` and `lttv spans --sort duration` give the times of long ones.

The answer tells how the time of the span divides: running; interrupted by handlers on its CPU; preempted
or woken, and which threads ran in its place; blocked, for what, who ended the wait, and in which system
call the waker was. The parts add up to the duration. Below are the longest spans within it, and what was
on the critical path of its longest wait: what the waker itself did and waited for before.

States and causes are those of `lttv critical-path`, which explains them.";

/// Show where the time of one system call, wait, run, interrupt or disk request went
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct WhyArgs {
    /// Directories of kernel traces [default: the bundled kernel trace, if there is one]
    #[arg(value_name = "TRACE")]
    pub traces: Vec<PathBuf>,

    /// A time within the span; its begin is one
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub at: TimeText,

    /// The families of which the span is one
    #[arg(long, value_name = "FAMILY,…", value_delimiter = ',', value_parser = Family::ALL.map(Family::key))]
    pub family: Vec<String>,

    /// The selection.
    #[command(flatten)]
    pub selection: SelectionArgs,

    /// Only a span for which this expression is true; several must all be true
    #[arg(short = 'e', long = "filter", value_name = "EXPR", allow_hyphen_values = true)]
    #[arg(help_heading = "Selection")]
    pub filters: Vec<String>,

    /// Read with at most this many threads
    #[arg(long, value_name = "N", help_heading = "Selection")]
    pub threads: Option<NonZeroUsize>,

    /// Take and print times in UTC instead of the local time zone
    #[arg(long, alias = "clock-gmt", help_heading = "Selection")]
    pub utc: bool,

    /// The periods to find.
    #[command(flatten)]
    pub periods: PeriodArgs,

    /// Show at most this many rows of each list; 0 for all [default: 4; with --format json 100]
    #[arg(long, value_name = "N", help_heading = "Output")]
    pub limit: Option<usize>,

    /// The form of the output
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: WhyFormat,

    /// The destination.
    #[command(flatten)]
    pub output: OutputArgs,

    /// The place of saved states.
    #[command(flatten)]
    pub cache: CacheArgs,

    /// The corrections of clocks.
    #[command(flatten)]
    pub clocks: Corrections,
}

/// A form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum WhyFormat {
    /// Lines for people
    #[default]
    Text,
    /// One JSON object; times and durations are in ns
    Json,
}

/// The number of rows of each list in text, unless another one is given.
const USUAL_ROWS: usize = 4;
/// The number of rows of each list in JSON, unless another one is given.
const USUAL_JSON_ROWS: usize = 100;

/// Shows where the time of a span went.
///
/// # Errors
///
/// If the command line is wrong, if no trace has the needed events, if no span is selected, or if the output
/// cannot be written.
pub fn run(args: &WhyArgs, report: &mut Report) -> Result<(), Box<dyn Error>> {
    let input = InputArgs {
        traces: args.traces.clone(),
        filters: args.filters.clone(),
        threads: args.threads,
        utc: args.utc,
        clocks: args.clocks.clone(),
        ..InputArgs::default()
    };
    let condition = args.selection.condition_with_durations(&input)?;
    let definitions = args.periods.definitions()?;
    let periods = &definitions.periods;
    let mut analysis = Analysis::open(&input, Some(&args.cache), report, Some(&kernel_trace::WHY))?;
    let traceset = analysis.traceset.clone();
    let at = time(&args.at, &Times::new(input.zone(), traceset.traces()))?;
    let environment = Environment::new().in_zone(input.zone());
    let filter = condition
        .map(|of| SpanFilter::with_periods(&of, &traceset, periods, &environment))
        .transpose();
    let filter = filter.map_err(|error| Usage::filter("--filter:", &error))?;
    let settings = SpanSettings::new()
        .families(args.families())
        .periods(periods.clone(), traceset.traces(), &environment)
        .map_err(|error| definitions.wrong(&error))?;
    let lines = || Lines::new(input.zone(), traceset.traces());
    let threads = input.threads_or_all(report);
    let span = find::span_at(&mut analysis, at, (&settings, filter.as_ref()), &lines, threads)?;
    let end = span.span.end.max(span.span.begin);
    analysis.narrow(TimeSpan { start: span.span.begin, end });
    let usual = if args.format == WhyFormat::Text { USUAL_ROWS } else { USUAL_JSON_ROWS };
    let limit = args.limit.map_or(usual, |limit| if limit == 0 { usize::MAX } else { limit });
    let answer = Answer::of(&mut analysis, span, settings, (threads, limit), lines())?;
    let out = args.output.open(traceset.traces())?;
    match args.format {
        WhyFormat::Text => {
            let clock = clock_of(settings::current().clock(), traceset.traces());
            let clock = ClockText::new(clock, input.zone());
            text::write(&answer, limit, clock, out.escaping(Escapes::Text))?;
        }
        WhyFormat::Json => json::write(&answer, limit, out.escaping(Escapes::Json))?,
    }
    analysis.finish(report);
    Ok(())
}

impl WhyArgs {
    /// Returns the families of which the span is one.
    fn families(&self) -> Vec<Family> {
        if self.family.is_empty() {
            return self.selection.families_of(&SpanSettings::FAMILIES);
        }
        let is_chosen = |of: &Family| self.family.iter().any(|key| key == of.key());
        Family::ALL.into_iter().filter(is_chosen).collect()
    }
}

/// Returns the time, which must be one of the traces.
fn time(at: &TimeText, times: &Times<'_>) -> Result<Timestamp, Usage> {
    let wrong = |error: &dyn std::fmt::Display| Usage::new(format_args!("--at: {error}"));
    let time = times.resolve(at).map_err(|error| wrong(&ErrorChain(&error)))?;
    times.inside(Window { begin: Some(time), end: Some(time) }).map_err(|error| wrong(&error))?;
    Ok(time)
}
