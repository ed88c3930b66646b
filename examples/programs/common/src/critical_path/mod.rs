//! Critical paths of threads: words, colours and pictures.

mod picture;

use std::cmp::Reverse;
use std::ops::Range;

use ltt_read::Timestamp;
use lttv_state::waits::{
    Cause, CriticalPath, Segment, SegmentKind, ThreadState, TimelineId, WaitGraph,
};

pub use picture::picture;

use crate::activity::thread_label;
use crate::paint::Paint;

/// Returns the label of a thread of a wait graph: its command and thread id, as in `cat (215)`.
pub fn label(graph: &WaitGraph, id: TimelineId) -> String {
    let Some(timeline) = graph.timeline(id) else { return "unknown".to_owned() };
    if timeline.is_idle() {
        return format!("idle of CPU {}", timeline.cpu());
    }
    thread_label(Some(timeline.tid()), graph.command(id))
}

/// Returns a segment in words: thread, state, and as far as known the system call and the source of
/// the wake-up, as in `cat (215): blocked:block in read (device 254,0)`.
pub fn words(graph: &WaitGraph, of: &Segment) -> String {
    let mut text = format!("{}: {}", label(graph, of.thread), of.kind);
    let Some(timeline) = graph.timeline(of.thread) else { return text };
    let call = graph.name(timeline.trace(), of.call);
    if !matches!(call, "" | "NONE" | "UNKNOWN") {
        text += &format!(" in {call}");
    }
    if let Some(source) = graph.source_label(timeline.trace(), of.source) {
        text += &format!(" ({source})");
    }
    text
}

/// The colours of segments.
pub const PAINTS: [Paint; 4] = [Paint::User, Paint::WaitCpu, Paint::Wait, Paint::Unknown];

/// Returns the colour of a segment, which is that of the state of its thread.
pub fn paint(kind: SegmentKind) -> Paint {
    match kind {
        SegmentKind::Thread(ThreadState::Running) => Paint::User,
        SegmentKind::Thread(ThreadState::Preempted | ThreadState::Woken) => Paint::WaitCpu,
        SegmentKind::Thread(ThreadState::Blocked(_)) | SegmentKind::Packet => Paint::Wait,
        _ => Paint::Unknown,
    }
}

/// Returns `true` if a path contains waits that have not ended: what ends them may come later.
pub fn is_open(path: &CriticalPath) -> bool {
    let open = SegmentKind::Thread(ThreadState::Blocked(Cause::Open));
    path.segments().iter().any(|segment| segment.kind == open)
}

/// Returns the thread that ran longest in a window; `None` if there are only idle tasks.
pub fn busiest(graph: &WaitGraph, window: &Range<Timestamp>) -> Option<TimelineId> {
    let threads = graph.timelines().filter(|(_, timeline)| !timeline.is_idle());
    let running = |id| graph.times(id, window.clone()).of(ThreadState::Running).total();
    // Of several, the one that was mentioned first.
    threads.map(|(id, _)| id).max_by_key(|id| (running(*id), Reverse(*id)))
}
