//! Changes of hooks that hooks request.

use std::{fmt, mem};

use lttv_hooks::{Flow, HookId};

use super::call::{EventCall, EventHook};
use super::outcome::{HookError, IntoOutcome};
use super::subscription::Subscription;

/// A queue of hooks to add and remove, which other hooks fill. The changes are made in order
/// before the next event.
#[derive(Debug, Default)]
pub struct Commands<'h> {
    pending: Vec<Command<'h>>,
    /// The first error of a hook that no read has returned.
    failed: Option<Box<HookError>>,
}

/// A requested change of hooks.
pub(crate) enum Command<'h> {
    Add(Registration<'h>),
    Remove(HookId),
}

/// A hook with its subscription and id.
pub(crate) struct Registration<'h> {
    pub(crate) id: HookId,
    pub(crate) subscription: Subscription,
    pub(crate) hook: Box<EventHook<'h>>,
}

impl<'h> Registration<'h> {
    pub(crate) fn new<V: IntoOutcome>(
        subscription: Subscription,
        mut hook: impl FnMut(&mut EventCall<'_, 'h>) -> V + 'h,
    ) -> Self {
        let id = subscription.identity.unwrap_or_else(HookId::unique);
        let hook: Box<EventHook<'h>> = Box::new(move |call| match hook(call).into_outcome() {
            Ok(flow) => flow,
            Err(error) => {
                let error = HookError::new(call, error);
                call.commands.failed.get_or_insert_with(|| Box::new(error));
                Flow::Break(())
            }
        });
        Registration { id, subscription, hook }
    }
}

impl<'h> Commands<'h> {
    /// Adds a hook before the next event, with the arguments of
    /// [`TracesetContext::on_event`](crate::TracesetContext::on_event).
    pub fn on_event<V: IntoOutcome>(
        &mut self,
        events: impl Into<Subscription>,
        hook: impl FnMut(&mut EventCall<'_, 'h>) -> V + 'h,
    ) -> HookId {
        let registration = Registration::new(events.into(), hook);
        let id = registration.id;
        self.pending.push(Command::Add(registration));
        id
    }

    /// Removes a hook, or one reference to it, before the next event.
    pub fn remove(&mut self, id: HookId) {
        self.pending.push(Command::Remove(id));
    }

    /// Returns `true` if no changes were requested.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// Removes and returns the first error of a hook.
    pub(crate) fn take_failed(&mut self) -> Option<Box<HookError>> {
        self.failed.take()
    }

    /// Removes and returns the requested changes, in order.
    pub(crate) fn take(&mut self) -> Vec<Command<'h>> {
        mem::take(&mut self.pending)
    }
}

impl fmt::Debug for Command<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Add(registration) => f.debug_tuple("Add").field(registration).finish(),
            Command::Remove(id) => f.debug_tuple("Remove").field(id).finish(),
        }
    }
}

impl fmt::Debug for Registration<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("id", &self.id)
            .field("subscription", &self.subscription)
            .finish_non_exhaustive()
    }
}
