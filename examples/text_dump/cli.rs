//! The command line. Options that babeltrace2 also has are spelt as there.

use std::path::PathBuf;

use jiff::tz::TimeZone;
use lttv_examples::bundled::bundled_trace;
use lttv_examples::text_dump::clock_text::{ClockStyle, ClockText};
use lttv_examples::text_dump::lttv::LineOptions;
use lttv_examples::text_dump::options::{HeaderField, HeaderFields, NameGroup, Names};
use lttv_examples::text_dump::palette::Color;
use lttv_examples::text_dump::pretty::PrettyOptions;
use lttv_examples::text_dump::zone::local_zone;
use lttv_examples::time::{TimeArg, TimeRange};
use lttv_filter::Zone;

/// Print the events of traces as text, in time order
///
/// Each TRACE is a directory; all traces in it are read, at any depth. Without TRACE, prints
/// the bundled kernel trace.
#[derive(Debug, clap::Parser)]
#[command(name = "text_dump", version, after_long_help = AFTER_HELP)]
pub(crate) struct Cli {
    /// Directories that contain traces
    #[arg(value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,

    /// Format of the output
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,

    /// Skip events before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) begin: Option<TimeArg>,

    /// Stop after the events of this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) end: Option<TimeArg>,

    /// Same as --begin=FROM --end=TO; each may be empty
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["begin", "end"])]
    pub(crate) timerange: Option<TimeRange>,

    /// Print only events for which this expression is true; several must all be true
    #[arg(short = 'e', long = "filter", value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) filters: Vec<String>,

    /// Print times in cycles of the clock
    #[arg(long)]
    clock_cycles: bool,

    /// Print times in seconds since the epoch [default with lttv]
    #[arg(long)]
    clock_seconds: bool,

    /// Print dates with times
    #[arg(long)]
    clock_date: bool,

    /// Take and print times in UTC instead of the local time zone
    #[arg(long)]
    clock_gmt: bool,

    /// Do not print the time since the previous event (babeltrace)
    #[arg(long)]
    no_delta: bool,

    /// Names to print (babeltrace) [default: payload,context]
    #[arg(short, long, value_name = "NAME,…", value_enum, value_delimiter = ',')]
    names: Vec<NameGroup>,

    /// Header fields to print (babeltrace)
    /// [default: trace:hostname,trace:procname,trace:vpid]
    #[arg(short, long, value_name = "FIELD,…", value_enum, value_delimiter = ',')]
    fields: Vec<HeaderField>,

    /// Print the process that runs, for all kernel traces (lttv)
    #[arg(long)]
    process: bool,

    /// Print the process that runs with its status, for all kernel traces (lttv)
    #[arg(long)]
    process_state: bool,

    /// Use of colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub(crate) color: Color,

    /// Write to a file instead of standard output
    #[arg(short, short_alias = 'w', long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Read and order all events, but print only their number
    #[arg(long)]
    pub(crate) count: bool,
}

/// A format of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub(crate) enum Format {
    /// channel.event: sec.nsec (trace/tracefile), context = value { field = value }
    #[default]
    Lttv,
    /// Byte for byte the output of babeltrace2
    Babeltrace,
    /// One JSON object per line
    Json,
}

const AFTER_HELP: &str = "\
Times:
  YYYY-MM-DD [hh:mm[:ss[.NANO]]]   a date and time (local, unless --clock-gmt)
  hh:mm[:ss[.NANO]]                on the day of the first event
  [-]SEC[.NANO]                    seconds since the origin of the clock
  +TIME, -TIME                     after the first, before the last event: +1.5, +20ms, -1s
A Z after a date or a time of day means UTC. Units are ns, us, ms, s, min and h.
Events without a time are omitted if a begin or an end is given.

With --process, lines of kernel traces contain the process that runs on the CPU after the event:
pid, thread group, name, brand, parent, function and mode; what is unknown is ? or empty. Lines of
LTTng 0.x traces always contain it, in the form of LTTV: what is unknown is 0.

Filters compare fields with values, such as
  event.name == sched_switch && next_tid != 0
  event.name =~ \"syscall_*\" && !(ret >= 0) && tracefile.cpu in (0, 1)
  event.time >= 03:02:07.5 && exists(event.context.vpid)
with ==, !=, <, <=, >, >=, =~ (a pattern), in; combined by &&, ||, ^, ! and parentheses. Fields are
named alone, or by event.fields.EVENT.FIELD, event.fields.*.FIELD, event.context.FIELD,
packet.context.FIELD. Other names are event.name, event.time, event.loglevel, channel.name,
tracefile.name, tracefile.cpu, trace.name, trace.env.NAME; and for kernel traces state.pid,
state.process_name, state.execution_mode and others.

JSON objects contain `timestamp` (nanoseconds, null without a clock), `cycles`, `trace`,
`tracefile`, `cpu`, `name`, `id`, and `packet_context`, `common_context`, `specific_context` and
`fields` if the event has them. Integers have all their digits, also beyond 2^53. Enumerations are
{\"value\":4,\"labels\":[\"RANGE\"]}, bit maps {\"value\":5,\"flags\":[\"a\"]}, variants
{\"option\":\"name\",\"value\":…}; blobs are strings of hexadecimal digits, absent options null;
NaN and infinities are the strings \"nan\", \"inf\" and \"-inf\".

Control characters in names and texts, controls of bidirectional text, and bytes that are not
UTF-8 are printed as escapes: \\n, \\x1b, \\u{202e}; in JSON, as \\u202e. Only --format=babeltrace
writes them unchanged to files and pipes, as babeltrace2 does; to a terminal it escapes them.

Exit status: 0 if everything was read and written; 1 if something could not be read or written, or a
stream ended with an error (everything before it and all other streams are printed); 2 for a wrong
command line: options, times, filters, or an output that would replace a file of a trace.";

impl Cli {
    /// Returns the time zone of times that are parsed and printed.
    pub(crate) fn zone(&self) -> TimeZone {
        if self.clock_gmt { TimeZone::UTC } else { local_zone() }
    }

    /// Returns the time zone of times in filters.
    pub(crate) fn filter_zone(&self) -> Zone {
        if self.clock_gmt { Zone::UTC } else { Zone::local() }
    }

    /// Returns a printer of timestamps.
    pub(crate) fn clock(&self) -> ClockText {
        let style = if self.clock_cycles {
            ClockStyle::Cycles
        } else if self.clock_seconds {
            ClockStyle::Seconds
        } else if self.clock_date {
            ClockStyle::DateTime
        } else if self.format == Format::Babeltrace {
            ClockStyle::TimeOfDay
        } else {
            ClockStyle::Seconds
        };
        ClockText::new(style, self.zone())
    }

    /// Returns the options of LTTV's lines.
    pub(crate) fn line_options(&self) -> LineOptions {
        LineOptions {
            process: self.process || self.process_state,
            process_state: self.process_state,
            ..LineOptions::default()
        }
    }

    /// Returns the options of babeltrace's text.
    pub(crate) fn pretty(&self, colored: bool, to_terminal: bool) -> PrettyOptions {
        PrettyOptions {
            names: Names::of(&self.names),
            fields: HeaderFields::of(&self.fields),
            delta: !self.no_delta,
            colored,
            // To files and pipes, the bytes are those of babeltrace2.
            escaped: to_terminal,
        }
    }

    /// Returns the first and the last time of the window, inclusive.
    pub(crate) fn bounds(&self) -> (Option<&TimeArg>, Option<&TimeArg>) {
        match &self.timerange {
            Some(range) => (range.from.as_ref(), range.to.as_ref()),
            None => (self.begin.as_ref(), self.end.as_ref()),
        }
    }

    /// Returns the paths of the traces to read, or of the bundled trace if none is given.
    pub(crate) fn paths(&self) -> Result<Vec<PathBuf>, String> {
        if !self.traces.is_empty() {
            return Ok(self.traces.clone());
        }
        bundled_trace().map(|path| vec![path])
    }
}
