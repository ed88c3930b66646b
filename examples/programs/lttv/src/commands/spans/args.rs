//! The options of `lttv spans`.

use clap::ValueEnum;
use lttv_common::args::{InputArgs, OutputArgs};
use lttv_common::cache::CacheArgs;
use lttv_common::report::Usage;
use lttv_common::table::Format;
use lttv_common::time::parse_length;
use lttv_filter::Expression;
use lttv_state::spans::{Family, SpanOrder, error_number};

use crate::commands::latency::PeriodArgs;

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

    /// Show only spans of these names; patterns such as 'open*' are accepted
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub name: Vec<String>,

    /// Show only spans of these threads
    #[arg(long, value_name = "TID,…", value_delimiter = ',')]
    pub tid: Vec<i32>,

    /// Show only spans of the threads of these processes
    #[arg(long, value_name = "PID,…", value_delimiter = ',')]
    pub pid: Vec<i32>,

    /// Show only spans of threads of these names; patterns are accepted
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub comm: Vec<String>,

    /// Show only spans that ended on these CPUs
    #[arg(long, value_name = "CPU,…", value_delimiter = ',')]
    pub cpu: Vec<u32>,

    /// Show only system calls that used these files; patterns are accepted
    #[arg(long, value_name = "FILE,…", value_delimiter = ',')]
    pub file: Vec<String>,

    /// Show only interrupts, vectors and softirqs of these numbers
    #[arg(long, value_name = "NUMBER,…", value_delimiter = ',')]
    pub irq: Vec<u32>,

    /// Show only system calls with one of these results: a number, or an error such as ENOENT
    #[arg(long, value_name = "RESULT,…", value_delimiter = ',', allow_hyphen_values = true)]
    #[arg(value_parser = parse_result)]
    pub result: Vec<i64>,

    /// Show only spans of at least this duration, such as 10ms
    #[arg(long, visible_alias = "over", value_name = "LENGTH", value_parser = parse_length)]
    pub min: Option<u64>,

    /// Show only spans of at most this duration
    #[arg(long, value_name = "LENGTH", value_parser = parse_length)]
    pub max: Option<u64>,

    /// The order: that of the begins, or the longest first
    #[arg(long, value_name = "ORDER", value_enum, default_value_t)]
    pub sort: Order,

    /// Show at most this many spans
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,

    /// Indent what happens within another span of the thread
    #[arg(long)]
    pub nested: bool,

    /// Show durations with all digits
    #[arg(long, help_heading = "Output")]
    pub exact: bool,

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

/// Parses the result of a system call.
fn parse_result(text: &str) -> Result<i64, String> {
    let error = error_number(text).map(|number| -i64::from(number));
    error
        .or_else(|| text.parse().ok())
        .ok_or_else(|| "expected a number or the name of an error such as ENOENT".to_owned())
}

impl SpansArgs {
    /// Returns the families of spans that are wanted: those that can pass the options, unless families are
    /// chosen.
    pub(super) fn families(&self) -> Vec<Family> {
        if !self.family.is_empty() {
            let is_chosen = |of: &Family| self.family.iter().any(|key| key == of.key());
            return Family::ALL.into_iter().filter(is_chosen).collect();
        }
        let all = lttv_state::spans::SpanSettings::FAMILIES;
        if !self.file.is_empty() || !self.result.is_empty() {
            return vec![Family::Syscall];
        }
        if !self.irq.is_empty() {
            let handlers = [Family::HardIrq, Family::Vector, Family::Softirq];
            return all.into_iter().filter(|family| handlers.contains(family)).collect();
        }
        all.to_vec()
    }

    /// Returns the condition of the options and filters; `None` if there is none.
    pub(super) fn condition(&self) -> Result<Option<Expression>, Usage> {
        let mut all: Vec<String> = Vec::new();
        let texts = [("name", &self.name), ("comm", &self.comm), ("file", &self.file)];
        for (property, patterns) in texts {
            all.extend(any(patterns.iter().map(|pattern| {
                let pattern = pattern.replace('\\', "\\\\").replace('"', "\\\"");
                match property {
                    // The name of an interrupt follows its number.
                    "name" => format!("name =~ \"{pattern}\" || name =~ \"* {pattern}\""),
                    property => format!("{property} =~ \"{pattern}\""),
                }
            })));
        }
        let numbers = |property: &str, values: Vec<i64>| {
            any(values.into_iter().map(|value| format!("{property} == {value}")))
        };
        let wide = |values: &[i32]| values.iter().map(|of| i64::from(*of)).collect();
        let unsigned = |values: &[u32]| values.iter().map(|of| i64::from(*of)).collect();
        all.extend(numbers("tid", wide(&self.tid)));
        all.extend(numbers("pid", wide(&self.pid)));
        all.extend(numbers("cpu", unsigned(&self.cpu)));
        all.extend(numbers("irq", unsigned(&self.irq)));
        all.extend(numbers("result", self.result.clone()));
        if self.input.filters.iter().any(|text| text.trim().is_empty()) {
            return Err(Usage::new("--filter: an expression is empty"));
        }
        let texts = self.input.filters.iter().chain(&all).map(String::as_str);
        let parsed = (texts.clone().count() > 0).then(|| Expression::parse_all(texts));
        parsed.transpose().map_err(|error| Usage::filter("--filter:", &error))
    }
}

/// Returns the condition that one of several is true; `None` if there are none.
fn any(conditions: impl Iterator<Item = String>) -> Option<String> {
    let all: Vec<String> = conditions.collect();
    (!all.is_empty()).then(|| all.join(" || "))
}
