//! The computations of a background, and the notifications about them.

use std::collections::VecDeque;
use std::fmt;
use std::mem::take;

use ltt_read::Timestamp;

use super::{ComputationProgress, Condition};
use crate::chunk::{FinishReason, Finished, Notification, NotificationOutcome};
use crate::identity::{ComputationId, Owner, RequestId};
use crate::request::EventsRequest;
use crate::request::request_start::RequestStart;
use crate::scheduler::Scheduler;

/// A handle of a background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UserId(u64);

/// The function with which a computation starts: it adds the hooks to a request.
pub(super) type Install<'h> = Box<dyn FnMut(EventsRequest<'h>) -> EventsRequest<'h> + 'h>;

/// All computations, and pending notifications by handle.
#[derive(Debug, Default)]
pub(super) struct Computations<'h> {
    modules: Vec<Module<'h>>,
    pub(super) pending: Vec<PendingNotification>,
    news: Vec<(UserId, Notification)>,
    /// Requests to be submitted or cancelled when no hook of a computation is running.
    pub(super) orders: VecDeque<Order<'h>>,
    pub(super) lends_checkpoints: bool,
    users: u64,
}

struct Module<'h> {
    name: String,
    /// `None` while it is being called.
    install: Option<Install<'h>>,
    state: ModuleState,
    wanted_by: Vec<(UserId, Owner)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ModuleState {
    Idle,
    /// The request has not been submitted.
    Ordered,
    /// The request is being served. Events before the time have been processed.
    Running(RequestId, Timestamp),
    Ready,
}

/// A notification whose condition is not met yet.
#[derive(Debug)]
pub(super) struct PendingNotification {
    pub(super) user: UserId,
    pub(super) owner: Owner,
    pub(super) module: ComputationId,
    pub(super) when: Condition,
}

/// A change of the requests that are served.
#[derive(Debug)]
pub(super) enum Order<'h> {
    Submit(ComputationId, Box<EventsRequest<'h>>),
    Cancel(RequestId),
}

/// The computation whose request was submitted, and the request unless it was refused.
pub(super) type Started = Option<(ComputationId, Option<RequestId>)>;

impl<'h> Order<'h> {
    pub(super) fn execute(self, scheduler: &mut Scheduler<'h>) -> Started {
        match self {
            Order::Submit(module, request) => {
                // Submitting only fails if `install` has set a position or trace that does
                // not exist.
                Some((module, scheduler.submit(*request).ok()))
            }
            Order::Cancel(request) => {
                scheduler.cancel(request);
                None
            }
        }
    }
}

impl<'h> Computations<'h> {
    pub(super) fn add_user(&mut self) -> UserId {
        self.users += 1;
        UserId(self.users)
    }

    pub(super) fn register(&mut self, name: &str, install: Install<'h>) -> ComputationId {
        self.modules.push(Module {
            name: name.to_owned(),
            install: Some(install),
            state: ModuleState::Idle,
            wanted_by: Vec::new(),
        });
        ComputationId(self.modules.len() - 1)
    }

    pub(super) fn find(&self, name: &str) -> Option<ComputationId> {
        self.modules.iter().position(|module| module.name == name).map(ComputationId)
    }

    /// Records that an owner wants a computation. Returns the function that starts it if it
    /// has to be started.
    pub(super) fn want(
        &mut self,
        id: ComputationId,
        user: UserId,
        owner: Owner,
    ) -> Option<Install<'h>> {
        let module = self.modules.get_mut(id.0)?;
        if module.state == ModuleState::Ready {
            return None;
        }
        if !module.wanted_by.contains(&(user, owner)) {
            module.wanted_by.push((user, owner));
        }
        if module.state == ModuleState::Idle { module.install.take() } else { None }
    }

    /// Orders the request of a computation, and returns its function.
    pub(super) fn start(
        &mut self,
        id: ComputationId,
        install: Install<'h>,
        request: EventsRequest<'h>,
    ) {
        let Some(module) = self.modules.get_mut(id.0) else { return };
        module.install = Some(install);
        // Its last owner may have been removed by the function.
        if !module.wanted_by.is_empty() {
            module.state = ModuleState::Ordered;
            self.orders.push_back(Order::Submit(id, Box::new(request)));
        }
    }

    /// Records that the request of a computation was submitted.
    pub(super) fn note_start(&mut self, started: Started) {
        let Some((id, request)) = started else { return };
        let Some(module) = self.modules.get_mut(id.0) else { return };
        module.state = match request {
            Some(request) if module.state == ModuleState::Ordered => {
                ModuleState::Running(request, Timestamp::MIN)
            }
            // It was given up meanwhile.
            Some(request) => {
                self.orders.push_back(Order::Cancel(request));
                return;
            }
            None => ModuleState::Idle,
        };
        if module.state == ModuleState::Idle {
            self.give_up(&[id]);
        }
    }

    /// Returns the progress as of the last call of [`note_progress`](Self::note_progress).
    pub(super) fn stage(&self, id: ComputationId) -> ComputationProgress {
        let Some(module) = self.modules.get(id.0) else { return ComputationProgress::Idle };
        match module.state {
            ModuleState::Idle => ComputationProgress::Idle,
            ModuleState::Ordered => ComputationProgress::InProgress { to: Timestamp::MIN },
            ModuleState::Running(_, to) => ComputationProgress::InProgress { to },
            ModuleState::Ready => ComputationProgress::Ready,
        }
    }

    /// Records how far the requests of computations have come.
    pub(super) fn note_progress(&mut self, scheduler: &Scheduler<'h>) {
        // Results of a call that panicked have not been reported yet.
        self.note_ends(&scheduler.unreported.finished);
        for module in &mut self.modules {
            if let ModuleState::Running(request, to) = &mut module.state {
                match scheduler.find(*request).map(|request| &request.start) {
                    Some(RequestStart::Time(time)) => *to = *time,
                    Some(RequestStart::Position(position)) => {
                        *to = position.time().unwrap_or(Timestamp::MAX);
                    }
                    None => {}
                }
            }
        }
    }

    /// Records the ends of requests of computations.
    pub(super) fn note_ends(&mut self, ends: &[Finished]) {
        let mut given_up = Vec::new();
        for end in ends {
            let is_of = |module: &Module<'h>| matches!(module.state, ModuleState::Running(request, _) if request == end.request);
            let Some(at) = self.modules.iter().position(is_of) else { continue };
            let is_complete =
                !matches!(end.reason, FinishReason::Cancelled | FinishReason::Panicked);
            if is_complete {
                self.modules[at].state = ModuleState::Ready;
            } else {
                given_up.push(ComputationId(at));
            }
        }
        self.give_up(&given_up);
    }

    /// Resets computations that will not be completed, and cancels all notifications about
    /// them.
    fn give_up(&mut self, ids: &[ComputationId]) {
        for id in ids {
            if let Some(module) = self.modules.get_mut(id.0) {
                module.state = ModuleState::Idle;
                module.wanted_by.clear();
            }
        }
        self.cancel(|pending| ids.contains(&pending.module));
    }

    /// Cancels pending notifications.
    fn cancel(&mut self, is_meant: impl Fn(&PendingNotification) -> bool) {
        let cancelled = self.pending.extract_if(.., |pending| is_meant(pending));
        let news = cancelled.map(|pending| pending.news(NotificationOutcome::Cancelled));
        self.news.extend(news);
    }

    /// Removes owners, given with the handles that they have used. Gives up computations
    /// that no other owner wants. Their notifications are cancelled, or dropped.
    pub(super) fn remove(&mut self, is_meant: impl Fn(UserId, Owner) -> bool, tells: bool) {
        if tells {
            self.cancel(|pending| is_meant(pending.user, pending.owner));
        } else {
            self.pending.retain(|pending| !is_meant(pending.user, pending.owner));
            self.news.retain(|(user, news)| !is_meant(*user, news.owner));
        }
        let mut given_up = Vec::new();
        for (at, module) in self.modules.iter_mut().enumerate() {
            let was_wanted = !module.wanted_by.is_empty();
            module.wanted_by.retain(|(user, owner)| !is_meant(*user, *owner));
            if !was_wanted || !module.wanted_by.is_empty() {
                continue;
            }
            match module.state {
                ModuleState::Running(request, _) => self.orders.push_back(Order::Cancel(request)),
                ModuleState::Ordered => {}
                ModuleState::Idle | ModuleState::Ready => continue,
            }
            given_up.push(ComputationId(at));
        }
        self.orders.retain(|order| match order {
            Order::Submit(id, _) => !given_up.contains(id),
            Order::Cancel(_) => true,
        });
        self.give_up(&given_up);
    }

    /// Moves the notifications that are due to the news.
    pub(super) fn note_due(&mut self, scheduler: &Scheduler<'h>) {
        let modules = &self.modules;
        let due = self.pending.extract_if(.., |pending| pending.is_due(modules, scheduler));
        self.news.extend(due.map(|pending| pending.news(NotificationOutcome::Reached)));
    }

    pub(super) fn has_news(&self, user: UserId) -> bool {
        self.news.iter().any(|(of, _)| *of == user)
    }

    /// Removes and returns the news for a handle.
    pub(super) fn take_news(&mut self, user: UserId) -> Vec<Notification> {
        let (own, others) = take(&mut self.news).into_iter().partition(|(of, _)| *of == user);
        self.news = others;
        let own: Vec<(UserId, Notification)> = own;
        own.into_iter().map(|(_, news)| news).collect()
    }
}

impl PendingNotification {
    fn news(self, outcome: NotificationOutcome) -> (UserId, Notification) {
        (self.user, Notification { owner: self.owner, computation: self.module, outcome })
    }

    /// Returns whether the condition is met.
    fn is_due(&self, modules: &[Module<'_>], scheduler: &Scheduler<'_>) -> bool {
        let Some(module) = modules.get(self.module.0) else { return false };
        let start = match module.state {
            ModuleState::Ready => return true,
            ModuleState::Running(request, _) => scheduler.find(request).map(|it| &it.start),
            ModuleState::Idle | ModuleState::Ordered => None,
        };
        let Some(RequestStart::Position(here)) = start else { return false };
        match &self.when {
            Condition::Time(time) => !RequestStart::Time(*time).is_after(here),
            Condition::Position(goal) => !RequestStart::Position(goal.clone()).is_after(here),
            Condition::Done => false,
        }
    }
}

impl fmt::Debug for Module<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("name", &self.name)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
