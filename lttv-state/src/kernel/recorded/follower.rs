//! Applying recorded events to the state, in order.

use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Timestamp, Trace, TraceIndex, TracefileIndex, TracefileNumber};
use lttv_context::Contexts;

use super::events::{Marks, RecordedEvents};
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

/// An event that can change the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateChange {
    /// The index of its trace.
    pub trace: TraceIndex,
    /// The number of its tracefile in the traceset.
    pub tracefile: TracefileNumber,
    /// The meaning for the state.
    pub transition: Transition,
    /// The event type.
    pub event_type: EventTypeId,
    /// The time of its delivery.
    pub time: Timestamp,
    /// `true` if the event counts: it is in the window.
    pub counts: bool,
    /// `true` if the event passes the filter, or if there is none.
    pub is_selected: bool,
    /// The number of the event in its slice.
    pub(crate) number: usize,
}

/// An event that changes no state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherEvent {
    /// The index of its trace.
    pub trace: TraceIndex,
    /// The number of its tracefile in the traceset.
    pub tracefile: TracefileNumber,
    /// The event type.
    pub event_type: EventTypeId,
    /// The time of its delivery.
    pub time: Timestamp,
    /// `true` if the event counts: it is in the window.
    pub counts: bool,
    /// `true` if the event passes the filter, or if there is none.
    pub is_selected: bool,
    /// The number of the event in its slice.
    pub(crate) number: usize,
    /// The index of its CPU in the state, if the state has it.
    pub(crate) place: Option<usize>,
    /// The number of its CPU, unless it is that of the last event of its tracefile that changes the
    /// state.
    pub(crate) elsewhere: Option<u32>,
}

/// An observer that a follower calls for events.
pub(crate) trait FollowerObserver {
    /// Called after an event has been applied.
    fn changed(&mut self, kernel: &mut KernelState, change: StateChange);

    /// Called when events of a CPU are lost, with the time from which on, which is not after that of the next event.
    fn lost(&mut self, kernel: &mut KernelState, trace: TraceIndex, cpu: u32, since: Timestamp) {
        let (_, _, _, _) = (kernel, trace, cpu, since);
    }

    /// Called for each event that changes no state.
    fn unchanged(&mut self, kernel: &KernelState, event: OtherEvent) {
        let (_, _) = (kernel, event);
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

    /// Returns the state after the last event, to be changed.
    pub(crate) fn kernel_mut(&mut self) -> &mut KernelState {
        &mut self.kernel
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
            let Marks { counts, is_selected } = event.marks();
            let time = Timestamp::from_ns(event.time);
            if !event.changes_state() {
                let (mut place, mut elsewhere) = (kernel.place_of(tracefile), None);
                if event.may_be_elsewhere() || place.is_none() {
                    let (packet, cpu) = (details.packet(event), details.cpu(event));
                    if let Some(cpu) = kernel.elsewhere(*index, tracefile, packet, cpu) {
                        (elsewhere, place) = (Some(cpu.0), cpu.1);
                    }
                }
                let (trace, number) = (*index, number);
                let other = OtherEvent {
                    trace,
                    tracefile,
                    event_type,
                    time,
                    counts,
                    is_selected,
                    number,
                    place,
                    elsewhere,
                };
                observer.unchanged(kernel, other);
                continue;
            }
            let Some(Recorded { rule, layout }) = recorder.rule(*index, event_type) else {
                continue;
            };
            while let Some((cpu, since)) = kernel.pass_loss_before(*index, time) {
                observer.lost(kernel, *index, cpu, since);
            }
            let packet = details.packet(event);
            let (cpu, fields) = details.change(event, layout);
            let at = (tracefile, event.time);
            kernel.apply_recorded((*index, trace, *of), at, rule, (packet, cpu), &fields);
            let (trace, transition) = (*index, rule.transition);
            let change = StateChange {
                trace,
                tracefile,
                transition,
                event_type,
                time,
                counts,
                is_selected,
                number,
            };
            observer.changed(kernel, change);
        }
    }
}
