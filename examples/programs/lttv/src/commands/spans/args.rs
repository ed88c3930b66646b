//! The options of `lttv spans`.

use clap::ValueEnum;
use lttv_common::args::{InputArgs, OutputArgs};
use lttv_common::cache::CacheArgs;
use lttv_common::report::Usage;
use lttv_common::table::Format;
use lttv_state::spans::{Family, SpanOrder, SpanSettings};

use crate::commands::selection::SelectionArgs;
use lttv_common::definitions::PeriodArgs;

const EXAMPLES: &str = "\
Examples:
  lttv spans TRACE                                       all spans, in time order
  lttv spans --family syscall --comm diskio --min 10ms TRACE
  lttv spans --name openat --result ENOENT TRACE         failed opens, with the file's name
  lttv spans --file '/mnt/*' TRACE                       system calls that used files below /mnt
  lttv spans --family syscall --sort duration --limit 20 TRACE
  lttv spans --family run,wake-up,blocked --tid 4711 TRACE   what a thread did, switch by switch
  lttv spans --family irq --irq 24 --format csv TRACE
  lttv spans -e 'duration > 1ms && count >= 4096' TRACE  fields of the events at begin and end
  lttv spans --around 12:30:05.25 --width 2ms TRACE      what happened around a time

A span is something that took time: a system call, a run on a CPU, a wait, an interrupt, a request to a
disk, or a period. Those that end in the window are shown, from their true begin, and those that are open
at its end, as `<unfinished>`. If the begin was not recorded, the line starts with `...`.

-e takes the names family, name, duration, comm, tid, pid, cpu, file, result, error, irq, waker, waker_tid,
begin, end and completeness, and the fields of the events that begin and end a span.";

/// Show single system calls, runs, waits, interrupts and disk requests, with arguments and results
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct SpansArgs {
    /// The traces, the window and the filters.
    #[command(flatten)]
    pub input: InputArgs,
    /// The destination.
    #[command(flatten)]
    pub output: OutputArgs,
    /// The place of saved states.
    #[command(flatten)]
    pub cache: CacheArgs,

    /// Show only spans of these families [default: all but open, read, write, sync and futex, which
    /// show system calls again]
    #[arg(long, value_name = "FAMILY,…", value_delimiter = ',', value_parser = family_parser())]
    pub family: Vec<String>,

    /// The selection.
    #[command(flatten)]
    pub selection: SelectionArgs,

    /// The order: that of the begins, or the longest first
    #[arg(long, value_name = "ORDER", value_enum, default_value_t)]
    pub sort: Order,

    /// Show at most this many spans; 0 for all
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,

    /// Indent what happens within another span of the thread
    #[arg(long)]
    pub nested: bool,

    /// Show durations with all digits
    #[arg(long, help_heading = "Output")]
    pub exact: bool,

    /// Show whole lines, also those that are longer than the terminal is wide
    #[arg(long, help_heading = "Output")]
    pub wide: bool,

    /// The form of the output
    #[arg(long, value_enum, default_value_t, help_heading = "Output")]
    pub format: Format,

    /// The periods to find.
    #[command(flatten)]
    pub periods: PeriodArgs,
}

/// The order of spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Order {
    /// By the time of their begin
    #[default]
    Begin,
    /// The longest first
    Duration,
}

impl From<Order> for SpanOrder {
    fn from(order: Order) -> Self {
        match order {
            Order::Begin => SpanOrder::Begin,
            Order::Duration => SpanOrder::Duration,
        }
    }
}

fn family_parser() -> clap::builder::PossibleValuesParser {
    Family::ALL.map(Family::key).into()
}

impl SpansArgs {
    /// Refuses options that only lines have.
    pub(super) fn refuse_without_effect(&self) -> Result<(), Usage> {
        let is_of_lines = self.exact || self.wide || self.nested;
        match is_of_lines && self.format != Format::Text {
            true => Err(Usage::new("--exact, --wide and --nested need --format text")),
            false => Ok(()),
        }
    }

    /// Returns the families of spans that are wanted: those that can pass the options, unless families are
    /// chosen.
    pub(super) fn families(&self) -> Vec<Family> {
        if self.family.is_empty() {
            return self.selection.families_of(&SpanSettings::FAMILIES);
        }
        let is_chosen = |of: &Family| self.family.iter().any(|key| key == of.key());
        Family::ALL.into_iter().filter(is_chosen).collect()
    }
}
