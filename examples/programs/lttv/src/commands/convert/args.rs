//! The command line of `lttv convert`.

use std::path::PathBuf;
use std::str::FromStr;

use ltt_read::schema::Format;
use lttv_common::args::InputArgs;
use lttv_common::report::Usage;

const EXAMPLES: &str = "\
Examples:
  lttv convert TRACE -o part --begin 12:30:01 --end 12:30:02
  lttv convert TRACE -o part --begin 12:30:01 --with-statedump   with the names and files of processes
  lttv convert TRACE -o switches --events 'sched_*'
  lttv convert TRACE -o minutes --split 1min
  lttv convert client/ server/ -o both --sync                    in the time of one clock
  lttv convert TRACE-OF-2008 -o new --modern-names               for today's tools
  lttv convert TRACE -o trace.json --to perfetto                 for https://ui.perfetto.dev

DIR gets a folder for each trace below the folder that all traces have in common. It appears when
everything is written, or not at all. Packets that lie within what is wanted are copied as they
are. What the target format cannot express is reported once, by name.";

/// Trim, split, merge and convert traces
///
/// The exit status is 1 if a part of the input could not be read; the rest is written.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct ConvertArgs {
    /// The traces, the window and the filters.
    #[command(flatten)]
    pub input: InputArgs,

    /// The directory to create, or with --to=perfetto the file
    #[arg(short, long, value_name = "DIR", required = true)]
    pub output: PathBuf,

    /// The format of the result [default: that of each trace; ctf1.8 for formats before CTF;
    /// perfetto if the output is called `.json`]
    #[arg(long, value_name = "FORMAT", value_enum, help_heading = "Output")]
    pub to: Option<Target>,

    /// With --to=perfetto also show the periods that a TOML file defines; or cpu-idle, locks, net-transmit or
    /// ros2-callbacks, which need no file; may be repeated
    #[arg(long, value_name = "FILE|NAME", help_heading = "Output")]
    pub define: Vec<String>,

    /// Keep only events of these types; `*` stands for any text
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "Selection")]
    pub events: Vec<String>,

    /// Keep only streams of these channels, or with these file names; `*` stands for any text
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', help_heading = "Selection")]
    pub streams: Vec<String>,

    /// Keep only streams of these CPUs, such as 0,2-5
    #[arg(long, value_name = "CPU,…", value_delimiter = ',', help_heading = "Selection")]
    pub cpus: Vec<CpuRange>,

    /// Start with the state of processes and files at the begin of each window, as events of a
    /// state dump
    #[arg(long, help_heading = "Output")]
    pub with_statedump: bool,

    /// Divide the result into parts of at most this duration (10s, 5min), size (100M) or number of
    /// events (1000000)
    #[arg(long, value_name = "LIMIT", help_heading = "Output")]
    pub split: Option<Split>,

    /// Write packets of at most this size, such as 64K; smaller ones make windows faster
    #[arg(long, value_name = "SIZE", help_heading = "Output")]
    pub packet_size: Option<Size>,

    /// Divide the files of streams so that none is larger than this
    #[arg(long, value_name = "SIZE", help_heading = "Output")]
    pub file_size: Option<Size>,

    /// Give events and fields of formats before CTF the names that LTTng uses today
    #[arg(long, help_heading = "Output")]
    pub modern_names: bool,

    /// Replace all texts but the names of events and fields, and addresses, each by the same one
    /// everywhere
    #[arg(long, help_heading = "Output")]
    pub anonymise: bool,
}

/// A format of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Target {
    /// Common Trace Format 2
    Ctf2,
    /// Common Trace Format 1.8
    #[value(name = "ctf1.8", alias = "ctf1")]
    Ctf1,
    /// A JSON file of states and events for the Perfetto UI
    Perfetto,
}

impl Target {
    /// Returns the trace format; `None` if the result is no trace.
    pub fn format(self) -> Option<Format> {
        match self {
            Target::Ctf2 => Some(Format::Ctf2),
            Target::Ctf1 => Some(Format::Ctf1),
            Target::Perfetto => None,
        }
    }
}

/// A size in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

impl FromStr for Size {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        const WRONG: &str = "expected a size, such as 4096, 64K, 10M or 2G";
        let units = [("K", 10), ("M", 20), ("G", 30), ("T", 40)];
        let plain = text.strip_suffix("iB").or(text.strip_suffix('B')).unwrap_or(text);
        let unit = units.iter().find_map(|(unit, shift)| Some((plain.strip_suffix(unit)?, shift)));
        let (number, shift) = unit.unwrap_or((plain, &0));
        let number: u64 = number.trim_end().parse().map_err(|_| WRONG)?;
        let bytes = number.checked_mul(1 << shift).filter(|bytes| *bytes > 0);
        bytes.map(Size).ok_or(WRONG)
    }
}

/// The limit of the parts of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split {
    /// A duration in ns.
    Time(i64),
    /// A size in bytes.
    Size(u64),
    /// A number of events.
    Count(u64),
}

impl FromStr for Split {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        const WRONG: &str = "expected a duration (10s, 5min), a size (100M) or a number of events";
        const UNITS: [(&str, i64); 7] = [
            ("min", 60_000_000_000),
            ("ms", 1_000_000),
            ("us", 1_000),
            ("µs", 1_000),
            ("ns", 1),
            ("s", 1_000_000_000),
            ("h", 3_600_000_000_000),
        ];
        if let Ok(count) = text.parse::<u64>() {
            return if count > 0 { Ok(Split::Count(count)) } else { Err(WRONG) };
        }
        let unit = UNITS.iter().find_map(|(unit, ns)| Some((text.strip_suffix(unit)?, *ns)));
        if let Some((number, ns)) = unit {
            let number: i64 = number.trim_end().parse().map_err(|_| WRONG)?;
            let time = number.checked_mul(ns).filter(|time| *time > 0);
            return time.map(Split::Time).ok_or(WRONG);
        }
        text.parse::<Size>().map(|size| Split::Size(size.0)).map_err(|_| WRONG)
    }
}

/// A range of CPU numbers, inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuRange {
    first: u32,
    last: u32,
}

impl CpuRange {
    /// Returns `true` if the range contains a CPU.
    pub fn contains(self, cpu: u32) -> bool {
        (self.first..=self.last).contains(&cpu)
    }
}

impl FromStr for CpuRange {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let number = |text: &str| text.trim().parse::<u32>();
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (number(first), number(last)) {
            (Ok(first), Ok(last)) if first <= last => Ok(CpuRange { first, last }),
            _ => Err("expected CPU numbers, such as 0,2-5"),
        }
    }
}

impl ConvertArgs {
    /// Returns `true` if parts of the result start with a state dump.
    pub fn dumps_state(&self) -> bool {
        let has_begin = self.input.has_begin() || self.split.is_some();
        self.with_statedump && has_begin
    }

    /// Refuses options without an effect on the result.
    ///
    /// # Errors
    ///
    /// If there is one.
    pub fn refuse_without_effect(&self) -> Result<(), Usage> {
        if self.to != Some(Target::Perfetto) {
            if !self.define.is_empty() {
                return Err(Usage::new("--define has a use with --to=perfetto only"));
            }
            return match self.with_statedump && !self.dumps_state() {
                true => Err(Usage::new(
                    "--with-statedump has no use without --begin, --timerange or --split: the \
                     result starts with the state dump of the trace",
                )),
                false => Ok(()),
            };
        }
        let of_traces = [
            (self.with_statedump, "--with-statedump"),
            (self.split.is_some(), "--split"),
            (self.packet_size.is_some(), "--packet-size"),
            (self.file_size.is_some(), "--file-size"),
            (self.modern_names, "--modern-names"),
            (self.anonymise, "--anonymise"),
            (!self.streams.is_empty(), "--streams"),
            (!self.cpus.is_empty(), "--cpus"),
        ];
        match of_traces.iter().find(|(is_given, _)| *is_given) {
            Some((_, option)) => {
                Err(Usage::new(format_args!("{option} has no use with --to=perfetto")))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_limits() {
        assert_eq!("64K".parse(), Ok(Size(65536)));
        assert_eq!("1 MiB".parse(), Ok(Size(1 << 20)));
        assert!("0".parse::<Size>().is_err() && "K".parse::<Size>().is_err());
        assert!("99999999999T".parse::<Size>().is_err());
        assert_eq!("10s".parse(), Ok(Split::Time(10_000_000_000)));
        assert_eq!("5min".parse(), Ok(Split::Time(300_000_000_000)));
        assert_eq!("100M".parse(), Ok(Split::Size(100 << 20)));
        assert_eq!("1000".parse(), Ok(Split::Count(1000)));
        assert!("0s".parse::<Split>().is_err() && "x".parse::<Split>().is_err());
    }

    #[test]
    fn cpu_ranges() {
        let range: CpuRange = "2-5".parse().unwrap();
        assert!(range.contains(2) && range.contains(5) && !range.contains(6));
        assert!("5-2".parse::<CpuRange>().is_err() && "a".parse::<CpuRange>().is_err());
    }
}
