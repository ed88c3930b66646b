//! The windows around the events that pass a filter, for `--context`.

use std::ops::ControlFlow;

use ltt_read::Timestamp;
use lttv_common::time::Window;
use lttv_context::{EndReason, Subscription, Traceset, TracesetContext};
use lttv_state::filter::KernelFilters;
use lttv_state::kernel::KernelState;

/// Returns the windows from a length in ns before to that length after each event in a window that passes
/// filters. Those that overlap are one. `passed` is called after each `batch` of events.
pub(super) fn windows_around(
    traceset: &Traceset,
    window: Window,
    filters: KernelFilters,
    length: u64,
    batch: u64,
    mut passed: impl FnMut(&mut TracesetContext<'_>),
) -> Vec<Window> {
    let mut found: Vec<(Timestamp, Timestamp)> = Vec::new();
    let (early, late) = match filters.uses_state() {
        true => (None, Some(filters)),
        false => (Some(filters), None),
    };
    let mut context = TracesetContext::new(traceset);
    let kernel = late.is_some().then(|| context.attach(KernelState::new()));
    match (kernel, window.begin) {
        (Some(_), Some(begin)) => _ = context.state().seek_time(begin),
        (None, Some(begin)) => context.seek_time(begin),
        (_, None) => {}
    }
    let late = late.zip(kernel).map(|(filters, kernel)| filters.with_state(kernel));
    if let Some(filters) = &early {
        context.set_filter(filters.filters());
    }
    let around = &mut found;
    context.on_event(Subscription::to_every_event(), move |call| {
        let time = call.event.timestamp().filter(|time| window.contains(Some(*time)));
        if let Some(time) = time.filter(|_| late.as_ref().is_none_or(|late| late.matches(call))) {
            let from = Timestamp::from_ns(time.as_ns().saturating_sub_unsigned(length));
            let to = time.saturating_add(length);
            match around.last_mut() {
                Some((first, last)) if from <= *last && to >= *first => {
                    (*first, *last) = ((*first).min(from), (*last).max(to));
                }
                _ => around.push((from, to)),
            }
        }
        ControlFlow::Continue(())
    });
    let bounds = window.bounds().max_examined(batch);
    // The bounds contain no position that could be refused.
    while let Ok(end) = context.read(&bounds) {
        passed(&mut context);
        if end.reason != EndReason::ExaminedCount {
            break;
        }
    }
    drop(context);
    merged(found, window)
}

/// Returns the windows in order, without those that overlap, within an outer one.
fn merged(mut all: Vec<(Timestamp, Timestamp)>, outer: Window) -> Vec<Window> {
    all.sort();
    let mut merged: Vec<(Timestamp, Timestamp)> = Vec::new();
    for (from, to) in all {
        match merged.last_mut() {
            Some((_, last)) if from <= *last => *last = (*last).max(to),
            _ => merged.push((from, to)),
        }
    }
    let within = |(from, to): (Timestamp, Timestamp)| Window {
        begin: Some(outer.begin.map_or(from, |begin| begin.max(from))),
        end: Some(outer.end.map_or(to, |end| end.min(to))),
    };
    merged.into_iter().map(within).collect()
}
