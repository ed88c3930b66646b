//! Computations over the whole traceset, while nobody waits for anything else.

use ltt_read::Timestamp;
use lttv_context::{TracesetContext, TracesetPosition};

use crate::budget::Budget;
use crate::cut::Cut;
use crate::finish::FinishReason;
use crate::identity::{Owner, RequestId};
use crate::request::EventsRequest;
use crate::scheduler::Scheduler;

/// Computations over the whole traceset, each done once for all who want it, and
/// only while no request is pending.
///
/// It has a context of its own, so that requests do not disturb it. All
/// computations in progress share one read of the traceset; one that is asked for
/// later reads alone what the others have behind them, and then joins them.
/// What a computation has come to by then may be looked at any time: it is in
/// what its hooks have captured, or in extensions of the context.
///
/// ```
/// use std::cell::Cell;
/// use lttv_context::{TracesetContext, Traceset};
/// use lttv_requests::{Background, Budget, Owner, Scheduler, Stage, When};
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
/// let viewer = Owner::fresh();
/// if let Some(background) = scheduler.background_mut() {
///     background.compute(stats, viewer);
///     background.notify(stats, viewer, When::Done);
/// }
/// let mut reached = Vec::new();
/// loop {
///     let chunk = scheduler.service_chunk(Budget::events(1000));
///     reached.extend(chunk.reached);
///     if chunk.status == lttv_requests::Status::Idle {
///         break;
///     }
/// }
/// assert_eq!((switches.get(), reached.len()), (497, 1));
/// assert_eq!(scheduler.background().map(|b| b.stage(stats)), Some(Stage::Ready));
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug)]
pub struct Background<'h> {
    scheduler: Scheduler<'h>,
    modules: Vec<Module<'h>>,
    notifications: Vec<Notification>,
    lends_checkpoints: bool,
}

/// A computation of a [`Background`]: valid there only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModuleId(usize);

/// How far a computation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Nobody asked for it yet.
    Idle,
    /// It will come, or is under way.
    InProgress {
        /// All events before this time have been gone through.
        to: Timestamp,
    },
    /// It is done.
    Ready,
}

/// What of a computation somebody wants to be told of.
#[derive(Debug, Clone)]
pub enum When {
    /// That all events before a time have been gone through.
    Time(Timestamp),
    /// That all events before a position have been gone through.
    Position(TracesetPosition),
    /// That it is done.
    Done,
}

/// A computation has come to where somebody wanted to be told of it, or is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reached {
    /// Who wanted to be told.
    pub owner: Owner,
    /// Of what.
    pub module: ModuleId,
}

struct Module<'h> {
    name: String,
    #[allow(clippy::type_complexity, reason = "it is the only one")]
    install: Box<dyn FnMut(EventsRequest<'h>) -> EventsRequest<'h> + 'h>,
    request: Option<RequestId>,
    is_ready: bool,
    wanted_by: Vec<Owner>,
}

#[derive(Debug)]
struct Notification {
    owner: Owner,
    module: ModuleId,
    when: When,
}

impl<'h> Background<'h> {
    /// No computations. The context should be one for the same traceset as that of
    /// the scheduler, so that its positions mean the same.
    pub fn new(mut context: TracesetContext<'h>) -> Self {
        context.seek_begin();
        Background {
            scheduler: Scheduler::new(context),
            modules: Vec::new(),
            notifications: Vec::new(),
            lends_checkpoints: false,
        }
    }

    /// Makes a computation known. When it is first asked for, `install` gives a
    /// request for all events its hooks: the first is called before the first
    /// event of the traceset, the last after the last one. It may stop before that;
    /// then it is done.
    pub fn register(
        &mut self,
        name: &str,
        install: impl FnMut(EventsRequest<'h>) -> EventsRequest<'h> + 'h,
    ) -> ModuleId {
        self.modules.push(Module {
            name: name.to_owned(),
            install: Box::new(install),
            request: None,
            is_ready: false,
            wanted_by: Vec::new(),
        });
        ModuleId(self.modules.len() - 1)
    }

    /// The first computation of a name.
    pub fn find(&self, name: &str) -> Option<ModuleId> {
        self.modules.iter().position(|module| module.name == name).map(ModuleId)
    }

    /// Asks for a computation, unless it is done, or in progress already. Tells how
    /// far it is. One of which a hook panicked is [idle](Stage::Idle), and may be asked for
    /// again.
    pub fn compute(&mut self, module: ModuleId, owner: Owner) -> Stage {
        if let Some(known) = self.modules.get_mut(module.0)
            && !known.is_ready
        {
            if !known.wanted_by.contains(&owner) {
                known.wanted_by.push(owner);
            }
            if known.request.is_none() {
                let request = (known.install)(EventsRequest::new(owner));
                // There is nothing to refuse, unless `install` put in a position.
                known.request = self.scheduler.submit(request).ok();
            }
        }
        self.stage(module)
    }

    /// How far a computation is.
    pub fn stage(&self, module: ModuleId) -> Stage {
        let Some(known) = self.modules.get(module.0) else { return Stage::Idle };
        match known.request.and_then(|request| self.scheduler.served(request)) {
            _ if known.is_ready => Stage::Ready,
            None => Stage::Idle,
            Some(served) => Stage::InProgress {
                to: match &served.cut {
                    Cut::Time(time) => *time,
                    Cut::Position(position) => position.time().unwrap_or(Timestamp::MAX),
                },
            },
        }
    }

    /// Somebody wants to be told, once, how far a computation has come: in
    /// [`Chunk::reached`](crate::Chunk::reached), after the chunk in which it
    /// comes there, at once if it has been there already, at the latest when it is
    /// done.
    pub fn notify(&mut self, module: ModuleId, owner: Owner, when: When) {
        self.notifications.push(Notification { owner, module, when });
    }

    /// Forgets an owner. Computations that nobody else wants end; what they have
    /// come to is given up.
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

    /// Lets the scheduler's own context seek by the checkpoints that are saved
    /// here: its extensions must be the same, in the same order. So requests get
    /// the quicker the further this has come.
    pub fn lend_checkpoints(&mut self) {
        self.lends_checkpoints = true;
    }

    /// The context that reads.
    pub fn context(&self) -> &TracesetContext<'h> {
        self.scheduler.context()
    }

    /// Whether nothing is in progress, nor anybody to be told.
    pub fn is_idle(&self) -> bool {
        self.scheduler.is_idle() && !self.notifications.iter().any(|n| self.is_due(n))
    }

    /// Gets on with all that is in progress. Tells how many events were read for it.
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
            // Those of other extensions are refused: requests seek without them.
            let _ = foreground.set_checkpoints(both);
        }
        chunk.read + chunk.replayed
    }

    /// Takes what is due.
    pub(crate) fn take_reached(&mut self) -> Vec<Reached> {
        let mut reached = Vec::new();
        let mut notifications = std::mem::take(&mut self.notifications);
        notifications.retain(|notification| {
            let is_due = self.is_due(notification);
            let Notification { owner, module, .. } = *notification;
            reached.extend(is_due.then_some(Reached { owner, module }));
            !is_due
        });
        self.notifications = notifications;
        reached
    }

    fn is_due(&self, notification: &Notification) -> bool {
        let Some(module) = self.modules.get(notification.module.0) else { return false };
        let served = || self.scheduler.served(module.request?);
        let has_passed = |goal: Cut| match served().map(|served| &served.cut) {
            Some(Cut::Position(position)) => !goal.is_behind(position),
            _ => false,
        };
        module.is_ready
            || match &notification.when {
                When::Time(time) => has_passed(Cut::Time(*time)),
                When::Position(position) => has_passed(Cut::Position(position.clone())),
                When::Done => false,
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
