//! The longest system call of a name in a window.

use std::collections::BTreeSet;
use std::error::Error;

use ltt_read::{TimeSpan, Timestamp, TraceIndex};
use lttv_filter::nearest;
use lttv_state::analysis::{End, KernelAnalysis, Window};
use lttv_state::kernel::{ExecutionMode, KernelState, Process, StateChange, TraceState};

use crate::commands::analysis::Analysis;
use crate::models::statistics::Call;

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
        if let Some(ended) = state.effect().ended().filter(|of| of.mode == ExecutionMode::Syscall) {
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
        if start > end
            || self.longest.as_ref().is_some_and(|of| of.time() >= span.end.since(span.start))
        {
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
