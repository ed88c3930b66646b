//! One pass over a traceset that finds messages.

use ltt_read::{Error, Merge};

use super::hosts::Hosts;
use super::matcher::{MatchCounts, MatchLimits, Matcher};
use super::message_events::MessageEvents;
use super::rule::Rules;
use crate::synchronize::message::Message;
use crate::traceset::Traceset;

/// The result of [`read_messages`].
#[derive(Debug)]
#[non_exhaustive]
pub struct MessagesRead {
    /// The numbers of ends and messages.
    pub counts: MatchCounts,
    /// The errors of data that could not be read and was skipped.
    pub errors: Vec<Error>,
    /// The number of further errors.
    pub errors_omitted: u64,
}

/// Reads a traceset once, and calls `found` for each message between two hosts.
///
/// Only the events that the rules name are put in order and examined, and tracefiles without such
/// event types are not read. Damaged data is skipped and reported in the result.
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_context::synchronize::matching::{Hosts, Rules, read_messages};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let hosts = Hosts::of(&traceset);
/// let read = read_messages(&traceset, &hosts, &Rules::built_in(), Default::default(), |_| {});
/// assert_eq!(read.counts.messages, 0); // a trace of one host
/// # Ok::<(), ltt_read::Error>(())
/// ```
pub fn read_messages(
    traceset: &Traceset,
    hosts: &Hosts,
    rules: &Rules,
    limits: MatchLimits,
    mut found: impl FnMut(Message),
) -> MessagesRead {
    let mut events = MessageEvents::new(traceset, hosts, rules);
    let mut matcher = Matcher::new(limits);
    let wanted = |trace, tracefile| events.may_want(trace, tracefile);
    let mut merge = Merge::with_tracefiles(traceset.traces(), wanted);
    while let Some(event) =
        merge.next_where(|event| events.wants(event.trace_index(), event.type_id()))
    {
        if let Some(end) = events.end_of(&event) {
            matcher.add(&end, &mut found);
        }
    }
    let errors_omitted = merge.errors_omitted();
    MessagesRead { counts: matcher.counts(), errors: merge.take_errors(), errors_omitted }
}
