//! Requests, and who serves them.

#![allow(clippy::vec_box, reason = "requests are large, and move between collections")]

use std::fmt;
use std::mem::replace;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::Arc;

use lttv_context::{SlowSeek, TracesetContext};

use crate::background::Background;
use crate::chunk::Chunk;
use crate::control::{Command, Queue};
use crate::error::SubmitError;
use crate::finish::{FinishReason, Finished};
use crate::identity::{Owner, RequestId};
use crate::request::EventsRequest;
use crate::resume::ResumeStates;
use crate::served::Served;
use crate::urgency::Urgency;
use crate::waiting::Waiting;

/// Serves requests: reads each stretch once for all that want it, and gives every
/// request exactly what it asked for.
///
/// It does nothing by itself: the application calls
/// [`service_chunk`](Self::service_chunk) whenever it has time. Requests may come
/// and go between calls and from their hooks. When it is dropped, no more hooks
/// are called; call [`stop_all`](Self::stop_all) before, so that those before
/// requests get their counterparts.
///
/// ```
/// use std::cell::Cell;
/// use lttv_context::{TracesetContext, Traceset};
/// use lttv_requests::{Budget, EventsRequest, Owner, Scheduler};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let (switches, events) = (Cell::new(0), Cell::new(0));
/// let mut scheduler = Scheduler::new(TracesetContext::new(Traceset::open(path)?));
/// let (list, histogram) = (Owner::fresh(), Owner::fresh());
/// scheduler.submit(EventsRequest::new(list).on_event("sched_switch", |_, _| {
///     switches.set(switches.get() + 1);
/// }))?;
/// scheduler.submit(EventsRequest::new(histogram).on_every_event(|_, _| {
///     events.set(events.get() + 1);
/// }))?;
/// let mut read = 0;
/// loop {
///     // Draw, look for input, and then:
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
/// # Which request is served
///
/// Of the most urgent ones that which stands first. All that stand where it
/// does are served together with it, whatever their urgency; when reading comes
/// to where another one waits, it joins. An earlier or more urgent request that
/// is submitted comes first from the next stretch on; those that were served go
/// on later from where they were, with the state saved there.
///
/// Any number of requests may wait: what a call costs depends on the logarithm of that.
///
/// # Panics of hooks
///
/// If a hook of a request panics, or its filter does, that request ends with
/// [`FinishReason::Panicked`]: it gets no more events, but its hooks after the chunk and
/// the request are called. Other requests get each of their events once, as if nothing
/// had happened. Then the panic goes on, out of the function that called the hook. A
/// caller that catches it may go on using the scheduler; the next
/// [`service_chunk`](Self::service_chunk) also returns what the one that panicked has
/// done. If several hooks panic in one call, the first panic goes on.
///
/// If a hook of an extension panics, or another one that belongs to no request, all requests
/// end so that were being served: it is not known what they got. The state of extensions is
/// brought back from before.
pub struct Scheduler<'h> {
    pub(crate) context: TracesetContext<'h>,
    /// Those that get events as the context reads, in the order of their ids.
    pub(crate) active: Vec<Box<Served<'h>>>,
    pub(crate) waiting: Waiting<'h>,
    pub(crate) queue: Rc<Queue<'h>>,
    pub(crate) resume: ResumeStates,
    /// A seek that did not fit into one call.
    pub(crate) seek: Option<SlowSeek>,
    /// What was not returned yet: requests that hooks cancelled, and all that a call did
    /// that panicked.
    pub(crate) untold: Chunk,
    pub(crate) background: Option<Box<Background<'h>>>,
    /// Whether requests of different urgency are served together.
    pub(crate) shares: bool,
    /// Whether requests that have not started are told of their end.
    tells_all: bool,
    paused: u32,
}

/// A request that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pending {
    /// Which.
    pub request: RequestId,
    /// Whose.
    pub owner: Owner,
    /// How urgent.
    pub urgency: Urgency,
    /// Whether its first hooks were called.
    pub started: bool,
    /// Events it went through so far.
    pub events: u64,
}

/// How many states are kept by default.
const RESUME_STATES: usize = 16;

impl<'h> Scheduler<'h> {
    /// Serves requests for the traceset of a context. Extensions of the context
    /// are kept up to date: hooks of requests find their state at each event.
    pub fn new(context: TracesetContext<'h>) -> Self {
        let traceset = context.traceset();
        let queue = Queue::new(traceset.generation(), traceset.traces().len());
        let resume = ResumeStates::new(RESUME_STATES);
        Scheduler {
            context,
            active: Vec::new(),
            waiting: Waiting::default(),
            queue,
            resume,
            seek: None,
            untold: Chunk::default(),
            background: None,
            shares: true,
            tells_all: false,
            paused: 0,
        }
    }

    /// Takes a request. It is served from the next
    /// [`service_chunk`](Self::service_chunk) on.
    ///
    /// # Errors
    ///
    /// If it is for another traceset, or for a trace that is not there.
    pub fn submit(&mut self, request: EventsRequest<'h>) -> Result<RequestId, SubmitError> {
        // Those that hooks submitted before have smaller ids.
        self.accept_queued();
        self.pass_on_panic();
        let id = self.queue.check(&request)?;
        self.accept(id, request);
        Ok(id)
    }

    /// Ends a request. If it has started, its last hooks are called; else none
    /// are, [by default](Self::set_telling_all). False if it ended before.
    pub fn cancel(&mut self, request: RequestId) -> bool {
        self.accept_queued();
        let cancelled = self.take(request);
        let is_there = cancelled.is_some();
        self.finish_all(cancelled, FinishReason::Cancelled);
        self.pass_on_panic();
        is_there
    }

    /// Ends all requests of an owner, and tells how many there were: see
    /// [`cancel`](Self::cancel).
    pub fn cancel_owner(&mut self, owner: Owner) -> usize {
        self.accept_queued();
        let cancelled = self.take_owner(owner);
        self.cancel_all(cancelled)
    }

    /// Ends all requests, and tells how many there were: see
    /// [`cancel`](Self::cancel).
    pub fn stop_all(&mut self) -> usize {
        self.accept_queued();
        let cancelled = self.take_where(|_| true);
        self.cancel_all(cancelled)
    }

    /// All requests that have not ended, in the order of their submission.
    pub fn pending(&self) -> impl ExactSizeIterator<Item = Pending> {
        let active = self.active.iter().map(|served| &**served);
        let all = active.chain(self.waiting.iter()).map(|served| Pending {
            request: served.id,
            owner: served.owner,
            urgency: served.urgency,
            started: served.is_started(),
            events: served.events(),
        });
        let mut all: Vec<Pending> = all.collect();
        all.sort_unstable_by_key(|pending| pending.request);
        all.into_iter()
    }

    /// Lets [`service_chunk`](Self::service_chunk) do nothing until
    /// [`resume`](Self::resume) was called as often.
    pub fn pause(&mut self) {
        self.paused = self.paused.saturating_add(1);
    }

    /// Undoes one [`pause`](Self::pause). Whether requests are served again.
    pub fn resume(&mut self) -> bool {
        self.paused = self.paused.saturating_sub(1);
        !self.is_paused()
    }

    /// Whether it is paused.
    pub fn is_paused(&self) -> bool {
        self.paused > 0
    }

    /// How many states of interrupted requests are kept, so that nothing has to be
    /// read again when they go on: by default 16. Requests interrupted at one place
    /// share one. If there are too many, the oldest is dropped; that costs time
    /// only.
    pub fn set_resume_states(&mut self, most: usize) {
        self.resume.set_most(most);
    }

    /// Whether less urgent requests are served along with more urgent ones where
    /// both want the same events: by default they are, since that costs no reading,
    /// but their hooks take time. If not, they wait until no urgent one is left.
    pub fn set_sharing(&mut self, shares: bool) {
        self.shares = shares;
    }

    /// Whether requests that end before they have started are told, too, as when
    /// their owner goes: then their `after_request` hooks are called, without any
    /// before them, and they are in [`Chunk::finished`](crate::Chunk::finished). By
    /// default they are not. That is for viewers that count as busy from the time when
    /// they submit a request.
    pub fn set_telling_all(&mut self, tells_all: bool) {
        self.tells_all = tells_all;
    }

    /// Gives it something to do while no request is pending; what it had instead is
    /// dropped.
    pub fn set_background(&mut self, background: Background<'h>) {
        self.background = Some(Box::new(background));
    }

    /// What is done while no request is pending.
    pub fn background(&self) -> Option<&Background<'h>> {
        self.background.as_deref()
    }

    /// What is done while no request is pending, to be asked for more.
    pub fn background_mut(&mut self) -> Option<&mut Background<'h>> {
        self.background.as_deref_mut()
    }

    pub(crate) fn served(&self, request: RequestId) -> Option<&Served<'h>> {
        let at = self.active.binary_search_by_key(&request, |served| served.id);
        at.ok().map_or_else(|| self.waiting.get(request), |at| Some(&*self.active[at]))
    }

    /// The context that reads.
    pub fn context(&self) -> &TracesetContext<'h> {
        &self.context
    }

    /// The context that reads, to be used for other things in between: requests
    /// are interrupted, and will go on from where they were.
    pub fn context_mut(&mut self) -> &mut TracesetContext<'h> {
        self.suspend_where(|_| true);
        self.pass_on_panic();
        &mut self.context
    }

    /// Reads another traceset from now on, and gives the context back that was used
    /// so far. Requests that know a position, since it is in their bounds or since
    /// they have started, end with [`FinishReason::TracesetChanged`], as do those
    /// for a trace that is not the same in both; the others wait for the new one.
    /// All that ended are told. The background is dropped, as it is for the old
    /// traceset.
    pub fn replace_context(
        &mut self,
        context: TracesetContext<'h>,
    ) -> (TracesetContext<'h>, Vec<Finished>) {
        self.accept_queued();
        self.suspend_where(|_| true);
        self.end_failed();
        let (old, new) = (self.context.traceset().clone(), context.traceset());
        let mut finished = if old.generation() == new.generation() {
            Vec::new()
        } else {
            let same_trace = |index: usize| {
                let both = old.traces().get(index).zip(new.traces().get(index));
                both.is_some_and(|(old, new)| Arc::ptr_eq(old, new))
            };
            let stale = |served: &Served<'h>| {
                served.knows_position() || !served.trace.is_none_or(same_trace)
            };
            let stale = self.take_where(stale);
            self.finish_all(stale, FinishReason::TracesetChanged)
        };
        self.queue.set_traceset(context.traceset().generation(), context.traceset().traces().len());
        self.resume.clear();
        self.seek = None;
        self.background = None;
        let old = replace(&mut self.context, context);
        if self.queue.has_panic() {
            self.untold.finished.append(&mut finished);
            self.pass_on_panic();
        }
        (old, finished)
    }

    fn cancel_all(&mut self, requests: Vec<Box<Served<'h>>>) -> usize {
        let count = requests.len();
        self.finish_all(requests, FinishReason::Cancelled);
        self.pass_on_panic();
        count
    }

    /// Whether no request is left, nor anything that hooks asked for.
    pub(crate) fn has_no_requests(&self) -> bool {
        self.active.is_empty() && self.waiting.is_empty() && self.queue.is_empty()
    }

    /// Whether there is nothing to serve, and nothing to tell.
    pub(crate) fn is_idle(&self) -> bool {
        self.has_no_requests() && self.untold.finished.is_empty()
    }

    /// Takes a request out.
    fn take(&mut self, request: RequestId) -> Option<Box<Served<'h>>> {
        match self.active.binary_search_by_key(&request, |served| served.id) {
            Ok(at) => Some(self.active.remove(at)),
            Err(_) => self.waiting.remove(request),
        }
    }

    /// Takes out those of an owner, in the order of their ids.
    fn take_owner(&mut self, owner: Owner) -> Vec<Box<Served<'h>>> {
        let waiting = self.waiting.of_owner(owner);
        self.take_both(|served| served.owner == owner, waiting)
    }

    /// Takes out those for which something is true, in the order of their ids.
    fn take_where(&mut self, which: impl Fn(&Served<'h>) -> bool) -> Vec<Box<Served<'h>>> {
        let waiting = self.waiting.iter().filter(|served| which(served));
        let waiting = waiting.map(|served| served.id).collect();
        self.take_both(which, waiting)
    }

    /// Takes out those of the active for which something is true, and some that wait.
    fn take_both(
        &mut self,
        active: impl Fn(&Served<'h>) -> bool,
        waiting: Vec<RequestId>,
    ) -> Vec<Box<Served<'h>>> {
        let mut taken: Vec<_> = self.active.extract_if(.., |served| active(served)).collect();
        taken.extend(waiting.into_iter().filter_map(|request| self.waiting.remove(request)));
        taken.sort_unstable_by_key(|served| served.id);
        taken
    }

    /// Ends requests. Returns those that are to be told of.
    fn finish_all(
        &mut self,
        requests: impl IntoIterator<Item = Box<Served<'h>>>,
        reason: FinishReason,
    ) -> Vec<Finished> {
        let mut finished = Vec::new();
        for served in requests {
            let is_told = served.is_started() || self.tells_all;
            let end = served.finish(&mut self.context, reason, self.tells_all);
            finished.extend(is_told.then_some(end));
        }
        finished
    }

    /// Ends requests of which a hook panicked.
    pub(crate) fn end_failed(&mut self) {
        while let Some(request) = self.queue.take_failed() {
            // It may have ended already: it was its last hook then.
            if let Some(served) = self.take(request) {
                let end = served.finish(&mut self.context, FinishReason::Panicked, true);
                self.untold.finished.push(end);
            }
        }
    }

    /// Lets the panic of a hook go on, once all is in order.
    pub(crate) fn pass_on_panic(&mut self) {
        self.end_failed();
        if let Some(panic) = self.queue.take_panic() {
            resume_unwind(panic);
        }
    }

    /// Has the context read. `None` if a hook panics that belongs to no request: then it is
    /// not known which hooks got the last event, nor what became of the state. All that
    /// were served end, and the context is to be brought to where it has to be anew.
    pub(crate) fn read_guarded<R>(
        &mut self,
        read: impl FnOnce(&mut TracesetContext<'h>) -> R,
    ) -> Option<R> {
        let panic = match catch_unwind(AssertUnwindSafe(|| read(&mut self.context))) {
            Ok(read) => return Some(read),
            Err(panic) => panic,
        };
        self.queue.note_panic(panic);
        for served in std::mem::take(&mut self.active) {
            served.fail();
            let end = served.finish(&mut self.context, FinishReason::Panicked, true);
            self.untold.finished.push(end);
        }
        self.context.seek_end();
        None
    }

    /// Does what hooks asked for, and tells how much that was.
    pub(crate) fn accept_queued(&mut self) -> usize {
        let commands = self.queue.take();
        let count = commands.len();
        for command in commands {
            let cancelled = match command {
                Command::Submit(id, request) => {
                    self.accept(id, *request);
                    continue;
                }
                Command::Cancel(request) => self.take(request).into_iter().collect(),
                Command::CancelOwner(owner) => self.take_owner(owner),
            };
            let ended = self.finish_all(cancelled, FinishReason::Cancelled);
            self.untold.finished.extend(ended);
        }
        count
    }

    fn accept(&mut self, id: RequestId, request: EventsRequest<'h>) {
        self.waiting.insert(Box::new(Served::new(id, request, &self.queue)));
    }

    /// Interrupts some that are served, and keeps the state for them. Tells which.
    pub(crate) fn suspend_where(&mut self, which: impl Fn(&Served<'h>) -> bool) -> Vec<RequestId> {
        let mut suspended = Vec::new();
        let active: Vec<_> = self.active.extract_if(.., |served| which(served)).collect();
        for mut served in active {
            served.suspend(&mut self.context);
            suspended.push(served.id);
            self.waiting.insert(served);
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
