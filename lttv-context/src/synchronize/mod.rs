//! Relates the clocks of several hosts by the messages between them.
//!
//! A message is received after it was sent. Many messages in both directions therefore limit the
//! relation of two clocks, usually to some tens of microseconds.
//!
//! | part | task |
//! |---|---|
//! | [`matching`] | events to messages, by [rules](matching::Rules) that callers can add |
//! | [`pairs`] | the messages of two hosts to the lines that satisfy all of them |
//! | [`graph`] | the pairs of many hosts to one [`ClockTransform`] for each host |
//!
//! Each part can be used alone. [`synchronize`] joins them:
//!
//! ```
//! use lttv_context::Traceset;
//! use lttv_context::synchronize::{Options, synchronize};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let traceset = Traceset::open(path)?;
//! let found = synchronize(&traceset, &Options::default());
//! for (host, clock) in found.hosts.all().iter().zip(found.clocks.hosts()) {
//!     println!("{}: {:?}", host.id, clock.transform());
//! }
//! # assert_eq!(found.clocks.hosts().len(), 1);
//! # Ok::<(), ltt_read::Error>(())
//! ```
//!
//! # Accuracy
//!
//! Every line that satisfies all messages is possible, and no message says which one is true. The
//! result contains one of them, and the [band](graph::HostClock::band_at) of all. The true time is
//! in the band if each matched pair of events is one message. A pair whose messages no line
//! satisfies has no transform, but a [contradiction](pairs::Contradiction) with its size.
//!
//! [`ClockTransform`]: ltt_read::ClockTransform

pub mod graph;
pub mod matching;
mod message;
pub mod pairs;

use ltt_read::Error;

pub use message::{HostIndex, Message};

use crate::traceset::Traceset;
use graph::{Network, Synchronization};
use matching::{Hosts, MatchCounts, MatchLimits, Rules, read_messages};

/// The options of [`synchronize`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The rules that find messages. The default is [`Rules::built_in`].
    pub rules: Rules,
    /// The hosts of the traceset. The default, `None`, is [`Hosts::of`].
    pub hosts: Option<Hosts>,
    /// The limits of matching.
    pub limits: MatchLimits,
    /// The reference of its island: see [`Network::solve`].
    pub reference: Option<HostIndex>,
}

impl Default for Options {
    fn default() -> Self {
        let (rules, limits) = (Rules::built_in(), MatchLimits::default());
        Options { rules, hosts: None, limits, reference: None }
    }
}

/// The result of [`synchronize`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Synchronized {
    /// The hosts of the traceset.
    pub hosts: Hosts,
    /// The relations of the clocks, by host.
    pub clocks: Synchronization,
    /// The numbers of events and messages.
    pub counts: MatchCounts,
    /// The errors of data that could not be read and was skipped.
    pub errors: Vec<Error>,
    /// The number of further errors.
    pub errors_omitted: u64,
}

/// Reads a traceset once and relates the clocks of its hosts.
pub fn synchronize(traceset: &Traceset, options: &Options) -> Synchronized {
    let hosts = options.hosts.clone().unwrap_or_else(|| Hosts::of(traceset));
    let mut network = Network::new(hosts.all().iter().map(|host| host.id.as_str()));
    let read = read_messages(traceset, &hosts, &options.rules, options.limits, |message| {
        network.add(&message);
    });
    let clocks = network.solve(options.reference);
    let (counts, errors, errors_omitted) = (read.counts, read.errors, read.errors_omitted);
    Synchronized { hosts, clocks, counts, errors, errors_omitted }
}
