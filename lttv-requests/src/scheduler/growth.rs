//! Requests for traces that are being recorded.

use std::mem::take;

use ltt_read::{Merge, Timestamp};
use lttv_context::{Grow, GrowthError, Traceset, TracesetPosition};

use crate::chunk::{ChunkReport, FinishReason};
use crate::request::request_start::RequestStart;
use crate::scheduler::Scheduler;
use crate::scheduler::active_request::ActiveRequest;

/// # Growing
///
/// While a traceset is [growing](Traceset::growing), requests receive what is final. Those that
/// [wait](crate::EventsRequest::waiting) go on after [`continue_with`](Self::continue_with), and so do
/// computations in the background; others end with [`FinishReason::Pending`]. A
/// [`Recording`](lttv_context::Recording) hands a scheduler what is new.
///
/// ```
/// use std::cell::Cell;
///
/// use ltt_read::GrowingTrace;
/// use lttv_context::{TracesetContext, Traceset};
/// use lttv_requests::{Budget, EventsRequest, Owner, Scheduler, Status};
///
/// let metadata = br#"/* CTF 1.8 */
///     trace { major = 1; minor = 8; byte_order = le; };
///     event { name = "tick"; fields := struct { integer { size = 8; } n; }; };"#;
/// let mut trace = GrowingTrace::new("ticks", metadata)?;
/// let stream = trace.add_tracefile("stream");
/// let mut traceset = Traceset::growing();
/// let ticks = Cell::new(0);
/// let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
/// let request = EventsRequest::new(Owner::unique()).waiting();
/// scheduler.submit(request.on_event("tick", |_, _| ticks.set(ticks.get() + 1)))?;
/// for part in [[1, 2], [3, 4]] {
///     trace.append(stream, part.to_vec());
///     traceset.continue_with(&[trace.version().clone()]);
///     scheduler.continue_with(&traceset)?;
///     while scheduler.service_chunk(Budget::default()).has_more() {}
/// }
/// assert_eq!(ticks.get(), 4);
/// assert_eq!(scheduler.service_chunk(Budget::default()).status, Status::Waiting);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<'h> Scheduler<'h> {
    /// Continues with a later state of the traceset: requests that wait go on, and so does the
    /// background. Requests whose filter cannot [grow](crate::EventFilter::grow) end with
    /// [`FinishReason::TracesetChanged`]; the next chunk reports them.
    ///
    /// # Errors
    ///
    /// The errors of
    /// [`TracesetContext::continue_with`](lttv_context::TracesetContext::continue_with), also about the
    /// context of the background. The scheduler goes on with what it has.
    pub fn continue_with(&mut self, traceset: &Traceset) -> Result<(), GrowthError> {
        self.run_commands();
        let declares_more = self.context.contexts().is_extended_by(traceset);
        if declares_more {
            // The filter for all requests is made anew for what they want now.
            self.read_all();
        }
        let here = self.context.position();
        self.context.continue_with(traceset)?;
        self.move_to_next(&here);
        self.queue.set_traceset(traceset.revision(), traceset.traces().len());
        self.seek = None;
        self.unpark();
        if declares_more {
            let fixed = self.take_where(|request| !request.grow_filter(traceset.traces()));
            let ended = self.finish_all(fixed, FinishReason::TracesetChanged);
            let reported: Vec<_> = self.reported(ended).collect();
            self.unreported.finished.extend(reported);
        }
        match &self.background {
            Some(background) => background.continue_with(traceset),
            None => Ok(()),
        }
    }

    /// Returns the time before which all answers are final, while the traceset is growing; `None`
    /// if it is complete.
    pub fn final_until(&self) -> Option<Timestamp> {
        self.context.watermark()
    }

    /// Notes that the requests where the context stands, at a position before the traceset has
    /// grown, are before the next event now.
    fn move_to_next(&mut self, before: &TracesetPosition) {
        let (before, here) = (RequestStart::Position(before.clone()), self.context.position());
        self.parked.set_position(&before, &here);
        self.waiting.set_position(&before, &here);
    }

    /// Lets the requests go on that wait for events to be recorded.
    pub(crate) fn unpark(&mut self) {
        let mut parked = take(&mut self.parked);
        for id in parked.ids() {
            self.waiting.extend(parked.remove(id));
        }
    }

    /// Stops serving the requests that wait at a time that is not final yet. Returns `false` if the
    /// goal is another place.
    pub(crate) fn park_beyond(&mut self, goal: &RequestStart, chunk: &mut ChunkReport) -> bool {
        let RequestStart::Time(time) = goal else { return false };
        if self.final_until().is_none_or(|end| *time <= end) {
            return false;
        }
        self.park_at(goal, chunk);
        true
    }

    /// Stops serving the requests that wait at a place.
    pub(crate) fn park_at(&mut self, goal: &RequestStart, chunk: &mut ChunkReport) {
        for request in self.waiting.take_at(goal) {
            self.park_or_finish(request, chunk);
        }
    }

    /// Stops serving the running requests if no more of their events are final.
    pub(crate) fn park_pending(&mut self, chunk: &mut ChunkReport) {
        if !self.context.traceset().is_growing() || !self.context.scheduling().is_pending() {
            return;
        }
        let running: Vec<_> = self.running.iter().map(|request| request.id).collect();
        self.suspend_where(|_| true);
        for id in running {
            if let Some(request) = self.waiting.remove(id) {
                self.park_or_finish(request, chunk);
            }
        }
    }

    fn park_or_finish(&mut self, request: Box<ActiveRequest<'h>>, chunk: &mut ChunkReport) {
        match request.waits {
            true => self.parked.insert(request),
            false => {
                let end = request.finish(&mut self.context, FinishReason::Pending, true);
                chunk.finished.push(end);
            }
        }
    }
}

/// A [`Recording`](lttv_context::Recording) keeps all data in memory while the scheduler has a
/// background, which reads it by itself.
impl Grow for Scheduler<'_> {
    fn continue_with(&mut self, traceset: &Traceset) -> Result<(), GrowthError> {
        self.continue_with(traceset)
    }

    fn merge(&self) -> Option<&Merge> {
        self.background.is_none().then(|| self.context.merge())
    }
}
