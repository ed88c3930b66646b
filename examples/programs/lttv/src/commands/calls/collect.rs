//! Reading of the calls and heaps of a window.

use std::error::Error;

use ltt_read::Timestamp;
use lttv_common::args::InputArgs;
use lttv_common::calls::advice;
use lttv_common::report::{Interrupted, Report};
use lttv_state::call_stacks::{CallRules, CallStackState, CallStacks};
use lttv_state::heap::{Heap, HeapState};

use crate::commands::analysis::Analysis;

/// The calls and heaps of a window.
#[derive(Debug)]
pub struct Collected {
    /// The traces, after the read.
    pub analysis: Analysis,
    /// The figures of calls.
    pub calls: CallStacks,
    /// The figures of heaps.
    pub heap: Heap,
    /// The result of the read: an error if the user has interrupted it.
    pub read: Result<(), Interrupted>,
}

/// Reads the calls, by some rules, and the heaps of the window of an analysis.
///
/// # Errors
///
/// If no trace has the needed events, if an expression is wrong, or after an interrupt by the user before
/// the window.
pub fn collect(
    mut analysis: Analysis,
    input: &InputArgs,
    rules: CallRules,
    report: &mut Report,
) -> Result<Collected, Box<dyn Error>> {
    input.one_thread(report, "the events of calls");
    let stacks = analysis.context.attach(CallStackState::new(rules));
    let state = analysis.context.attach(HeapState::new(stacks));
    let window = analysis.window;
    if let Some(begin) = window.begin {
        analysis.replay(begin)?;
    }
    let context = &mut analysis.context;
    let begin = window.begin.unwrap_or(Timestamp::MIN);
    let (calls, heap) = match window.end {
        Some(end) => (
            CallStacks::attach_window(context, stacks, begin..=end),
            Heap::attach_window(context, state, begin..=end),
        ),
        None => (
            CallStacks::attach_window(context, stacks, begin..),
            Heap::attach_window(context, state, begin..),
        ),
    };
    // Reading may be long: what all traces lack is reported before it.
    let extensions = analysis.context.extensions();
    advice::require(&calls.take(extensions), &heap.take(extensions))?;
    let read = analysis.read();
    let extensions = analysis.context.extensions();
    let (calls, heap) = (calls.take(extensions), heap.take(extensions));
    advice::warn(report, analysis.traceset.traces(), &calls, &heap);
    Ok(Collected { analysis, calls, heap, read })
}
