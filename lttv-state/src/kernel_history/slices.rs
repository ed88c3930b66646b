//! Kernel histories in slices: the state is followed in order on one thread, while another one stores
//! its changes.

use ltt_read::{Event, Timestamp, TraceIndex, TracefileNumber};
use lttv_context::{Contexts, SliceAnalysis};

use super::machine::Cause;
use super::writer::Storing;
use crate::history::{Builder, Changes, Draft, HistoryError};
use crate::kernel::{
    Follower, FollowerObserver, KernelState, Marks, RecordedEvents, Recorder, StateChange,
};

/// The kernel history as an analysis in slices, whose result is a builder.
#[derive(Debug)]
pub(super) struct InSlices {
    recorder: Recorder,
}

/// A slice: its events, and the changes of attributes.
#[derive(Debug, Default)]
pub(super) struct Slice {
    recorded: RecordedEvents,
    changes: Changes,
}

/// The state between two slices.
#[derive(Debug)]
pub(super) struct State {
    follower: Follower,
    storing: Storing<Draft>,
}

/// The builder, and the error that stopped storing.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) builder: Builder,
    pub(super) failed: Option<HistoryError>,
}

impl InSlices {
    /// Creates the analysis for the traces of a context, from a kernel state that is stored.
    pub(super) fn new(
        contexts: &Contexts,
        kernel: KernelState,
        storing: Storing<Builder>,
    ) -> (Self, State, Stored) {
        let (recorder, kernel) = Recorder::new(contexts, kernel);
        let follower = Follower::new(contexts, recorder.clone(), kernel);
        let draft = Draft::of(&storing.builder);
        let (storing, builder, failed) = storing.exchange(draft, None);
        (InSlices { recorder }, State { follower, storing }, Stored { builder, failed })
    }
}

impl State {
    /// Returns the kernel state, and what stores it from here on.
    pub(super) fn into_parts(self, stored: Stored) -> (KernelState, Storing<Builder>) {
        let State { follower, storing } = self;
        let Stored { builder, failed } = stored;
        let (mut storing, _, draft_failed) = storing.exchange(builder, failed);
        storing.failed = storing.failed.or(draft_failed);
        (follower.into_kernel(), storing)
    }
}

impl SliceAnalysis for InSlices {
    type Slice = Slice;
    type State = State;
    type Part = Stored;

    /// Half of the time is for what is done in order.
    const SLICE_EVENTS: u64 = 1 << 14;

    #[inline]
    fn record(&self, slice: &mut Slice, at: (TracefileNumber, Timestamp), event: &Event<'_>) {
        self.recorder.record::<false>(&mut slice.recorded, at, event, Marks::NONE);
    }

    fn resolve(&self, state: &mut State, slice: &mut Slice) {
        let State { follower, storing } = state;
        std::mem::swap(&mut storing.builder.changes, &mut slice.changes);
        follower.follow(&slice.recorded, &mut Observer { storing });
        std::mem::swap(&mut storing.builder.changes, &mut slice.changes);
    }

    fn add(&self, stored: &mut Stored, slice: &mut Slice) {
        if stored.failed.is_none() {
            stored.failed = stored.builder.apply(&slice.changes).err();
        }
    }

    fn clear(&self, slice: &mut Slice) {
        slice.recorded.clear();
        slice.changes.clear();
    }
}

/// The storing of states after each event of a slice.
struct Observer<'s> {
    storing: &'s mut Storing<Draft>,
}

impl FollowerObserver for Observer<'_> {
    fn lost(&mut self, kernel: &mut KernelState, trace: TraceIndex, cpu: u32, since: Timestamp) {
        self.storing.store_or_fail(kernel, trace, Some(Cause::loss(cpu)), since);
    }

    #[inline]
    fn changed(&mut self, kernel: &mut KernelState, change: StateChange) {
        let StateChange { trace, tracefile, transition, time, .. } = change;
        let cpu = kernel.cpu_of_tracefile(tracefile);
        self.storing.store_or_fail(
            kernel,
            trace,
            Some(Cause { transition: Some(transition), cpu }),
            time,
        );
    }
}
