//! Collection of the interrupts in a window, all or those that a filter selects.

use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_common::interrupts::Interrupts;
use lttv_common::report::Interrupted;
use lttv_context::{EventCall, Handle, TracesetContext};
use lttv_hooks::Flow;
use lttv_state::filter::KernelFilters;
use lttv_state::kernel::{KernelState, follow_state};

use super::entries::Entries;
use crate::commands::analysis::Analysis;

/// Reads the window and collects its interrupts. More than one thread must be for whole traces without
/// filters only. After an interrupt by the user, these are the interrupts up to there.
///
/// # Errors
///
/// After an interrupt by the user before the window.
pub(super) fn collect(
    analysis: &mut Analysis,
    threads: usize,
    filters: Option<KernelFilters>,
) -> Result<(Interrupts, Result<(), Interrupted>), Interrupted> {
    if threads <= 1 {
        let follow = Follow::attach(analysis, filters)?;
        let read = analysis.read();
        return Ok((follow.finish(analysis), read));
    }
    let (mut interrupts, read) =
        analysis.read_in_slices(threads, |context, kernel, threads, passed| {
            let mut interrupts = Interrupts::default();
            let read = follow_state(context, kernel, &mut interrupts, threads, passed)?;
            Ok((interrupts, read.kernel, read.end))
        });
    for (trace, span) in analysis.spans() {
        if let Some(state) = analysis.state().trace(trace) {
            interrupts.still_open(trace, state, span.end, |_, _, _| true);
        }
    }
    Ok((interrupts, read))
}

/// The collection of interrupts in a context.
#[derive(Debug, Clone, Copy)]
struct Follow(Handle<Found>);

/// The interrupts so far.
#[derive(Debug)]
struct Found {
    interrupts: Interrupts,
    /// The handlers that run and whose entries pass, by trace; empty without a filter.
    entries: Vec<Entries>,
    /// `true` within the window.
    counts: bool,
}

impl Follow {
    /// Adds the hooks that collect interrupts. The context is at the start of the window, also
    /// afterwards.
    fn attach(
        analysis: &mut Analysis,
        filters: Option<KernelFilters>,
    ) -> Result<Self, Interrupted> {
        let begin = analysis.window.begin;
        let interrupts = begin.map_or_else(Interrupts::default, Interrupts::since);
        let traces = analysis.traceset.traces().len();
        let entries = match filters {
            Some(_) => (0..traces).map(|_| Entries::default()).collect(),
            None => Vec::new(),
        };
        let found = Found { interrupts, entries, counts: true };
        let found = analysis.context.attach_data(found);
        let kernel = analysis.kernel;
        for events in analysis.events_of(|of| Interrupts::ended_by(of).is_some()) {
            analysis.context.on_event(events, move |call| ended(call, found, kernel));
        }
        let follow = Follow(found);
        let Some(filters) = filters else { return Ok(follow) };
        let filters = match filters.uses_state() {
            true => filters.with_state(kernel),
            false => filters,
        };
        let filters = Rc::new(filters);
        for events in analysis.events_of(Interrupts::is_start) {
            let filters = Rc::clone(&filters);
            analysis.context.on_event(events, move |call| {
                let passes = filters.matches(call);
                entered(call, found, kernel, passes);
                Flow::Continue(())
            });
        }
        if let Some((begin, first)) = begin.zip(first_entry(&analysis.context, kernel)) {
            // The entries of handlers that are open at the start are before the window.
            follow.set_counts(&mut analysis.context, false);
            analysis.replay(first)?;
            analysis.read_until(begin)?;
            follow.set_counts(&mut analysis.context, true);
        }
        Ok(follow)
    }

    fn set_counts(self, context: &mut TracesetContext<'static>, counts: bool) {
        context.extensions_mut()[self.0].counts = counts;
    }

    /// Adds the handlers that are open at the end of the window, and returns all interrupts.
    fn finish(self, analysis: &mut Analysis) -> Interrupts {
        let spans: Vec<_> = analysis.spans().collect();
        let kernel = analysis.kernel;
        let pair = analysis.context.extensions_mut().get_pair_mut(self.0, kernel);
        let Some((found, kernel)) = pair else { return Interrupts::default() };
        let Found { interrupts, entries, .. } = found;
        for (trace, span) in spans {
            if let Some(state) = kernel.trace(trace) {
                let entries = entries.get(trace.0);
                interrupts.still_open(trace, state, span.end, |process, depth, frame| {
                    entries.is_none_or(|entries| entries.has(process, depth, frame))
                });
            }
        }
        std::mem::take(interrupts)
    }
}

/// Returns the earliest start of the handlers that run now; `None` if none runs.
fn first_entry(
    context: &TracesetContext<'static>,
    kernel: Handle<KernelState>,
) -> Option<Timestamp> {
    let processes = context.extensions()[kernel].traces().flat_map(|state| state.processes());
    let frames = processes.flat_map(|(_, process)| process.stack());
    frames.filter(|frame| frame.source().is_some()).map(|frame| frame.entry()).min()
}

fn entered(
    call: &mut EventCall<'_, '_>,
    found: Handle<Found>,
    kernel: Handle<KernelState>,
    passes: bool,
) {
    let trace = call.trace.index();
    let Some(cpu) = call.extensions[kernel].cpu_of(call) else { return };
    let Some((found, kernel)) = call.extensions.get_pair_mut(found, kernel) else { return };
    let process = kernel.trace(trace).and_then(|state| state.running(cpu));
    if let (Some(entries), Some(process)) = (found.entries.get_mut(trace.0), process) {
        entries.entered(process, passes);
    }
}

fn ended(call: &mut EventCall<'_, '_>, found: Handle<Found>, kernel: Handle<KernelState>) {
    let (trace, time) = (call.trace.index(), call.time().as_ns());
    let state = &call.extensions[kernel];
    let (Some(cpu), Some(transition)) =
        (state.cpu_of(call), state.transition(trace, call.event.type_id()))
    else {
        return;
    };
    let Some((found, kernel)) = call.extensions.get_pair_mut(found, kernel) else { return };
    let Some(state) = kernel.trace(trace) else { return };
    if let Some(entries) = found.entries.get_mut(trace.0) {
        let ended = state.effect().ended().first();
        let process = ended.and_then(|ended| Some((ended, state.process(ended.process)?)));
        let Some((ended, process)) = process else { return };
        if !entries.ended(process, time.saturating_sub_unsigned(ended.elapsed)) {
            return;
        }
    }
    if found.counts {
        found.interrupts.ended(trace, state, transition, cpu, time);
    }
}
