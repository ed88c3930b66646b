//! The options of `lttv counters`.

use lttv_common::args::Common;
use lttv_common::cache::CacheArgs;
use lttv_common::time::parse_length;

const EXAMPLES: &str = "\
Examples:
  lttv counters TRACE                                 the counters that come with the program
  lttv counters --define cpu-frequency TRACE          the frequencies of CPUs
  lttv counters --define mine.toml --every 100ms TRACE    over time
  lttv counters --define mine.toml --format csv TRACE
  lttv chart counters --define mine.toml -o counters.svg TRACE

A file has a table [[counter]] for each counter, with name, event (a filter), value (a field), and
perhaps delta = true (the field is an increment), key = [\"LABEL=FIELD\"] (what tells series apart),
unit; or, in place of value, marker (a text such as C|PID|NAME|VALUE).

A value holds from its event up to the next one. LEAST, GREATEST and MEAN are over the time in which it
is known, also from an event before the window; FIRST and LAST are those after events of the window.

Without --top, text has 50 rows.";

/// Show numeric fields of events over time, such as frequencies of CPUs
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct CountersArgs {
    /// The options of all analyses.
    #[command(flatten)]
    pub common: Common,
    /// The place of saved states.
    #[command(flatten)]
    pub cache: CacheArgs,

    /// Show the counters that a TOML file defines; or cpu-frequency, memory or markers, which need no
    /// file [default: these]; may be repeated
    #[arg(long, value_name = "FILE|NAME")]
    pub define: Vec<String>,

    /// Show the figures of each interval of this length, such as 100ms
    #[arg(long, value_name = "LENGTH", value_parser = parse_length)]
    pub every: Option<u64>,
}
