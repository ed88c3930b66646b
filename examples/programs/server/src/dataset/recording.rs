//! The times in which each tracefile was recorded, and those in which events were lost.

use ltt_read::{NoticeKind, Timestamp, TracefileIndex};
use lttv_context::Traceset;
use lttv_state::history::{Builder, History, HistoryError};
use lttv_state::tree::Quark;

/// The state of a tracefile whose events were recorded.
pub const RECORDED: &str = "recorded";
/// The state of a tracefile whose events were lost, all or some.
pub const LOST: &str = "lost";

/// The greatest number of losses of a tracefile that are shown.
const MOST: usize = 100_000;

/// Returns a history with an attribute for each tracefile, such as `0/3` for tracefile 3 of
/// trace 0. `span` is that of all traces, in ns.
pub(super) fn history(traceset: &Traceset, span: (i64, i64)) -> Result<History, HistoryError> {
    let mut builder = Builder::in_memory(Timestamp::from_ns(span.0));
    let mut changes: Vec<(i64, Quark, Option<&str>)> = Vec::new();
    for (number, trace) in traceset.traces().iter().enumerate() {
        for tracefile in 0..trace.tracefiles().len() {
            let quark = builder.add(&format!("{number}/{tracefile}"))?;
            let index = TracefileIndex(tracefile);
            let Some(of) = trace.time_span_of(index) else { continue };
            let (start, end) = (of.start.as_ns(), of.end.as_ns());
            let mut lost: Vec<(i64, i64)> = Vec::new();
            for notice in trace.losses(index).iter().take(MOST) {
                let (NoticeKind::DiscardedEvents { start: from, end: to, .. }
                | NoticeKind::LostPackets { start: from, end: to, .. }) = &notice.kind
                else {
                    continue;
                };
                let from = from.map_or(start, |from| from.as_ns());
                let to = to.map_or(end, |to| to.as_ns());
                lost.push((from.clamp(start, end), to.clamp(start, end)));
            }
            lost.sort_unstable();
            let mut reached = start;
            changes.push((start, quark, Some(RECORDED)));
            for (from, to) in lost {
                let from = from.max(reached);
                if from < to {
                    changes.push((from, quark, Some(LOST)));
                    changes.push((to, quark, Some(RECORDED)));
                    reached = to;
                }
            }
            if end < span.1 {
                changes.push((end + 1, quark, None));
            }
        }
    }
    changes.sort_by_key(|(time, ..)| *time);
    for (time, quark, state) in changes {
        builder.set(quark, Timestamp::from_ns(time.max(span.0)), state)?;
    }
    builder.close(Timestamp::from_ns(span.1.saturating_add(1)))
}
