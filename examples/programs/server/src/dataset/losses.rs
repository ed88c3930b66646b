//! Lost events and packets.

use ltt_read::{NoticeKind, TracefileIndex};
use lttv_context::Traceset;

use super::Group;

/// A range of time in which the tracer has lost events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// The number of the group.
    pub group: usize,
    /// The start, in ns.
    pub start: i64,
    /// The end, in ns.
    pub end: i64,
    /// The number of lost events, if it is known; 0 for packets.
    pub events: u64,
}

/// The greatest number of losses that are stored.
const MOST: usize = 100_000;

/// Finds the losses of all traces, in order of time. Damaged traces may have many: only the
/// first ones of each tracefile are kept then.
pub(super) fn of(traceset: &Traceset, groups: &[Group]) -> Vec<Loss> {
    let mut losses = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        for trace in &traceset.traces()[group.traces.clone()] {
            for tracefile in 0..trace.tracefiles().len() {
                let notices = trace.losses(TracefileIndex(tracefile));
                losses.extend(notices.iter().filter_map(|notice| {
                    let (events, start, end) = match notice.kind {
                        NoticeKind::DiscardedEvents { count, start, end } => {
                            (count.unwrap_or(0), start, end)
                        }
                        NoticeKind::LostPackets { start, end, .. } => (0, start, end),
                        _ => return None,
                    };
                    let end = end.map_or(group.span.1, |end| end.as_ns());
                    let start = start.map_or(group.span.0, |start| start.as_ns()).min(end);
                    Some(Loss { group: number, start, end, events })
                }));
                losses.truncate(MOST);
            }
        }
    }
    losses.sort_by_key(|loss| (loss.start, loss.end));
    losses
}
