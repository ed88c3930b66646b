//! The command lines of charts.

use std::path::PathBuf;

use lttv_common::args::{InputArgs, OutputArgs};
use lttv_common::calls::names::SymbolArgs;
use lttv_common::extension;
use lttv_common::report::Usage;
use lttv_state::latency::Family;

use crate::commands::calls::pairs::PairArgs;
use crate::commands::calls::source::SourceArgs;
use crate::commands::latency::MeasureArgs;
use crate::commands::selection::ThreadArgs;

/// Examples of use, for the help.
const EXAMPLES: &str = "\
Examples:
  lttv chart flow -o flow.html TRACE
  lttv chart flow --timerange +1s..+1.2s -o flow.svg TRACE
  lttv chart usage --top 30 --begin 03:36:56 --end 03:36:57 -o usage.svg TRACE
  lttv chart latency --family syscall -o calls.html TRACE
  lttv chart flame --by process -o calls.svg TRACE";

const FLOW_EXAMPLES: &str = "\
Examples:
  lttv chart flow -o flow.html TRACE
  lttv chart flow --timerange +1s..+1.2s --all -o flow.svg TRACE";

const USAGE_EXAMPLES: &str = "\
Examples:
  lttv chart usage -o usage.html TRACE
  lttv chart usage --top 30 --begin 03:36:56 --end 03:36:57 -o usage.svg TRACE";

const LATENCY_EXAMPLES: &str = "\
Examples:
  lttv chart latency -o latency.html TRACE
  lttv chart latency --family wake-up,disk --tid 4711 -o latency.svg TRACE
  lttv chart latency --family read --file '/var/*' --min 1ms -o reads.svg TRACE

The durations are those of `lttv latency` with the same options: `--table histogram` has the numbers of the
distributions, and `--every LENGTH` figures over time. `lttv spans` lists single ones.";

const COUNTERS_EXAMPLES: &str = "\
Examples:
  lttv chart counters -o counters.html TRACE
  lttv chart counters --define cpu-frequency -o frequency.svg TRACE";

const FLAME_EXAMPLES: &str = "\
Examples:
  lttv chart flame -o cpu.svg perf.data
  lttv chart flame --of off-cpu --by process -o waits.svg perf.data
  lttv chart flame -o calls.speedscope.json TRACE
  lttv chart flame --of sched:sched_waking --format folded -o wakers.folded TRACE

Stacks are those of samples (perf record -g), of calls of functions (lttng-ust-cyg-profile,
trace-cmd record -p function_graph, --pair), or of events with call chains or the contexts callstack-kernel and
callstack-user. Time off CPU needs switches with stacks. -e selects samples by their events; of time
off CPU the switches at its begin.";

/// Draw processes and CPUs over time, or the functions of programs
#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ChartArgs {
    /// The kind of the chart.
    #[command(subcommand)]
    pub kind: Kind,
}

/// A kind of chart.
#[derive(Debug, Clone, clap::Subcommand)]
pub enum Kind {
    /// Draw the states of each process: running user code, system calls, waiting
    ///
    /// In the HTML page the wheel zooms, dragging moves, and pointing at a state shows its
    /// details.
    #[command(after_help = FLOW_EXAMPLES)]
    Flow(FlowArgs),
    /// Draw the use of CPUs, and of the processes with the most CPU time
    ///
    /// A CPU is busy while a thread other than its idle thread is on it, as in `lttv stats`. A
    /// process is on a CPU from the switch to it until the next switch.
    #[command(after_help = USAGE_EXAMPLES)]
    Usage(UsageArgs),
    /// Draw durations over time, and their distribution: of system calls, waits for CPUs, interrupts, disks
    ///
    /// Each family has a panel: a column of cells for each part of the time, with a row for durations between
    /// powers of two of ns; the colour tells how many ended there. The bars at the right add them up.
    #[command(after_help = LATENCY_EXAMPLES)]
    Latency(LatencyChartArgs),
    /// Draw numeric fields of events over time, such as frequencies of CPUs
    ///
    /// They are those of `lttv counters`, which tells how to define them. In each column of pixels the
    /// curve covers the values of its time.
    #[command(after_help = COUNTERS_EXAMPLES)]
    Counters(CountersChartArgs),
    /// Draw the flame graph of samples, calls of functions or waits, or write their stacks
    ///
    /// A frame is as wide as the weight of the stacks with it and the frames below it: the time of calls and
    /// waits, the period of samples.
    #[command(after_help = FLAME_EXAMPLES)]
    Flame(FlameArgs),
}

/// The arguments of `lttv chart flow`.
#[derive(Debug, Clone, clap::Args)]
pub struct FlowArgs {
    /// The traces and the window.
    #[command(flatten)]
    pub input: InputArgs,

    /// The form of the chart.
    #[command(flatten)]
    pub page: PageArgs,

    /// A window in seconds.
    #[command(flatten)]
    pub seconds: SecondsArgs,

    /// Include processes that only waited
    #[arg(long)]
    pub all: bool,

    /// Merge states that are shorter than the chart's time divided by this number
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: u64,
}

/// The arguments of `lttv chart usage`.
#[derive(Debug, Clone, clap::Args)]
pub struct UsageArgs {
    /// The traces and the window.
    #[command(flatten)]
    pub input: InputArgs,

    /// The form of the chart.
    #[command(flatten)]
    pub page: PageArgs,

    /// A window in seconds.
    #[command(flatten)]
    pub seconds: SecondsArgs,

    /// Draw the N processes with the most CPU time in the window
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,

    /// Width of the picture in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1200,
        value_parser = clap::value_parser!(u32).range(400..=10_000))]
    pub pixels: u32,
}

/// The arguments of `lttv chart latency`.
#[derive(Debug, Clone, clap::Args)]
pub struct LatencyChartArgs {
    /// The traces and the window.
    #[command(flatten)]
    pub input: InputArgs,

    /// The form of the chart.
    #[command(flatten)]
    pub page: PageArgs,

    /// The durations.
    #[command(flatten)]
    pub measure: MeasureArgs,

    /// Width of the picture in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1200,
        value_parser = clap::value_parser!(u32).range(500..=10_000))]
    pub pixels: u32,
}

impl LatencyChartArgs {
    /// Returns the families that are drawn: the chosen ones, or all but those that show system calls again.
    pub(super) fn families(&self) -> Vec<Family> {
        let chosen = self.measure.families();
        if !chosen.is_empty() {
            return chosen;
        }
        let again = [
            Family::FileOpen,
            Family::FileRead,
            Family::FileWrite,
            Family::FileSync,
            Family::Futex,
        ];
        Family::LATENCIES.into_iter().filter(|family| !again.contains(family)).collect()
    }
}

/// The arguments of `lttv chart counters`.
#[derive(Debug, Clone, clap::Args)]
pub struct CountersChartArgs {
    /// The traces and the window.
    #[command(flatten)]
    pub input: InputArgs,

    /// The form of the chart.
    #[command(flatten)]
    pub page: PageArgs,

    /// A window in seconds.
    #[command(flatten)]
    pub seconds: SecondsArgs,

    /// Draw the counters that a TOML file defines; or cpu-frequency, memory or markers, which need no
    /// file [default: these]; may be repeated
    #[arg(long, value_name = "FILE|NAME")]
    pub define: Vec<String>,

    /// Draw the N series with the most events
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,

    /// Width of the picture in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1200,
        value_parser = clap::value_parser!(u32).range(400..=10_000))]
    pub pixels: u32,
}

/// The arguments of `lttv chart flame`.
#[derive(Debug, Clone, clap::Args)]
pub struct FlameArgs {
    /// The traces and the window.
    #[command(flatten)]
    pub input: InputArgs,

    /// The destination.
    #[command(flatten)]
    pub output: OutputArgs,

    /// The options of names.
    #[command(flatten)]
    pub symbols: SymbolArgs,

    /// The pairs of events.
    #[command(flatten)]
    pub pairs: PairArgs,

    /// The choice of stacks.
    #[command(flatten)]
    pub source: SourceArgs,

    /// The threads.
    #[command(flatten)]
    pub threads: ThreadArgs,

    /// Format of the graph [default: that of the file's extension, otherwise svg]
    #[arg(long, value_enum)]
    pub format: Option<FlameFormat>,

    /// The frames below those of functions
    #[arg(long, value_enum, default_value_t)]
    pub by: FramesBelow,

    /// Width of the picture in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1200,
        value_parser = clap::value_parser!(u32).range(200..=20_000))]
    pub pixels: u32,

    /// The title of the picture [default: `Flame graph`, and what it is of]
    #[arg(long)]
    pub title: Option<String>,
}

/// A format of flame graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum FlameFormat {
    /// A picture, with the figures of each frame in its title
    Svg,
    /// Lines of stacks with their weight, of time in ns
    Folded,
    /// The JSON of speedscope, a viewer for browsers
    Speedscope,
}

impl FlameArgs {
    /// Returns the format: the requested one, or that of the file's extension.
    ///
    /// # Errors
    ///
    /// If the extension is that of another format.
    pub fn format(&self) -> Result<FlameFormat, Usage> {
        // The files of speedscope are JSON by their extension.
        let name = |format: FlameFormat| match format {
            FlameFormat::Svg => "svg",
            FlameFormat::Folded => "folded",
            FlameFormat::Speedscope => "json",
        };
        let named = |path: &PathBuf| {
            let given = self.format.map(name);
            extension::format(path, &["svg", "folded", "json"], given).map_err(Usage::new)
        };
        let named = self.output.output.as_ref().map(named).transpose()?.flatten();
        Ok(self.format.unwrap_or(match named {
            Some("folded") => FlameFormat::Folded,
            Some("json") => FlameFormat::Speedscope,
            _ => FlameFormat::Svg,
        }))
    }
}

/// The frames below those of functions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum FramesBelow {
    /// None: the calls of all threads are put together
    #[default]
    All,
    /// Each process has a frame
    Process,
    /// Each process and each thread has a frame
    Thread,
}

/// A format of charts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ChartFormat {
    /// A page for browsers, in one file
    Html,
    /// A picture
    Svg,
}

/// The destination and the format of a chart.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct PageArgs {
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Format of the chart [default: that of the file's extension, otherwise html]
    #[arg(long, value_enum)]
    pub format: Option<ChartFormat>,

    /// Same as --format svg
    #[arg(long, hide = true, conflicts_with = "format")]
    pub svg: bool,
}

/// A time window in seconds, as in earlier versions.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub struct SecondsArgs {
    /// Start of the chart, in seconds after the first event
    #[arg(long, hide = true, value_parser = seconds)]
    #[arg(conflicts_with_all = ["begin", "end", "timerange", "around"])]
    pub from: Option<f64>,

    /// Length of the chart in seconds
    #[arg(long, hide = true, value_parser = seconds)]
    #[arg(conflicts_with_all = ["begin", "end", "timerange", "around"])]
    pub seconds: Option<f64>,
}

impl PageArgs {
    /// Returns the format: the requested one, or that of the file's extension.
    ///
    /// # Errors
    ///
    /// If the extension is that of another format.
    pub fn format(&self) -> Result<ChartFormat, Usage> {
        if self.svg {
            return Ok(ChartFormat::Svg);
        }
        let name = |format: ChartFormat| match format {
            ChartFormat::Html => "html",
            ChartFormat::Svg => "svg",
        };
        let named = |path: &PathBuf| {
            let given = self.format.map(name);
            extension::format(path, &["html", "svg"], given).map_err(Usage::new)
        };
        let named = self.output.as_ref().map(named).transpose()?.flatten();
        Ok(self.format.unwrap_or(match named {
            Some("svg") => ChartFormat::Svg,
            _ => ChartFormat::Html,
        }))
    }
}

/// Parses a length of time, which must be finite and not negative.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds: Option<f64> = text.parse().ok();
    let seconds = seconds.filter(|seconds| (0.0..=1e9).contains(seconds));
    seconds.ok_or_else(|| "expected seconds, from 0 to 1000000000".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_determines_the_format() {
        let format = |output: &str, format| {
            let output = Some(output).filter(|it| !it.is_empty()).map(PathBuf::from);
            PageArgs { output, format, svg: false }.format().ok()
        };
        for (name, expected) in [
            ("", Some(ChartFormat::Html)),
            ("a/b.html", Some(ChartFormat::Html)),
            ("b.SVG", Some(ChartFormat::Svg)),
            ("/dev/null", Some(ChartFormat::Html)),
            ("b.png", None),
        ] {
            assert_eq!(format(name, None), expected, "{name}");
            let is_svg = ["", "b.SVG", "/dev/null"].contains(&name).then_some(ChartFormat::Svg);
            assert_eq!(format(name, Some(ChartFormat::Svg)), is_svg, "{name}");
        }
    }
}
