//! The calls of functions in programs, as a history.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ltt_read::TraceIndex;
use lttv_common::calls::names::{Names, SymbolArgs};
use lttv_context::{Bounds, EndReason, Traceset, TracesetContext};
use lttv_state::call_stacks::{
    CallRules, CallStackState, CallStacks, ChartSpan, ThreadCalls, ThreadId,
};
use lttv_state::history::{History, HistoryError, IntervalBuilder, Settings};
use lttv_state::tree::Quark;

use super::faults::{Found, ReadFaults};
use super::reading::release;

/// The number of events after which the calls that have ended are passed on.
const STEP: u64 = 1 << 18;
/// The memory in bytes in which calls wait to be sorted; beyond it they wait in a file.
const MEMORY: usize = 16 << 20;

/// The calls of a traceset.
#[derive(Debug)]
pub struct Calls {
    /// The functions, with an attribute for each thread and number of callers, such as `0/3/1` for
    /// trace 0, its thread 3, and the calls with one caller.
    pub history: History,
    /// The threads, in the order of traces and of their first events.
    pub threads: Vec<CallThread>,
}

/// A thread with calls.
#[derive(Debug)]
pub struct CallThread {
    /// The trace.
    pub trace: TraceIndex,
    /// The attribute of the thread.
    pub quark: Quark,
    /// The attributes of its calls, by their numbers of callers.
    pub depths: Vec<Quark>,
    /// The id of the process, if it is known.
    pub process: Option<i64>,
    /// The id of the thread, as text; of the CPU or the process if that is unknown.
    pub id: String,
    /// The name of the process; empty if it is unknown.
    pub name: Arc<str>,
}

/// Returns `true` if a traceset declares entries of functions.
pub(super) fn are_recorded(traceset: &Traceset) -> bool {
    let mut context = TracesetContext::new(traceset);
    let stacks = context.attach(CallStackState::new(CallRules::default()));
    let calls = CallStacks::attach(&mut context, stacks).take(context.extensions());
    calls.traces().iter().any(|trace| trace.has_calls())
}

impl Calls {
    /// Reads the calls. Looks into the binaries of programs for names of functions if `symbols` is
    /// set. The output is `None` if `stop` is set or the history cannot be built.
    pub(super) fn read(
        traceset: &Traceset,
        symbols: bool,
        stop: &AtomicBool,
    ) -> Found<Option<Calls>> {
        let mut context = TracesetContext::new(traceset);
        let output = Calls::record(&mut context, symbols, stop);
        Found { output, faults: ReadFaults::of(&mut context) }
    }

    fn record(
        context: &mut TracesetContext<'_>,
        symbols: bool,
        stop: &AtomicBool,
    ) -> Option<Calls> {
        let traceset = context.contexts().traceset().clone();
        let span = context.contexts().time_span()?;
        let stacks = context.attach(CallStackState::new(CallRules::default()));
        let options = symbols.then(|| SymbolArgs::default().options()).flatten();
        let mut recorder = Recorder::new(Names::new(options));
        loop {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            let handle = CallStacks::attach(context, stacks);
            handle.record_chart(context.extensions_mut(), 0, usize::MAX);
            // The bounds contain no position that could be stale.
            let end = context.read(&Bounds::all().events(STEP)).ok()?;
            release(&traceset);
            let is_last = !matches!(end.reason, EndReason::EventCount | EndReason::Stopped);
            recorder.add(&handle.end(context.extensions_mut()), is_last).ok()?;
            if is_last {
                break;
            }
        }
        let end = span.end.as_ns().saturating_add(1);
        let range = span.start..ltt_read::Timestamp::from_ns(end);
        let history = recorder.builder.close(range).ok()?;
        Some(Calls { history, threads: recorder.threads.into_iter().flatten().flatten().collect() })
    }
}

/// The builder of the history.
struct Recorder {
    builder: IntervalBuilder,
    names: Names,
    /// The threads of each trace, by number; `None` for those without calls so far.
    threads: Vec<Vec<Option<CallThread>>>,
}

impl Recorder {
    fn new(names: Names) -> Self {
        let mut builder = IntervalBuilder::in_memory(Settings::default());
        builder.set_memory_limit(MEMORY);
        Recorder { builder, names, threads: Vec::new() }
    }

    /// Adds the calls that have ended, and at the end those that have not.
    fn add(&mut self, calls: &CallStacks, is_last: bool) -> Result<(), HistoryError> {
        self.threads.resize_with(calls.traces().len(), Vec::new);
        for (number, trace) in calls.traces().iter().enumerate() {
            let spans = trace.chart();
            let is_wanted =
                |of: &&ChartSpan| of.times.start < of.times.end && (is_last || !of.is_open);
            let threads = trace.threads();
            self.threads[number].resize_with(threads.len(), || None);
            let mut names: Vec<Option<Arc<str>>> = vec![None; trace.functions().len()];
            for span in spans.iter().filter(is_wanted) {
                let Some(thread) = threads.get(span.thread) else { continue };
                let quark = self.quark(TraceIndex(number), span, thread)?;
                let function = trace.path_functions(span.path).last().copied();
                let Some(id) = function else { continue };
                let name = names[id.index()].get_or_insert_with(|| {
                    self.names.name(calls, trace, &trace.functions()[id.index()])
                });
                self.builder.add_interval(quark, span.times.clone(), &**name)?;
            }
        }
        Ok(())
    }

    /// Returns the attribute of a call.
    fn quark(
        &mut self,
        trace: TraceIndex,
        span: &ChartSpan,
        of: &ThreadCalls,
    ) -> Result<Quark, HistoryError> {
        let slot = &mut self.threads[trace.0][span.thread];
        if slot.is_none() {
            let quark = self.builder.add(&format!("{}/{}", trace.0, span.thread))?;
            let id = match of.key.thread {
                ThreadId::Tid(tid) => tid.to_string(),
                ThreadId::Process => of.key.process.map_or(String::new(), |pid| pid.to_string()),
                ThreadId::Cpu(cpu) => format!("CPU {cpu}"),
            };
            let (process, name, depths) = (of.key.process, of.name.clone(), Vec::new());
            *slot = Some(CallThread { trace, quark, depths, process, id, name });
        }
        let Some(thread) = slot else { return Err(HistoryError::Unfinished) };
        while thread.depths.len() <= span.depth {
            let name = thread.depths.len().to_string();
            thread.depths.push(self.builder.add_child(thread.quark, &name)?);
        }
        Ok(thread.depths[span.depth])
    }
}
