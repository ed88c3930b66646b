//! The answer for a span: what the wait graph and other spans tell about its time.

use std::error::Error;

use lttv_common::critical_path::label;
use lttv_state::kernel::NameId;
use lttv_state::spans::{Completeness, Span, SpanSettings};
use lttv_state::waits::{
    Interval, LinkKind, Segment, TimelineId, WaitAnalysis, WaitGraph, WakeSource,
};

use super::families::{is_of_cpu, is_of_thread};
use super::within::{WakeUp, Within};
use crate::commands::analysis::Analysis;
use crate::commands::spans::{Described, Lines};
use crate::models::waits::{known, read_on};
use crate::models::why::{Handler, Instead, Interrupted, Part, State, Timeline, instead};

/// The answer for a span.
pub(super) struct Answer {
    /// The span.
    pub span: Described,
    /// The parts of its time.
    pub parts: Vec<Part>,
    /// The threads that ran while its thread waited for a CPU.
    pub instead: Vec<Instead>,
    /// The longest waits of its thread.
    pub waits: Vec<Wait>,
    /// The number of all waits.
    pub wait_count: usize,
    /// The handlers that interrupted it.
    pub handlers: Vec<Handler>,
    /// The longest spans within it.
    pub nested: Vec<Described>,
    /// The number of all spans within it.
    pub nested_count: u64,
    /// The segments of the critical path of the longest wait.
    pub chain: Vec<Segment>,
    graph: WaitGraph,
}

/// A wait, with what ended it.
#[derive(Debug)]
pub(super) struct Wait {
    /// The interval.
    pub interval: Interval,
    /// The system call in which the waker was; `None` if it was in none, or if that is unknown.
    pub waker_call: Option<Described>,
}

/// Returns the timeline of the thread of a span.
fn timeline(graph: &WaitGraph, span: &Span) -> Timeline {
    let tid = span.thread.tid.filter(|_| is_of_thread(span.family));
    let thread = tid.and_then(|tid| graph.find(span.trace, tid, span.end));
    Timeline::of(graph, thread, span.begin..span.end)
}

impl Answer {
    /// Returns the answer for a span, whose time is the window of an analysis. Reads on a number of threads, and
    /// keeps a number of elements of each list.
    ///
    /// # Errors
    ///
    /// After an interrupt by the user.
    pub(super) fn of(
        analysis: &mut Analysis,
        described: Described,
        settings: SpanSettings,
        (threads, limit): (usize, usize),
        lines: Lines,
    ) -> Result<Answer, Box<dyn Error>> {
        let span = described.span;
        let (graph, read) = analysis.run(threads, None, WaitAnalysis::new());
        read?;
        let last = analysis.context.contexts().time_span().map_or(span.end, |span| span.end);
        let is_open = |graph: &WaitGraph| timeline(graph, &span).is_open();
        let (graph, read) = read_on(&(span.begin..span.end), last, graph, is_open, |until| {
            let (graph, read) = analysis.run_until(until, threads, WaitAnalysis::new());
            read.map(|()| graph)
        });
        read?;
        let timeline = timeline(&graph, &span);
        let on_cpu = is_of_cpu(span.family);
        let of_cpu = on_cpu.then(|| (span.begin.as_ns()..span.end.as_ns(), span.cpu));
        let interrupted = Interrupted::new(timeline.runs().chain(of_cpu));
        let waits = timeline.waits();
        let wake_ups = waits.iter().take(limit).filter_map(|wait| wake_up(&graph, wait)).collect();
        let traceset = analysis.traceset.clone();
        let within = Within::new(&traceset, (&span, limit), (interrupted, wake_ups), lines);
        let within = within.read(analysis, settings, threads)?;
        let handlers = within.handlers();
        let parts = match is_of_thread(span.family) {
            true => timeline.parts(&handlers),
            false => elapsed(&span, &handlers),
        };
        let ended_on = (span.completeness != Completeness::NoEnd).then_some(span.cpu);
        let last_cpu = ended_on.filter(|cpu| *cpu != u32::MAX);
        let instead = instead(&graph, &timeline, last_cpu);
        let chain = timeline.chain(&graph).map(|path| path.segments().to_vec());
        let wait_count = waits.len();
        let waits = waits.into_iter().take(limit).map(|interval| {
            let own = wake_up(&graph, &interval);
            let found = own.and_then(|own| {
                let is_it = |of: &&WakeUp| (of.tid, of.time) == (own.tid, own.time);
                within.wake_ups.iter().find(is_it)?.described.clone()
            });
            Wait { interval, waker_call: found }
        });
        Ok(Answer {
            span: described,
            parts,
            instead,
            waits: waits.collect(),
            wait_count,
            handlers,
            nested: within.described,
            nested_count: within.count,
            chain: chain.unwrap_or_default(),
            graph,
        })
    }

    /// Returns the duration in ns, as far as the span has been seen.
    pub(super) fn duration(&self) -> u64 {
        self.span.span.end.since(self.span.span.begin)
    }

    /// Returns the label of a thread.
    pub(super) fn label(&self, thread: Option<TimelineId>) -> String {
        thread.map_or_else(|| "unknown".to_owned(), |thread| label(&self.graph, thread))
    }

    /// Returns the label of what ran on a CPU.
    pub(super) fn occupant(&self, thread: Option<TimelineId>) -> String {
        match thread.and_then(|thread| self.graph.timeline(thread)) {
            Some(timeline) if timeline.is_idle() => "idle".to_owned(),
            _ => self.label(thread),
        }
    }

    /// Returns the id and the name of a thread.
    pub(super) fn thread(&self, thread: TimelineId) -> (Option<i32>, &str) {
        (self.graph.timeline(thread).map(|of| of.tid()), self.graph.command(thread))
    }

    /// Returns the name of a system call; `None` if there is none.
    pub(super) fn call(&self, call: NameId) -> Option<&str> {
        known(self.graph.name(self.span.span.trace, call))
    }

    /// Describes the source of a wake-up; `None` if there is none.
    pub(super) fn source(&self, source: WakeSource) -> Option<String> {
        self.graph.source_label(self.span.span.trace, source)
    }

    /// Describes a segment of the critical path.
    pub(super) fn words(&self, segment: &Segment) -> String {
        lttv_common::critical_path::words(&self.graph, segment)
    }
}

/// Returns the wake-up by a thread that ended a wait; `None` if no thread woke it.
fn wake_up(graph: &WaitGraph, wait: &Interval) -> Option<WakeUp> {
    let link = wait.link.filter(|link| link.kind == LinkKind::WakeUp)?;
    Some(WakeUp::new(graph.timeline(link.from)?.tid(), link.time))
}

/// Returns the parts of a span that is none of a thread: the time of handlers that interrupted it, and the rest.
fn elapsed(span: &Span, handlers: &[Handler]) -> Vec<Part> {
    let all = span.end.since(span.begin);
    let time = handlers.iter().map(|of| of.time).sum();
    let rest = Part { state: State::Elapsed, time: all.saturating_sub(time), count: 1 };
    let count = handlers.iter().map(|of| of.count).sum();
    let interrupted = Part { state: State::Interrupted, time, count };
    std::iter::once(rest).chain((time > 0).then_some(interrupted)).collect()
}
