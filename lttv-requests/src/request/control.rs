//! Control of requests from their hooks.

use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use lttv_context::{EventCall, ReadCall, Revision, StalePosition, TracesetPosition};
use lttv_hooks::{Flow, IntoFlow};

use crate::identity::{Owner, RequestId};
use crate::request::request_filter::RequestFilter;
use crate::request::request_start::RequestStart;
use crate::request::{EventsRequest, SubmitError};

/// A handle that the hooks of a request receive besides their call. It changes the
/// request and submits or cancels others.
///
/// Commands are executed before the next event is read.
#[derive(Debug)]
pub struct Control<'h>(pub(crate) Rc<Shared<'h>>);

/// The state that a request's hooks share with each other and the scheduler.
pub(crate) struct Shared<'h> {
    /// `true` if a hook has to interrupt reading before the next event.
    pub(crate) interrupt: Cell<bool>,
    /// `true` if a hook has ended the chunk.
    pub(crate) yielded: Cell<bool>,
    pub(crate) stopped: Cell<bool>,
    /// `true` if a hook has panicked. Event hooks are not called any more then.
    has_panicked: Cell<bool>,
    /// The number of events that the counting hook has counted.
    pub(crate) counted: Cell<u64>,
    /// The number of events at which the counting hook interrupts reading.
    pub(crate) max_counted: Cell<u64>,
    /// `true` if `filter` has to be called.
    pub(crate) is_filtered: Cell<bool>,
    pub(crate) filter: RefCell<RequestFilter<'h>>,
    link: OnceCell<Link<'h>>,
}

/// The identity and queue of a request, known from its submission on.
struct Link<'h> {
    id: RequestId,
    owner: Owner,
    queue: Rc<Queue<'h>>,
}

/// The commands of hooks in order, and the information that checking them needs.
pub(crate) struct Queue<'h> {
    commands: RefCell<Vec<Command<'h>>>,
    /// The requests whose hooks have panicked.
    failed: RefCell<Vec<RequestId>>,
    /// The first panic, to be resumed by the scheduler.
    panic: Cell<Option<Panic>>,
    revision: Cell<Revision>,
    traces: Cell<usize>,
}

/// The payload of a panic.
pub(crate) type Panic = Box<dyn Any + Send>;

pub(crate) enum Command<'h> {
    Submit(RequestId, Box<EventsRequest<'h>>),
    Cancel(RequestId),
    CancelOwner(Owner),
}

impl<'h> Control<'h> {
    /// Returns the id of the request. `None` before it is submitted.
    pub fn request(&self) -> Option<RequestId> {
        self.0.link.get().map(|link| link.id)
    }

    /// Returns the owner of the request. `None` before it is submitted.
    pub fn owner(&self) -> Option<Owner> {
        self.0.link.get().map(|link| link.owner)
    }

    /// Ends the request after this event. Its other hooks for the event are still called.
    pub fn stop(&self) {
        self.0.stopped.set(true);
        self.0.interrupt.set(true);
    }

    /// Adds a request, like [`Scheduler::submit`](crate::Scheduler::submit).
    ///
    /// # Errors
    ///
    /// Returns an error if a position of the request belongs to another traceset, if the
    /// request is restricted to a trace that the traceset does not have, or if the hook's
    /// own request has not been submitted.
    pub fn submit(&self, request: EventsRequest<'h>) -> Result<RequestId, SubmitError> {
        let Some(link) = self.0.link.get() else { return Err(SubmitError::NotServed) };
        let id = link.queue.check(&request)?;
        self.send(Command::Submit(id, Box::new(request)));
        Ok(id)
    }

    /// Removes a request, like [`Scheduler::cancel`](crate::Scheduler::cancel). The
    /// request may still receive the current event.
    pub fn cancel(&self, request: RequestId) {
        self.send(Command::Cancel(request));
    }

    /// Removes all requests of an owner, which may include the hook's own.
    pub fn cancel_owner(&self, owner: Owner) {
        self.send(Command::CancelOwner(owner));
    }

    /// Sends a command to the scheduler, which executes it before the next event.
    fn send(&self, command: Command<'h>) {
        if let Some(link) = self.0.link.get() {
            link.queue.commands.borrow_mut().push(command);
            self.0.interrupt.set(true);
        }
    }
}

/// A hook of a request with all limits applied except the filter.
type Hook<'a, 'h> = dyn FnMut(&mut EventCall<'_, 'h>, &Control<'h>) -> Flow + 'a;

impl<'h> Control<'h> {
    /// Calls a hook if the filter accepts the event.
    #[inline(never)] // keeps hooks without a filter short
    fn run_if_accepted(&self, call: &mut EventCall<'_, 'h>, hook: &mut Hook<'_, 'h>) -> Flow {
        if self.0.has_panicked() {
            return Flow::Continue(());
        }
        if !self.0.accepts(call) {
            return Flow::Continue(());
        }
        let flow = hook(call, self);
        // A hook that was added to the context receives all events from the next one on.
        if call.commands.is_empty() { flow } else { Flow::Break(()) }
    }
}

impl<'h> Shared<'h> {
    pub(crate) fn new() -> Rc<Self> {
        Rc::new(Shared {
            interrupt: Cell::new(false),
            yielded: Cell::new(false),
            stopped: Cell::new(false),
            has_panicked: Cell::new(false),
            counted: Cell::new(0),
            max_counted: Cell::new(u64::MAX),
            is_filtered: Cell::new(false),
            filter: RefCell::default(),
            link: OnceCell::new(),
        })
    }

    pub(crate) fn link(&self, id: RequestId, owner: Owner, queue: &Rc<Queue<'h>>) {
        // A request is submitted at most once, since submitting consumes it.
        _ = self.link.set(Link { id, owner, queue: queue.clone() });
    }

    /// Wraps an event hook to apply the request's filter and limits.
    pub(crate) fn event_hook<V: IntoFlow>(
        self: &Rc<Self>,
        mut hook: impl FnMut(&mut EventCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> impl FnMut(&mut EventCall<'_, 'h>) -> Flow + 'h {
        let control = Control(self.clone());
        let mut run = move |call: &mut EventCall<'_, 'h>, control: &Control<'h>| {
            let shared = &*control.0;
            if hook(call, control).into_flow().is_break() {
                shared.yielded.set(true);
                return Flow::Break(());
            }
            if shared.interrupt.get() { Flow::Break(()) } else { Flow::Continue(()) }
        };
        // Panics are caught so that hooks of other requests receive this event, too.
        move |call| {
            let called = catch_unwind(AssertUnwindSafe(|| match control.0.is_filtered.get() {
                true => control.run_if_accepted(call, &mut run),
                false => run(call, &control),
            }));
            called.unwrap_or_else(|panic| {
                control.0.fail(panic);
                Flow::Break(())
            })
        }
    }

    /// Wraps a hook before or after the request or a chunk.
    pub(crate) fn level_hook<V: IntoFlow>(
        self: &Rc<Self>,
        mut hook: impl FnMut(&mut ReadCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> impl FnMut(&mut ReadCall<'_, 'h>) + 'h {
        let control = Control(self.clone());
        move |call| control.0.guard(|| _ = hook(call, &control).into_flow())
    }

    /// Calls a hook. If it panics, marks the request as failed.
    pub(crate) fn guard(&self, hook: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(hook)) {
            self.fail(panic);
        }
    }

    /// Records a panic of a hook, so that the scheduler ends the request.
    #[cold]
    pub(crate) fn fail(&self, panic: Panic) {
        self.mark_failed();
        match self.link.get() {
            Some(link) => {
                link.queue.failed.borrow_mut().push(link.id);
                link.queue.note_panic(panic);
            }
            None => resume_unwind(panic),
        }
    }

    /// Marks the request as one whose hook has panicked.
    pub(crate) fn mark_failed(&self) {
        self.has_panicked.set(true);
        self.is_filtered.set(true); // Event hooks need to test only this flag.
        self.interrupt.set(true);
    }

    pub(crate) fn has_panicked(&self) -> bool {
        self.has_panicked.get()
    }

    /// Creates the hook that counts the request's events.
    pub(crate) fn count_hook(
        self: &Rc<Self>,
    ) -> impl FnMut(&mut EventCall<'_, 'h>) -> Flow + use<'h> {
        let shared = self.clone();
        move |call| {
            if !shared.filter.borrow().is_in_window(call) {
                return Flow::Continue(());
            }
            let counted = shared.counted.get() + 1;
            shared.counted.set(counted);
            if counted < shared.max_counted.get() {
                return Flow::Continue(());
            }
            shared.interrupt.set(true);
            Flow::Break(())
        }
    }

    /// Returns `true` if the filter accepts an event, and interrupts reading at the
    /// limit.
    fn accepts(&self, call: &EventCall<'_, '_>) -> bool {
        let mut filter = self.filter.borrow_mut();
        let passes = filter.accepts(call);
        if filter.is_exhausted() {
            self.interrupt.set(true);
        }
        passes
    }
}

impl<'h> Queue<'h> {
    pub(crate) fn new(revision: Revision, traces: usize) -> Rc<Self> {
        Rc::new(Queue {
            commands: RefCell::default(),
            failed: RefCell::default(),
            panic: Cell::new(None),
            revision: Cell::new(revision),
            traces: Cell::new(traces),
        })
    }

    pub(crate) fn set_traceset(&self, revision: Revision, traces: usize) {
        self.revision.set(revision);
        self.traces.set(traces);
    }

    /// Checks whether a request can be served, and returns a new id for it.
    pub(crate) fn check(&self, request: &EventsRequest<'h>) -> Result<RequestId, SubmitError> {
        let traces = self.traces.get();
        if let Some(trace) = request.trace.filter(|trace| trace.0 >= traces) {
            return Err(SubmitError::NoSuchTrace { trace, traces });
        }
        let is_stale = |position: &TracesetPosition| {
            (position.revision() != self.revision.get()).then_some(SubmitError::Stale(
                StalePosition { position: position.revision(), traceset: self.revision.get() },
            ))
        };
        if let RequestStart::Position(start) = &request.start
            && let Some(stale) = is_stale(start)
        {
            return Err(stale);
        }
        if let Some(stale) = request.bounds.end_position().and_then(is_stale) {
            return Err(stale);
        }
        Ok(RequestId::unique())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.commands.borrow().is_empty()
    }

    /// Removes and returns the id of a request whose hook has panicked.
    pub(crate) fn take_failed(&self) -> Option<RequestId> {
        self.failed.borrow_mut().pop()
    }

    /// Records a panic to be resumed later, unless one is recorded already.
    pub(crate) fn note_panic(&self, panic: Panic) {
        let first = self.panic.take();
        self.panic.set(Some(first.unwrap_or(panic)));
    }

    pub(crate) fn take_panic(&self) -> Option<Panic> {
        self.panic.take()
    }

    pub(crate) fn has_panic(&self) -> bool {
        let panic = self.panic.take();
        let is_there = panic.is_some();
        self.panic.set(panic);
        is_there
    }

    pub(crate) fn take(&self) -> Vec<Command<'h>> {
        take(&mut *self.commands.borrow_mut())
    }
}

impl fmt::Debug for Shared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.link.get().map(|link| link.id);
        f.debug_struct("Shared").field("request", &id).finish_non_exhaustive()
    }
}
