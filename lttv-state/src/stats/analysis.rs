//! Statistics as an analysis: the state is followed in order, and its changes are booked on any thread.

use std::collections::BTreeMap;
use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Timestamp, Trace};
use lttv_context::{Contexts, Joining};

use super::accounts::Accounts;
use super::ledger::Ledger;
use super::log::Bookings;
use super::window::WindowCollector;
use super::{Statistics, TraceStatistics};
use crate::analysis::{End, EventsOfSlice, KernelAnalysis, Window};
use crate::kernel::{KernelState, OtherEvent, StateChange};

/// The analysis that computes [`Statistics`].
///
/// ```
/// use lttv_context::Traceset;
/// use lttv_state::analysis::read;
/// use lttv_state::stats::StatisticsAnalysis;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let found = read(&Traceset::open(path)?).threads(2).run(StatisticsAnalysis::new());
/// assert!(found.errors.is_empty());
/// let events = found.output.traces()[0].total().events.total();
/// assert_eq!(events, 6087);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct StatisticsAnalysis {
    counts_selected: bool,
    traces: Vec<Arc<Trace>>,
    /// The index of the trace of each tracefile.
    tracefiles: Vec<usize>,
}

/// The additions of a slice to leaves.
#[derive(Debug, Default)]
pub struct Slice {
    /// The CPU of each tracefile at the start.
    places: Vec<u16>,
    /// The bookings, by trace.
    bookings: Vec<Bookings>,
    /// The number of event types and of CPUs at the start, by trace.
    sizes: Arc<[(usize, usize)]>,
}

/// The state between two slices.
#[derive(Debug, Clone)]
pub struct State {
    collectors: Vec<WindowCollector>,
    /// The CPU of each tracefile, as its index in the state.
    places: Vec<u16>,
    sizes: Arc<[(usize, usize)]>,
}

/// The sums of slices.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// Accounts by trace, of the slices of each thread.
    accounts: Vec<Vec<Accounts>>,
    /// The events that pass the filter, by trace and type.
    selected: BTreeMap<(usize, EventTypeId), u64>,
}

/// A CPU that is not known.
const NO_PLACE: u16 = u16::MAX;

impl StatisticsAnalysis {
    /// Creates the analysis.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts also the events that pass the filter: see
    /// [`selected_events`](TraceStatistics::selected_events). Times and all other numbers are those of
    /// all events.
    #[must_use]
    pub fn counting_selected(self) -> Self {
        StatisticsAnalysis { counts_selected: true, ..self }
    }

    /// Returns the number of event types and of CPUs, by trace.
    fn sizes(&self, kernel: &KernelState) -> Arc<[(usize, usize)]> {
        let states = self.traces.iter().zip(kernel.traces());
        let sizes = states.map(|(trace, of)| (trace.schema().event_types.len(), of.cpus().count()));
        sizes.collect()
    }
}

/// Creates the accounts of a trace, from the numbers of event types and of CPUs.
fn accounts_of((types, cpus): (usize, usize)) -> Accounts {
    Accounts::new(Ledger::new(types, cpus))
}

impl State {
    /// Sets the CPU of the tracefile of an event, with the number of the event in its slice.
    #[inline]
    fn set_place(&mut self, collector: usize, tracefile: usize, place: usize) {
        let known = &mut self.places[tracefile];
        if usize::from(*known) != place {
            *known = place as u16;
            self.collectors[collector].collector.log.set_place(place);
        }
    }
}

impl KernelAnalysis for StatisticsAnalysis {
    type State = State;
    type Slice = Slice;
    type Part = Part;
    type Output = Statistics;

    const EVERY_EVENT: bool = true;
    const GROWS: bool = true;

    fn prepare(&mut self, contexts: &Contexts, _: &KernelState) {
        self.traces = contexts.traces().iter().map(|of| of.trace().clone()).collect();
        self.tracefiles = contexts.tracefiles().iter().map(|of| of.trace_index().0).collect();
    }

    fn grow(&self, of: &mut State, part: &mut Part, kernel: &KernelState) {
        of.places.resize(self.tracefiles.len(), NO_PLACE);
        let mut has_events = vec![false; self.traces.len()];
        for (place, trace) in of.places.iter().zip(&self.tracefiles) {
            has_events[*trace] |= *place != NO_PLACE;
        }
        for (at, (trace, state)) in self.traces.iter().zip(kernel.traces()).enumerate() {
            let collector = || WindowCollector::new(state, Window::everything(), trace);
            match of.collectors.get_mut(at) {
                Some(known) if has_events[at] || known.collector.has_unknown_cpus() => {}
                // More may have become known of the state before the first event.
                Some(known) => *known = collector(),
                None => of.collectors.push(collector()),
            }
        }
        of.sizes = self.sizes(kernel);
        for accounts in &mut part.accounts {
            let new = of.sizes.iter().skip(accounts.len());
            accounts.extend(new.map(|size| accounts_of(*size)));
            for (accounts, (types, _)) in accounts.iter_mut().zip(&*of.sizes) {
                accounts.ledger.add_event_types(*types);
            }
        }
    }

    fn begin(&self, kernel: &KernelState, window: Window) -> (State, Part) {
        let states = self.traces.iter().zip(kernel.traces());
        let collectors = states.map(|(trace, state)| WindowCollector::new(state, window, trace));
        let (collectors, places) = (collectors.collect(), vec![NO_PLACE; self.tracefiles.len()]);
        (State { collectors, places, sizes: self.sizes(kernel) }, Part::default())
    }

    fn begin_slice(&self, state: &mut State, slice: &mut Slice) {
        slice.sizes = Arc::clone(&state.sizes);
        slice.bookings.resize_with(state.collectors.len(), Bookings::default);
        slice.places.clone_from(&state.places);
        for (collector, bookings) in state.collectors.iter_mut().zip(&mut slice.bookings) {
            collector.collector.log.begin(bookings);
        }
    }

    #[inline]
    fn changed(&self, all: &mut State, _: &mut Slice, kernel: &KernelState, change: StateChange) {
        let StateChange { number, trace, tracefile, transition, .. } = change;
        let Some(state) = kernel.trace(trace) else { return };
        all.collectors[trace.0].collector.log.event = number as u32;
        all.set_place(trace.0, tracefile.0, state.effect().place());
        all.collectors[trace.0].applied(state, transition);
    }

    #[inline]
    fn unchanged(&self, all: &mut State, _: &mut Slice, kernel: &KernelState, event: OtherEvent) {
        let OtherEvent { number, trace, tracefile, place, elsewhere, .. } = event;
        let known = usize::from(all.places[tracefile.0]);
        let collector = &mut all.collectors[trace.0];
        let time = event.time.as_ns();
        if elsewhere.is_none() && place == Some(known) && !collector.is_over(time) {
            return;
        }
        collector.collector.log.event = number as u32;
        let cpu = elsewhere.or_else(|| Some(kernel.trace(trace)?.cpu_at(place?)?.number()));
        match place {
            Some(place)
                if elsewhere.is_none()
                    && !collector.is_over(time)
                    && collector.collector.log.key(place).is_some() =>
            {
                all.set_place(trace.0, tracefile.0, place);
            }
            _ => collector.ignored(cpu.unwrap_or(u32::MAX), place, event.event_type, time),
        }
    }

    fn end_slice(&self, state: &mut State, slice: &mut Slice, events: EventsOfSlice<'_>) {
        let collectors = &mut state.collectors;
        for (collector, bookings) in collectors.iter_mut().zip(&mut slice.bookings) {
            collector.collector.log.end(bookings);
        }
        // The last events may be ones that change no state.
        let mut left = collectors.len();
        let mut is_left = vec![true; left];
        for event in events.events.iter().rev().filter(|event| event.marks().counts) {
            let trace = events.traces[event.tracefile().0];
            if !collectors[trace].is_over(event.time)
                && std::mem::replace(&mut is_left[trace], false)
            {
                collectors[trace].collector.last = event.time;
                left -= 1;
                if left == 0 {
                    break;
                }
            }
        }
    }

    fn add(&self, part: &mut Part, slice: &mut Slice, events: EventsOfSlice<'_>) {
        if part.accounts.is_empty() {
            part.accounts.push(slice.sizes.iter().copied().map(accounts_of).collect());
        }
        let EventsOfSlice { before, events, traces } = events;
        let Slice { places, bookings, .. } = slice;
        let accounts = &mut part.accounts[0];
        accounts.iter_mut().for_each(|of| of.ledger.set_event(before));
        let mut bookers: Vec<_> =
            bookings.iter().zip(&mut *accounts).map(|(of, accounts)| of.begin(accounts)).collect();
        for (number, event) in events.iter().enumerate() {
            let trace = traces[event.tracefile().0];
            let number = (number, before + number as u64);
            bookers[trace].book(&mut accounts[trace], places, number, event);
        }
        if self.counts_selected {
            let selected = events.iter().filter(|of| of.marks().counts && of.marks().is_selected);
            for event in selected {
                let key = (traces[event.tracefile().0], event.event_type());
                *part.selected.entry(key).or_default() += 1;
            }
        }
    }

    fn joining(&self) -> Option<Joining<Part>> {
        let join = |part: &mut Part, other: Part| {
            part.accounts.extend(other.accounts);
            for (key, count) in other.selected {
                *part.selected.entry(key).or_default() += count;
            }
        };
        Some(Joining { empty: Part::default, join })
    }

    fn clear(&self, slice: &mut Slice) {
        slice.bookings.iter_mut().for_each(Bookings::clear);
    }

    fn finish(&self, state: State, part: Part, end: End<'_>) -> Statistics {
        let State { collectors, sizes, .. } = state;
        let Part { accounts: mut parts, selected } = part;
        let until = end.reached.or(end.is_stopped.then_some(Timestamp::MIN)).map(Timestamp::as_ns);
        if parts.is_empty() {
            parts.push(sizes.iter().copied().map(accounts_of).collect());
        }
        let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
        let mut traces = Vec::new();
        let states = collectors.into_iter().zip(end.kernel.traces()).zip(&self.traces);
        for (index, ((collector, state), trace)) in states.enumerate() {
            let mut others = parts.iter_mut().filter_map(Iterator::next);
            let Some(mut accounts) = others.next() else { continue };
            let mut ranks = accounts.ledger.ranks();
            others.for_each(|other| accounts.ledger.join(&other.ledger, &mut ranks));
            let mut collected = collector.collected(accounts, state, until);
            // The order in which one thread would have added them; those of no ledger are the last ones.
            collected.leaves.sort_by_rank(&ranks);
            let of_trace = selected.iter().filter(|((trace, _), _)| *trace == index);
            let of_trace = of_trace.map(|((_, id), count)| (*id, *count));
            traces.push(TraceStatistics {
                trace: Some(trace.clone()),
                collected,
                names: state.shared_names(),
                selected: self.counts_selected.then(|| of_trace.collect()),
            });
        }
        Statistics { traces }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::check;

    #[test]
    fn slices_of_any_sizes_add_up() {
        let of = |of: &TraceStatistics| {
            let leaves = of.leaves().map(|(key, counts)| (*key, counts.clone()));
            let leaves: BTreeMap<_, _> = leaves.collect();
            format!("{leaves:?} {:?} {:?} {:?}", of.process_facts(), of.devices(), of.end())
        };
        let digest = |found: Statistics| found.traces().iter().map(of).collect::<Vec<_>>();
        check(StatisticsAnalysis::new(), digest, 29);
    }
}
