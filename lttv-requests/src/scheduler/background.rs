//! Background computations over the whole traceset.

use ltt_read::Timestamp;
use lttv_context::{TracesetContext, TracesetPosition};

use crate::budget::Budget;
use crate::chunk::{FinishReason, Notification};
use crate::identity::{ComputationId, Owner, RequestId};
use crate::request::EventsRequest;
use crate::request::request_start::RequestStart;
use crate::scheduler::Scheduler;

/// Computations over the whole traceset, each performed once for all owners that request
/// it, and only while no request is pending.
///
/// A background has its own context, so that requests do not disturb it. All computations
/// in progress share one read of the traceset. A computation that is requested later
/// first reads alone the part that the others have passed, and then joins them. Partial
/// results can be inspected at any time: they are in the captures of hooks, or in
/// extensions of the context.
///
/// ```
/// use std::cell::Cell;
/// use lttv_context::{TracesetContext, Traceset};
/// use lttv_requests::{Background, Budget, Owner, Scheduler, ComputationProgress, Condition};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let switches = Cell::new(0);
/// let mut background = Background::new(TracesetContext::new(&traceset));
/// let stats = background.register("stats", |pass| {
///     pass.on_event("sched_switch", |_, _| switches.set(switches.get() + 1))
/// });
/// let mut scheduler = Scheduler::new(TracesetContext::new(&traceset));
/// scheduler.set_background(background);
///
/// let viewer = Owner::unique();
/// if let Some(background) = scheduler.background_mut() {
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
#[derive(Debug)]
pub struct Background<'h> {
    scheduler: Scheduler<'h>,
    modules: Vec<Module<'h>>,
    notifications: Vec<PendingNotification>,
    lends_checkpoints: bool,
}

/// The progress of a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

struct Module<'h> {
    name: String,
    #[allow(clippy::type_complexity, reason = "used only once")]
    install: Box<dyn FnMut(EventsRequest<'h>) -> EventsRequest<'h> + 'h>,
    request: Option<RequestId>,
    is_ready: bool,
    wanted_by: Vec<Owner>,
}

/// A notification whose condition is not met yet.
#[derive(Debug)]
struct PendingNotification {
    owner: Owner,
    module: ComputationId,
    when: Condition,
}

impl<'h> Background<'h> {
    /// Creates a background without computations. The context should be one for the
    /// scheduler's traceset, so that positions mean the same in both.
    pub fn new(mut context: TracesetContext<'h>) -> Self {
        context.seek_start();
        Background {
            scheduler: Scheduler::new(context),
            modules: Vec::new(),
            notifications: Vec::new(),
            lends_checkpoints: false,
        }
    }

    /// Registers a computation. When it is first requested, `install` adds its hooks to a
    /// request for all events: the first hook is called before the first event of the
    /// traceset, the last one after the last event. The request may stop earlier, which
    /// completes the computation.
    pub fn register(
        &mut self,
        name: &str,
        install: impl FnMut(EventsRequest<'h>) -> EventsRequest<'h> + 'h,
    ) -> ComputationId {
        self.modules.push(Module {
            name: name.to_owned(),
            install: Box::new(install),
            request: None,
            is_ready: false,
            wanted_by: Vec::new(),
        });
        ComputationId(self.modules.len() - 1)
    }

    /// Finds the first computation with a name.
    pub fn find(&self, name: &str) -> Option<ComputationId> {
        self.modules.iter().position(|module| module.name == name).map(ComputationId)
    }

    /// Starts a computation, unless it is complete or in progress. Returns its progress.
    /// A computation of which a hook has panicked is [idle](ComputationProgress::Idle), and can be
    /// started again.
    pub fn compute(&mut self, module: ComputationId, owner: Owner) -> ComputationProgress {
        if let Some(known) = self.modules.get_mut(module.0)
            && !known.is_ready
        {
            if !known.wanted_by.contains(&owner) {
                known.wanted_by.push(owner);
            }
            if known.request.is_none() {
                let request = (known.install)(EventsRequest::new(owner));
                // Submitting only fails if `install` has set a position or trace that
                // does not exist.
                known.request = self.scheduler.submit(request).ok();
            }
        }
        self.stage(module)
    }

    /// Returns the progress of a computation.
    pub fn stage(&self, module: ComputationId) -> ComputationProgress {
        let Some(known) = self.modules.get(module.0) else { return ComputationProgress::Idle };
        match known.request.and_then(|request| self.scheduler.find(request)) {
            _ if known.is_ready => ComputationProgress::Ready,
            None => ComputationProgress::Idle,
            Some(request) => ComputationProgress::InProgress {
                to: match &request.start {
                    RequestStart::Time(time) => *time,
                    RequestStart::Position(position) => position.time().unwrap_or(Timestamp::MAX),
                },
            },
        }
    }

    /// Registers a notification, which is delivered once in
    /// [`ChunkReport::notifications`](crate::ChunkReport::notifications): in the chunk in which the condition is
    /// met, or in the next one if it is met already, and at the latest when the
    /// computation is complete.
    pub fn notify(&mut self, module: ComputationId, owner: Owner, when: Condition) {
        self.notifications.push(PendingNotification { owner, module, when });
    }

    /// Removes an owner. Computations that no other owner has requested end, and their
    /// results are given up.
    pub fn cancel_owner(&mut self, owner: Owner) {
        self.notifications.retain(|notification| notification.owner != owner);
        for module in &mut self.modules {
            let is_wanted = !module.wanted_by.is_empty();
            module.wanted_by.retain(|other| *other != owner);
            if is_wanted
                && module.wanted_by.is_empty()
                && let Some(request) = module.request.take()
            {
                self.scheduler.cancel(request);
            }
        }
    }

    /// Lets the scheduler's own context seek by the checkpoints of this background. Both
    /// contexts must have equal extensions in equal order. The further the background has
    /// read, the faster requests start.
    pub fn lend_checkpoints(&mut self) {
        self.lends_checkpoints = true;
    }

    /// Returns the context that reads.
    pub fn context(&self) -> &TracesetContext<'h> {
        self.scheduler.context()
    }

    /// Returns whether no computation is in progress and no notification is due.
    pub fn is_idle(&self) -> bool {
        self.scheduler.is_idle() && !self.notifications.iter().any(|n| self.is_due(n))
    }

    /// Continues all computations in progress. Returns the number of events read for
    /// them.
    pub(crate) fn service(&mut self, budget: Budget, foreground: &mut TracesetContext<'h>) -> u64 {
        let chunk = self.scheduler.service_chunk(budget);
        for end in &chunk.finished {
            let of = |module: &&mut Module<'h>| module.request == Some(end.request);
            if let Some(module) = self.modules.iter_mut().find(of) {
                module.request = None;
                let is_given_up =
                    matches!(end.reason, FinishReason::Cancelled | FinishReason::Panicked);
                module.is_ready = !is_given_up;
            }
        }
        let own = self.context().checkpoints();
        if self.lends_checkpoints && own.len() != foreground.checkpoints().len() {
            let mut both = foreground.checkpoints().clone();
            both.merge(own);
            // Checkpoints of other extensions are refused; requests then seek without
            // them.
            let _ = foreground.set_checkpoints(both);
        }
        chunk.read + chunk.replayed
    }

    /// Removes and returns the notifications that are due.
    pub(crate) fn take_reached(&mut self) -> Vec<Notification> {
        let mut reached = Vec::new();
        let mut notifications = std::mem::take(&mut self.notifications);
        notifications.retain(|notification| {
            let is_due = self.is_due(notification);
            let PendingNotification { owner, module: computation, .. } = *notification;
            reached.extend(is_due.then_some(Notification { owner, computation }));
            !is_due
        });
        self.notifications = notifications;
        reached
    }

    /// Returns whether the condition of a notification is met.
    fn is_due(&self, notification: &PendingNotification) -> bool {
        let Some(module) = self.modules.get(notification.module.0) else { return false };
        let request = || self.scheduler.find(module.request?);
        let has_passed = |goal: RequestStart| match request().map(|request| &request.start) {
            Some(RequestStart::Position(position)) => !goal.is_after(position),
            _ => false,
        };
        module.is_ready
            || match &notification.when {
                Condition::Time(time) => has_passed(RequestStart::Time(*time)),
                Condition::Position(position) => {
                    has_passed(RequestStart::Position(position.clone()))
                }
                Condition::Done => false,
            }
    }
}

impl std::fmt::Debug for Module<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Module")
            .field("name", &self.name)
            .field("request", &self.request)
            .field("is_ready", &self.is_ready)
            .finish_non_exhaustive()
    }
}
