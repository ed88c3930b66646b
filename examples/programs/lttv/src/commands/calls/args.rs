//! The options that choose calls.

use std::sync::Arc;

use ltt_read::Trace;
use lttv_common::report::Usage;
use lttv_state::call_stacks::{CallRules, EventPair, ThreadId, ThreadKey};

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

/// The options that choose threads.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ThreadArgs {
    /// Show only these processes
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    pub process: Vec<i64>,

    /// Show only the calls of these threads
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    pub thread: Vec<i64>,
}

impl ThreadArgs {
    /// Returns `true` for a thread to show.
    pub fn has(&self, key: ThreadKey) -> bool {
        let tid = match key.thread {
            ThreadId::Tid(tid) => Some(tid),
            _ => None,
        };
        self.has_process(key.process) && has(&self.thread, tid)
    }

    /// Returns `true` for a process to show.
    pub fn has_process(&self, process: Option<i64>) -> bool {
        has(&self.process, process)
    }
}

fn has(ids: &[i64], id: Option<i64>) -> bool {
    ids.is_empty() || id.is_some_and(|id| ids.contains(&id))
}
