//! Analyses in slices: the state follows them in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ltt_read::{Event, Timestamp, TraceIndex, TracefileNumber};
use lttv_context::{Joining, SliceAnalysis};

use super::kernel_analysis::{EventsOfSlice, KernelAnalysis};
use crate::kernel::OwnStates;
use crate::kernel::{
    Follower, FollowerObserver, KernelState, Marks, OtherEvent, RecordedEvents, Recorder,
    StateChange,
};

/// An analysis of the kernel state as one in slices.
pub(crate) struct InSlices<'a, A> {
    analysis: &'a A,
    recorder: Recorder,
    keeps_state: bool,
    /// `true` in the window.
    counts: bool,
    /// `true` while the event that is delivered passes the filter; `None` without a filter.
    selected: Option<Arc<AtomicBool>>,
}

/// A slice: its events, and what the analysis writes down for them.
#[derive(Debug)]
pub(crate) struct Slice<S> {
    recorded: RecordedEvents,
    /// The number of events before the slice.
    before: u64,
    own: S,
}

impl<S: Default> Default for Slice<S> {
    fn default() -> Self {
        Slice { recorded: RecordedEvents::default(), before: 0, own: S::default() }
    }
}

/// The state between two slices.
#[derive(Debug)]
pub(crate) struct InOrder<S> {
    pub(crate) follower: Follower,
    pub(crate) own: S,
    /// The number of events so far.
    pub(crate) events: u64,
}

impl<'a, A: KernelAnalysis> InSlices<'a, A> {
    /// Creates an analysis that begins in the window.
    pub(crate) fn new(
        analysis: &'a A,
        recorder: Recorder,
        selected: Option<Arc<AtomicBool>>,
    ) -> Self {
        let keeps_state = analysis.keeps_state();
        InSlices { analysis, recorder, keeps_state, counts: true, selected }
    }

    /// Returns the same analysis for events before the window.
    pub(super) fn before_window(self) -> Self {
        InSlices { counts: false, ..self }
    }

    /// Saves the state of the analysis, if it keeps one.
    pub(super) fn save(&self, state: &A::State, to: &mut OwnStates) {
        if self.keeps_state {
            self.analysis.save(state, to);
        }
    }

    #[inline]
    fn push(
        &self,
        slice: &mut Slice<A::Slice>,
        at: (TracefileNumber, Timestamp),
        event: &Event<'_>,
        counts: bool,
    ) {
        let selected = self.selected.as_ref();
        let is_selected = selected.is_none_or(|selected| selected.load(Ordering::Relaxed));
        let (number, recorded) = (slice.recorded.events().len(), &mut slice.recorded);
        let marks = Marks { counts, is_selected };
        match A::EVERY_EVENT {
            true => self.recorder.record::<true>(recorded, at, event, marks),
            false => self.recorder.record::<false>(recorded, at, event, marks),
        }
        if (counts || self.keeps_state)
            && let Some(trace) = self.recorder.traces().get(at.0.0)
        {
            let of = (TraceIndex(*trace), at.0);
            self.analysis.record(&mut slice.own, (number, counts), of, event);
        }
    }

    fn events<'s>(&'s self, recorded: &'s RecordedEvents, before: u64) -> EventsOfSlice<'s> {
        EventsOfSlice { before, events: recorded.events(), traces: self.recorder.traces() }
    }
}

impl<A: KernelAnalysis> SliceAnalysis for InSlices<'_, A> {
    type Slice = Slice<A::Slice>;
    type State = InOrder<A::State>;
    type Part = A::Part;

    const SLICE_EVENTS: u64 = A::SLICE_EVENTS;

    #[inline]
    fn record(&self, slice: &mut Self::Slice, at: (TracefileNumber, Timestamp), event: &Event<'_>) {
        self.push(slice, at, event, self.counts);
    }

    fn record_unheard(
        &self,
        slice: &mut Self::Slice,
        at: (TracefileNumber, Timestamp),
        event: &Event<'_>,
    ) {
        self.push(slice, at, event, false);
    }

    fn resolve(&self, state: &mut Self::State, slice: &mut Self::Slice) {
        let InOrder { follower, own, events } = state;
        let (recorded, slice_own) = (&slice.recorded, &mut slice.own);
        slice.before = *events;
        *events += recorded.events().len() as u64;
        self.analysis.begin_slice(own, slice_own);
        let (analysis, tells_all) = (self.analysis, self.keeps_state);
        let mut observer = Observer { analysis, tells_all, own, slice: slice_own };
        follower.follow(recorded, &mut observer);
        self.analysis.end_slice(own, slice_own, self.events(recorded, slice.before));
    }

    fn add(&self, part: &mut A::Part, slice: &mut Self::Slice) {
        let events = self.events(&slice.recorded, slice.before);
        self.analysis.add(part, &mut slice.own, events);
    }

    fn joining(&self) -> Option<Joining<A::Part>> {
        self.analysis.joining()
    }

    fn clear(&self, slice: &mut Self::Slice) {
        slice.recorded.clear();
        self.analysis.clear(&mut slice.own);
    }
}

/// The analysis after each event of a slice.
struct Observer<'s, A: KernelAnalysis> {
    analysis: &'s A,
    /// `true` to tell the analysis events that do not count.
    tells_all: bool,
    own: &'s mut A::State,
    slice: &'s mut A::Slice,
}

impl<A: KernelAnalysis> FollowerObserver for Observer<'_, A> {
    #[inline]
    fn changed(&mut self, kernel: &mut KernelState, change: StateChange) {
        if change.counts || self.tells_all {
            self.analysis.changed(self.own, self.slice, kernel, change);
        }
    }

    #[inline]
    fn unchanged(&mut self, kernel: &KernelState, event: OtherEvent) {
        if event.counts || self.tells_all {
            self.analysis.unchanged(self.own, self.slice, kernel, event);
        }
    }
}

/// Checks that slices of any sizes of the bundled trace lead to the same result: see
/// [`check_slices`](lttv_context::testing::check_slices).
#[cfg(test)]
pub(crate) fn check<A: KernelAnalysis, D: PartialEq + std::fmt::Debug>(
    mut analysis: A,
    digest: impl Fn(A::Output) -> D,
    seed: u64,
) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    let traceset = lttv_context::Traceset::open(path).expect("the bundled trace");
    let context = lttv_context::TracesetContext::new(&traceset);
    let contexts = context.contexts();
    let new = || Recorder::new(contexts, KernelState::new());
    let (recorder, kernel) = new();
    analysis.prepare(contexts, &kernel);
    let in_slices = InSlices::new(&analysis, recorder.clone(), None);
    let window = super::Window::everything();
    let start = || {
        let (_, kernel) = new();
        let (own, part) = analysis.begin(&kernel, window);
        let follower = Follower::new(contexts, recorder.clone(), kernel);
        (lttv_context::TracesetContext::new(&traceset), InOrder { follower, own, events: 0 }, part)
    };
    let digest = |order: InOrder<A::State>, part| {
        let kernel = order.follower.kernel();
        let end = super::End { kernel, window, is_stopped: false, reached: None };
        digest(analysis.finish(order.own, part, end))
    };
    lttv_context::testing::check_slices(&in_slices, start, digest, seed, 200);
}
