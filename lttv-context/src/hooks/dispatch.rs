//! Tables of the hooks to call for each event.

use std::collections::HashMap;
use std::rc::Rc;

use ltt_read::schema::EventTypeId;
use ltt_read::{Field, TraceIndex, TracefileNumber};
use lttv_hooks::{
    HookId, HookTargets, HooksAt, HooksById, HooksFound, Priority, ReadyHooks, Removal,
};

use super::call::EventHook;
use super::commands::Registration;
use super::subscription::{EventSelector, Scope, Subscription};
use super::unmatched::Unmatched;
use crate::traceset::{Contexts, TracefileContext};

/// The hooks for events, by dense keys.
///
/// The key of an event is the base of its tracefile plus the id of its event type. Tracefiles
/// of one channel share their keys until a hook distinguishes between them.
#[derive(Debug)]
pub(crate) struct Dispatch<'h> {
    hooks: HooksById<EventHook<'h>, HookInfo>,
    subscriptions: HashMap<HookId, Registered>,
    /// The base of each tracefile, by its number: that of its table.
    bases: Vec<usize>,
    /// The index of the table of each tracefile, by its number.
    tables_of: Vec<usize>,
    tables: Vec<Table>,
    keys: usize,
}

/// Data for a hook and a key that is computed when the hook is added.
#[derive(Debug, Clone)]
pub(crate) struct HookInfo {
    /// The handles of the fields of the hook's subscription.
    fields: Rc<[Field]>,
    /// `true` if the hook belongs to an extension. It is then called for every event of the key,
    /// also for events that other hooks do not see.
    pub(crate) keeps_state: bool,
}

impl HookInfo {
    #[inline(always)]
    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields
    }
}

/// Equality of the data of two hooks: those with equal data are called as one run. All hooks
/// without fields are equal if they agree in `keeps_state`.
impl PartialEq for HookInfo {
    fn eq(&self, other: &Self) -> bool {
        let are_none = self.fields.is_empty() && other.fields.is_empty();
        self.keeps_state == other.keeps_state
            && (are_none || Rc::ptr_eq(&self.fields, &other.fields))
    }
}

#[derive(Debug)]
struct Registered {
    subscription: Subscription,
    keeps_state: bool,
}

/// A range of keys that some tracefiles share.
#[derive(Debug, Clone, Copy)]
struct Table {
    base: usize,
    trace: TraceIndex,
    /// The number of one of these tracefiles.
    tracefile: TracefileNumber,
    /// `true` if the tracefile does not share its keys.
    single: bool,
    /// `true` if a hook distinguishes the tracefile from others of its channel.
    separate: bool,
}

impl<'h> Dispatch<'h> {
    pub(crate) fn new(contexts: &Contexts) -> Self {
        let mut dispatch = Dispatch {
            hooks: HooksById::new(),
            subscriptions: HashMap::new(),
            bases: Vec::new(),
            tables_of: Vec::new(),
            tables: Vec::new(),
            keys: 0,
        };
        dispatch.add_tracefiles(contexts);
        dispatch
    }

    /// Adds the tracefiles that are new.
    fn add_tracefiles(&mut self, contexts: &Contexts) {
        let channel_of = |tracefile: TracefileNumber| {
            let tracefile = &contexts.tracefiles()[tracefile.0];
            (tracefile.trace_index(), tracefile.tracefile().channel())
        };
        let shared = self.tables.iter().enumerate().filter(|(_, table)| !table.separate);
        let mut known: HashMap<(TraceIndex, &str), usize> =
            shared.map(|(at, table)| (channel_of(table.tracefile), at)).collect();
        for tracefile in &contexts.tracefiles()[self.bases.len()..] {
            let channel = channel_of(tracefile.number());
            let table = match known.get(&channel) {
                Some(table) => {
                    self.tables[*table].single = false;
                    *table
                }
                None => {
                    known.insert(channel, self.tables.len());
                    self.add_table(tracefile)
                }
            };
            self.tables_of.push(table);
            self.bases.push(self.tables[table].base);
        }
    }

    /// Finds the hooks for new event types, tracefiles and traces.
    pub(crate) fn grow(&mut self, contexts: &Contexts) {
        self.keys = 0;
        for table in &mut self.tables {
            table.base = self.keys;
            let trace = &contexts.traces()[table.trace.0];
            self.keys += trace.trace().schema().event_types.len();
        }
        self.bases = self.tables_of.iter().map(|table| self.tables[*table].base).collect();
        self.add_tracefiles(contexts);
        self.find_targets(contexts);
    }

    /// Prepares for a loop in which no hooks are added or removed.
    pub(crate) fn ready(&mut self) -> Ready<'_, 'h> {
        Ready { hooks: self.hooks.ready(), bases: &self.bases }
    }

    pub(crate) fn add(
        &mut self,
        contexts: &Contexts,
        registration: Registration<'h>,
        keeps_state: bool,
    ) {
        let Registration { id, subscription, hook } = registration;
        if let Some(registered) = self.subscriptions.get(&id) {
            let priority = registered.subscription.priority;
            self.insert(id, priority, HookTargets::Ids(Vec::new()), hook);
            return;
        }
        let priority = subscription.priority;
        if let Scope::Tracefile(number) = subscription.scope {
            self.separate(contexts, number);
        }
        let registered = Registered { subscription, keeps_state };
        let targets = self.hook_targets(contexts, &registered);
        self.subscriptions.insert(id, registered);
        self.insert(id, priority, targets, hook);
    }

    /// Returns the subscriptions that no event type matches, by name, without those of extensions.
    pub(crate) fn unmatched(&self, contexts: &Contexts) -> Vec<Unmatched> {
        let stateless = self.subscriptions.values().filter(|registered| !registered.keeps_state);
        let of = |registered: &Registered| registered.subscription.unmatched(contexts);
        let mut unmatched: Vec<_> = stateless.filter_map(of).collect();
        unmatched.sort_by(|a, b| (&a.events, &a.fields).cmp(&(&b.events, &b.fields)));
        unmatched
    }

    /// Iterates over the ids of the hooks that belong to no extension.
    pub(crate) fn stateless_ids(&self) -> impl Iterator<Item = HookId> {
        let all = self.subscriptions.iter();
        all.filter(|(_, registered)| !registered.keeps_state).map(|(id, _)| *id)
    }

    fn insert(
        &mut self,
        id: HookId,
        priority: Priority,
        targets: HookTargets<HookInfo>,
        hook: Box<EventHook<'h>>,
    ) {
        let added = self.hooks.add_as(id, priority, targets, hook);
        debug_assert!(added.is_ok(), "the hook is added with its first priority");
    }

    pub(crate) fn remove(&mut self, id: HookId) -> Removal<Registration<'h>> {
        let hook = match self.hooks.remove(id) {
            Removal::Absent => return Removal::Absent,
            Removal::Referenced => return Removal::Referenced,
            Removal::Removed(hook) => hook,
        };
        let Some(registered) = self.subscriptions.remove(&id) else { return Removal::Absent };
        Removal::Removed(Registration { id, subscription: registered.subscription, hook })
    }

    fn add_table(&mut self, tracefile: &TracefileContext) -> usize {
        let (trace, number) = (tracefile.trace_index(), tracefile.number());
        let (base, separate) = (self.keys, false);
        self.tables.push(Table { base, trace, tracefile: number, single: true, separate });
        self.keys += tracefile.trace().schema().event_types.len();
        self.tables.len() - 1
    }

    /// Moves a tracefile to keys of its own.
    fn separate(&mut self, contexts: &Contexts, TracefileNumber(number): TracefileNumber) {
        let Some(tracefile) = contexts.tracefiles().get(number) else { return };
        let at = self.tables_of[number];
        if self.tables[at].single {
            self.tables[at].separate = true;
            return;
        }
        let new = self.add_table(tracefile);
        self.tables[new].separate = true;
        self.tables_of[number] = new;
        self.bases[number] = self.tables[new].base;
        let mut others = (0..self.tables_of.len()).filter(|other| self.tables_of[*other] == at);
        if let Some(other) = others.next() {
            let single = others.next().is_none();
            self.tables[at] =
                Table { tracefile: TracefileNumber(other), single, ..self.tables[at] };
        }
        self.find_targets(contexts);
    }

    /// Computes the keys of all subscriptions again.
    fn find_targets(&mut self, contexts: &Contexts) {
        let ids: Vec<_> = self.subscriptions.keys().copied().collect();
        for id in ids {
            let Some(registered) = self.subscriptions.remove(&id) else { continue };
            let targets = self.hook_targets(contexts, &registered);
            self.hooks.set_targets(id, targets);
            self.subscriptions.insert(id, registered);
        }
    }

    /// Computes all keys that a subscription selects.
    fn hook_targets(&self, contexts: &Contexts, registered: &Registered) -> HookTargets<HookInfo> {
        let Registered { subscription, keeps_state } = registered;
        let info =
            |fields: Vec<Field>| HookInfo { fields: fields.into(), keeps_state: *keeps_state };
        if subscription.is_unconditional() && subscription.scope == Scope::Traceset {
            return HookTargets::All(info(Vec::new()));
        }
        let mut keys = Vec::new();
        for trace in contexts.traces() {
            let tables = self.tables.iter().filter(|table| {
                let tracefile = &contexts.tracefiles()[table.tracefile.0];
                table.trace == trace.index()
                    && subscription.wants_channel(tracefile.tracefile().channel())
                    && match subscription.scope {
                        Scope::Traceset => true,
                        Scope::Trace(index) => index == trace.index(),
                        Scope::Tracefile(number) => number == table.tracefile,
                    }
            });
            let bases: Vec<_> = tables.map(|table| table.base).collect();
            if bases.is_empty() {
                continue;
            }
            for (event_type, fields) in subscription.types(trace.index(), trace.trace()) {
                let info = info(fields);
                keys.extend(bases.iter().map(|base| (base + event_type.index(), info.clone())));
            }
        }
        match subscription.selector {
            EventSelector::Everything => HookTargets::Main(keys),
            EventSelector::Named(_) | EventSelector::Type { .. } => HookTargets::Ids(keys),
        }
    }
}

/// A prepared [`Dispatch`] that does not change for now.
#[derive(Debug)]
pub(crate) struct Ready<'a, 'h> {
    hooks: ReadyHooks<'a, EventHook<'h>, HookInfo>,
    bases: &'a [usize],
}

impl<'h> Ready<'_, 'h> {
    /// Returns the key of events of a type in a tracefile.
    #[inline(always)]
    pub(crate) fn key(&self, tracefile: TracefileNumber, event_type: EventTypeId) -> usize {
        self.bases.get(tracefile.0).copied().unwrap_or_default() + event_type.index()
    }

    /// Returns `true` if there may be hooks for a key, and `false` for most keys without hooks.
    #[inline(always)]
    pub(crate) fn may_have_hooks(&self, key: usize) -> bool {
        self.hooks.may_have_hooks(key)
    }

    /// Finds the hooks for a key.
    #[inline(always)]
    pub(crate) fn find(&self, key: usize) -> HooksFound {
        self.hooks.find(key)
    }

    /// Returns `true` if any hooks were found.
    #[inline(always)]
    pub(crate) fn has_hooks(&self, found: HooksFound) -> bool {
        self.hooks.has_hooks(found)
    }

    /// Returns the hooks that were found.
    #[inline(always)]
    pub(crate) fn at(&mut self, found: HooksFound) -> HooksAt<'_, EventHook<'h>, HookInfo> {
        self.hooks.at(found)
    }
}
