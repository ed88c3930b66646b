//! The start and end of a read, at which hooks are installed and removed.

use super::TracesetContext;
use super::installed::ReadId;
use crate::hooks::{HookSet, Level, Moment, ReadCall, Scope};
use crate::traceset::{Contexts, TraceContext, TracefileContext};

impl<'h> TracesetContext<'h> {
    /// Calls the hooks before reading and installs the hooks for events. Hooks before reading are
    /// called at the level of the traceset first, then for each trace followed by its tracefiles.
    ///
    /// Several sets may be active at once. A hook that is in several of them under one id is called
    /// once.
    pub fn begin_read(&mut self, mut hooks: HookSet<'h>) -> ReadId {
        self.call_levels(&mut hooks, Moment::Before);
        self.hooks.begin(&self.contexts, hooks)
    }

    /// Removes the hooks for events and calls the hooks after reading. These are called for the
    /// tracefiles of each trace followed by the trace, and at the level of the traceset last.
    ///
    /// Returns the set, which may be installed again, without the hooks that another set still has
    /// installed or that were removed meanwhile. Returns `None` if the set has already ended.
    pub fn end_read(&mut self, id: ReadId) -> Option<HookSet<'h>> {
        let mut hooks = self.hooks.end(id)?;
        self.call_levels(&mut hooks, Moment::After);
        Some(hooks)
    }

    fn call_levels(&mut self, hooks: &mut HookSet<'h>, moment: Moment) {
        let contexts = &self.contexts;
        for (trace, tracefile) in call_sites(contexts, hooks.scope(), moment) {
            let level = match (trace, tracefile) {
                (_, Some(_)) => Level::Tracefile,
                (Some(_), None) => Level::Trace,
                (None, None) => Level::Traceset,
            };
            let (extensions, commands) = (self.state.extensions_mut(), self.hooks.commands());
            let call = &mut ReadCall { trace, tracefile, contexts, extensions, commands };
            _ = hooks.level(moment, level).call(call);
        }
    }
}

/// A place at which hooks are called before or after reading: a tracefile, a trace if the
/// tracefile is `None`, or the traceset if both are `None`.
type CallSite<'a> = (Option<&'a TraceContext>, Option<&'a TracefileContext>);

/// Lists the places at which hooks are called, in order: each whole before its parts, or after
/// them for hooks after reading.
fn call_sites(contexts: &Contexts, scope: Scope, moment: Moment) -> Vec<CallSite<'_>> {
    let mut call_sites = Vec::new();
    for trace in contexts.traces() {
        let tracefiles = contexts.tracefiles_of(trace.index());
        let within = tracefiles.filter(|tracefile| scope.contains_tracefile(tracefile));
        let parts = within.map(|tracefile| (Some(trace), Some(tracefile))).collect();
        let whole = scope.contains_trace(trace).then_some((Some(trace), None));
        call_sites.extend(with_whole(whole, parts, moment));
    }
    with_whole((scope == Scope::Traceset).then_some((None, None)), call_sites, moment)
}

/// Inserts the whole before the parts, or after them for hooks after reading.
fn with_whole<T>(whole: Option<T>, mut parts: Vec<T>, moment: Moment) -> Vec<T> {
    let at = if moment == Moment::Before { 0 } else { parts.len() };
    parts.splice(at..at, whole);
    parts
}
