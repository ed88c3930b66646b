//! The places of events in traces, which stay valid when traces are closed and opened again.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;

use ltt_read::{Event, Timestamp, Trace};
use lttv_context::{Bounds, Traceset, TracesetContext, TracesetPosition};

use super::TraceId;

/// The place of an event in a trace. Unlike a [`TracesetPosition`], it stays valid when the
/// trace is closed, moved and opened again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPlace {
    /// The trace.
    pub(super) trace: TraceId,
    /// The name of the tracefile.
    pub(super) tracefile: String,
    /// The number of tracefiles of this name before it in the trace.
    pub(super) namesakes_before: usize,
    /// The index of the file in the tracefile.
    pub(super) file: usize,
    /// The offset of the event in the file, in bits.
    pub(super) offset: u64,
}

impl EventPlace {
    /// Returns the place of an event.
    pub fn of(event: &Event<'_>) -> Self {
        EventPlace {
            trace: TraceId::of(event.trace()),
            tracefile: event.tracefile().name().to_owned(),
            namesakes_before: namesakes_before(event),
            file: event.file_index(),
            offset: event.offset(),
        }
    }

    /// Returns the identifier of the trace.
    pub fn trace(&self) -> TraceId {
        self.trace
    }

    /// Returns the name of the tracefile.
    pub fn tracefile(&self) -> &str {
        &self.tracefile
    }

    /// Returns `true` if this is the place of an event.
    pub fn is_of(&self, event: &Event<'_>) -> bool {
        // The trace is last: it takes the longest.
        self.offset == event.offset()
            && self.file == event.file_index()
            && self.tracefile == event.tracefile().name()
            && self.namesakes_before == namesakes_before(event)
            && self.trace == TraceId::of(event.trace())
    }

    /// Finds the position of the event in a traceset, given its time. Returns `None` if it is
    /// not there.
    pub(super) fn find(&self, time: Timestamp, traceset: &Traceset) -> Option<TracesetPosition> {
        let is_of = |trace: &Trace| TraceId::of(trace) == self.trace;
        if !traceset.traces().iter().any(|trace| is_of(trace)) {
            return None;
        }
        let found = Rc::new(RefCell::new(None));
        let mut context = TracesetContext::new(traceset);
        let (to, place) = (found.clone(), self.clone());
        context.on_event("*", move |call| {
            if place.is_of(&call.event) {
                *to.borrow_mut() = Some(call.position());
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        context.seek_time(time);
        let mut bounds = Bounds::all().since(time);
        if time < Timestamp::MAX {
            bounds = bounds.until(time.saturating_add(1));
        }
        // No bound is a position, which could be of another traceset.
        let _ = context.read(&bounds);
        found.take()
    }
}

fn namesakes_before(event: &Event<'_>) -> usize {
    let tracefiles = &event.trace().tracefiles()[..event.tracefile_index().0];
    tracefiles.iter().filter(|tracefile| tracefile.name() == event.tracefile().name()).count()
}
