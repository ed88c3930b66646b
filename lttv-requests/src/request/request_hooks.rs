//! The hooks of a request, and the places at which they are called.

use std::fmt;
use std::mem::take;
use std::ops::Range;

use ltt_read::Timestamp;
use lttv_context::{HookSet, Level, ReadCall, ReadId, Scope, TracesetContext};
use lttv_hooks::Priority;

use crate::chunk::FinishReason;
use crate::request::control::Control;

/// A place at which a hook before or after a request or chunk is called: a level, and a
/// priority among the hooks at this level. A [`Level`] stands for itself with
/// [`Priority::DEFAULT`].
///
/// ```
/// use lttv_context::Level;
/// use lttv_hooks::Priority;
/// use lttv_requests::{EventsRequest, HookPlace, Owner};
///
/// let late = HookPlace::at(Level::Tracefile).priority(Priority::LAST);
/// let request = EventsRequest::new(Owner::unique())
///     .before_chunk(Level::Tracefile, |_, _| println!("first"))
///     .before_chunk(late, |_, _| println!("second"));
/// # _ = request;
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HookPlace {
    pub(crate) level: Level,
    pub(crate) priority: Priority,
}

impl HookPlace {
    /// Creates the place of a level, with [`Priority::DEFAULT`].
    pub const fn at(level: Level) -> Self {
        HookPlace { level, priority: Priority::DEFAULT }
    }

    /// Sets the priority. Hooks of lower priority are called first, before and after
    /// alike.
    #[must_use]
    pub const fn priority(self, priority: Priority) -> Self {
        HookPlace { priority, ..self }
    }
}

impl From<Level> for HookPlace {
    fn from(level: Level) -> Self {
        HookPlace::at(level)
    }
}

/// The hooks of a request, grouped by the phases that they enclose.
#[derive(Default)]
pub(crate) struct RequestHooks<'h> {
    /// The hooks before the request.
    pub(crate) request: LevelHooks<'h>,
    pub(crate) after_request: Vec<(HookPlace, Box<AfterRequest<'h>>)>,
    /// The hooks before and after chunks.
    pub(crate) chunk: LevelHooks<'h>,
    /// The event hooks.
    pub(crate) events: HookSet<'h>,
    pub(crate) event_hooks: usize,
    pub(crate) columns: Option<Columns<'h>>,
}

impl fmt::Debug for RequestHooks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestHooks").field("events", &self.event_hooks).finish_non_exhaustive()
    }
}

/// A counter of events in columns of equal width.
pub(crate) struct Columns<'h> {
    pub(crate) start: Timestamp,
    pub(crate) width: u64,
    pub(crate) add: Box<AddEvents<'h>>,
    pub(crate) complete: Box<dyn FnMut(Timestamp) + 'h>,
    /// The hook that counts each event by itself, where other requests are served as well.
    pub(crate) by_hook: HookSet<'h>,
}

/// A function that adds a number of events at a time.
pub(crate) type AddEvents<'h> = dyn FnMut(Timestamp, u64, &Control<'h>) + 'h;

impl Columns<'_> {
    /// Returns the start and end of the column of a time. `None` if it is before the
    /// first column, or if its end cannot be represented.
    pub(crate) fn column_of(&self, time: Timestamp) -> Option<Range<Timestamp>> {
        let offset = (time >= self.start).then(|| time.since(self.start))?;
        let begin = self.start.as_ns().checked_add_unsigned(offset - offset % self.width)?;
        let end = begin.checked_add_unsigned(self.width)?;
        Some(Timestamp::from_ns(begin)..Timestamp::from_ns(end))
    }
}

pub(crate) type AfterRequest<'h> =
    dyn FnMut(&mut ReadCall<'_, 'h>, &Control<'h>, FinishReason) + 'h;

/// Hooks before and after at all levels.
#[derive(Default)]
pub(crate) struct LevelHooks<'h> {
    /// The hooks at the level of the traceset.
    pub(crate) whole: Option<HookSet<'h>>,
    /// The hooks at the levels of traces and tracefiles, which may be restricted to a
    /// trace.
    pub(crate) parts: Option<HookSet<'h>>,
}

/// Hooks whose calls before have been made, and those after have not.
#[derive(Debug, Default)]
pub(crate) struct BegunHooks {
    whole: Option<ReadId>,
    parts: Option<ReadId>,
}

impl<'h> LevelHooks<'h> {
    /// Returns the set for a level.
    pub(crate) fn at(&mut self, level: Level) -> &mut HookSet<'h> {
        let set = match level {
            Level::Traceset => &mut self.whole,
            Level::Trace | Level::Tracefile => &mut self.parts,
        };
        set.get_or_insert_default()
    }

    /// Restricts hooks at lower levels to a part of the traceset.
    pub(crate) fn set_scope(&mut self, scope: Scope) {
        if let Some(parts) = &mut self.parts {
            parts.set_scope(scope);
        }
    }

    /// Calls the hooks before, those of lower levels only if `continues` returns `true`
    /// after the others.
    pub(crate) fn begin(
        &mut self,
        context: &mut TracesetContext<'h>,
        continues: impl Fn() -> bool,
    ) -> BegunHooks {
        let whole = take(&mut self.whole).map(|set| context.begin_read(set));
        let parts = take(&mut self.parts).filter(|_| continues());
        BegunHooks { whole, parts: parts.map(|set| context.begin_read(set)) }
    }

    /// Calls the hooks after.
    pub(crate) fn end(&mut self, begun: BegunHooks, context: &mut TracesetContext<'h>) {
        self.parts = begun.parts.and_then(|id| context.end_read(id));
        self.whole = begun.whole.and_then(|id| context.end_read(id));
    }
}
