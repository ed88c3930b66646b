//! Counting on several threads, which needs no order of the events of different tracefiles.

use std::sync::{Mutex, PoisonError};

use ltt_read::selection::EventSelection;
use ltt_read::tuning::Upcoming;
use ltt_read::{Event, Merge, Progress, TimeSpan, Timestamp};
use lttv_common::time::Window;
use lttv_context::{Traceset, UnorderedReader, UnorderedResult};
use lttv_filter::Filters;
use lttv_hooks::Flow;
use lttv_state::filter::KernelFilters;

use super::found::Found;
use super::tally::Counted;
use crate::prefetch::Prefetcher;

/// Counts the events in a window that pass the filters. Returns `None` if only reading in order finds
/// what one thread would report: for filters that depend on the state, or for which one thread skips
/// times, and where reports have a limit that depends on the order.
pub(super) fn count_unordered(
    traceset: &Traceset,
    window: Window,
    filters: Option<&KernelFilters>,
    threads: usize,
    mut passed: impl FnMut(Progress),
) -> Option<Counted> {
    if filters.is_some_and(KernelFilters::uses_state) {
        return None;
    }
    let filters = filters.map(KernelFilters::filters);
    if filters
        .is_some_and(|filters| filters.spans() != [TimeSpan::ALL] || goes_back(traceset, window))
    {
        return None;
    }
    let mut reader = UnorderedReader::new(traceset).threads(threads);
    if let Some(begin) = window.begin {
        reader = reader.since(begin);
    }
    if let Some(end) = after(window) {
        reader = reader.until(end);
    }
    let go_on = |progress| {
        passed(progress);
        Flow::Continue(())
    };
    let prefetcher = Mutex::new(Prefetcher::default());
    let ahead = |parts: &mut dyn Iterator<Item = Upcoming>| {
        prefetcher.lock().unwrap_or_else(PoisonError::into_inner).fetch(parts);
    };
    match filters {
        None => {
            let read = reader.count(go_on, ahead);
            counted(read.events, read)
        }
        Some(filters) => {
            let reader = reader.only(|trace, tracefile| filters.may_match(trace, tracefile));
            let each = |count: &mut u64, event: &Event<'_>| {
                *count += u64::from(Filters::matches(filters, event));
            };
            let read = reader.read_with_ahead(each, go_on, ahead);
            counted(read.parts.iter().sum(), read)
        }
    }
}

/// Returns what was counted, unless it has so many reports that one thread would report them in another
/// order, or not all of them.
fn counted<T>(events: u64, read: UnorderedResult<T>) -> Option<Counted> {
    let UnorderedResult { is_followed, errors, notices, errors_omitted, notices_omitted, .. } =
        read;
    let has_limits = errors_omitted == 0 && notices_omitted == 0;
    (has_limits && notices.len().max(errors.len()) <= Found::MOST).then_some(Counted {
        events,
        is_followed,
        notices,
        notices_omitted,
        errors,
        errors_omitted,
    })
}

/// Returns `true` if a clock goes back over the begin or the end of a window: a filtered read in order
/// then reads all tracefiles.
fn goes_back(traceset: &Traceset, window: Window) -> bool {
    let edges = [window.begin, after(window)];
    let mut edges = edges.into_iter().flatten().peekable();
    edges.peek().is_some() && {
        let mut merge = Merge::new(traceset.traces());
        edges.any(|time| merge.delivered_by(time) != Some(time))
    }
}

/// Returns the time after a window.
fn after(window: Window) -> Option<Timestamp> {
    let end = window.end?.as_ns().checked_add(1)?;
    Some(Timestamp::from_ns(end))
}
