//! The option of pairs of events.

use std::sync::Arc;

use ltt_read::Trace;
use lttv_common::report::Usage;
use lttv_state::call_stacks::{CallRules, EventPair};

/// The option of pairs of events.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct PairArgs {
    /// Follow calls of this name between events that two expressions select; may be repeated
    #[arg(long, num_args = 3, value_names = ["NAME", "BEGIN", "END"])]
    pub pair: Vec<String>,
}

impl PairArgs {
    /// Returns the rules of calls with these pairs.
    ///
    /// # Errors
    ///
    /// If an expression is wrong.
    pub fn rules(&self, traces: &[Arc<Trace>]) -> Result<CallRules, Usage> {
        let pair = |words: &[String]| {
            let [name, begin, end] = words else { return Err(Usage::new("--pair has 3 values")) };
            EventPair::of_events(name.as_str(), begin, end)
                .map_err(|error| Usage::filter("--pair:", &error))
        };
        let pairs: Vec<EventPair> = self.pair.chunks(3).map(pair).collect::<Result<_, _>>()?;
        CallRules::with_pairs(&pairs, traces).map_err(|error| Usage::filter("--pair:", &error))
    }
}
