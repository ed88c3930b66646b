//! Requests, and who serves them.

use std::fmt;
use std::mem::replace;
use std::rc::Rc;
use std::sync::Arc;

use lttv_context::{SlowSeek, TracesetContext};

use crate::background::Background;
use crate::control::{Command, Queue};
use crate::error::SubmitError;
use crate::finish::{FinishReason, Finished};
use crate::identity::{Owner, RequestId};
use crate::request::EventsRequest;
use crate::resume::ResumeStates;
use crate::served::Served;
use crate::urgency::Urgency;

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
pub struct Scheduler<'h> {
    pub(crate) context: TracesetContext<'h>,
    /// In the order of their ids.
    pub(crate) requests: Vec<Served<'h>>,
    pub(crate) queue: Rc<Queue<'h>>,
    pub(crate) resume: ResumeStates,
    /// A seek that did not fit into one call.
    pub(crate) seek: Option<SlowSeek>,
    /// Requests that hooks cancelled and nobody was told of yet.
    pub(crate) untold: Vec<Finished>,
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
            requests: Vec::new(),
            queue,
            resume,
            seek: None,
            untold: Vec::new(),
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
        let id = self.queue.check(&request)?;
        self.accept(id, request);
        Ok(id)
    }

    /// Ends a request. If it has started, its last hooks are called; else none
    /// are, [by default](Self::set_telling_all). False if it ended before.
    pub fn cancel(&mut self, request: RequestId) -> bool {
        self.accept_queued();
        let Some(at) = self.requests.iter().position(|served| served.id == request) else {
            return false;
        };
        let served = self.requests.remove(at);
        served.finish(&mut self.context, FinishReason::Cancelled, self.tells_all);
        true
    }

    /// Ends all requests of an owner, and tells how many there were: see
    /// [`cancel`](Self::cancel).
    pub fn cancel_owner(&mut self, owner: Owner) -> usize {
        self.cancel_where(|served| served.owner == owner)
    }

    /// Ends all requests, and tells how many there were: see
    /// [`cancel`](Self::cancel).
    pub fn stop_all(&mut self) -> usize {
        self.cancel_where(|_| true)
    }

    /// All requests that have not ended, in the order of their submission.
    pub fn pending(&self) -> impl ExactSizeIterator<Item = Pending> {
        self.requests.iter().map(|served| Pending {
            request: served.id,
            owner: served.owner,
            urgency: served.urgency,
            started: served.is_started(),
            events: served.events(),
        })
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
        self.requests.iter().find(|served| served.id == request)
    }

    /// The context that reads.
    pub fn context(&self) -> &TracesetContext<'h> {
        &self.context
    }

    /// The context that reads, to be used for other things in between: requests
    /// are interrupted, and will go on from where they were.
    pub fn context_mut(&mut self) -> &mut TracesetContext<'h> {
        self.suspend_where(|_| true);
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
        let (old, new) = (self.context.traceset().clone(), context.traceset());
        let finished = if old.generation() == new.generation() {
            Vec::new()
        } else {
            let same_trace = |index: usize| {
                let both = old.traces().get(index).zip(new.traces().get(index));
                both.is_some_and(|(old, new)| Arc::ptr_eq(old, new))
            };
            let stale = |served: &Served<'h>| {
                served.knows_position() || !served.trace.is_none_or(same_trace)
            };
            self.finish_where(stale, FinishReason::TracesetChanged)
        };
        self.queue.set_traceset(context.traceset().generation(), context.traceset().traces().len());
        self.resume.clear();
        self.seek = None;
        self.background = None;
        (replace(&mut self.context, context), finished)
    }

    fn cancel_where(&mut self, which: impl Fn(&Served<'h>) -> bool) -> usize {
        self.accept_queued();
        let before = self.requests.len();
        self.finish_where(which, FinishReason::Cancelled);
        before - self.requests.len()
    }

    /// Ends requests; tells those that had started.
    pub(crate) fn finish_where(
        &mut self,
        which: impl Fn(&Served<'h>) -> bool,
        reason: FinishReason,
    ) -> Vec<Finished> {
        let mut finished = Vec::new();
        for served in self.requests.extract_if(.., |served| which(served)) {
            let is_told = served.is_started() || self.tells_all;
            let end = served.finish(&mut self.context, reason, self.tells_all);
            finished.extend(is_told.then_some(end));
        }
        finished
    }

    /// Does what hooks asked for, and tells how much that was.
    pub(crate) fn accept_queued(&mut self) -> usize {
        let commands = self.queue.take();
        let count = commands.len();
        for command in commands {
            let ended = match command {
                Command::Submit(id, request) => {
                    self.accept(id, *request);
                    continue;
                }
                Command::Cancel(id) => {
                    self.finish_where(|served| served.id == id, FinishReason::Cancelled)
                }
                Command::CancelOwner(owner) => {
                    self.finish_where(|served| served.owner == owner, FinishReason::Cancelled)
                }
            };
            self.untold.extend(ended);
        }
        count
    }

    fn accept(&mut self, id: RequestId, request: EventsRequest<'h>) {
        self.requests.push(Served::new(id, request, &self.queue));
    }

    /// Interrupts some that are served, and keeps the state for them. Tells which.
    pub(crate) fn suspend_where(&mut self, which: impl Fn(&Served<'h>) -> bool) -> Vec<RequestId> {
        let active = self.requests.iter_mut().filter(|s| s.is_active() && which(s));
        let mut suspended = Vec::new();
        for served in active {
            served.suspend(&mut self.context);
            suspended.push(served.id);
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
