//! The longest system call of a name in a window.

use std::collections::BTreeSet;
use std::error::Error;

use ltt_read::{TimeSpan, Timestamp, TraceIndex};
use lttv_filter::nearest;
use lttv_state::analysis::{End, KernelAnalysis, Window};
use lttv_state::kernel::{
    ExecutionMode, KernelState, Process, Serial, StateChange, Tid, TraceState,
};
use lttv_state::stats::TraceStatistics;

use crate::commands::analysis::Analysis;

/// A system call of a thread, within a window.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) trace: TraceIndex,
    pub(crate) name: String,
    pub(crate) process: Serial,
    pub(crate) tid: Option<Tid>,
    pub(crate) pid: Option<Tid>,
    pub(crate) command: String,
    /// The time from its entry, or the start of the window, to its exit, or the end of the window.
    pub(crate) span: TimeSpan,
    /// `true` if it returned in the window.
    pub(crate) returned: bool,
}

impl Call {
    /// Returns the CPUs that executed the thread of the call, from the statistics of its time.
    pub(crate) fn cpus(&self, statistics: &TraceStatistics) -> BTreeSet<u32> {
        let leaves = statistics.leaves().filter(|(key, _)| key.process == self.process);
        leaves.map(|(key, _)| key.cpu).collect()
    }

    /// Returns the time from its start to its end, in ns.
    pub(crate) fn time(&self) -> u64 {
        duration(self.span)
    }
}

fn duration(span: TimeSpan) -> u64 {
    span.end.as_ns().saturating_sub(span.start.as_ns()).max(0).unsigned_abs()
}

/// The calls that were found up to the current position.
#[derive(Debug, Clone, Default)]
struct Search {
    name: String,
    /// The start of the window.
    begin: Option<Timestamp>,
    longest: Option<Call>,
    /// The names of all system calls that ended.
    names: BTreeSet<String>,
}

/// Reads the window and returns its longest system call of a name, the first one if several are
/// equally long. Calls that do not return in the window count up to its end.
///
/// # Errors
///
/// If there is no such call, or after an interrupt by the user.
pub(crate) fn find(
    analysis: &mut Analysis,
    threads: usize,
    name: &str,
) -> Result<Call, Box<dyn Error>> {
    let begin = analysis.window.begin;
    let search = Search { name: name.to_owned(), begin, ..Search::default() };
    let (mut search, read) = analysis.run(threads, None, LongestCall(search));
    read?;
    for (trace, span) in analysis.spans() {
        if let Some(state) = analysis.state().trace(trace) {
            search.add_open(trace, state, span.end);
        }
    }
    match search.longest.take() {
        Some(call) => Ok(call),
        None => Err(search.nothing().into()),
    }
}

/// The search for the longest system call, as it begins.
struct LongestCall(Search);

impl KernelAnalysis for LongestCall {
    type State = Search;
    type Slice = ();
    type Part = ();
    type Output = Search;

    fn begin(&self, _: &KernelState, _: Window) -> (Search, ()) {
        (self.0.clone(), ())
    }

    fn changed(&self, search: &mut Search, (): &mut (), kernel: &KernelState, change: StateChange) {
        let StateChange { trace, time, .. } = change;
        let Some(state) = kernel.trace(trace) else { return };
        for ended in state.effect().ended().iter().filter(|of| of.mode == ExecutionMode::Syscall) {
            let name = state.name(ended.submode);
            if !search.names.contains(name) {
                search.names.insert(name.to_owned());
            }
            if let Some(process) = state.process(ended.process)
                && name == search.name
            {
                let elapsed = i64::try_from(ended.elapsed).unwrap_or(i64::MAX);
                let entry = Timestamp::from_ns(time.as_ns().saturating_sub(elapsed));
                search.add(trace, state, process, entry, time, true);
            }
        }
    }

    fn finish(&self, search: Search, (): (), _: End<'_>) -> Search {
        search
    }
}

impl Search {
    fn add(
        &mut self,
        trace: TraceIndex,
        state: &TraceState,
        process: &Process,
        entry: Timestamp,
        end: Timestamp,
        returned: bool,
    ) {
        let start = self.begin.map_or(entry, |begin| begin.max(entry));
        let span = TimeSpan { start, end };
        if start > end || self.longest.as_ref().is_some_and(|of| of.time() >= duration(span)) {
            return;
        }
        self.longest = Some(Call {
            trace,
            name: self.name.clone(),
            process: process.serial(),
            tid: process.tid(),
            pid: process.pid(),
            command: state.name(process.name()).to_owned(),
            span,
            returned,
        });
    }

    /// Adds the calls that are open at the end of the window.
    fn add_open(&mut self, trace: TraceIndex, state: &TraceState, end: Timestamp) {
        for (_, process) in state.processes() {
            let open = process.stack().iter();
            for frame in open.filter(|frame| frame.mode() == ExecutionMode::Syscall) {
                if state.name(frame.submode()) == self.name {
                    self.add(trace, state, process, frame.entry(), end, false);
                }
            }
        }
    }

    /// Returns the message that there is no such call.
    fn nothing(&self) -> String {
        let name = &self.name;
        match nearest(name, self.names.iter().map(String::as_str)) {
            Some(known) => {
                format!("no system call `{name}` in the window; a similar one is `{known}`")
            }
            None => format!("no system call `{name}` in the window"),
        }
    }
}
