//! The context that reads a traceset and calls hooks.

mod begin_end;
mod delivery;
mod filter;
mod filtered_read;
mod read;
mod read_ahead;
mod seek;
mod seek_events;
mod with_state;

use std::collections::HashMap;

use ltt_read::{Error, Merge, Notice};
use lttv_hooks::{HookId, IntoFlow, Removal};

use crate::bounds::{Bounds, ReadEnd};
use crate::extension::{Extension, Setup};
use crate::hooks::{
    Check, Command, Commands, Dispatch, EventCall, HookSet, Registration, Subscription,
};
use crate::state::{CheckpointPolicy, Checkpoints, Extensions, Handle};
use crate::traceset::{
    Contexts, Latest, Revision, StalePosition, Traceset, TracesetPosition, time_of,
};

use begin_end::ActiveHooks;
pub use begin_end::ReadId;
use filtered_read::ReadPoint;
use read_ahead::{ReadAhead, SkipBefore};
pub use seek::IncrementalSeek;

/// A reader of a traceset that keeps a current position and delivers events to hooks.
///
/// Hooks may borrow anything that outlives the context (lifetime `'h`). A context stays in its
/// thread, so hooks need not be `Send`. Another thread creates a context of its own for the
/// same traces, which is cheap.
///
/// ```
/// use lttv_context::{Bounds, TracesetContext, Traceset};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut switches = 0;
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// context.on_event("sched_switch", |call| {
///     println!("{} on CPU {:?}", call.time(), call.tracefile.tracefile().cpu());
///     switches += 1;
/// });
/// let read = context.read(&Bounds::all())?;
/// drop(context);
/// assert_eq!((switches, read.events), (497, 6087));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TracesetContext<'h> {
    pub(crate) contexts: Contexts,
    pub(crate) merge: Merge,
    pub(crate) dispatch: Dispatch<'h>,
    pub(crate) extensions: Extensions,
    pub(crate) commands: Commands<'h>,
    pub(crate) active_hooks: HashMap<ReadId, ActiveHooks<'h>>,
    /// The time of delivery of the last event, or the time sought, in ns. No later event is
    /// delivered at a time before it.
    pub(crate) now: i64,
    /// A bound on the times of the events before the current position.
    pub(crate) latest: Latest,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) state: State,
    pub(crate) check: Option<Check<'h>>,
    /// The current position among all events while the merge skips events that do not pass the
    /// check: the tracefiles are then at other places than in a read of all events.
    pub(crate) read_point: Option<ReadPoint>,
    /// The events to skip since they were delivered ahead of their turn.
    pub(crate) skip_before: Option<SkipBefore>,
    /// The place to return to, while events after the end time are skipped.
    pub(crate) read_ahead: Option<ReadAhead>,
}

/// The status of the state of extensions, and the policy for checkpoints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    /// `true` if the state is that of the current position.
    pub(crate) is_current: bool,
    /// `true` if nothing has been read since the first event was sought.
    pub(crate) at_begin: bool,
    /// The number of events read since the last checkpoint that was kept.
    pub(crate) events: u64,
    pub(crate) policy: CheckpointPolicy,
}

impl<'h> TracesetContext<'h> {
    /// Creates a context that is before the first event and has no hooks.
    pub fn new(traceset: impl Into<Traceset>) -> Self {
        let contexts = Contexts::new(traceset.into());
        TracesetContext {
            merge: Merge::new(contexts.traceset().traces()),
            dispatch: Dispatch::new(&contexts),
            contexts,
            extensions: Extensions::default(),
            commands: Commands::default(),
            active_hooks: HashMap::new(),
            now: i64::MIN,
            latest: None,
            checkpoints: Checkpoints::default(),
            state: State {
                is_current: true,
                at_begin: true,
                events: 0,
                policy: CheckpointPolicy::never(),
            },
            check: None,
            read_point: None,
            skip_before: None,
            read_ahead: None,
        }
    }

    /// Returns the traceset that the context reads.
    pub fn traceset(&self) -> &Traceset {
        self.contexts.traceset()
    }

    /// Returns the contexts of the traces and tracefiles of the traceset.
    pub fn contexts(&self) -> &Contexts {
        &self.contexts
    }

    /// Returns the attached extensions and data.
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    /// Returns the attached extensions and data, mutably.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.extensions
    }

    /// Adds a hook for the events that a name (with optional wildcards `*` and `?`) or a
    /// [`Subscription`] selects. The hook stays until it is removed.
    ///
    /// The hook is called with an [`EventCall`] and may return a [`Flow`](lttv_hooks::Flow).
    /// `Break` ends reading after this event.
    pub fn on_event<V: IntoFlow>(
        &mut self,
        events: impl Into<Subscription>,
        hook: impl FnMut(&mut EventCall<'_, 'h>) -> V + 'h,
    ) -> HookId {
        let registration = Registration::new(events.into(), hook);
        let id = registration.id;
        self.dispatch.add(&self.contexts, registration, false);
        id
    }

    /// Removes a hook, or one reference to it if it was added several times. Returns `false` if
    /// there is no such hook.
    pub fn remove(&mut self, id: HookId) -> bool {
        !matches!(self.dispatch.remove(id), Removal::Absent)
    }

    /// Adds an extension and calls its [`install`](Extension::install). Several extensions of one
    /// type may be attached.
    ///
    /// Checkpoints saved without the extension are dropped. Unless the context is before the first
    /// event, the state of extensions is then not current: see
    /// [`update_state`](Self::update_state).
    pub fn attach<E: Extension>(&mut self, extension: E) -> Handle<E> {
        let handle = self.extensions.add(extension);
        let mut hooks = Commands::default();
        E::install(
            handle,
            &mut Setup {
                contexts: &self.contexts,
                extensions: &mut self.extensions,
                hooks: &mut hooks,
            },
        );
        self.execute(hooks, true);
        self.checkpoints = Checkpoints::default();
        self.state.is_current &= self.state.at_begin;
        handle
    }

    /// Adds plain data for hooks to share. It is not part of the state that checkpoints save.
    pub fn attach_data<T: 'static>(&mut self, data: T) -> Handle<T> {
        self.extensions.add_data(data)
    }

    /// Calls the hooks before reading, reads, and calls the hooks after reading whatever ended the
    /// read: [`begin_read`](Self::begin_read), [`read`](Self::read) and [`end_read`](Self::end_read).
    ///
    /// # Errors
    ///
    /// Returns [`StalePosition`] if the end position belongs to another traceset. No hook is called
    /// then.
    pub fn process(
        &mut self,
        hooks: HookSet<'h>,
        bounds: &Bounds,
    ) -> Result<ReadEnd, StalePosition> {
        if let Some(position) = bounds.end_position() {
            self.check_position(position)?;
        }
        let id = self.begin_read(hooks);
        let read = self.read(bounds);
        self.end_read(id);
        read
    }

    /// Returns the position before the next event, whether or not that event passes a
    /// [check](Self::set_filter).
    pub fn position(&mut self) -> TracesetPosition {
        if let Some(position) = self.filtered_position() {
            return position;
        }
        let time = self.merge.next().map(|event| self.now.max(time_of(&event)));
        let key = time.map(|time| (time, self.merge.current_tracefile() as u32));
        let positions = self.merge.positions();
        self.merge.unread();
        TracesetPosition::new(self.traceset().revision(), key, self.latest, positions)
    }

    /// Returns the errors met while reading: see [`Merge::errors`]. They do not keep other events
    /// from being delivered.
    pub fn errors(&self) -> &[Error] {
        self.merge.errors()
    }

    /// Removes and returns the errors met since the last call.
    pub fn drain_errors(&mut self) -> Vec<Error> {
        self.merge.take_errors()
    }

    /// Returns the number of errors that were met but not kept: see [`Merge::errors_omitted`].
    pub fn errors_omitted(&self) -> u64 {
        self.merge.errors_omitted()
    }

    /// Removes and returns the notices since the last call: see [`Merge::take_notices`].
    pub fn drain_notices(&mut self) -> Vec<Notice> {
        self.merge.take_notices()
    }

    /// Returns the number of notices that were not kept: see [`Merge::notices_omitted`].
    pub fn notices_omitted(&self) -> u64 {
        self.merge.notices_omitted()
    }

    /// Returns how much of all tracefiles is before the current position.
    pub fn progress(&self) -> ltt_read::Progress {
        self.merge.progress()
    }

    /// Returns the number of packets entered so far: see [`Merge::packets_entered`].
    pub fn packets_entered(&self) -> u64 {
        self.merge.packets_entered()
    }

    /// Checks that a position belongs to this traceset.
    pub(crate) fn check_position(&self, position: &TracesetPosition) -> Result<(), StalePosition> {
        self.check_generation(position.revision())
    }

    pub(crate) fn check_generation(&self, position: Revision) -> Result<(), StalePosition> {
        let traceset = self.traceset().revision();
        if position == traceset { Ok(()) } else { Err(StalePosition { position, traceset }) }
    }

    /// Adds and removes the hooks that hooks have requested.
    pub(crate) fn execute(&mut self, commands: Commands<'h>, keeps_state: bool) {
        for command in commands.pending {
            match command {
                Command::Add(registration) => {
                    self.dispatch.add(&self.contexts, registration, keeps_state);
                }
                Command::Remove(id) => drop(self.dispatch.remove(id)),
            }
        }
    }
}
