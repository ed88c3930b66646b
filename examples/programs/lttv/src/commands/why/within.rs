//! The spans in the time of another one: those within it, its interrupts, and the system calls of wakers.

use ltt_read::Timestamp;
use lttv_common::spans::Shown;
use lttv_context::Traceset;
use lttv_state::kernel::Tid;
use lttv_state::spans::{
    Completeness, EventReader, Family, Span, SpanAnalysis, SpanNames, SpanSettings, SpanVisitor,
};

use super::families::is_of_cpu;
use crate::commands::analysis::Analysis;
use crate::commands::spans::{Described, Lines};
use crate::models::why::{Handler, Interrupted};

/// A wake-up, of which it is wanted in which system call the waker was.
#[derive(Debug, Clone)]
pub(super) struct WakeUp {
    /// The waker.
    pub tid: Tid,
    /// The time of the wake-up.
    pub time: Timestamp,
    call: Option<Span>,
    /// The system call of the waker; `None` if it was in none, or if system calls were not recorded.
    pub described: Option<Described>,
}

impl WakeUp {
    pub(super) fn new(tid: Tid, time: Timestamp) -> Self {
        WakeUp { tid, time, call: None, described: None }
    }
}

/// The receiver of the spans in the time of another one.
pub(super) struct Within<'t> {
    traceset: &'t Traceset,
    reader: EventReader<'t>,
    lines: Lines,
    whole: Span,
    limit: usize,
    interrupted: Interrupted,
    /// The longest nested spans.
    nested: Vec<Span>,
    /// The wake-ups, with the system calls of the wakers.
    pub wake_ups: Vec<WakeUp>,
    /// The number of nested spans.
    pub count: u64,
    /// The longest nested spans, the longest first.
    pub described: Vec<Described>,
}

/// The families of nested spans. The states of the thread are parts of the time.
const NESTED: [Family; 9] = [
    Family::Period,
    Family::Marker,
    Family::Syscall,
    Family::HardIrq,
    Family::Vector,
    Family::Softirq,
    Family::SoftirqRaise,
    Family::DiskQueue,
    Family::DiskDevice,
];

impl<'t> Within<'t> {
    /// Creates the receiver of the spans in the time of a whole one.
    pub(super) fn new(
        traceset: &'t Traceset,
        (whole, limit): (&Span, usize),
        (interrupted, wake_ups): (Interrupted, Vec<WakeUp>),
        lines: Lines,
    ) -> Self {
        Within {
            traceset,
            reader: EventReader::new(traceset),
            lines,
            whole: *whole,
            limit,
            interrupted,
            nested: Vec::new(),
            wake_ups,
            count: 0,
            described: Vec::new(),
        }
    }

    /// Reads the spans of the window of an analysis.
    ///
    /// # Errors
    ///
    /// After an interrupt by the user.
    pub(super) fn read(
        self,
        analysis: &mut Analysis,
        settings: SpanSettings,
        threads: usize,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let families = NESTED.into_iter();
        let spans = SpanAnalysis::new(settings.families(families).min(0).max(u64::MAX), self);
        let (found, read) = analysis.run(threads, None, spans);
        read?;
        Ok(found.visitor)
    }

    /// Returns the handlers that ran in the place of the thread.
    pub(super) fn handlers(&self) -> Vec<Handler> {
        self.interrupted.handlers()
    }

    /// Adds a handler to the interrupts.
    fn handler(&mut self, span: &Span, names: &SpanNames<'_>) {
        let is_handler = matches!(span.family, Family::HardIrq | Family::Vector | Family::Softirq);
        let is_known = span.completeness != Completeness::NoBegin;
        // A handler is not interrupted by itself or by what it interrupts.
        let contains_whole = span.begin <= self.whole.begin && span.end >= self.whole.end;
        if is_handler && is_known && !contains_whole {
            let time = span.begin.as_ns()..span.end.as_ns();
            self.interrupted.add((span.family, || names.label(span)), span.cpu, time);
        }
    }

    /// Keeps the innermost system calls of wakers.
    fn call(&mut self, span: &Span) {
        if span.family != Family::Syscall {
            return;
        }
        for wake_up in &mut self.wake_ups {
            let is_its = span.thread.tid == Some(wake_up.tid);
            if is_its && span.begin <= wake_up.time && wake_up.time <= span.end {
                wake_up.call = Some(*span);
            }
        }
    }

    /// Keeps a span that is nested in the whole one, if it is one of the longest.
    fn nest(&mut self, span: &Span) {
        let of = &self.whole;
        let is_same = (span.family, span.begin, span.end) == (of.family, of.begin, of.end);
        // The families of files and futexes show a system call again.
        let is_again = span.family == Family::Syscall && span.first == of.first;
        // Idle tasks share the id 0, and handlers have that of the thread that they interrupt.
        let is_own = match is_of_cpu(of.family) {
            true => is_of_cpu(span.family) && span.cpu == of.cpu,
            false => {
                span.thread.tid == of.thread.tid && span.thread.tid.is_some_and(|tid| tid != 0)
            }
        };
        if !is_own || span.begin < of.begin || span.end > of.end || is_same || is_again {
            return;
        }
        self.count += 1;
        self.nested.push(*span);
        if self.nested.len() >= self.limit.max(64).saturating_mul(2) {
            self.keep_longest();
        }
    }

    fn keep_longest(&mut self) {
        self.nested.sort_by_key(|of| (std::cmp::Reverse(of.end.since(of.begin)), of.begin));
        self.nested.truncate(self.limit);
    }
}

impl SpanVisitor for Within<'_> {
    fn span(&mut self, span: &Span, names: &SpanNames<'_>) {
        if span.trace == self.whole.trace {
            self.handler(span, names);
            self.call(span);
            self.nest(span);
        }
    }

    fn finished(&mut self, names: &SpanNames<'_>) {
        self.keep_longest();
        let Within { traceset, reader, lines, nested, described, wake_ups, .. } = self;
        let mut describe =
            |span: &Span| lines.describe(&mut Shown { span, names, reader, traceset });
        *described = nested.iter().map(&mut describe).collect();
        for wake_up in wake_ups {
            wake_up.described = wake_up.call.as_ref().map(&mut describe);
        }
    }
}
