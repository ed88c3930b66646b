//! What hooks can do about requests.

use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use lttv_context::{EventCall, Generation, LevelCall, TracesetPosition};
use lttv_hooks::{Flow, Verdict};

use crate::cut::Cut;
use crate::error::SubmitError;
use crate::gate::Gate;
use crate::identity::{Owner, RequestId};
use crate::request::EventsRequest;

/// What the hooks of a request get besides their call: the request itself, as far
/// as they may change it, and a way to ask for more.
///
/// What is asked for is done before the next event is read.
pub struct Control<'h>(pub(crate) Rc<Shared<'h>>);

/// What a request's hooks have in common with each other and the scheduler.
pub(crate) struct Shared<'h> {
    /// A hook wants the scheduler to look before the next event is read.
    pub(crate) interrupt: Cell<bool>,
    /// A hook wants the chunk to end.
    pub(crate) yielded: Cell<bool>,
    pub(crate) stopped: Cell<bool>,
    /// A hook has panicked. Those for events are not called any more.
    has_panicked: Cell<bool>,
    /// Events seen, if they are counted by a hook, and how many it wants.
    pub(crate) counted: Cell<u64>,
    pub(crate) most: Cell<u64>,
    /// Whether `gate` has to be asked.
    pub(crate) gated: Cell<bool>,
    pub(crate) gate: RefCell<Gate<'h>>,
    link: OnceCell<Link<'h>>,
}

/// What is known of a request from its submission on.
struct Link<'h> {
    id: RequestId,
    owner: Owner,
    queue: Rc<Queue<'h>>,
}

/// What hooks asked for, in order.
pub(crate) struct Queue<'h> {
    commands: RefCell<Vec<Command<'h>>>,
    /// Requests of which a hook panicked.
    failed: RefCell<Vec<RequestId>>,
    /// The first panic that is to be passed on.
    panic: Cell<Option<Panic>>,
    next: Cell<u64>,
    generation: Cell<Generation>,
    traces: Cell<usize>,
}

/// What a hook panicked with.
pub(crate) type Panic = Box<dyn Any + Send>;

pub(crate) enum Command<'h> {
    Submit(RequestId, Box<EventsRequest<'h>>),
    Cancel(RequestId),
    CancelOwner(Owner),
}

impl<'h> Control<'h> {
    /// Which request it is.
    pub fn request(&self) -> Option<RequestId> {
        self.0.link.get().map(|link| link.id)
    }

    /// Whose request it is.
    pub fn owner(&self) -> Option<Owner> {
        self.0.link.get().map(|link| link.owner)
    }

    /// The request is to end after this event. Its other hooks for the event are
    /// still called.
    pub fn stop(&self) {
        self.0.stopped.set(true);
        self.0.interrupt.set(true);
    }

    /// Asks for more: as [`Scheduler::submit`](crate::Scheduler::submit).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn submit(&self, request: EventsRequest<'h>) -> Result<RequestId, SubmitError> {
        let Some(link) = self.0.link.get() else { return Err(SubmitError::NotServed) };
        let id = link.queue.check(&request)?;
        self.ask(Command::Submit(id, Box::new(request)));
        Ok(id)
    }

    /// A request is to end: as [`Scheduler::cancel`](crate::Scheduler::cancel), but
    /// it may get this event still.
    pub fn cancel(&self, request: RequestId) {
        self.ask(Command::Cancel(request));
    }

    /// All requests of an owner are to end, this one included if it is one.
    pub fn cancel_owner(&self, owner: Owner) {
        self.ask(Command::CancelOwner(owner));
    }

    fn ask(&self, command: Command<'h>) {
        if let Some(link) = self.0.link.get() {
            link.queue.commands.borrow_mut().push(command);
            self.0.interrupt.set(true);
        }
    }
}

/// A hook of a request, that keeps to all of the request's terms but its gate.
type Hook<'a, 'h> = dyn FnMut(&mut EventCall<'_, 'h>, &Control<'h>) -> Flow + 'a;

impl<'h> Control<'h> {
    /// Calls a hook, if the gate admits the event.
    #[inline(never)] // so that hooks without a gate are short
    fn run_if_admitted(&self, call: &mut EventCall<'_, 'h>, hook: &mut Hook<'_, 'h>) -> Flow {
        if self.0.has_panicked() {
            return Flow::Continue(());
        }
        match self.0.admits(call) {
            true => hook(call, self),
            false => Flow::Continue(()),
        }
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
            most: Cell::new(u64::MAX),
            gated: Cell::new(false),
            gate: RefCell::default(),
            link: OnceCell::new(),
        })
    }

    pub(crate) fn link(&self, id: RequestId, owner: Owner, queue: &Rc<Queue<'h>>) {
        // It is submitted but once, since submitting takes the request.
        _ = self.link.set(Link { id, owner, queue: queue.clone() });
    }

    /// A hook for events, that keeps to the request's terms.
    pub(crate) fn event_hook<V: Verdict>(
        self: &Rc<Self>,
        mut hook: impl FnMut(&mut EventCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> impl FnMut(&mut EventCall<'_, 'h>) -> Flow + 'h {
        let control = Control(self.clone());
        let mut run = move |call: &mut EventCall<'_, 'h>, control: &Control<'h>| {
            let shared = &*control.0;
            if hook(call, control).flow().is_break() {
                shared.yielded.set(true);
                return Flow::Break(());
            }
            if shared.interrupt.get() { Flow::Break(()) } else { Flow::Continue(()) }
        };
        // Whatever happens here, hooks of other requests are to get this event too.
        move |call| {
            let called = catch_unwind(AssertUnwindSafe(|| match control.0.gated.get() {
                true => control.run_if_admitted(call, &mut run),
                false => run(call, &control),
            }));
            called.unwrap_or_else(|panic| {
                control.0.fail(panic);
                Flow::Break(())
            })
        }
    }

    /// A hook for the begin or end of something.
    pub(crate) fn level_hook<V: Verdict>(
        self: &Rc<Self>,
        mut hook: impl FnMut(&mut LevelCall<'_, 'h>, &Control<'h>) -> V + 'h,
    ) -> impl FnMut(&mut LevelCall<'_, 'h>) + 'h {
        let control = Control(self.clone());
        move |call| control.0.guard(|| _ = hook(call, &control).flow())
    }

    /// Calls a hook. If it panics, the request is to end.
    pub(crate) fn guard(&self, hook: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(hook)) {
            self.fail(panic);
        }
    }

    /// Notes that a hook has panicked, for the scheduler to end the request.
    #[cold]
    fn fail(&self, panic: Panic) {
        self.mark_failed();
        match self.link.get() {
            Some(link) => {
                link.queue.failed.borrow_mut().push(link.id);
                link.queue.note_panic(panic);
            }
            None => resume_unwind(panic),
        }
    }

    /// Makes the request one of which a hook has panicked.
    pub(crate) fn mark_failed(&self) {
        self.has_panicked.set(true);
        self.gated.set(true); // So event hooks need look at nothing else.
        self.interrupt.set(true);
    }

    pub(crate) fn has_panicked(&self) -> bool {
        self.has_panicked.get()
    }

    /// Counts the events that are for the request.
    pub(crate) fn count_hook(
        self: &Rc<Self>,
    ) -> impl FnMut(&mut EventCall<'_, 'h>) -> Flow + use<'h> {
        let shared = self.clone();
        move |call| {
            if !shared.gate.borrow().is_in_window(call) {
                return Flow::Continue(());
            }
            let counted = shared.counted.get() + 1;
            shared.counted.set(counted);
            if counted < shared.most.get() {
                return Flow::Continue(());
            }
            shared.interrupt.set(true);
            Flow::Break(())
        }
    }

    fn admits(&self, call: &EventCall<'_, '_>) -> bool {
        let mut gate = self.gate.borrow_mut();
        let passes = gate.admits(call);
        if gate.is_full() {
            self.interrupt.set(true);
        }
        passes
    }
}

impl<'h> Queue<'h> {
    pub(crate) fn new(generation: Generation, traces: usize) -> Rc<Self> {
        Rc::new(Queue {
            commands: RefCell::default(),
            failed: RefCell::default(),
            panic: Cell::new(None),
            next: Cell::new(0),
            generation: Cell::new(generation),
            traces: Cell::new(traces),
        })
    }

    pub(crate) fn set_traceset(&self, generation: Generation, traces: usize) {
        self.generation.set(generation);
        self.traces.set(traces);
    }

    /// Whether a request can be served; gives it an identity.
    pub(crate) fn check(&self, request: &EventsRequest<'h>) -> Result<RequestId, SubmitError> {
        let traces = self.traces.get();
        if let Some(trace) = request.trace.filter(|trace| *trace >= traces) {
            return Err(SubmitError::NoSuchTrace { trace, traces });
        }
        let is_stale = |position: &TracesetPosition| {
            (position.generation() != self.generation.get()).then_some(SubmitError::Stale {
                position: position.generation(),
                traceset: self.generation.get(),
            })
        };
        if let Cut::Position(start) = &request.start
            && let Some(stale) = is_stale(start)
        {
            return Err(stale);
        }
        if let Some(stale) = request.bounds.end_position().and_then(is_stale) {
            return Err(stale);
        }
        let id = RequestId(self.next.get());
        self.next.set(id.0 + 1);
        Ok(id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.commands.borrow().is_empty()
    }

    /// Takes a request of which a hook panicked.
    pub(crate) fn take_failed(&self) -> Option<RequestId> {
        self.failed.borrow_mut().pop()
    }

    /// Keeps a panic, to be passed on when all is in order; but the first one only.
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

impl fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Control").field(&self.request()).finish()
    }
}
