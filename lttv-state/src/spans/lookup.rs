//! Looking up the threads and subjects of spans, while the state is that of their ends.

use std::sync::{PoisonError, RwLock};

use ltt_read::TraceIndex;

use super::family::Family;
use super::machine::Machine;
use super::names::SpanNames;
use super::outcome::Log;
use super::period::Periods;
use super::span::{Span, SpanThread, Waker};
use super::subjects::Subjects;
use super::threads::ThreadId;
use crate::kernel::{KernelState, StateChange, TraceState};

/// The threads and subjects that spans name.
#[derive(Debug)]
pub(crate) struct Lookup {
    /// The least and the greatest duration in ns. Other spans are dropped.
    limits: (u64, u64),
    /// The subjects so far, by trace.
    subjects: RwLock<Vec<Subjects>>,
}

impl Lookup {
    /// Creates the lookup of spans of at least and at most a duration in ns.
    pub(crate) fn new(min: u64, max: u64) -> Self {
        Lookup { limits: (min, max), subjects: RwLock::default() }
    }

    /// Prepares for a number of traces.
    pub(crate) fn prepare(&mut self, traces: usize, periods: &Periods) {
        let subjects = (0..traces).map(|_| Subjects::new(periods)).collect();
        *self.subjects.get_mut().unwrap_or_else(PoisonError::into_inner) = subjects;
    }

    /// Calls a function with the names of spans so far.
    pub(crate) fn with_names<R>(&self, function: impl FnOnce(&SpanNames<'_>) -> R) -> R {
        let subjects = self.subjects.read().unwrap_or_else(PoisonError::into_inner);
        function(&SpanNames::new(&subjects))
    }

    /// Calls a function with the subjects of a trace, to be updated.
    fn update(&self, trace: usize, function: impl FnOnce(&mut Subjects)) {
        let mut all = self.subjects.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(of) = all.get_mut(trace) {
            function(of);
        }
    }

    /// Returns `true` if a span has a duration that is wanted.
    fn wants(&self, span: &Span) -> bool {
        let (min, max) = self.limits;
        match span.duration() {
            Some(duration) => (min..=max).contains(&duration),
            None => min == 0 && max == u64::MAX,
        }
    }

    /// Looks up the spans that a change of the state ended.
    pub(crate) fn changed(
        &self,
        machines: &mut [Machine],
        logs: &mut [Log],
        kernel: &KernelState,
        of: StateChange,
        has_periods: bool,
    ) {
        // Periods of events that changed no state are applied late: they may be of any trace.
        let traces = if has_periods { 0..machines.len() } else { of.trace.0..of.trace.0 + 1 };
        for trace in traces {
            let Some(state) = kernel.trace(TraceIndex(trace)) else { continue };
            let (machine, log) = (&mut machines[trace], &mut logs[trace]);
            let place = state.effect().place();
            if log.spans_so_far() > log.looked_up {
                self.look_up(TraceIndex(trace), (state, machine), place, log);
            }
            if has_periods && trace == of.trace.0 {
                machine.describe_running(state, place);
            }
        }
    }

    /// Looks up the spans that ended after the last change of a slice.
    pub(crate) fn end_slice(&self, machines: &[Machine], logs: &mut [Log]) {
        for ((at, log), machine) in (0..).zip(logs).zip(machines) {
            let first = log.looked_up;
            let Some(spans) = &mut log.spans else { continue };
            for span in &mut spans[first..] {
                span.trace = TraceIndex(at);
                span.thread = described(machine, span.ids.0);
            }
            let mut number = 0;
            spans.retain(|span| {
                number += 1;
                number <= first || self.wants(span)
            });
            if spans.len() > first {
                self.update(at, |subjects| subjects.update_periods(machine));
            }
        }
    }

    /// Looks up the threads of the spans of a trace that were added since the last call, and the subjects that are new.
    /// `place` is that of the CPU of the last event, on which handlers interrupted a thread.
    pub(crate) fn look_up(
        &self,
        trace: TraceIndex,
        (state, machine): (&TraceState, &mut Machine),
        place: usize,
        log: &mut Log,
    ) {
        let Some(spans) = &mut log.spans else { return };
        let mut at = log.looked_up;
        while let Some(span) = spans.get_mut(at) {
            if !self.wants(span) {
                spans.remove(at);
                continue;
            }
            span.trace = trace;
            let (thread, waker) = span.ids;
            let is_handler = matches!(
                span.family,
                Family::HardIrq | Family::Vector | Family::Softirq | Family::SoftirqRaise
            );
            span.thread = match state.running_at(place).filter(|_| is_handler) {
                Some(running) => {
                    SpanThread { tid: running.tid(), pid: running.pid(), comm: running.name() }
                }
                // Found before the state followed the event: by the names that threads had then.
                None if span.family == Family::Period => described(machine, thread),
                None => thread_of(state, machine, thread),
            };
            span.waker = match waker {
                ThreadId::NONE | ThreadId::OTHERS => Waker::Unknown,
                ThreadId::INTERRUPT => Waker::Interrupt,
                waker => Waker::Thread(thread_of(state, machine, waker)),
            };
            at += 1;
        }
        log.looked_up = at;
        let known = self.subjects.read().unwrap_or_else(PoisonError::into_inner);
        if known.get(trace.0).is_some_and(|known| !known.is_up_to_date(state, machine)) {
            drop(known);
            self.update(trace.0, |subjects| subjects.update(state, machine));
        }
    }
}

/// Returns a thread by its number.
fn thread_of(state: &TraceState, machine: &Machine, id: ThreadId) -> SpanThread {
    let facts = id.index().and_then(|at| machine.threads.facts.get(at));
    let Some(facts) = facts else { return SpanThread::default() };
    // Another thread may have got the id since.
    let process = state.find(facts.tid).map(|(_, process)| process);
    let process = process.filter(|of| facts.serial.is_none_or(|serial| of.serial() == serial));
    match process {
        Some(of) => SpanThread { tid: of.tid(), pid: of.pid(), comm: of.name() },
        None => described(machine, id),
    }
}

/// Returns a thread by its number, with the name that it had when it was last described.
fn described(machine: &Machine, id: ThreadId) -> SpanThread {
    let facts = id.index().and_then(|at| machine.threads.facts.get(at));
    facts.map_or(SpanThread::default(), |facts| SpanThread {
        tid: Some(facts.tid),
        pid: facts.pid,
        comm: facts.name,
    })
}
