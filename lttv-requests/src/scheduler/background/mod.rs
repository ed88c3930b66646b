//! Background computations over the whole traceset.

mod computations;

use std::cell::{Cell, Ref, RefCell};
use std::rc::Rc;

use ltt_read::Timestamp;
use lttv_context::{GrowthError, Revision, Traceset, TracesetContext, TracesetPosition};

use crate::budget::Budget;
use crate::chunk::Notification;
use crate::identity::{ComputationId, Owner};
use crate::request::EventsRequest;
use crate::scheduler::Scheduler;

use computations::{Computations, PendingNotification, UserId};

/// Computations over the whole traceset, each performed once for all owners that request
/// it, and only while no request is pending.
///
/// A background has its own context, so that requests do not disturb it. All computations
/// in progress share one read of the traceset. A computation that is requested later
/// first reads alone the part that the others have passed, and then joins them. Partial
/// results can be inspected at any time: they are in the captures of hooks, or in
/// extensions of the context. While the traceset is growing, computations go on with it: none
/// is complete before the traceset is.
///
/// ```
/// use std::cell::Cell;
/// use lttv_context::{TracesetContext, Traceset};
/// use lttv_requests::{Background, Budget, Owner, Scheduler, ComputationProgress, Condition};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let switches = Cell::new(0);
/// let background = Background::new(TracesetContext::new(&traceset));
/// let stats = background.register("stats", |pass| {
///     pass.on_event("sched_switch", |_, _| switches.set(switches.get() + 1))
/// });
/// let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
/// scheduler.set_background(background);
///
/// let viewer = Owner::unique();
/// if let Some(background) = scheduler.background() {
///     background.compute(stats, viewer);
///     background.notify(stats, viewer, Condition::Done);
/// }
/// let mut reached = Vec::new();
/// loop {
///     let chunk = scheduler.service_chunk(Budget::events(1000));
///     reached.extend(chunk.notifications);
///     if chunk.status == lttv_requests::Status::Idle {
///         break;
///     }
/// }
/// assert_eq!((switches.get(), reached.len()), (497, 1));
/// assert_eq!(scheduler.background().map(|b| b.stage(stats)), Some(ComputationProgress::Ready));
/// # Ok::<(), ltt_read::Error>(())
/// ```
///
/// # Several schedulers
///
/// An application with several tabs on one traceset has a scheduler for each. They share
/// one background: each has a handle of it, created by [`share`](Self::share). A
/// computation is then performed once for all tabs. Whichever scheduler has time continues
/// it, and each can use its checkpoints. A notification is delivered by the scheduler
/// whose handle it was registered with.
///
/// The application serves the current tab first. If that has nothing to do but background
/// computations, the other tabs come first, so that their viewers are filled, too:
///
/// ```
/// # use lttv_context::{Traceset, TracesetContext};
/// # use lttv_requests::{Background, Budget, ChunkReport, ComputationProgress, Owner, Scheduler};
/// /// Serves the first tab that needs it, `current` before all others.
/// fn serve(tabs: &mut [Scheduler<'_>], current: usize) -> ChunkReport {
///     let order = std::iter::once(current).chain(0..tabs.len());
///     let tab = order.into_iter().find(|tab| tabs[*tab].needs_service());
///     tabs[tab.unwrap_or(current)].service_chunk(Budget::events(1000))
/// }
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let background = Background::new(TracesetContext::new(&traceset));
/// let count = background.register("count", |pass| pass.on_every_event(|_, _| ()));
/// let mut tabs = Vec::new();
/// for _ in 0..3 {
///     let mut tab = Scheduler::new(TracesetContext::new(&traceset));
///     let shared = background.share();
///     shared.compute(count, Owner::unique());
///     tab.set_background(shared);
///     tabs.push(tab);
/// }
/// let mut computed = 0;
/// loop {
///     let report = serve(&mut tabs, 1);
///     computed += report.computed;
///     if !report.has_more() {
///         break;
///     }
/// }
/// assert_eq!((background.stage(count), computed), (ComputationProgress::Ready, 6087));
/// # Ok::<(), ltt_read::Error>(())
/// ```
///
/// Dropping a handle, for example with the scheduler of a closed tab, drops its
/// notifications, and gives up computations that were requested with this handle only.
#[derive(Debug)]
pub struct Background<'h> {
    user: UserId,
    /// The number of checkpoints that this handle's scheduler has been lent.
    lent: Cell<usize>,
    shared: Rc<Shared<'h>>,
}

/// The data that all handles share. The two parts are borrowed one at a time, so that
/// hooks of computations can use handles.
#[derive(Debug)]
struct Shared<'h> {
    revision: Revision,
    scheduler: RefCell<Scheduler<'h>>,
    computations: RefCell<Computations<'h>>,
}

/// The progress of a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ComputationProgress {
    /// The computation has not been requested, or was given up.
    Idle,
    /// The computation is waiting or in progress.
    InProgress {
        /// The time before which all events have been processed.
        to: Timestamp,
    },
    /// The computation is complete.
    Ready,
}

/// A condition on the progress of a computation, for a notification.
#[derive(Debug, Clone)]
pub enum Condition {
    /// All events before a time have been processed.
    Time(Timestamp),
    /// All events before a position have been processed.
    Position(TracesetPosition),
    /// The computation is complete.
    Done,
}

impl<'h> Background<'h> {
    /// Creates a background without computations. The context should be one for the
    /// scheduler's traceset, so that positions mean the same in both.
    pub fn new(mut context: TracesetContext<'h>) -> Self {
        context.seek_time(Timestamp::MIN);
        let mut computations = Computations::default();
        let user = computations.add_user();
        let revision = context.traceset().revision();
        let scheduler = RefCell::new(Scheduler::new(context));
        let computations = RefCell::new(computations);
        let shared = Rc::new(Shared { revision, scheduler, computations });
        Background { user, lent: Cell::new(0), shared }
    }

    /// Creates another handle of the same computations, for another scheduler of the same
    /// traceset.
    #[must_use]
    pub fn share(&self) -> Self {
        let user = self.shared.computations.borrow_mut().add_user();
        Background { user, lent: Cell::new(0), shared: self.shared.clone() }
    }

    /// Returns the revision of the traceset that the computations read.
    pub fn revision(&self) -> Revision {
        self.shared.revision
    }

    /// Registers a computation, for all handles. When it is first requested, `install` adds
    /// its hooks to a request for all events: the first hook is called before the first
    /// event of the traceset, the last one after the last event. The request may stop
    /// earlier, which completes the computation.
    pub fn register(
        &self,
        name: &str,
        install: impl FnMut(EventsRequest<'h>) -> EventsRequest<'h> + 'h,
    ) -> ComputationId {
        self.shared.computations.borrow_mut().register(name, Box::new(install))
    }

    /// Finds the first computation with a name.
    pub fn find(&self, name: &str) -> Option<ComputationId> {
        self.shared.computations.borrow().find(name)
    }

    /// Starts a computation, unless it is complete or in progress. Returns its progress.
    /// A computation of which a hook has panicked is [idle](ComputationProgress::Idle), and can be
    /// started again.
    pub fn compute(&self, module: ComputationId, owner: Owner) -> ComputationProgress {
        // A computation that has just ended can be started again.
        self.stage(module);
        let install = self.shared.computations.borrow_mut().want(module, self.user, owner);
        if let Some(mut install) = install {
            let request = install(EventsRequest::new(owner).waiting());
            self.shared.computations.borrow_mut().start(module, install, request);
        }
        self.execute();
        self.stage(module)
    }

    /// Returns the progress of a computation.
    pub fn stage(&self, module: ComputationId) -> ComputationProgress {
        let mut computations = self.shared.computations.borrow_mut();
        if let Ok(scheduler) = self.shared.scheduler.try_borrow() {
            computations.note_progress(&scheduler);
        }
        computations.stage(module)
    }

    /// Registers a notification, which is delivered once in
    /// [`ChunkReport::notifications`](crate::ChunkReport::notifications) by the scheduler
    /// that has this handle: in the chunk in which the condition is met, or in the next one
    /// if it is met already, and at the latest when the computation is complete. If it can
    /// no longer be met, because the computation was given up or panicked, because the
    /// owner was removed, or because the traceset changed, the outcome is
    /// [`Cancelled`](crate::NotificationOutcome::Cancelled).
    pub fn notify(&self, module: ComputationId, owner: Owner, when: Condition) {
        let pending = PendingNotification { user: self.user, owner, module, when };
        self.shared.computations.borrow_mut().pending.push(pending);
    }

    /// Removes an owner, whatever handle it has used. Its notifications are cancelled.
    /// Computations that no other owner has requested end, and their results are given up.
    pub fn cancel_owner(&self, owner: Owner) {
        let is_meant = |_: UserId, other: Owner| other == owner;
        self.shared.computations.borrow_mut().remove(is_meant, true);
        self.execute();
    }

    /// Lets the contexts of all schedulers that share this background seek by its
    /// checkpoints. These contexts must have equal extensions in equal order as the
    /// background's. The further the background has read, the faster requests start.
    pub fn lend_checkpoints(&self) {
        self.shared.computations.borrow_mut().lends_checkpoints = true;
    }

    /// Returns the context that reads. `None` while a hook of a computation is called.
    pub fn context(&self) -> Option<Ref<'_, TracesetContext<'h>>> {
        let scheduler = self.shared.scheduler.try_borrow().ok()?;
        Some(Ref::map(scheduler, Scheduler::context))
    }

    /// Returns whether no computation is in progress and no notification is due for this
    /// handle.
    pub fn is_idle(&self) -> bool {
        !self.has_work()
    }

    /// Returns whether a call has something to do.
    pub(crate) fn has_work(&self) -> bool {
        let is_idle = match self.shared.scheduler.try_borrow() {
            Ok(scheduler) => scheduler.is_idle(),
            Err(_) => false,
        };
        !is_idle || !self.shared.computations.borrow().orders.is_empty() || self.has_news()
    }

    /// Continues with a later state of the traceset.
    pub(crate) fn continue_with(&self, traceset: &Traceset) -> Result<(), GrowthError> {
        match self.shared.scheduler.try_borrow_mut() {
            Ok(mut scheduler) => scheduler.continue_with(traceset),
            // A hook of a computation is being called; the next call continues.
            Err(_) => Ok(()),
        }
    }

    /// Returns whether a computation waits for events that are still to be recorded.
    pub(crate) fn waits(&self) -> bool {
        let scheduler = self.shared.scheduler.try_borrow();
        scheduler.is_ok_and(|scheduler| !scheduler.parked.is_empty())
    }

    /// Returns whether a notification is due for this handle.
    pub(crate) fn has_news(&self) -> bool {
        self.note_due();
        self.shared.computations.borrow().has_news(self.user)
    }

    /// Continues all computations in progress. Returns the number of events read for
    /// them.
    pub(crate) fn service(&self, budget: Budget) -> u64 {
        self.execute();
        let Ok(mut scheduler) = self.shared.scheduler.try_borrow_mut() else { return 0 };
        let chunk = scheduler.service_chunk(budget);
        let mut computations = self.shared.computations.borrow_mut();
        computations.note_ends(&chunk.finished);
        computations.note_progress(&scheduler);
        chunk.read + chunk.replayed
    }

    /// Lets a scheduler's own context seek by the checkpoints so far.
    pub(crate) fn lend_to(&self, foreground: &mut TracesetContext<'h>) {
        if !self.shared.computations.borrow().lends_checkpoints {
            return;
        }
        let Some(context) = self.context() else { return };
        let own = context.checkpoints();
        if self.lent.replace(own.len()) != own.len() {
            let mut both = foreground.checkpoints().clone();
            both.merge(own);
            // Checkpoints of other extensions are refused; requests then seek without
            // them.
            let _ = foreground.state().set_checkpoints(both);
        }
    }

    /// Removes and returns the notifications that are due for this handle.
    pub(crate) fn take_news(&self) -> Vec<Notification> {
        self.note_due();
        self.shared.computations.borrow_mut().take_news(self.user)
    }

    /// Ends the use of this handle. Returns its notifications, which are cancelled.
    pub(crate) fn leave(self) -> Vec<Notification> {
        let mut computations = self.shared.computations.borrow_mut();
        computations.remove(|user, _| user == self.user, true);
        computations.take_news(self.user)
    }

    /// Submits and cancels requests for computations, unless a hook of one is being called.
    fn execute(&self) {
        let Ok(mut scheduler) = self.shared.scheduler.try_borrow_mut() else { return };
        loop {
            let order = self.shared.computations.borrow_mut().orders.pop_front();
            let Some(order) = order else { return };
            let started = order.execute(&mut scheduler);
            self.shared.computations.borrow_mut().note_start(started);
        }
    }

    /// Finds the notifications that are due.
    fn note_due(&self) {
        let mut computations = self.shared.computations.borrow_mut();
        if let Ok(scheduler) = self.shared.scheduler.try_borrow() {
            computations.note_due(&scheduler);
        }
    }
}

impl Drop for Background<'_> {
    /// Cancels the computations that only this handle requested.
    fn drop(&mut self) {
        if let Ok(mut computations) = self.shared.computations.try_borrow_mut() {
            computations.remove(|user, _| user == self.user, false);
        }
    }
}
