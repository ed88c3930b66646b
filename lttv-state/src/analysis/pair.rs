//! Two analyses in one read.

use ltt_read::{Event, TraceIndex, TracefileNumber};
use lttv_context::{Contexts, TracesetContext};

use super::kernel_analysis::{End, EventsOfSlice, KernelAnalysis, KernelOfContext};
use super::window::Window;
use crate::kernel::OwnStates;
use crate::kernel::{KernelState, OtherEvent, StateChange};

/// Two analyses of the same events. Their slices are added in order.
impl<A: KernelAnalysis, B: KernelAnalysis> KernelAnalysis for (A, B) {
    type State = (A::State, B::State);
    type Slice = (A::Slice, B::Slice);
    type Part = (A::Part, B::Part);
    type Output = (A::Output, B::Output);

    const EVERY_EVENT: bool = A::EVERY_EVENT || B::EVERY_EVENT;

    fn keeps_state(&self) -> bool {
        self.0.keeps_state() || self.1.keeps_state()
    }

    fn options(&self) -> u64 {
        self.0.options().rotate_left(32) ^ self.1.options()
    }

    fn state_bytes(state: &Self::State, before: Option<&Self::State>) -> usize {
        A::state_bytes(&state.0, before.map(|before| &before.0))
            + B::state_bytes(&state.1, before.map(|before| &before.1))
    }

    fn prepare(&mut self, contexts: &Contexts, kernel: &KernelState) {
        self.0.prepare(contexts, kernel);
        self.1.prepare(contexts, kernel);
    }

    fn attach(&self, context: &mut TracesetContext<'_>, kernel: &mut KernelOfContext<'_>) {
        self.0.attach(context, kernel);
        self.1.attach(context, kernel);
    }

    fn save(&self, state: &Self::State, to: &mut OwnStates) {
        self.0.save(&state.0, to);
        self.1.save(&state.1, to);
    }

    fn saved(&self, kernel: &KernelState, from: &OwnStates) -> Option<Self::State> {
        Some((saved(&self.0, kernel, from)?, saved(&self.1, kernel, from)?))
    }

    fn begin(&self, kernel: &KernelState, window: Window) -> (Self::State, Self::Part) {
        let (a, b) = (self.0.begin(kernel, window), self.1.begin(kernel, window));
        ((a.0, b.0), (a.1, b.1))
    }

    fn enter(
        &self,
        state: &mut Self::State,
        part: &mut Self::Part,
        kernel: &KernelState,
        window: Window,
    ) {
        enter(&self.0, (&mut state.0, &mut part.0), kernel, window);
        enter(&self.1, (&mut state.1, &mut part.1), kernel, window);
    }

    fn end_window(&self, state: &mut Self::State, at_end: Self::State) {
        self.0.end_window(&mut state.0, at_end.0);
        self.1.end_window(&mut state.1, at_end.1);
    }

    #[inline]
    fn record(
        &self,
        slice: &mut Self::Slice,
        (number, counts): (usize, bool),
        of: (TraceIndex, TracefileNumber),
        event: &Event<'_>,
    ) {
        if counts || self.0.keeps_state() {
            self.0.record(&mut slice.0, (number, counts), of, event);
        }
        if counts || self.1.keeps_state() {
            self.1.record(&mut slice.1, (number, counts), of, event);
        }
    }

    fn begin_slice(&self, state: &mut Self::State, slice: &mut Self::Slice) {
        self.0.begin_slice(&mut state.0, &mut slice.0);
        self.1.begin_slice(&mut state.1, &mut slice.1);
    }

    #[inline]
    fn changed(
        &self,
        state: &mut Self::State,
        slice: &mut Self::Slice,
        kernel: &KernelState,
        change: StateChange,
    ) {
        if change.counts || self.0.keeps_state() {
            self.0.changed(&mut state.0, &mut slice.0, kernel, change);
        }
        if change.counts || self.1.keeps_state() {
            self.1.changed(&mut state.1, &mut slice.1, kernel, change);
        }
    }

    #[inline]
    fn unchanged(
        &self,
        state: &mut Self::State,
        slice: &mut Self::Slice,
        kernel: &KernelState,
        event: OtherEvent,
    ) {
        if A::EVERY_EVENT && (event.counts || self.0.keeps_state()) {
            self.0.unchanged(&mut state.0, &mut slice.0, kernel, event);
        }
        if B::EVERY_EVENT && (event.counts || self.1.keeps_state()) {
            self.1.unchanged(&mut state.1, &mut slice.1, kernel, event);
        }
    }

    fn end_slice(
        &self,
        state: &mut Self::State,
        slice: &mut Self::Slice,
        events: EventsOfSlice<'_>,
    ) {
        self.0.end_slice(&mut state.0, &mut slice.0, events);
        self.1.end_slice(&mut state.1, &mut slice.1, events);
    }

    fn add(&self, part: &mut Self::Part, slice: &mut Self::Slice, events: EventsOfSlice<'_>) {
        self.0.add(&mut part.0, &mut slice.0, events);
        self.1.add(&mut part.1, &mut slice.1, events);
    }

    fn clear(&self, slice: &mut Self::Slice) {
        self.0.clear(&mut slice.0);
        self.1.clear(&mut slice.1);
    }

    fn finish(&self, state: Self::State, part: Self::Part, end: End<'_>) -> Self::Output {
        (self.0.finish(state.0, part.0, end), self.1.finish(state.1, part.1, end))
    }
}

/// Returns the saved state of one of the two. One without a state of its own begins when the window is
/// entered.
fn saved<A: KernelAnalysis>(
    analysis: &A,
    kernel: &KernelState,
    from: &OwnStates,
) -> Option<A::State> {
    match analysis.keeps_state() {
        true => analysis.saved(kernel, from),
        false => Some(analysis.begin(kernel, Window::everything()).0),
    }
}

/// Enters a window with one of the two.
fn enter<A: KernelAnalysis>(
    analysis: &A,
    (state, part): (&mut A::State, &mut A::Part),
    kernel: &KernelState,
    window: Window,
) {
    if analysis.keeps_state() {
        analysis.enter(state, part, kernel, window);
    } else {
        (*state, *part) = analysis.begin(kernel, window);
    }
}
