//! The scheduler of requests.

#![allow(clippy::vec_box, reason = "requests are large, and move between collections")]

pub(crate) mod active_request;
pub(crate) mod background;
mod columns;
mod growth;
mod service;
mod viewers;
mod waiting;
mod wanted;

use std::fmt;
use std::mem::replace;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;

use ltt_read::TraceIndex;
use lttv_context::{HookError, IncrementalSeek, ReadEnd, TracesetContext, TracesetPosition};

use crate::chunk::{ChunkReport, FinishReason, Finished};
use crate::identity::{Owner, RequestId};
use crate::request::control::{Command, Queue};
use crate::request::{EventsRequest, SubmitError, Urgency};
use crate::resume::ResumeStates;
use crate::scheduler::active_request::ActiveRequest;
use crate::scheduler::background::Background;
use crate::scheduler::viewers::Viewers;
use crate::scheduler::waiting::Waiting;
use crate::scheduler::wanted::WantedEvents;

/// A scheduler of requests, which reads each stretch of a traceset once for all requests
/// that cover it, and delivers to every request exactly the events that it requested.
///
/// The scheduler only works while [`service_chunk`](Self::service_chunk) runs, which the
/// application calls whenever it has time. Requests can be submitted and cancelled
/// between calls and from hooks. Dropping a scheduler calls no hooks; call
/// [`stop_all`](Self::stop_all) first, so that each hook before a request is followed by
/// its counterpart.
///
/// ```
/// use std::cell::Cell;
/// use lttv_context::{TracesetContext, Traceset};
/// use lttv_requests::{Budget, EventsRequest, Owner, Scheduler};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let (switches, events) = (Cell::new(0), Cell::new(0));
/// let mut scheduler = Scheduler::new(TracesetContext::new(Traceset::open(path)?));
/// let (list, histogram) = (Owner::unique(), Owner::unique());
/// scheduler.submit(EventsRequest::new(list).on_event("sched_switch", |_, _| {
///     switches.set(switches.get() + 1);
/// }))?;
/// scheduler.submit(EventsRequest::new(histogram).on_every_event(|_, _| {
///     events.set(events.get() + 1);
/// }))?;
/// let mut read = 0;
/// loop {
///     // Draw, handle input, and then:
///     let chunk = scheduler.service_chunk(Budget::events(1000));
///     read += chunk.read;
///     if !chunk.has_more() {
///         break;
///     }
/// }
/// assert_eq!((switches.get(), events.get(), read), (497, 6087, 6087));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Order of service
///
/// The scheduler reads at the most urgent request; of several, at the one that comes
/// first in the traceset. All requests at that position are served together, whatever
/// their urgency, and a waiting request joins when reading reaches its position. An
/// earlier or more urgent request that is submitted is served from the next stretch on.
/// The requests that it interrupts continue later from their positions, with the state
/// saved there.
///
/// Any number of requests can wait: the cost of a call grows with the logarithm of their
/// number.
///
/// # Panics of hooks
///
/// If a hook or the filter of a request panics, that request ends with
/// [`FinishReason::Panicked`]: it receives no more events, but its hooks after the chunk
/// and after the request are called. Other requests are not affected: each receives each
/// of its events once. Then the panic resumes out of the function that called the hook. A
/// caller that catches it can continue to use the scheduler; the next
/// [`service_chunk`](Self::service_chunk) also returns the results of the call that
/// panicked. If several hooks panic in one call, the first panic resumes.
///
/// If a hook panics that belongs to no request, such as a hook of an extension, all
/// requests that were being served end with [`FinishReason::Panicked`], because the
/// events that they have received are not known. The state of extensions is restored from
/// an earlier position.
pub struct Scheduler<'h> {
    pub(crate) context: TracesetContext<'h>,
    /// The requests that receive events as the context reads, in the order of their ids.
    pub(crate) running: Vec<Box<ActiveRequest<'h>>>,
    pub(crate) waiting: Waiting<'h>,
    /// The requests that wait for events that are still to be recorded.
    pub(crate) parked: Waiting<'h>,
    pub(crate) queue: Rc<Queue<'h>>,
    pub(crate) wanted: WantedEvents,
    pub(crate) resume: ResumeStates,
    /// A seek that did not complete within one call.
    pub(crate) seek: Option<IncrementalSeek>,
    /// Results that have not been returned yet: requests that hooks cancelled, and all
    /// results of a call that panicked.
    pub(crate) unreported: ChunkReport,
    pub(crate) background: Option<Background<'h>>,
    viewers: Viewers,
    /// `true` if requests of different urgency are served together.
    pub(crate) shares: bool,
    /// `true` if requests that end before they start are reported, and their
    /// `after_request` hooks called.
    reports_all: bool,
    paused: u32,
    /// The first error of a hook that belongs to no request.
    hook_error: Option<Box<HookError>>,
}

/// A request that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pending {
    /// The id of the request.
    pub request: RequestId,
    /// The owner of the request.
    pub owner: Owner,
    /// The urgency of the request.
    pub urgency: Urgency,
    /// `true` if the request has started: its `before_request` hooks were called.
    pub started: bool,
    /// The number of events of the traceset, or of the request's trace, that the request
    /// has gone through so far: see [`Finished::events`].
    pub events: u64,
}

/// The default limit on saved states of interrupted requests.
const RESUME_STATES: usize = 16;

impl<'h> Scheduler<'h> {
    /// Creates a scheduler for the traceset of a context. Extensions of the context are
    /// kept up to date: hooks of requests find the state of each event.
    pub fn new(context: TracesetContext<'h>) -> Self {
        let traceset = context.traceset();
        let queue = Queue::new(traceset.revision(), traceset.traces().len());
        let resume = ResumeStates::new(RESUME_STATES);
        Scheduler {
            context,
            running: Vec::new(),
            waiting: Waiting::default(),
            parked: Waiting::default(),
            queue,
            wanted: WantedEvents::default(),
            resume,
            seek: None,
            unreported: ChunkReport::default(),
            background: None,
            viewers: Viewers::new(),
            shares: true,
            reports_all: false,
            paused: 0,
            hook_error: None,
        }
    }

    /// Adds a request, which is served from the next
    /// [`service_chunk`](Self::service_chunk) on.
    ///
    /// # Errors
    ///
    /// Returns an error if the start or end position belongs to another traceset, or if
    /// the request is restricted to a trace that the traceset does not have.
    pub fn submit(&mut self, request: EventsRequest<'h>) -> Result<RequestId, SubmitError> {
        // Requests that hooks submitted earlier have smaller ids.
        self.run_commands();
        self.resume_panic();
        let id = self.queue.check(&request)?;
        self.enqueue(id, request);
        Ok(id)
    }

    /// Removes a request, and returns what it had done. `None` if it had ended before. If
    /// the request has started, its `after_request` hooks are called; otherwise no hook is
    /// called, [by default](Self::set_report_unstarted).
    pub fn cancel(&mut self, request: RequestId) -> Option<Finished> {
        self.run_commands();
        let cancelled = self.take(request);
        self.cancel_all(cancelled).pop()
    }

    /// Removes all requests of an owner, and returns what they had done, in the order of
    /// their submission: see [`cancel`](Self::cancel).
    pub fn cancel_owner(&mut self, owner: Owner) -> Vec<Finished> {
        self.run_commands();
        let cancelled = self.take_owner(owner);
        self.cancel_all(cancelled)
    }

    /// Removes all requests, and returns what they had done, in the order of their
    /// submission: see [`cancel`](Self::cancel).
    pub fn stop_all(&mut self) -> Vec<Finished> {
        self.run_commands();
        let cancelled = self.take_where(|_| true);
        self.cancel_all(cancelled)
    }

    /// Iterates over all requests that have not ended, in the order of their submission.
    pub fn pending(&self) -> impl ExactSizeIterator<Item = Pending> {
        let running = self.running.iter().map(|request| &**request);
        let waiting = self.waiting.iter().chain(self.parked.iter());
        let all = running.chain(waiting).map(|request| Pending {
            request: request.id,
            owner: request.owner,
            urgency: request.urgency,
            started: request.is_started(),
            events: request.events(),
        });
        let mut all: Vec<Pending> = all.collect();
        all.sort_unstable_by_key(|pending| pending.request);
        all.into_iter()
    }

    /// Pauses the scheduler: [`service_chunk`](Self::service_chunk) does nothing until
    /// [`resume`](Self::resume) has been called as often as this function.
    pub fn pause(&mut self) {
        self.paused = self.paused.saturating_add(1);
    }

    /// Removes one [`pause`](Self::pause). Returns `true` if requests are served again.
    pub fn resume(&mut self) -> bool {
        self.paused = self.paused.saturating_sub(1);
        !self.is_paused()
    }

    /// Returns whether the scheduler is paused.
    pub fn is_paused(&self) -> bool {
        self.paused > 0
    }

    /// Sets how many states of interrupted requests are kept (16 by default). A request
    /// with a saved state continues without replaying events. Requests interrupted at one
    /// position share a state. When there are too many states, the oldest is dropped,
    /// which only costs time.
    pub fn set_resume_states(&mut self, limit: usize) {
        self.resume.set_limit(limit);
    }

    /// Sets whether less urgent requests are served along with more urgent ones where
    /// both cover the same events. This is the default, since it costs no reading, but
    /// the hooks of less urgent requests take time. Otherwise less urgent requests wait
    /// until no more urgent one is left.
    pub fn set_sharing(&mut self, shares: bool) {
        self.shares = shares;
    }

    /// Sets whether requests that end before they start are reported. If so, their
    /// `after_request` hooks are called without any hooks before them, and those that a
    /// hook cancelled are part of [`ChunkReport::finished`](crate::ChunkReport::finished). The
    /// default is `false`. This option serves viewers that show themselves as busy from
    /// the time when they submit a request.
    pub fn set_report_unstarted(&mut self, reports_all: bool) {
        self.reports_all = reports_all;
    }

    /// Sets the computations that run while no request is pending, in place of previous
    /// ones, whose notifications for this scheduler are cancelled. Several schedulers may
    /// have handles of [the same computations](Background#several-schedulers).
    pub fn set_background(&mut self, background: Background<'h>) {
        let previous = self.background.replace(background);
        self.leave_background(previous);
    }

    /// Ends the use of a background, whose notifications are cancelled.
    fn leave_background(&mut self, background: Option<Background<'h>>) {
        let cancelled = background.map(Background::leave).unwrap_or_default();
        self.unreported.notifications.extend(cancelled);
    }

    /// Returns the computations that run while no request is pending, to register, start
    /// or inspect them.
    pub fn background(&self) -> Option<&Background<'h>> {
        self.background.as_ref()
    }

    /// Removes and returns the first error that a hook of the context returned, such as one of an extension.
    /// Requests go on after the event.
    pub fn take_hook_error(&mut self) -> Option<Box<HookError>> {
        self.hook_error.take()
    }

    /// Keeps the error of a hook that belongs to no request, and returns the read up to it.
    pub(crate) fn note_hook_error(&mut self, error: Box<HookError>) -> ReadEnd {
        let read = error.read;
        self.hook_error.get_or_insert(error);
        read
    }

    /// Returns `true` if a call of [`service_chunk`](Self::service_chunk) does more than
    /// computations in the background, which other schedulers may share: if a request is
    /// pending, or if there is something to report. `false` while the scheduler is paused.
    pub fn needs_service(&self) -> bool {
        let has_news = || self.background.as_ref().is_some_and(Background::has_news);
        let has_reports = !self.unreported.notifications.is_empty() || has_news();
        !self.is_paused() && (!self.is_idle() || has_reports)
    }

    /// Finds a request that has not ended.
    pub(crate) fn find(&self, id: RequestId) -> Option<&ActiveRequest<'h>> {
        let at = self.running.binary_search_by_key(&id, |request| request.id);
        let waiting = || self.waiting.get(id).or_else(|| self.parked.get(id));
        at.ok().map_or_else(waiting, |at| Some(&*self.running[at]))
    }

    /// Returns the context that reads.
    pub fn context(&self) -> &TracesetContext<'h> {
        &self.context
    }

    /// Returns the context that reads, for use between chunks. Running requests are
    /// interrupted, and continue later from their positions.
    pub fn context_mut(&mut self) -> &mut TracesetContext<'h> {
        self.suspend_where(|_| true);
        self.read_all();
        self.resume_panic();
        &mut self.context
    }

    /// Replaces the context, for example to read another traceset. Returns the previous
    /// context and the requests that ended.
    ///
    /// If the traceset differs, requests end with [`FinishReason::TracesetChanged`] if
    /// they depend on a position (one in their bounds, or their own because they have
    /// started), or if they are restricted to a trace that is not the same in both
    /// tracesets. Other requests are served from the new traceset.
    ///
    /// The background is kept if it is one for the new traceset: if its
    /// [revision](Background::revision) is that of the new context's traceset. Otherwise it
    /// is dropped, and the next chunk reports its notifications for this scheduler as
    /// [cancelled](crate::NotificationOutcome::Cancelled).
    pub fn replace_context(
        &mut self,
        context: TracesetContext<'h>,
    ) -> (TracesetContext<'h>, Vec<Finished>) {
        self.run_commands();
        self.suspend_where(|_| true);
        self.read_all();
        self.end_failed();
        let (old, new) = (self.context.traceset().clone(), context.traceset());
        let mut finished = if old.revision() == new.revision() {
            Vec::new()
        } else {
            let same_trace = |index: TraceIndex| {
                let both = old.traces().get(index.0).zip(new.traces().get(index.0));
                both.is_some_and(|(old, new)| Arc::ptr_eq(old, new))
            };
            let stale = |request: &ActiveRequest<'h>| {
                request.has_position() || !request.trace.is_none_or(same_trace)
            };
            let stale = self.take_where(stale);
            let ended = self.finish_all(stale, FinishReason::TracesetChanged);
            self.reported(ended).collect()
        };
        self.unpark();
        self.queue.set_traceset(context.traceset().revision(), context.traceset().traces().len());
        self.resume.clear();
        self.seek = None;
        let revision = context.traceset().revision();
        let stale = self.background.take_if(|background| background.revision() != revision);
        self.leave_background(stale);
        let old = replace(&mut self.context, context);
        if self.queue.has_panic() {
            self.unreported.finished.append(&mut finished);
            self.resume_panic();
        }
        (old, finished)
    }

    /// Cancels requests that were removed. If a hook panics, the next chunk returns the
    /// results.
    fn cancel_all(
        &mut self,
        requests: impl IntoIterator<Item = Box<ActiveRequest<'h>>>,
    ) -> Vec<Finished> {
        let ended = self.finish_all(requests, FinishReason::Cancelled);
        if self.queue.has_panic() {
            let reported: Vec<_> = self.reported(ended).collect();
            self.unreported.finished.extend(reported);
            self.resume_panic();
            return Vec::new(); // Not reached: the panic resumes.
        }
        ended
    }

    /// Returns whether no request remains, nor a command of a hook.
    pub(crate) fn has_no_requests(&self) -> bool {
        self.running.is_empty() && self.waiting.is_empty() && self.queue.is_empty()
    }

    /// Returns whether no request remains, and all ends of requests have been reported.
    pub(crate) fn is_idle(&self) -> bool {
        self.has_no_requests() && self.unreported.finished.is_empty()
    }

    /// Removes a request without ending it.
    fn take(&mut self, id: RequestId) -> Option<Box<ActiveRequest<'h>>> {
        match self.running.binary_search_by_key(&id, |request| request.id) {
            Ok(at) => {
                self.read_all();
                Some(self.running.remove(at))
            }
            Err(_) => self.waiting.remove(id).or_else(|| self.parked.remove(id)),
        }
    }

    /// Removes the requests of an owner without ending them, in the order of their ids.
    fn take_owner(&mut self, owner: Owner) -> Vec<Box<ActiveRequest<'h>>> {
        let mut waiting = self.waiting.of_owner(owner);
        waiting.extend(self.parked.of_owner(owner));
        self.take_both(|request| request.owner == owner, waiting)
    }

    /// Removes the requests for which a predicate holds without ending them, in the order
    /// of their ids.
    fn take_where(
        &mut self,
        is_meant: impl Fn(&ActiveRequest<'h>) -> bool,
    ) -> Vec<Box<ActiveRequest<'h>>> {
        let waiting = self.waiting.iter().chain(self.parked.iter());
        let waiting = waiting.filter(|request| is_meant(request));
        let waiting = waiting.map(|request| request.id).collect();
        self.take_both(is_meant, waiting)
    }

    /// Removes the running requests for which a predicate holds, and the waiting requests
    /// with the given ids, without ending them.
    fn take_both(
        &mut self,
        is_taken: impl Fn(&ActiveRequest<'h>) -> bool,
        waiting: Vec<RequestId>,
    ) -> Vec<Box<ActiveRequest<'h>>> {
        let mut taken: Vec<_> = self.running.extract_if(.., |request| is_taken(request)).collect();
        if !taken.is_empty() {
            self.read_all();
        }
        taken.extend(
            waiting
                .into_iter()
                .filter_map(|id| self.waiting.remove(id).or_else(|| self.parked.remove(id))),
        );
        taken.sort_unstable_by_key(|request| request.id);
        taken
    }

    /// Ends requests.
    fn finish_all(
        &mut self,
        requests: impl IntoIterator<Item = Box<ActiveRequest<'h>>>,
        reason: FinishReason,
    ) -> Vec<Finished> {
        let requests = requests.into_iter();
        requests
            .map(|request| request.finish(&mut self.context, reason, self.reports_all))
            .collect()
    }

    /// Returns the ends of requests that chunks report: those of requests that started, or
    /// all.
    fn reported(&self, ended: Vec<Finished>) -> impl Iterator<Item = Finished> + use<'h> {
        let reports_all = self.reports_all;
        ended.into_iter().filter(move |end| end.started || reports_all)
    }

    /// Ends the requests whose hooks have panicked.
    pub(crate) fn end_failed(&mut self) {
        while let Some(id) = self.queue.take_failed() {
            // It may have ended already, if its last hook panicked.
            if let Some(request) = self.take(id) {
                let end = request.finish(&mut self.context, FinishReason::Panicked, true);
                self.unreported.finished.push(end);
            }
        }
    }

    /// Resumes the panic of a hook, after ending the requests whose hooks have panicked.
    pub(crate) fn resume_panic(&mut self) {
        self.end_failed();
        if let Some(panic) = self.queue.take_panic() {
            resume_unwind(panic);
        }
    }

    /// Runs a read of the context. Returns `None` if a hook panics that belongs to no
    /// request: then it is unknown which hooks received the last event, and the state is
    /// undefined. All running requests end, and the context is moved to the end of the
    /// traceset, so that state is restored before the next read.
    pub(crate) fn read_guarded<R>(
        &mut self,
        read: impl FnOnce(&mut TracesetContext<'h>) -> R,
    ) -> Option<R> {
        let panic = match catch_unwind(AssertUnwindSafe(|| read(&mut self.context))) {
            Ok(read) => return Some(read),
            Err(panic) => panic,
        };
        self.queue.note_panic(panic);
        self.read_all();
        for request in std::mem::take(&mut self.running) {
            request.fail();
            let end = request.finish(&mut self.context, FinishReason::Panicked, true);
            self.unreported.finished.push(end);
        }
        let end = TracesetPosition::end(self.context.traceset());
        let sought = self.context.seek_position(&end);
        debug_assert!(sought.is_ok(), "a position of its traceset");
        None
    }

    /// Executes the commands of hooks, and returns their number.
    pub(crate) fn run_commands(&mut self) -> usize {
        let commands = self.queue.take();
        let count = commands.len();
        for command in commands {
            let cancelled = match command {
                Command::Submit(id, request) => {
                    self.enqueue(id, *request);
                    continue;
                }
                Command::Cancel(request) => self.take(request).into_iter().collect(),
                Command::CancelOwner(owner) => self.take_owner(owner),
            };
            let ended = self.finish_all(cancelled, FinishReason::Cancelled);
            let reported: Vec<_> = self.reported(ended).collect();
            self.unreported.finished.extend(reported);
        }
        count
    }

    /// Adds a request that has passed all checks to the waiting ones.
    fn enqueue(&mut self, id: RequestId, request: EventsRequest<'h>) {
        self.waiting.insert(Box::new(ActiveRequest::new(id, request, &self.queue)));
    }

    /// Interrupts the running requests for which a predicate holds, and saves the state
    /// at their position. Returns their ids.
    pub(crate) fn suspend_where(
        &mut self,
        is_meant: impl Fn(&ActiveRequest<'h>) -> bool,
    ) -> Vec<RequestId> {
        let mut suspended = Vec::new();
        let interrupted: Vec<_> =
            self.running.extract_if(.., |request| is_meant(request)).collect();
        if !interrupted.is_empty() {
            self.read_all();
        }
        for mut request in interrupted {
            request.suspend(&mut self.context);
            suspended.push(request.id);
            self.waiting.insert(request);
        }
        if !suspended.is_empty() && self.context.extensions().keep_state() {
            self.resume.save(&mut self.context);
        }
        suspended
    }
}

impl fmt::Debug for Scheduler<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler")
            .field("pending", &self.pending().collect::<Vec<_>>())
            .field("paused", &self.paused)
            .field("resume", &self.resume)
            .finish_non_exhaustive()
    }
}
