//! Waits: the states of threads over time, who ended their waits, and the critical path of a
//! thread.
//!
//! A [`WaitGraph`] is built while events are read, based on the [kernel state](crate::kernel). It
//! contains a [`Timeline`] for each thread: intervals in which the thread runs, waits for a CPU or
//! is blocked, with the [`Cause`] of each wait. [`Link`]s lead from the thread that ended a wait to
//! its end, also to other hosts. All queries name a window:
//!
//! * [`times`](WaitGraph::times): where the time of a thread went, by state and cause;
//! * [`blockers`](WaitGraph::blockers): which threads and devices it waited for directly;
//! * [`critical_path`](WaitGraph::critical_path): what it really waited for. Each wait for another
//!   thread is replaced by what that thread did in the meantime.
//!
//! ```
//! use lttv_context::Traceset;
//! use lttv_state::analysis::read;
//! use lttv_state::waits::{ThreadState, WaitAnalysis};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let graph = read(&Traceset::open(path)?).threads(2).run(WaitAnalysis::new()).output;
//! let window = graph.begin()..graph.end();
//! let running = |id| graph.times(id, window.clone()).of(ThreadState::Running).total();
//! let threads = graph.timelines().filter(|(_, thread)| !thread.is_idle());
//! let (busiest, _) = threads.max_by_key(|(id, _)| running(*id)).expect("there are threads");
//!
//! let path = graph.critical_path(busiest, window.clone());
//! for share in path.shares() {
//!     println!("{} {}: {} ns", graph.command(share.thread), share.kind, share.times.total());
//! }
//! let total: u64 = path.segments().iter().map(|segment| segment.time()).sum();
//! assert_eq!(total, window.end.as_ns().abs_diff(window.start.as_ns()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rules
//!
//! * A thread that is switched out is preempted or blocked by the state in the event, which is
//!   decoded by the kernel's release. A wake-up ends a wait; between a wake-up and the next switch
//!   the thread waits for a CPU. Further wake-ups change nothing.
//! * The cause of a wait follows from the CPU on which its wake-up was recorded: from the innermost
//!   interrupt there, or else from the thread that ran. Only a thread is followed, never an
//!   interrupted or idle one.
//! * A thread whose wake-up precedes its switch did not wait: it was able to run.
//! * A thread that is first mentioned by its wake-up, or that waits in a state dump, has slept since the first event.
//!   The statistics count from that mention on: [`StateTimes::asleep`] is the difference. What a CPU's
//!   first switch switches out has run there since then, as in the kernel state: unless another CPU ran it in the
//!   meantime.
//! * A fork begins a timeline, which continues that of the parent on paths: the new thread is blocked until its
//!   first wake-up, the end of the fork, if that was recorded. A thread id that is used again gets another timeline.
//! * A wait that the network softirq ends leads to the thread that sent the packet, if its send and
//!   receive were recorded, on this host or another one; or if a thread raised the softirq to send
//!   to its own host. Between hosts the clocks must be [related](lttv_context::synchronize) first.
//! * What an event contradicts was unknown since the last evidence. After a loss of events, what ran
//!   on their CPU is unknown since the last event before it, as is what last ran there.
//! * The order of events with one time on different CPUs changes no sum.
//!
//! # Cost
//!
//! The events are followed in order: what ends a wait may come at any later time. Another thread reads
//! them meanwhile. A graph takes 16 bytes for each interval and 24 for each link,
//! at most two intervals for each switch or wake-up. A path takes the time to find its segments.

mod analysis;
mod cause;
mod columns;
mod graph;
mod input;
mod interval;
mod machine;
mod needs;
mod path;
mod recorded;
mod timeline;
mod times;

pub use analysis::WaitAnalysis;
pub use cause::{Cause, WakeSource};
pub use graph::{Anomalies, TimelineId, WaitGraph};
pub use interval::{Interval, Link, LinkKind, ThreadState};
pub use needs::NEEDS;
pub use path::{CriticalPath, PathShare, Segment, SegmentKind};
pub use timeline::Timeline;
pub use times::{Blocker, StateTimes};
