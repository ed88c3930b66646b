//! The time for which processes were blocked, by what they waited for.

use std::collections::BTreeMap;
use std::ops::Range;

use ltt_read::Timestamp;
use lttv_state::waits::{Timeline, TimelineId, WaitGraph};

use super::command::command;
use super::handled::Handled;
use crate::models::waits::known;

/// A kind of waits: the command, and the cause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Wait {
    pub(crate) command: String,
    /// The system call in which they waited; empty if there was none.
    pub(crate) place: String,
    /// The name of the cause.
    pub(crate) cause: &'static str,
    /// The command or the source of the wake-up that ended the wait; empty if it is not known.
    pub(crate) woken_by: String,
}

/// Adds the waits of all threads in a window.
pub(super) fn add_waits(
    sums: &mut BTreeMap<Wait, Handled>,
    graph: &WaitGraph,
    window: &Range<Timestamp>,
) {
    for (id, timeline) in graph.timelines().filter(|(_, timeline)| !timeline.is_idle()) {
        for blocker in graph.blockers(id, window.clone()) {
            let source = || graph.source_label(timeline.trace(), blocker.source);
            let thread = blocker.thread.map(|thread| command_of(graph, thread));
            let wait = Wait {
                command: command_of(graph, id),
                place: known(graph.name(timeline.trace(), blocker.call))
                    .unwrap_or_default()
                    .to_owned(),
                cause: blocker.cause.label(),
                woken_by: thread.or_else(source).unwrap_or_default(),
            };
            sums.entry(wait).or_default().add(blocker.times.count(), blocker.times.total());
        }
    }
}

fn command_of(graph: &WaitGraph, id: TimelineId) -> String {
    command(graph.timeline(id).map(Timeline::tid), graph.command(id))
}
