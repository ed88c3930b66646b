//! Finding the span at a time.

use std::error::Error;

use ltt_read::{TimeSpan, Timestamp, TraceIndex};
use lttv_common::spans::Shown;
use lttv_context::Traceset;
use lttv_state::kernel::Tid;
use lttv_state::spans::{
    Completeness, EventReader, Family, Span, SpanAnalysis, SpanFilter, SpanNames, SpanSettings,
    SpanVisitor,
};

use super::families::is_of_cpu;
use super::fit::fitting;
use crate::commands::analysis::Analysis;
use crate::commands::spans::{Described, Lines};

/// The families from which the span is chosen, the first ones before the others.
const RANKS: [Family; 18] = [
    Family::Period,
    Family::Marker,
    Family::Syscall,
    Family::FileOpen,
    Family::FileRead,
    Family::FileWrite,
    Family::FileSync,
    Family::Futex,
    Family::HardIrq,
    Family::Vector,
    Family::Softirq,
    Family::SoftirqRaise,
    Family::DiskDevice,
    Family::DiskQueue,
    Family::WakeUp,
    Family::Preemption,
    Family::Blocked,
    Family::Run,
];

/// The length of time after the wanted one that is read at first, in ns.
const STEP: u64 = 100_000_000;

/// The number of spans that an error names.
const NAMED: usize = 5;

/// The spans at a time.
struct AtTime<'t> {
    at: Timestamp,
    traceset: &'t Traceset,
    reader: EventReader<'t>,
    filter: Option<&'t SpanFilter>,
    lines: Lines,
    found: Vec<Span>,
    /// The spans among which the choice is, which are of several threads if there are several.
    candidates: Vec<Described>,
}

impl SpanVisitor for AtTime<'_> {
    fn span(&mut self, span: &Span, names: &SpanNames<'_>) {
        let contains = span.begin <= self.at && (self.at < span.end || span.begin == self.at);
        let reader = &mut self.reader;
        if contains && self.filter.is_none_or(|of| of.matches(span, names, reader)) {
            self.found.push(*span);
        }
    }

    fn finished(&mut self, names: &SpanNames<'_>) {
        let AtTime { traceset, reader, lines, found, candidates, .. } = self;
        for span in choices(found) {
            candidates.push(lines.describe(&mut Shown { span: &span, names, reader, traceset }));
        }
    }
}

/// Returns the innermost span of each thread, or CPU, in the first family that has any.
fn choices(found: &[Span]) -> Vec<Span> {
    let rank = |span: &Span| RANKS.iter().position(|family| *family == span.family);
    let Some(first) = found.iter().filter_map(rank).min() else { return Vec::new() };
    let mut of_family: Vec<&Span> = found.iter().filter(|span| rank(span) == Some(first)).collect();
    of_family.sort_by_key(|span| (place(span), span.begin));
    let mut choices: Vec<Span> = Vec::new();
    for span in of_family {
        match choices.last_mut() {
            Some(last) if place(last) == place(span) => *last = *span,
            _ => choices.push(*span),
        }
    }
    choices
}

/// Returns what spans that contain each other have in common: the thread, or the CPU of handlers.
fn place(span: &Span) -> (TraceIndex, Option<Tid>, Option<u32>) {
    match is_of_cpu(span.family) {
        true => (span.trace, None, Some(span.cpu)),
        false => (span.trace, span.thread.tid, None),
    }
}

/// Finds the span at a time.
///
/// # Errors
///
/// If there is none, if those of several threads are there, or after an interrupt by the user.
pub(super) fn span_at(
    analysis: &mut Analysis,
    at: Timestamp,
    (settings, filter): (&SpanSettings, Option<&SpanFilter>),
    lines: &dyn Fn() -> Lines,
    threads: usize,
) -> Result<Described, Box<dyn Error>> {
    let traceset = analysis.traceset.clone();
    let last = analysis.context.contexts().time_span().map_or(at, |span| span.end).max(at);
    analysis.narrow(TimeSpan { start: at, end: last });
    let (mut until, mut step) = (at, STEP);
    loop {
        until = until.saturating_add(step).min(last);
        step = step.saturating_mul(8);
        let visitor = AtTime {
            at,
            traceset: &traceset,
            reader: EventReader::new(&traceset),
            filter,
            lines: lines(),
            found: Vec::new(),
            candidates: Vec::new(),
        };
        let spans = SpanAnalysis::new(settings.clone(), visitor);
        let (found, read) = analysis.run_until(until, threads, spans);
        read?;
        let mut candidates = found.visitor.candidates;
        // What has not ended yet may not be what it seems.
        let is_open =
            |of: &Described| of.span.completeness == Completeness::NoEnd && of.span.end >= until;
        if until < last && (candidates.is_empty() || candidates.iter().any(is_open)) {
            continue;
        }
        return match candidates.len() {
            0 => Err(NotFound.into()),
            1 => Ok(candidates.remove(0)),
            number => {
                let shown = candidates
                    .iter()
                    .take(NAMED)
                    .map(|of| format!("\n{}", fitting(&format!("  {}", of.line))));
                let list: String = shown.collect();
                let more = if number > NAMED { "\n  …" } else { "" };
                Err(format!(
                    "{number} threads or CPUs have a span at that time; choose one with --tid, --cpu or \
                     --family:{list}{more}"
                )
                .into())
            }
        };
    }
}

/// An error: no span contains the time.
#[derive(Debug, thiserror::Error)]
#[error(
    "no span that is selected contains that time; `lttv spans --around TIME` shows those near it"
)]
struct NotFound;
