//! Statistics in slices: the state is followed in order, and its changes are booked on any thread.

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Timestamp, TraceIndex, TracefileNumber};
use lttv_context::{Contexts, Handle, Joining, SliceAnalysis, TracesetContext};

use super::books::Accounts;
use super::border::Border;
use super::collect::Collector;
use super::collected::Collected;
use super::ledger::Ledger;
use super::log::{Bookings, Log};
use crate::kernel::{
    Followed, Follower, FollowerObserver, KernelState, RecordedEvents, Recorder, TraceState,
};

/// The statistics of whole traces as an analysis in slices.
#[derive(Debug)]
pub(crate) struct InSlices {
    recorder: Recorder,
    /// The number of event types and of CPUs at the start, by trace.
    sizes: Vec<(usize, usize)>,
    /// The index of the trace of each tracefile.
    traces: Vec<usize>,
}

/// A slice: its events, and what they add to leaves.
#[derive(Debug, Default)]
pub(crate) struct Slice {
    recorded: RecordedEvents,
    /// The number of events before the slice.
    begin: u64,
    /// The CPU of each tracefile at the start.
    places: Vec<u16>,
    /// The bookings, by trace.
    bookings: Vec<Bookings>,
}

/// The state between two slices.
#[derive(Debug)]
pub(crate) struct State {
    follower: Follower,
    collectors: Vec<Collector<Log>>,
    /// The CPU of each tracefile, as its index in the state.
    places: Vec<u16>,
    /// The number of events so far.
    events: u64,
}

/// Accounts by trace, of the slices of each thread.
#[derive(Debug, Default)]
pub(crate) struct Part(Vec<Vec<Accounts>>);

/// A CPU that is not known.
const NO_PLACE: u16 = u16::MAX;

impl InSlices {
    /// Creates the analysis for the traces of a context, which is at their start, and the state there.
    pub(crate) fn new(contexts: &Contexts, kernel: KernelState) -> (Self, State) {
        let (recorder, kernel) = Recorder::new(contexts, kernel);
        let types = contexts.traces().iter().map(|of| of.trace().schema().event_types.len());
        let sizes = types.zip(kernel.traces()).map(|(types, of)| (types, of.cpus().count()));
        let sizes = sizes.collect();
        let collector = |state: &TraceState| {
            let begin = state.start_time().as_ns();
            Collector::with_books(Log::default(), state, begin)
        };
        let collectors = kernel.traces().map(collector).collect();
        let files = contexts.tracefiles();
        let traces = files.iter().map(|of| of.trace_index().0).collect();
        let places = vec![NO_PLACE; files.len()];
        let follower = Follower::new(contexts, recorder.clone(), kernel);
        (InSlices { recorder, sizes, traces }, State { follower, collectors, places, events: 0 })
    }

    /// Resolves a slice like [`resolve`](SliceAnalysis::resolve), and calls another observer of the
    /// state for each event.
    pub(crate) fn resolve_with(
        &self,
        state: &mut State,
        slice: &mut Slice,
        also: &mut impl FollowerObserver,
    ) {
        let State { follower, collectors, places, events } = state;
        slice.begin = *events;
        *events += slice.recorded.events().len() as u64;
        slice.bookings.resize_with(collectors.len(), Bookings::default);
        slice.places.clone_from(places);
        for (collector, bookings) in collectors.iter_mut().zip(&mut slice.bookings) {
            collector.books.begin(bookings);
        }
        follower.follow(&slice.recorded, &mut Observer { collectors, places, also });
        for (collector, bookings) in collectors.iter_mut().zip(&mut slice.bookings) {
            collector.books.end(bookings);
        }
        // The last events may be ones that change no state.
        let mut left = collectors.len();
        let mut is_left = vec![true; left];
        for event in slice.recorded.events().iter().rev() {
            let trace = self.traces[event.tracefile().0];
            if std::mem::replace(&mut is_left[trace], false) {
                collectors[trace].last = event.time;
                left -= 1;
                if left == 0 {
                    break;
                }
            }
        }
    }

    /// Creates the accounts of all traces.
    fn accounts(&self) -> Vec<Accounts> {
        let ledgers = self.sizes.iter().map(|(types, cpus)| Ledger::new(*types, *cpus));
        ledgers.map(Accounts::new).collect()
    }
}

impl SliceAnalysis for InSlices {
    type Slice = Slice;
    type State = State;
    type Part = Part;

    const RECORDS: bool = true;

    fn attach(&self, context: &mut TracesetContext<'_>) -> Handle<Slice> {
        context.attach_data(Slice::default())
    }

    #[inline]
    fn record(&self, slice: &mut Slice, at: (TracefileNumber, Timestamp), event: &Event<'_>) {
        self.recorder.record(&mut slice.recorded, at, event);
    }

    fn resolve(&self, state: &mut State, slice: &mut Slice) {
        self.resolve_with(state, slice, &mut ());
    }

    fn add(&self, part: &mut Part, slice: &mut Slice) {
        if part.0.is_empty() {
            part.0.push(self.accounts());
        }
        let Slice { recorded, begin, places, bookings } = slice;
        let accounts = &mut part.0[0];
        accounts.iter_mut().for_each(|of| of.ledger.set_event(*begin));
        let mut bookers: Vec<_> =
            bookings.iter().zip(&mut *accounts).map(|(of, accounts)| of.begin(accounts)).collect();
        for (number, event) in recorded.events().iter().enumerate() {
            let trace = self.traces[event.tracefile().0];
            let number = (number, *begin + number as u64);
            bookers[trace].book(&mut accounts[trace], places, number, event);
        }
    }

    fn joining(&self) -> Option<Joining<Part>> {
        Some(Joining { empty: Part::default, join: |part, other| part.0.extend(other.0) })
    }

    fn clear(&self, slice: &mut Slice) {
        slice.recorded.clear();
        slice.bookings.iter_mut().for_each(Bookings::clear);
    }
}

/// The collection after each event of a slice.
struct Observer<'s, O> {
    collectors: &'s mut [Collector<Log>],
    places: &'s mut [u16],
    /// Another observer, which is called after the collection.
    also: &'s mut O,
}

impl<O: FollowerObserver> FollowerObserver for Observer<'_, O> {
    #[inline]
    fn changed(&mut self, kernel: &mut KernelState, followed: Followed) {
        let Followed { number, trace, tracefile, transition, event_type, .. } = followed;
        let Some(state) = kernel.trace(trace) else { return };
        let collector = &mut self.collectors[trace.0];
        collector.books.event = number as u32;
        let (place, known) = (state.effect().place(), &mut self.places[tracefile.0]);
        if usize::from(*known) != place {
            *known = place as u16;
            collector.books.set_place(place);
        }
        collector.applied(state, transition, event_type);
        self.also.changed(kernel, followed);
    }

    fn elsewhere(
        &mut self,
        (number, time): (usize, i64),
        (trace, event_type): (TraceIndex, EventTypeId),
        (cpu, place): (u32, Option<usize>),
    ) {
        let collector = &mut self.collectors[trace.0];
        collector.books.event = number as u32;
        collector.ignored(cpu, place, event_type, time);
    }

    #[inline]
    fn unchanged(
        &mut self,
        kernel: &KernelState,
        event: (usize, i64),
        trace: TraceIndex,
        place: Option<usize>,
    ) {
        self.also.unchanged(kernel, event, trace, place);
    }
}

#[cfg(feature = "usage")]
impl Slice {
    /// Returns the number of events that have been recorded.
    pub(crate) fn events(&self) -> usize {
        self.recorded.events().len()
    }
}

impl State {
    /// Returns the kernel state after the last event.
    #[cfg(feature = "usage")]
    pub(crate) fn kernel(&self) -> &KernelState {
        self.follower.kernel()
    }

    /// Returns the statistics of each trace, from the accounts of all slices: the final ones, or those
    /// up to a time.
    pub(super) fn collected(
        self,
        analysis: &InSlices,
        part: Part,
        until: Option<Timestamp>,
    ) -> (Vec<Collected>, KernelState) {
        let State { follower, collectors, .. } = self;
        let mut all = Vec::new();
        let mut parts = part.0;
        if parts.is_empty() {
            parts.push(analysis.accounts());
        }
        let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
        for (collector, state) in collectors.into_iter().zip(follower.kernel().traces()) {
            let mut others = parts.iter_mut().filter_map(Iterator::next);
            let Some(mut accounts) = others.next() else { continue };
            let mut ranks = accounts.ledger.ranks();
            others.for_each(|other| accounts.ledger.join(&other.ledger, &mut ranks));
            let collector = collector.with_accounts(accounts);
            let last = until.map_or(collector.last, Timestamp::as_ns);
            let mut collected = collector.collected(state, last, until.is_none(), &Border::none());
            // The order in which one thread would have added them; those of no ledger are the last ones.
            collected.leaves.sort_by_rank(&ranks);
            all.push(collected);
        }
        (all, follower.into_kernel())
    }
}

#[cfg(test)]
mod tests {
    use lttv_context::Traceset;
    use lttv_context::testing::check_slices;

    use super::*;

    #[test]
    fn slices_of_any_sizes_add_up() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
        let traceset = Traceset::open(path).expect("the bundled trace");
        let new =
            |context: &TracesetContext<'_>| InSlices::new(context.contexts(), KernelState::new());
        let (analysis, _) = new(&TracesetContext::new(&traceset));
        let start = || {
            let context = TracesetContext::new(&traceset);
            let (_, state) = new(&context);
            (context, state, Part::default())
        };
        let digest = |state: State, part| {
            let (collected, _) = state.collected(&analysis, part, None);
            let of = |of: Collected| {
                let leaves = of.leaves.iter().map(|(key, counts)| (*key, counts.clone()));
                let leaves: std::collections::BTreeMap<_, _> = leaves.collect();
                (leaves, of.processes, of.devices, of.begin, of.last)
            };
            collected.into_iter().map(of).collect::<Vec<_>>()
        };
        check_slices(&analysis, start, digest, 29, 200);
    }
}
