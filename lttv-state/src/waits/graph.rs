//! The wait graph: timelines and links, and their queries.

use std::ops::Range;
use std::sync::Arc;

use ltt_read::{Timestamp, TraceIndex};

use super::cause::{Devices, WakeSource};
use super::interval::{Form, Interval, Link, ThreadState};
use super::machine::{Links, Machine, Status};
use super::timeline::{Span, Timeline};
use crate::kernel::needs::Need;
use crate::kernel::{NameId, Names, Tid};

/// The number of a timeline in a [`WaitGraph`]. Numbers are dense, in the order in which the
/// threads were first mentioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct TimelineId(pub u32);

impl TimelineId {
    /// Returns the number as an index into tables.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The wait graph of a traceset: a timeline for each thread, and links from threads that ended the
/// waits of others.
///
/// Copies share most of their memory.
#[derive(Debug, Clone, Default)]
pub struct WaitGraph {
    timelines: Vec<Timeline>,
    links: Links,
    traces: Vec<GraphTrace>,
    /// The timelines ordered by trace, thread id and start.
    by_tid: Vec<(TraceIndex, Tid, i64, TimelineId)>,
    begin: i64,
    end: i64,
    anomalies: Anomalies,
}

/// The names and devices of a trace.
#[derive(Debug, Clone, Default)]
pub(super) struct GraphTrace {
    pub(super) missing: Vec<Need>,
    pub(super) is_kernel: bool,
    pub(super) names: Arc<Names>,
    pub(super) irqs: Vec<NameId>,
    pub(super) devices: Devices,
}

/// The counters of contradictions and corrections in the order of events, in a [`WaitGraph`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "checkpoint-files", derive(serde::Serialize, serde::Deserialize))]
pub struct Anomalies {
    /// Switches from a thread that did not run as far as known, or to one that ran or had ended.
    /// The time since what was known before is unknown.
    pub switches: u64,
    /// Threads that were switched in without a wake-up. The cause of their wait is unknown.
    pub missing_wake_ups: u64,
    /// Threads that were woken up between their decision to wait and their switch. They did not
    /// wait.
    pub early_wake_ups: u64,
    /// Wake-ups of threads that were able to run or had ended, which are ignored.
    pub repeated_wake_ups: u64,
    /// Interrupts that were not left at a switch, or that are nested too deeply.
    pub open_interrupts: u64,
    /// Ends of interrupts whose start was not seen, which are ignored.
    pub unmatched_exits: u64,
    /// Forks with the id of a thread whose end was not seen.
    pub reused_ids: u64,
    /// Events that name a thread with an impossible id, which are ignored.
    pub impossible_ids: u64,
    /// Losses of events of a CPU. The states of its threads are unknown until they are seen again.
    pub losses: u64,
    /// Packets whose send and receive were seen.
    pub packets: u64,
    /// Packets that were received before they were sent, as clocks differ; they are ignored.
    pub received_before_sent: u64,
}

impl WaitGraph {
    /// Creates the graph of a machine that ends at a time, in ns. `describe` returns the process id
    /// and the name of a thread that has not ended.
    pub(super) fn new(
        machine: &Machine,
        traces: Vec<GraphTrace>,
        end: i64,
        describe: impl Fn(usize, Tid) -> Option<(Option<Tid>, NameId)>,
    ) -> Self {
        let timelines: Vec<_> = (0..)
            .zip(&machine.actors)
            .map(|(number, actor)| {
                let trace = actor.trace as usize;
                let is_last = machine.find(trace, actor.tid) == Some(TimelineId(number));
                let is_alive = actor.status != Status::Ended && is_last;
                let described = is_alive.then(|| describe(trace, actor.tid)).flatten();
                let (pid, name) = described.unwrap_or((actor.pid, actor.name));
                let (first_start, intervals) = actor.intervals_until(end);
                let name = if name == NameId::EMPTY { actor.name } else { name };
                Timeline {
                    trace: TraceIndex(trace),
                    tid: actor.tid,
                    pid: pid.or(actor.pid),
                    name,
                    cpu: actor.cpu,
                    start: actor.start,
                    ended: actor.ended,
                    parent: actor.parent,
                    first_start,
                    intervals,
                }
            })
            .collect();
        let ids = (0..).map(TimelineId).zip(&timelines);
        let mut by_tid: Vec<_> = ids.map(|(id, of)| (of.trace, of.tid, of.start, id)).collect();
        by_tid.sort_unstable();
        let (links, anomalies) = (machine.links.clone(), machine.anomalies);
        WaitGraph { timelines, links, traces, by_tid, begin: machine.begin, end, anomalies }
    }

    /// Returns the time of the first event of a kernel trace.
    pub fn begin(&self) -> Timestamp {
        Timestamp::from_ns(self.begin)
    }

    /// Returns the time at which the graph ends. Intervals that have not ended, end there.
    pub fn end(&self) -> Timestamp {
        Timestamp::from_ns(self.end)
    }

    /// Iterates over all timelines.
    pub fn timelines(&self) -> impl ExactSizeIterator<Item = (TimelineId, &Timeline)> {
        self.timelines.iter().enumerate().map(|(at, of)| (TimelineId(at as u32), of))
    }

    /// Returns a timeline; `None` if the graph has no such number.
    pub fn timeline(&self, id: TimelineId) -> Option<&Timeline> {
        self.timelines.get(id.index())
    }

    /// Finds the timeline of a thread of a trace at a time: that of the last thread with the id
    /// which was mentioned by then, or else of the first one.
    pub fn find(&self, trace: TraceIndex, tid: Tid, time: Timestamp) -> Option<TimelineId> {
        let all = self.with_tid(trace, tid);
        let after = all.partition_point(|of| of.2 <= time.as_ns());
        Some(all.get(after.saturating_sub(1))?.3)
    }

    /// Returns the timelines of the threads of a trace with an id, in the order of their lives. For
    /// id 0 they are those of the idle tasks.
    pub fn find_all(&self, trace: TraceIndex, tid: Tid) -> impl Iterator<Item = TimelineId> {
        self.with_tid(trace, tid).iter().map(|of| of.3)
    }

    fn with_tid(&self, trace: TraceIndex, tid: Tid) -> &[(TraceIndex, Tid, i64, TimelineId)] {
        let start = self.by_tid.partition_point(|of| (of.0, of.1) < (trace, tid));
        let all = self.by_tid.get(start..).unwrap_or_default();
        let end = all.partition_point(|of| (of.0, of.1) == (trace, tid));
        &all[..end]
    }

    /// Iterates over the intervals of a timeline in a window, cut to it. They follow each other
    /// without gaps, except between the lives of a thread id.
    pub fn intervals(
        &self,
        id: TimelineId,
        window: Range<Timestamp>,
    ) -> impl Iterator<Item = Interval> {
        let timeline = self.timeline(id);
        let window = window.start.as_ns()..window.end.as_ns();
        let spans = timeline
            .into_iter()
            .flat_map(move |of| of.spans_in(window.clone()).map(move |s| (of, s)));
        spans.map(|(of, span)| self.interval(of, span))
    }

    fn interval(&self, timeline: &Timeline, span: Span) -> Interval {
        let (mut cpu, mut source, mut link) = (None, WakeSource::None, None);
        let devices = self.traces.get(timeline.trace.0).map(|of| &of.devices);
        let unpack = |packed: super::cause::PackedSource| {
            devices.map_or(WakeSource::None, |devices| packed.unpack(devices))
        };
        let state = match span.stored.form() {
            Form::Unknown | Form::Gap => ThreadState::Unknown,
            Form::Running(on) => {
                cpu = Some(on);
                ThreadState::Running
            }
            Form::Preempted => ThreadState::Preempted,
            Form::Woken => ThreadState::Woken,
            Form::Blocked(cause, packed) => {
                source = unpack(packed);
                ThreadState::Blocked(cause)
            }
            Form::Linked(cause, number) => {
                let stored = self.links.get(number as usize);
                source = stored.map_or(WakeSource::None, |stored| unpack(stored.source));
                link = stored.map(|stored| Link {
                    from: stored.from,
                    time: Timestamp::from_ns(stored.time),
                    kind: stored.kind,
                });
                ThreadState::Blocked(cause)
            }
        };
        let (start, end) = (Timestamp::from_ns(span.start), Timestamp::from_ns(span.end));
        Interval { start, end, state, cpu, call: span.stored.call(), source, link }
    }

    /// Returns the interval at an index of a timeline, in ns and not cut.
    pub(super) fn interval_at(&self, id: TimelineId, at: usize) -> Option<Interval> {
        let timeline = self.timeline(id)?;
        Some(self.interval(timeline, timeline.span(at)?))
    }

    /// Returns the number of intervals of all timelines.
    pub fn interval_count(&self) -> usize {
        self.timelines.iter().map(Timeline::len).sum()
    }

    /// Returns the number of links.
    pub fn link_count(&self) -> usize {
        self.links.len()
    }

    /// Returns the counters of contradictions.
    pub fn anomalies(&self) -> &Anomalies {
        &self.anomalies
    }

    /// Returns the events that a trace lacks, and without which its timelines are less complete.
    /// `None` if it is no kernel trace.
    pub fn missing(&self, trace: TraceIndex) -> Option<&[Need]> {
        let of = self.traces.get(trace.0).filter(|of| of.is_kernel)?;
        Some(&of.missing)
    }

    /// Returns the text of a name of a trace: that of a thread or a system call. Empty if unknown.
    pub fn name(&self, trace: TraceIndex, name: NameId) -> &str {
        self.traces.get(trace.0).map_or("", |of| of.names.get(name))
    }

    /// Returns the command of a thread, as in `cat`; empty if unknown.
    pub fn command(&self, id: TimelineId) -> &str {
        self.timeline(id).map_or("", |of| self.name(of.trace, of.name))
    }

    /// Gives threads the process ids and names that they had in an earlier graph of the same
    /// context: events after a window tell who ended its waits, but not who the threads were.
    #[must_use]
    pub fn with_names_of(mut self, earlier: &WaitGraph) -> Self {
        for (of, earlier) in self.timelines.iter_mut().zip(&earlier.timelines) {
            (of.pid, of.name) = (earlier.pid.or(of.pid), earlier.name);
        }
        self
    }

    /// Describes the source of a wake-up of a thread of a trace in words: `irq virtio0`,
    /// `device 254,0`, `softirq 3`, `hrtimer` or `local_timer`. `None` if there is none.
    pub fn source_label(&self, trace: TraceIndex, source: WakeSource) -> Option<String> {
        Some(match source {
            WakeSource::None => return None,
            WakeSource::Device(device) => format!("device {},{}", device.major, device.minor),
            WakeSource::Softirq(number) => format!("softirq {number}"),
            WakeSource::Irq(number) => {
                let of = self.traces.get(trace.0);
                let name = of.and_then(|of| of.irqs.get(number as usize)).copied();
                match name.map_or("", |name| self.name(trace, name)) {
                    "" => format!("irq {number}"),
                    name => format!("irq {name}"),
                }
            }
            WakeSource::HighResolutionTimer => "hrtimer".to_owned(),
            WakeSource::Vector(name) => self.name(trace, name).to_owned(),
        })
    }

    /// Computes the bytes of memory that intervals, links and timelines take.
    pub fn memory(&self) -> usize {
        let intervals = self.timelines.iter().map(|of| of.intervals.bytes_since(None));
        let of_timeline = size_of::<Timeline>() + size_of::<(TraceIndex, Tid, i64, TimelineId)>();
        let timelines = self.timelines.len() * of_timeline;
        intervals.sum::<usize>() + self.links.bytes_since(None) + timelines
    }
}
