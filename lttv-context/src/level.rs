//! Before reading and after it.

use lttv_hooks::HookId;

use crate::call::LevelCall;
use crate::context::TracesetContext;
use crate::contexts::{Contexts, TraceContext, TracefileContext};
use crate::hook_set::{HookSet, Level, Moment};
use crate::subscription::Scope;

/// Hooks that have begun, until they end.
#[derive(Debug)]
pub(crate) struct Begun<'h> {
    /// Without those hooks that are installed.
    hooks: HookSet<'h>,
    /// The hooks that are installed, and the parts that they were for before it
    /// was cut down to the set's.
    installed: Vec<(HookId, Scope)>,
}

/// Stands for hooks between their begin and their end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "what has begun has to end"]
pub struct ReadId(HookId);

impl<'h> TracesetContext<'h> {
    /// Calls the hooks before reading (that of the traceset, then for each trace
    /// its own and that of each of its tracefiles), and installs those for events.
    ///
    /// Several sets may have begun at once. If a hook is in several under one
    /// identity, it is called once.
    pub fn begin(&mut self, mut hooks: HookSet<'h>) -> ReadId {
        let id = ReadId(HookId::fresh());
        self.call_levels(&mut hooks, Moment::Before);
        let mut installed = Vec::new();
        let scope = hooks.scope();
        for mut registration in std::mem::take(&mut hooks.events) {
            let own = registration.subscription.scope;
            let Some(common) = own.meet(scope, &self.contexts) else {
                hooks.events.push(registration);
                continue;
            };
            registration.subscription.scope = common;
            installed.push((registration.id, own));
            self.dispatch.add(&self.contexts, registration, false);
        }
        self.begun.insert(id, Begun { hooks, installed });
        id
    }

    /// Removes the hooks for events and calls those after reading (for each trace
    /// those of its tracefiles and then its own, at last that of the traceset).
    /// Gives the set back, to begin again; without those hooks that another set
    /// still has installed, or that were removed meanwhile. `None` if it has ended
    /// already.
    pub fn end(&mut self, id: ReadId) -> Option<HookSet<'h>> {
        let Begun { mut hooks, installed } = self.begun.remove(&id)?;
        for (id, scope) in installed {
            if let Some(mut registration) = self.dispatch.remove(id).hook() {
                registration.subscription.scope = scope;
                hooks.events.push(registration);
            }
        }
        self.call_levels(&mut hooks, Moment::After);
        Some(hooks)
    }

    fn call_levels(&mut self, hooks: &mut HookSet<'h>, moment: Moment) {
        let contexts = &self.contexts;
        for (trace, tracefile) in route(contexts, hooks.scope(), moment) {
            let level = match (trace, tracefile) {
                (_, Some(_)) => Level::Tracefile,
                (Some(_), None) => Level::Trace,
                (None, None) => Level::Traceset,
            };
            let (extensions, commands) = (&mut self.extensions, &mut self.commands);
            let call = &mut LevelCall { trace, tracefile, contexts, extensions, commands };
            _ = hooks.level(moment, level).call(call);
        }
    }
}

/// A place where hooks are called before or after reading: a trace, a tracefile of
/// it, or the traceset if it is none.
type Stop<'a> = (Option<&'a TraceContext>, Option<&'a TracefileContext>);

/// Where hooks are called, in order: the whole first, or after reading last.
fn route(contexts: &Contexts, scope: Scope, moment: Moment) -> Vec<Stop<'_>> {
    let mut route = Vec::new();
    for trace in contexts.traces() {
        let tracefiles = contexts.tracefiles_of(trace.index()).iter();
        let within = tracefiles.filter(|tracefile| scope.has_tracefile(tracefile));
        let parts = within.map(|tracefile| (Some(trace), Some(tracefile))).collect();
        let whole = scope.has_trace(trace).then_some((Some(trace), None));
        route.extend(around(whole, parts, moment));
    }
    around((scope == Scope::Traceset).then_some((None, None)), route, moment)
}

/// Parts, and the whole before or after them.
fn around<T>(whole: Option<T>, mut parts: Vec<T>, moment: Moment) -> Vec<T> {
    let at = if moment == Moment::Before { 0 } else { parts.len() };
    parts.splice(at..at, whole);
    parts
}
