//! The states of one row, read from a history.

use ltt_read::Timestamp;
use lttv_common::critical_path;
use lttv_common::paint::Paint;
use lttv_state::history::{ForwardReader, History, HistoryError, Interval};
use lttv_state::kernel::{BlockDeviceMode, CpuMode, ExecutionMode, IrqMode, ProcessStatus};
use lttv_state::tree::Quark;
use lttv_state::value::StateValue;
use lttv_state::waits::{Cause, SegmentKind, ThreadState};

use super::styles;
use crate::dataset::{Lane, ThreadRows};
use crate::protocol::samples::Samples;

/// A state: a range of time with one look.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct Span<'h> {
    /// The start, in ns.
    pub(in super::super) start: i64,
    /// The end, in ns.
    pub(in super::super) end: i64,
    /// The key of the style; `None` in a gap.
    pub(in super::super) style: Option<&'static str>,
    /// The text in the state.
    pub(in super::super) label: Option<Label<'h>>,
}

/// The text in a state.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) enum Label<'h> {
    /// A text of the history.
    Text(&'h str),
    /// A text that was formatted.
    Formatted(String),
}

impl Label<'_> {
    pub(in super::super) fn as_str(&self) -> &str {
        match self {
            Label::Text(text) => text,
            Label::Formatted(text) => text,
        }
    }
}

impl Lane {
    /// Returns the times that the row covers, from the first to before the last one, in ns.
    pub(in super::super) fn life(&self, history: &History) -> (i64, i64) {
        let (first, end) = (history.start().as_ns(), history.end().as_ns());
        match *self {
            Lane::Thread { start, end: last, .. } => (start.max(first), last.min(end)),
            _ => (first, end),
        }
    }

    fn quark(&self) -> Quark {
        match *self {
            Lane::Thread { status, .. } => status,
            Lane::Cpu { mode, .. } => mode,
            Lane::Source(quark, _)
            | Lane::Device(quark)
            | Lane::Path(quark)
            | Lane::Value(quark) => quark,
        }
    }

    /// Returns a reader of the states. The threads on CPUs have the names of `threads`.
    pub(in super::super) fn reader<'h>(
        &self,
        history: &'h History,
        threads: Option<&'h ThreadRows>,
    ) -> Result<LaneReader<'h>, HistoryError> {
        let reader = |quark: Option<Quark>| quark.map(|of| history.forward_reader(of)).transpose();
        let (second, third) = match *self {
            Lane::Thread { mode, submode, .. } => (reader(mode)?, reader(submode)?),
            Lane::Cpu { thread, .. } => (reader(thread)?, None),
            _ => (None, None),
        };
        let first = history.forward_reader(self.quark())?;
        Ok(LaneReader { lane: *self, threads, first, second, third })
    }

    /// Returns the state at a time, which must be in the life of the row.
    pub(in super::super) fn at<'h>(
        &self,
        history: &'h History,
        threads: Option<&'h ThreadRows>,
        time: Timestamp,
    ) -> Result<Span<'h>, HistoryError> {
        self.reader(history, threads)?.at(time)
    }

    /// Calls `found` with each state in the life of the row that contains a sample.
    pub(in super::super) fn at_samples<'h, E: From<HistoryError>>(
        &self,
        history: &'h History,
        threads: Option<&'h ThreadRows>,
        samples: &Samples,
        mut found: impl FnMut(Span<'h>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (start, end) = self.life(history);
        let mut reader = self.reader(history, threads)?;
        let mut number = samples.first_from(start);
        while let Some(time) = samples.at(number).filter(|time| *time < end) {
            let span = reader.at(Timestamp::from_ns(time))?;
            number = samples.first_from(span.end).max(number + 1);
            found(span)?;
        }
        Ok(())
    }

    /// Returns the state of one interval, in rows of one attribute.
    fn plain<'h>(&self, interval: &Interval<'h>) -> Span<'h> {
        let paint = |paint: Option<Paint>| paint.map(styles::key);
        let text = || interval.value.as_str();
        let (style, label) = match self {
            _ if interval.value.is_null() => (None, None),
            Lane::Cpu { .. } => {
                let mode = text().and_then(|text| text.parse::<CpuMode>().ok());
                (paint(mode.and_then(Paint::of_cpu)), None)
            }
            Lane::Device(_) => {
                let mode = text().and_then(|text| text.parse::<BlockDeviceMode>().ok());
                (paint(mode.and_then(Paint::of_device)), None)
            }
            Lane::Source(_, kind) => {
                let mode = match interval.value.as_i64() {
                    Some(0) => IrqMode::Idle,
                    Some(_) => IrqMode::Busy,
                    None => IrqMode::Unknown,
                };
                (paint(Paint::of_source(*kind, mode, false)), None)
            }
            Lane::Path(_) => {
                let kind = text().and_then(segment_kind);
                (paint(kind.map(critical_path::paint)), text().map(Label::Text))
            }
            Lane::Value(_) | Lane::Thread { .. } => {
                let label = match text() {
                    Some(text) => Label::Text(text),
                    None => Label::Formatted(interval.value.to_string()),
                };
                (Some(styles::of_value(label.as_str())), Some(label))
            }
        };
        Span { start: interval.start.as_ns(), end: interval.end.as_ns(), style, label }
    }
}

/// Returns the kind of segments with a label.
fn segment_kind(label: &str) -> Option<SegmentKind> {
    use ThreadState::{Blocked, Preempted, Running, Unknown, Woken};
    let states = [Running, Preempted, Woken, Unknown].into_iter();
    let states = states.chain(Cause::ALL.map(Blocked)).map(SegmentKind::Thread);
    states.chain([SegmentKind::Packet]).find(|kind| kind.label() == label)
}

/// A reader of the states of one row, which is fast at increasing times.
#[derive(Debug)]
pub(in super::super) struct LaneReader<'h> {
    lane: Lane,
    threads: Option<&'h ThreadRows>,
    first: ForwardReader<'h>,
    second: Option<ForwardReader<'h>>,
    third: Option<ForwardReader<'h>>,
}

impl<'h> LaneReader<'h> {
    /// Returns the state at a time, which must be in the life of the row.
    pub(in super::super) fn at(&mut self, time: Timestamp) -> Result<Span<'h>, HistoryError> {
        let first = self.first.at(time)?;
        let at = |of: &mut Option<ForwardReader<'h>>| of.as_mut().map(|of| of.at(time)).transpose();
        match self.lane {
            Lane::Thread { start, end, is_idle, .. } => {
                // The mode matters only while the thread runs.
                if !is_running(&first) {
                    let waiting = thread(&first, None, None, (start, end));
                    // An idle thread waits for nothing but its CPU.
                    return Ok(if is_idle { waiting.ready() } else { waiting });
                }
                let (mode, submode) = (at(&mut self.second)?, at(&mut self.third)?);
                let span = thread(&first, mode.as_ref(), submode.as_ref(), (start, end));
                Ok(if is_idle { span.idle() } else { span })
            }
            Lane::Cpu { trace, .. } => {
                let mut span = self.lane.plain(&first);
                // Handlers of interrupts run on the CPU in the place of the thread.
                let runs = span.style == Some(styles::key(Paint::Busy));
                if let Some(of) = at(&mut self.second)?.filter(|_| runs) {
                    span.start = span.start.max(of.start.as_ns());
                    span.end = span.end.min(of.end.as_ns());
                    let tid = of.value.as_i64().filter(|tid| *tid > 0);
                    span.label = tid.map(|tid| {
                        let threads = self.threads;
                        let name = threads.map_or("", |of| of.title(trace, tid, span.end - 1));
                        Label::Formatted(format!("{name} {tid}").trim_start().to_owned())
                    });
                }
                Ok(span)
            }
            _ => Ok(self.lane.plain(&first)),
        }
    }
}

impl Span<'_> {
    /// Returns the state of an idle thread while its CPU runs others.
    fn ready(self) -> Self {
        let style = self.style.map(|_| styles::key(Paint::WaitCpu));
        Span { style, label: None, ..self }
    }

    /// Returns the state of a running idle thread: only handlers of interrupts are activity.
    fn idle(self) -> Self {
        let handlers = [Paint::Irq, Paint::Softirq, Paint::Trap].map(|of| Some(styles::key(of)));
        if handlers.contains(&self.style) {
            return self;
        }
        Span { style: Some(styles::key(Paint::Idle)), label: None, ..self }
    }
}

fn is_running(status: &Interval<'_>) -> bool {
    status.value.as_str() == Some(ProcessStatus::Run.as_str())
}

/// Returns the state of a thread in the intersection of intervals and of its life.
fn thread<'h>(
    status: &Interval<'h>,
    mode: Option<&Interval<'h>>,
    submode: Option<&Interval<'h>>,
    (start, end): (i64, i64),
) -> Span<'h> {
    let all = || [Some(status), mode, submode].into_iter().flatten();
    let start = all().map(|of| of.start.as_ns()).fold(start, i64::max);
    let end = all().map(|of| of.end.as_ns()).fold(end, i64::min);
    let parsed = |value: Option<StateValue<'h>>| value.and_then(|value| value.as_str());
    let Some(text) = status.value.as_str() else {
        return Span { start, end, style: None, label: None };
    };
    let status: ProcessStatus = text.parse().unwrap_or_default();
    let mode: ExecutionMode =
        parsed(mode.map(|mode| mode.value)).and_then(|text| text.parse().ok()).unwrap_or_default();
    // A mode without a name of its own, such as that of a program.
    let is_named = |text: &&str| !matches!(*text, "" | "NONE" | "UNKNOWN");
    let label = parsed(submode.map(|of| of.value)).filter(is_named);
    let label = label.filter(|_| mode != ExecutionMode::User).map(Label::Text);
    Span { start, end, style: Some(styles::key(Paint::of_process(status, mode))), label }
}
