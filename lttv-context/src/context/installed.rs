//! The hooks of a context, installed in tables.

use std::collections::{HashMap, HashSet};
use std::mem::take;

use lttv_hooks::{HookId, Removal};

use crate::hooks::{Command, Commands, Dispatch, HookSet, Ready, Registration, Scope, Unmatched};
use crate::traceset::Contexts;

/// The hooks for events of a context.
#[derive(Debug)]
pub(super) struct InstalledHooks<'h> {
    dispatch: Dispatch<'h>,
    /// The changes that hooks have requested.
    commands: Commands<'h>,
    active: HashMap<ReadId, ActiveHooks<'h>>,
    /// The number of changes of hooks that belong to no set.
    changes: u64,
}

/// A set of hooks between its start and its end.
#[derive(Debug)]
struct ActiveHooks<'h> {
    /// The set without the hooks that are installed.
    hooks: HookSet<'h>,
    /// The ids of the installed hooks, with their scopes before these were intersected with the
    /// scope of the set.
    installed: Vec<(HookId, Scope)>,
}

/// An identifier of a set of hooks between its [start](crate::TracesetContext::begin_read) and its
/// [end](crate::TracesetContext::end_read).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "the hooks stay installed until `end_read` is called"]
pub struct ReadId(HookId);

impl<'h> InstalledHooks<'h> {
    pub(super) fn new(contexts: &Contexts) -> Self {
        InstalledHooks {
            dispatch: Dispatch::new(contexts),
            commands: Commands::default(),
            active: HashMap::new(),
            changes: 0,
        }
    }

    /// Prepares for a loop in which hooks request changes, but none is made.
    pub(super) fn ready(&mut self) -> (Ready<'_, 'h>, &mut Commands<'h>) {
        (self.dispatch.ready(), &mut self.commands)
    }

    /// Returns the queue of changes for hooks to fill.
    pub(super) fn commands(&mut self) -> &mut Commands<'h> {
        &mut self.commands
    }

    pub(super) fn add(&mut self, contexts: &Contexts, registration: Registration<'h>) {
        self.changes += 1;
        self.dispatch.add(contexts, registration, false);
    }

    /// Removes a hook, or one reference to it. Returns `false` if there is no such hook.
    pub(super) fn remove(&mut self, id: HookId) -> bool {
        self.changes += 1;
        !matches!(self.dispatch.remove(id), Removal::Absent)
    }

    /// Makes the changes that an extension requests. Hooks that it adds keep its state.
    pub(super) fn add_extension(&mut self, contexts: &Contexts, mut commands: Commands<'h>) {
        self.execute(contexts, commands.take(), true);
    }

    /// Returns the subscriptions of hooks that no event type matches.
    pub(super) fn unmatched(&self, contexts: &Contexts) -> Vec<Unmatched> {
        self.dispatch.unmatched(contexts)
    }

    /// Finds the hooks for new parts of the traceset.
    pub(super) fn grow(&mut self, contexts: &Contexts) {
        self.dispatch.grow(contexts);
    }

    /// Makes the changes that hooks have requested. Returns `false` if there are none.
    pub(super) fn change(&mut self, contexts: &Contexts) -> bool {
        let commands = self.commands.take();
        let is_changed = !commands.is_empty();
        self.execute(contexts, commands, false);
        is_changed
    }

    /// Returns the number of changes of hooks that belong to no set.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns `true` if there are hooks that belong neither to a set nor to an extension.
    pub(super) fn has_other_hooks(&self) -> bool {
        let in_sets = self.active.values().flat_map(|active| &active.installed);
        let in_sets: HashSet<HookId> = in_sets.map(|(id, _)| *id).collect();
        self.dispatch.stateless_ids().any(|id| !in_sets.contains(&id))
    }

    fn execute(&mut self, contexts: &Contexts, commands: Vec<Command<'h>>, keeps_state: bool) {
        self.changes += u64::from(!commands.is_empty());
        for command in commands {
            match command {
                Command::Add(registration) => {
                    self.dispatch.add(contexts, registration, keeps_state);
                }
                Command::Remove(id) => drop(self.dispatch.remove(id)),
            }
        }
    }

    /// Installs the hooks for events of a set.
    pub(super) fn begin(&mut self, contexts: &Contexts, mut hooks: HookSet<'h>) -> ReadId {
        let id = ReadId(HookId::unique());
        let mut installed = Vec::new();
        let scope = hooks.scope();
        for mut registration in take(&mut hooks.events) {
            let own = registration.subscription.scope;
            let Some(common) = own.intersect(scope, contexts) else {
                hooks.events.push(registration);
                continue;
            };
            registration.subscription.scope = common;
            installed.push((registration.id, own));
            self.dispatch.add(contexts, registration, false);
        }
        self.active.insert(id, ActiveHooks { hooks, installed });
        id
    }

    /// Removes the hooks for events of a set, and returns the set. Returns `None` if it has already
    /// ended.
    pub(super) fn end(&mut self, id: ReadId) -> Option<HookSet<'h>> {
        let ActiveHooks { mut hooks, installed } = self.active.remove(&id)?;
        for (id, scope) in installed {
            if let Some(mut registration) = self.dispatch.remove(id).hook() {
                registration.subscription.scope = scope;
                hooks.events.push(registration);
            }
        }
        Some(hooks)
    }
}
