//! Applying recorded events to the state, in order.

use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Trace, TraceIndex, TracefileIndex, TracefileNumber};
use lttv_context::Contexts;

use super::events::{RecordedEvent, RecordedEvents};
use super::recorder::{Recorded, Recorder};
use crate::kernel::{KernelState, Transition};

/// A kernel state that follows recorded events.
#[derive(Debug)]
pub(crate) struct Follower {
    kernel: KernelState,
    recorder: Recorder,
    /// The trace of each tracefile, and its number in that trace.
    tracefiles: Vec<(Arc<Trace>, TraceIndex, TracefileIndex)>,
}

/// An event that has been applied to the state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Followed {
    /// The number of the event in its slice.
    pub(crate) number: usize,
    pub(crate) trace: TraceIndex,
    pub(crate) tracefile: TracefileNumber,
    pub(crate) transition: Transition,
    pub(crate) event_type: EventTypeId,
    /// The time of delivery, in ns.
    pub(crate) time: i64,
}

/// An analysis that a follower calls for events.
pub(crate) trait FollowerObserver {
    /// Called after an event has been applied.
    fn changed(&mut self, kernel: &mut KernelState, followed: Followed);

    /// Called for an event that changes no state, unless it is on the CPU of the last event of its
    /// tracefile that does: with the number of the event in its slice and its time of delivery in ns,
    /// its trace and type, and the number of its CPU and the index of that in the state.
    fn elsewhere(
        &mut self,
        event: (usize, i64),
        of: (TraceIndex, EventTypeId),
        cpu: (u32, Option<usize>),
    );

    /// Called for each event that changes no state: with its number in its slice and its time of
    /// delivery in ns, its trace, and the index of its CPU in the state.
    fn unchanged(
        &mut self,
        kernel: &KernelState,
        event: (usize, i64),
        trace: TraceIndex,
        place: Option<usize>,
    ) {
        let (_, _, _, _) = (kernel, event, trace, place);
    }
}

/// No further observer.
impl FollowerObserver for () {
    fn changed(&mut self, _: &mut KernelState, _: Followed) {}

    fn elsewhere(
        &mut self,
        _: (usize, i64),
        _: (TraceIndex, EventTypeId),
        _: (u32, Option<usize>),
    ) {
    }
}

impl Follower {
    /// Creates a follower of a state before the first event.
    pub(crate) fn new(contexts: &Contexts, recorder: Recorder, kernel: KernelState) -> Self {
        let tracefiles = contexts.tracefiles().iter();
        let tracefiles = tracefiles.map(|of| (of.trace().clone(), of.trace_index(), of.index()));
        Follower { kernel, recorder, tracefiles: tracefiles.collect() }
    }

    /// Returns the state after the last event.
    pub(crate) fn kernel(&self) -> &KernelState {
        &self.kernel
    }

    /// Returns the state after the last event, which is no longer followed.
    pub(crate) fn into_kernel(self) -> KernelState {
        self.kernel
    }

    /// Applies the events of a slice.
    pub(crate) fn follow(
        &mut self,
        recorded: &RecordedEvents,
        observer: &mut impl FollowerObserver,
    ) {
        let Follower { kernel, recorder, tracefiles } = self;
        let mut details = recorded.details();
        for (number, event) in recorded.events().iter().enumerate() {
            let tracefile = event.tracefile();
            let (trace, index, of) = &tracefiles[tracefile.0];
            let event_type = event.event_type();
            if !event.changes_state() {
                let (at, mut place) = ((number, event.time), kernel.place_of(tracefile));
                if event.may_be_elsewhere() || place.is_none() {
                    let (packet, cpu) = (details.packet(event), details.cpu(event));
                    if let Some(cpu) = kernel.elsewhere(*index, tracefile, packet, cpu) {
                        observer.elsewhere(at, (*index, event_type), cpu);
                        place = cpu.1;
                    }
                }
                observer.unchanged(kernel, at, *index, place);
                continue;
            }
            let Some(Recorded { rule, layout }) = recorder.rule(*index, event_type) else {
                continue;
            };
            let packet = details.packet(event);
            let (cpu, fields) = details.change(event, layout);
            let at = (tracefile, event.time);
            kernel.apply_recorded((*index, trace, *of), at, rule, (packet, cpu), &fields);
            let RecordedEvent { time, .. } = *event;
            let (trace, transition) = (*index, rule.transition);
            let followed = Followed { number, trace, tracefile, transition, event_type, time };
            observer.changed(kernel, followed);
        }
    }
}
