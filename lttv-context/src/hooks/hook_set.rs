//! Sets of hooks for one read.

use lttv_hooks::{HookId, HookList, IntoFlow, Priority};

use super::call::{EventCall, ReadCall, ReadHook};
use super::commands::Registration;
use super::outcome::IntoOutcome;
use super::subscription::{Scope, Subscription};

/// The hooks of one read: for events, and for the start and end of the read.
///
/// [`begin_read`](crate::TracesetContext::begin_read) takes a set, and
/// [`end_read`](crate::TracesetContext::end_read) returns it.
///
/// ```
/// use lttv_context::{Bounds, HookSet, Level, TracesetContext, Traceset};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut lines = Vec::new();
/// let mut events = 0;
/// let mut hooks = HookSet::new();
/// hooks.before(Level::Trace, |call| {
///     lines.push(format!("trace {:?}", call.trace.map(|trace| trace.index())));
/// });
/// hooks.on_event("*", |_| events += 1);
///
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let id = context.begin_read(hooks);
/// let read = context.read(&Bounds::all().events(100))?;
/// context.end_read(id);
/// drop(context);
/// assert_eq!((events, read.events, lines.len()), (100, 100, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct HookSet<'h> {
    scope: Scope,
    before: [HookList<ReadHook<'h>>; 3],
    after: [HookList<ReadHook<'h>>; 3],
    pub(crate) events: Vec<Registration<'h>>,
}

/// The levels of a traceset at which hooks are called before and after reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// The whole traceset: hooks are called once.
    Traceset,
    /// The traces: hooks are called for each trace.
    Trace,
    /// The tracefiles: hooks are called for each tracefile.
    Tracefile,
}

/// The moment at which hooks are called: before or after reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Before,
    After,
}

impl<'h> HookSet<'h> {
    /// Creates an empty set for a whole traceset.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty set for a part of a traceset. Hooks for events are called only for events
    /// in this part, and hooks before and after reading for the part and for the traces and
    /// tracefiles in it.
    pub fn within(scope: Scope) -> Self {
        HookSet { scope, ..Self::default() }
    }

    /// Adds a hook for events, with the arguments of
    /// [`TracesetContext::on_event`](crate::TracesetContext::on_event).
    pub fn on_event<V: IntoOutcome>(
        &mut self,
        events: impl Into<Subscription>,
        hook: impl FnMut(&mut EventCall<'_, 'h>) -> V + 'h,
    ) -> HookId {
        let registration = Registration::new(events.into(), hook);
        let id = registration.id;
        self.events.push(registration);
        id
    }

    /// Adds a hook to be called before reading, with the default priority. Its return value is
    /// ignored.
    pub fn before<V: IntoFlow>(
        &mut self,
        level: Level,
        hook: impl FnMut(&mut ReadCall<'_, 'h>) -> V + 'h,
    ) -> HookId {
        self.before_with(level, Priority::DEFAULT, hook)
    }

    /// Adds a hook to be called before reading, with a priority. Its return value is ignored.
    pub fn before_with<V: IntoFlow>(
        &mut self,
        level: Level,
        priority: Priority,
        mut hook: impl FnMut(&mut ReadCall<'_, 'h>) -> V + 'h,
    ) -> HookId {
        let hook = Box::new(move |call: &mut ReadCall<'_, 'h>| hook(call).into_flow());
        self.level(Moment::Before, level).add_boxed(priority, hook)
    }

    /// Adds a hook to be called after reading, with the default priority. Its return value is
    /// ignored.
    pub fn after<V: IntoFlow>(
        &mut self,
        level: Level,
        hook: impl FnMut(&mut ReadCall<'_, 'h>) -> V + 'h,
    ) -> HookId {
        self.after_with(level, Priority::DEFAULT, hook)
    }

    /// Adds a hook to be called after reading, with a priority. Its return value is ignored.
    pub fn after_with<V: IntoFlow>(
        &mut self,
        level: Level,
        priority: Priority,
        mut hook: impl FnMut(&mut ReadCall<'_, 'h>) -> V + 'h,
    ) -> HookId {
        let hook = Box::new(move |call: &mut ReadCall<'_, 'h>| hook(call).into_flow());
        self.level(Moment::After, level).add_boxed(priority, hook)
    }

    /// Sets the part of the traceset that the set is for: see [`within`](Self::within).
    pub fn set_scope(&mut self, scope: Scope) {
        self.scope = scope;
    }

    /// Returns the part of the traceset that the set is for.
    pub(crate) fn scope(&self) -> Scope {
        self.scope
    }

    pub(crate) fn level(&mut self, moment: Moment, level: Level) -> &mut HookList<ReadHook<'h>> {
        let lists = match moment {
            Moment::Before => &mut self.before,
            Moment::After => &mut self.after,
        };
        match (lists, level) {
            ([list, _, _], Level::Traceset)
            | ([_, list, _], Level::Trace)
            | ([_, _, list], Level::Tracefile) => list,
        }
    }
}
