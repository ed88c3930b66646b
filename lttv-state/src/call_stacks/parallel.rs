//! Figures of a whole traceset, collected on several threads.

use lttv_context::{Bounds, ParallelReader, Traceset, TracesetContext};

use super::calls::CallStacks;
use super::rules::CallRules;
use super::state::CallStackState;

/// The result of [`call_stacks`].
#[derive(Debug)]
#[non_exhaustive]
pub struct ComputedCallStacks {
    /// The figures.
    pub calls: CallStacks,
    /// The errors met while reading.
    pub errors: Vec<ltt_read::Error>,
    /// The number of further errors that are not in `errors`.
    pub errors_omitted: u64,
}

/// Computes the figures of all calls of a traceset on a number of threads. The figures do not depend
/// on that number.
///
/// Each thread reads a slice of time. Calls that are open between slices are joined: exits at the
/// start of a slice end calls of the previous one. If a slice leaves more than 2²⁰ events open in
/// this way, which happens in damaged traces only, everything is read again on one thread.
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_state::call_stacks::{CallRules, EventPair, call_stacks};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let pair = EventPair::of_events("softirq", "irq_softirq_entry", "irq_softirq_exit")?;
/// let rules = CallRules::with_pairs(&[pair], traceset.traces())?;
/// let computed = call_stacks(&traceset, &rules, 2);
/// assert!(computed.errors.is_empty());
/// let functions = computed.calls.traces()[0].function_figures();
/// assert!(functions.iter().all(|function| function.self_time <= function.total_time));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn call_stacks(traceset: &Traceset, rules: &CallRules, threads: usize) -> ComputedCallStacks {
    if threads > 1 {
        let mut calls: Option<CallStacks> = None;
        let reader = ParallelReader::new(traceset).threads(threads);
        let read = reader.run_in_order(
            |slice| {
                let mut context = slice.context();
                let state = match slice.number() {
                    0 => CallStackState::new(rules.clone()),
                    _ => CallStackState::of_part(rules.clone()),
                };
                let stacks = context.attach(state);
                let calls = CallStacks::attach(&mut context, stacks);
                let read = slice.read(&mut context);
                debug_assert!(read.is_ok(), "a part needs no state at its start");
                calls.take_as(context.extensions(), false)
            },
            |part| match &mut calls {
                Some(calls) => calls.add(&part),
                None => calls = Some(part),
            },
        );
        let calls = calls.unwrap_or_default();
        if calls.is_exact() {
            let (errors, errors_omitted) = (read.errors, read.errors_omitted);
            return ComputedCallStacks { calls, errors, errors_omitted };
        }
    }
    let mut context = TracesetContext::new(traceset);
    let stacks = context.attach(CallStackState::new(rules.clone()));
    let calls = CallStacks::attach(&mut context, stacks);
    // The bounds contain no position that could be stale.
    let _ = context.read(&Bounds::all());
    ComputedCallStacks {
        calls: calls.take(context.extensions()),
        errors: context.take_errors(),
        errors_omitted: context.merge().errors_omitted(),
    }
}
