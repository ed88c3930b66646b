//! A range of time in which something was lost.

use std::path::Path;
use std::sync::Arc;

use ltt_read::{Notice, NoticeKind, Timestamp, TraceIndex, TracefileIndex};

use crate::time::Window;

/// The kind of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// Event records for which the tracer had no room.
    Events,
    /// Whole packets, which were overwritten or not written.
    Packets,
}

/// A range of time in which a tracefile lost events or packets. If it extends beyond a window, it
/// is cut at the limits of the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LossRange {
    /// The index of the trace.
    pub trace: TraceIndex,
    /// The index of the tracefile in its trace.
    pub tracefile: TracefileIndex,
    /// The path of the file.
    pub file: Arc<Path>,
    /// The kind of the loss.
    pub what: Lost,
    /// The number lost; `None` if the tracer did not count, or if the range was cut.
    pub count: Option<u64>,
    /// The number lost at most; `None` if the tracer did not count.
    pub at_most: Option<u64>,
    /// The earliest time of the loss; `None` if it is unknown.
    pub start: Option<Timestamp>,
    /// The latest time of the loss; `None` if it is unknown.
    pub end: Option<Timestamp>,
}

impl LossRange {
    /// Creates the range of a notice. Returns `None` if the notice is no loss, or outside of the
    /// window.
    pub(super) fn new(
        notice: &Notice,
        trace: TraceIndex,
        tracefile: TracefileIndex,
        window: Window,
    ) -> Option<Self> {
        let (what, whole, start, end) = match notice.kind {
            NoticeKind::DiscardedEvents { count, start, end } => (Lost::Events, count, start, end),
            NoticeKind::LostPackets { count, start, end } => {
                (Lost::Packets, Some(count), start, end)
            }
            _ => return None,
        };
        let file = Arc::clone(&notice.file);
        LossRange { trace, tracefile, file, what, count: whole, at_most: whole, start, end }
            .within(window)
    }

    /// Returns the part of the range in a window; `None` if it is outside of the window.
    pub(super) fn within(&self, window: Window) -> Option<Self> {
        let (start, end) = (self.start, self.end);
        let is_before = window.begin.zip(end).is_some_and(|(begin, end)| end < begin);
        let is_after = window.end.zip(start).is_some_and(|(last, start)| start > last);
        if is_before || is_after {
            return None;
        }
        // A missing time of the loss has no limit, a missing limit of the window cuts nothing.
        let cut_start = start.max(window.begin);
        let cut_end = match (end, window.end) {
            (Some(end), Some(last)) => Some(end.min(last)),
            (end, last) => end.or(last),
        };
        let is_whole = (cut_start, cut_end) == (start, end);
        let count = self.count.filter(|_| is_whole);
        Some(LossRange { count, start: cut_start, end: cut_end, ..self.clone() })
    }
}
