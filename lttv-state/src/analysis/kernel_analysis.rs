//! The interface of analyses.

use ltt_read::{Event, Timestamp, TraceIndex, TracefileNumber};
use lttv_context::{Contexts, Handle, Joining, TracesetContext};

use super::window::Window;
use crate::kernel::OwnStates;
use crate::kernel::{KernelState, OtherEvent, RecordedEvent, StateChange};

/// An analysis of the kernel state: see the [module](super).
///
/// The result does not depend on the slices if these laws hold:
///
/// * *Slices compose.* The changes of two adjacent slices lead to the same state and the same result as
///   those of the one slice of all their events.
/// * *Parts commute*, if there is a [`joining`](Self::joining): slices may be added to any of several
///   parts in any order, and the parts be joined in any order.
pub trait KernelAnalysis: Sync {
    /// The state of the analysis after an event.
    type State: Clone + Send + Sync + 'static;

    /// The notes about the events of a slice: `()` if all is done in order.
    type Slice: Default + Send + 'static;

    /// The sums of slices: `()` if all is done in order.
    type Part: Clone + Send;

    /// The result.
    type Output;

    /// `true` to be told events that change no state, too.
    const EVERY_EVENT: bool = false;

    /// `true` if the analysis can be [prepared](Self::grow) for more of a growing traceset.
    const GROWS: bool = false;

    /// The number of events of a slice, unless the caller sets another one: see
    /// [`SliceAnalysis::SLICE_EVENTS`](lttv_context::SliceAnalysis::SLICE_EVENTS).
    const SLICE_EVENTS: u64 = 1 << 13;

    /// Returns `true` if the analysis keeps a state of its own, which events before the window change
    /// as well. It then begins before the first event, is told also events that do not
    /// [count](StateChange::counts), and [enters](Self::enter) the window. The default is `false`.
    fn keeps_state(&self) -> bool {
        false
    }

    /// Returns a number that identifies the options on which the state depends. Checkpoints with
    /// another one are refused. The default is 0.
    fn options(&self) -> u64 {
        0
    }

    /// Returns the number of bytes of memory that a state in a checkpoint occupies, without those that
    /// it shares with the previous one, `before`. The default is the size of the type.
    fn state_bytes(state: &Self::State, before: Option<&Self::State>) -> usize {
        let _ = before;
        size_of_val(state)
    }

    /// Called before anything is read, with the state before the first event: to find event types and
    /// their fields. Called again when a traceset has [grown](Self::grow). The default does nothing.
    fn prepare(&mut self, contexts: &Contexts, kernel: &KernelState) {
        let (_, _) = (contexts, kernel);
    }

    /// Adds hooks to the context that reads, for what [`record`](Self::record) cannot find out: an event
    /// is recorded after its hooks. `kernel` returns the kernel state in the context, which it attaches
    /// if there is none. The default does nothing.
    fn attach(&self, context: &mut TracesetContext<'_>, kernel: &mut KernelOfContext<'_>) {
        let (_, _) = (context, kernel);
    }

    /// Extends the state and the sums for traces, tracefiles and event types that the traceset has got,
    /// after another call of [`prepare`](Self::prepare). Called only if the analysis
    /// [grows](Self::GROWS). The default does nothing.
    fn grow(&self, state: &mut Self::State, part: &mut Self::Part, kernel: &KernelState) {
        let (_, _, _) = (state, part, kernel);
    }

    /// Adds the state of the analysis to those that are saved with a kernel state, if it [keeps
    /// state](Self::keeps_state): see [`Read::saved`](super::Read::saved). The default adds nothing, so
    /// that windows are read from the first event.
    fn save(&self, state: &Self::State, to: &mut OwnStates) {
        let (_, _) = (state, to);
    }

    /// Returns the state of the analysis among those that were saved with a kernel state; `None` if it
    /// is not there, damaged, or of other options or another version. The default is `None`.
    fn saved(&self, kernel: &KernelState, from: &OwnStates) -> Option<Self::State> {
        let (_, _) = (kernel, from);
        None
    }

    /// Begins in a state: that at the start of the window, or that before the first event if the
    /// analysis [keeps state](Self::keeps_state).
    fn begin(&self, kernel: &KernelState, window: Window) -> (Self::State, Self::Part);

    /// Enters the window with a state, if the analysis [keeps state](Self::keeps_state). What was
    /// collected before is dropped. The default does nothing.
    fn enter(
        &self,
        state: &mut Self::State,
        part: &mut Self::Part,
        kernel: &KernelState,
        window: Window,
    ) {
        let (_, _, _, _) = (state, part, kernel, window);
    }

    /// Ends the window, with a copy of the state at its end. Where a clock goes back, events of the
    /// window may follow, and others between them: they have changed `state` since. The default does
    /// nothing: the state after them remains.
    fn end_window(&self, state: &mut Self::State, at_end: Self::State) {
        let (_, _) = (state, at_end);
    }

    /// Records what the analysis needs of an event besides the state: the next one of its slice, which
    /// has a number there, and counts if it is in the window. The default does nothing.
    #[inline]
    fn record(
        &self,
        slice: &mut Self::Slice,
        (number, counts): (usize, bool),
        of: (TraceIndex, TracefileNumber),
        event: &Event<'_>,
    ) {
        let (_, _, _, _, _) = (slice, number, counts, of, event);
    }

    /// Called before the changes of a slice. The default does nothing.
    fn begin_slice(&self, state: &mut Self::State, slice: &mut Self::Slice) {
        let (_, _) = (state, slice);
    }

    /// Called after each event that can change the state, in order. The state of its trace is that
    /// after the event, with its [effect](crate::kernel::TraceState::effect).
    fn changed(
        &self,
        state: &mut Self::State,
        slice: &mut Self::Slice,
        kernel: &KernelState,
        change: StateChange,
    );

    /// Called for each event that changes no state, in order, if the analysis is to be told
    /// [every event](Self::EVERY_EVENT). The default does nothing.
    #[inline]
    fn unchanged(
        &self,
        state: &mut Self::State,
        slice: &mut Self::Slice,
        kernel: &KernelState,
        event: OtherEvent,
    ) {
        let (_, _, _, _) = (state, slice, kernel, event);
    }

    /// Called after the changes of a slice, with its events. The default does nothing.
    fn end_slice(
        &self,
        state: &mut Self::State,
        slice: &mut Self::Slice,
        events: EventsOfSlice<'_>,
    ) {
        let (_, _, _) = (state, slice, events);
    }

    /// Adds what was written down for a slice. The default does nothing.
    fn add(&self, part: &mut Self::Part, slice: &mut Self::Slice, events: EventsOfSlice<'_>) {
        let (_, _, _) = (part, slice, events);
    }

    /// Returns how parts are joined, if slices can be added to several parts in any order. The default
    /// is `None`: slices are added in order to one part.
    fn joining(&self) -> Option<Joining<Self::Part>> {
        None
    }

    /// Makes a slice empty. The default replaces it; keeping its memory for the next slice is faster.
    fn clear(&self, slice: &mut Self::Slice) {
        *slice = Self::Slice::default();
    }

    /// Returns the result.
    fn finish(&self, state: Self::State, part: Self::Part, end: End<'_>) -> Self::Output;
}

/// A function that returns the kernel state in a context: see [`KernelAnalysis::attach`].
pub type KernelOfContext<'k> = dyn FnMut(&mut TracesetContext<'_>) -> Handle<KernelState> + 'k;

/// The end of a read.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct End<'e> {
    /// The kernel state at the end.
    pub kernel: &'e KernelState,
    /// The window.
    pub window: Window,
    /// `true` if the read was stopped before the end of the window.
    pub is_stopped: bool,
    /// The time up to which a read that was stopped is known to have read. `None` if that is the last
    /// event.
    pub reached: Option<Timestamp>,
}

/// The events of a slice that an analysis was told, and those before them.
#[derive(Debug, Clone, Copy)]
pub struct EventsOfSlice<'s> {
    /// The number of events before the slice.
    pub(crate) before: u64,
    pub(crate) events: &'s [RecordedEvent],
    /// The index of the trace of each tracefile.
    pub(crate) traces: &'s [usize],
}

/// Only follows the state.
impl KernelAnalysis for () {
    type State = ();
    type Slice = ();
    type Part = ();
    type Output = ();

    fn begin(&self, _: &KernelState, _: Window) -> ((), ()) {
        ((), ())
    }

    fn changed(&self, (): &mut (), (): &mut (), _: &KernelState, _: StateChange) {}

    fn finish(&self, (): (), (): (), _: End<'_>) {}
}
