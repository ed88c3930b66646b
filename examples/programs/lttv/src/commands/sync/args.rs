//! The command line of `lttv sync`.

use std::path::PathBuf;
use std::str::FromStr;

use lttv_common::args::{FormatArgs, OutputArgs};
use lttv_common::clocks::find_host;
use lttv_common::report::Usage;
use lttv_context::Traceset;
use lttv_context::synchronize::HostIndex;
use lttv_context::synchronize::matching::Hosts;

const EXAMPLES: &str = "\
Examples:
  lttv sync client/ server/                              how well the clocks are related
  lttv sync client/ server/ --write clocks.json          for --clock-transform of all commands
  lttv sync client/ server/ --check clocks.json          messages that arrive before they are sent
  lttv sync client/ server/ --picture messages.svg
  lttv sync client/ server/ --table pairs --format csv

Tables: hosts (the transform of each clock), pairs (the hosts that exchange messages), counts (sends
and receives). With --check: messages.

DRIFT is that of the clock against its reference, or of the second host of a pair against the first.
OFFSET is what is added to the times of a host in the middle of its messages. ACCURACY is the
greatest possible error while a host exchanges messages. BAND is the width of the range of possible
times of a pair, and LEAST DELAY that of its messages with the transforms.

Needs events of messages in both directions, on each host: of LTTng net_dev_queue and
net_if_receive_skb.";

/// Relate the clocks of several machines by the messages between them
///
/// The transforms can be used at once with the option --sync of other commands, or written to a
/// file. The exit status is 1 if no clock is related to another one.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct SyncArgs {
    /// Directories that contain traces [default: the bundled kernel trace, if there is one]
    #[arg(value_name = "TRACE")]
    pub traces: Vec<PathBuf>,

    /// Map the times to the clock of this host, named by itself or a trace [default: the host
    /// with the most accurate relations to the others]
    #[arg(long, value_name = "HOST")]
    pub reference: Option<String>,

    /// Write the transforms to this file, in JSON
    #[arg(long, value_name = "FILE")]
    pub write: Option<PathBuf>,

    /// Count the messages that arrive before they are sent, without and with the transforms of this
    /// file; the exit status is 1 if some remain
    #[arg(long, value_name = "FILE", conflicts_with_all = ["reference", "write", "picture", "pair"])]
    pub check: Option<PathBuf>,

    /// Draw the messages of a pair of hosts, and the possible relations of their clocks
    #[arg(long, value_name = "FILE.svg")]
    pub picture: Option<PathBuf>,

    /// The hosts in the picture [default: those with the most messages]
    #[arg(long, value_name = "A,B")]
    pub pair: Option<PairArg>,

    /// The form of the results.
    #[command(flatten)]
    pub format: FormatArgs,

    /// The destination of the results.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The names of two hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairArg {
    first: String,
    second: String,
}

impl FromStr for PairArg {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text.split_once(',') {
            Some((first, second)) if !first.is_empty() && !second.is_empty() => {
                Ok(PairArg { first: first.to_owned(), second: second.to_owned() })
            }
            _ => Err("expected two names of hosts, `A,B`"),
        }
    }
}

impl PairArg {
    /// Finds the hosts.
    ///
    /// # Errors
    ///
    /// If there is no host of a name, or if both are the same.
    pub fn hosts(
        &self,
        hosts: &Hosts,
        traceset: &Traceset,
    ) -> Result<(HostIndex, HostIndex), Usage> {
        let host = |name: &str| find_host("--pair", name, hosts, traceset);
        match (host(&self.first)?, host(&self.second)?) {
            (a, b) if a == b => Err(Usage::new("--pair: both names are of the same host")),
            both => Ok(both),
        }
    }
}
