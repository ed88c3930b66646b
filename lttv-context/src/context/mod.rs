//! The context that reads a traceset and calls hooks.

mod begin_end;
mod context_state;
mod delivery;
mod filter;
mod growth;
mod installed;
mod read;
mod read_ahead;
mod scheduling;
mod seek;
mod states;
mod steps;
mod time_filter;

use ltt_read::order::OrderedReader;
use ltt_read::{Error, Notice};
use lttv_hooks::HookId;

use crate::bounds::Bounds;
use crate::extension::{AnyGrowth, Extension, Setup};
use crate::hooks::{
    Check, Commands, EventCall, IntoOutcome, Registration, Subscription, Unmatched,
};
use crate::state::{Extensions, Handle};
use crate::traceset::{Contexts, Revision, StalePosition, Traceset, TracesetPosition};

pub use context_state::ContextState;
pub(crate) use delivery::EventRecorder;
use growth::Followers;
pub use growth::GrowthError;
use installed::InstalledHooks;
pub use installed::ReadId;
pub use read::ReadError;
use read_ahead::ReadAhead;
pub use scheduling::{IncrementalSeek, Scheduling};
use states::States;

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
///     println!("{} on CPU {:?}", call.event_time(), call.tracefile.tracefile().cpu());
///     switches += 1;
/// });
/// let read = context.read(&Bounds::all())?;
/// drop(context);
/// assert_eq!((switches, read.events), (497, 6087));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TracesetContext<'h> {
    contexts: Contexts,
    reader: OrderedReader,
    hooks: InstalledHooks<'h>,
    state: States,
    /// The check that decides which events hooks are called for, if there is one.
    check: Option<Check<'h>>,
    ahead: ReadAhead,
    /// The bounds within which all reads stay, if it is the context of a slice.
    slice: Option<Bounds>,
    /// The extensions in the order in which they were attached.
    attached: Vec<Box<dyn AnyGrowth>>,
    /// The functions that follow growing traces.
    followers: Followers,
}

impl<'h> TracesetContext<'h> {
    /// Creates a context that is before the first event and has no hooks.
    pub fn new(traceset: impl Into<Traceset>) -> Self {
        let contexts = Contexts::new(traceset.into());
        TracesetContext {
            reader: contexts.traceset().reader(),
            hooks: InstalledHooks::new(&contexts),
            contexts,
            state: States::new(),
            check: None,
            ahead: ReadAhead::default(),
            slice: None,
            attached: Vec::new(),
            followers: Followers::default(),
        }
    }

    /// Sets the times within which all reads stay.
    pub(crate) fn confine(&mut self, bounds: Bounds) {
        self.slice = Some(bounds);
    }

    /// Returns the subscriptions that no event type of the traceset matches, in the order of their
    /// names: names of events or fields that may be misspelt, or that this tracer does not record. Hooks of
    /// extensions are left out, since they ask for what any tracer may record.
    ///
    /// In a [growing](Traceset::growing) traceset, event types may still be declared:
    /// [`Unmatched::may_come`] tells this.
    ///
    /// ```
    /// use lttv_context::{Subscription, TracesetContext, Traceset};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// context.on_event("sched_swich", |_| ());
    /// context.on_event(Subscription::to("sched_switch").fields(["prev_stat"]), |_| ());
    /// let unmatched: Vec<String> = context.unmatched().iter().map(|it| it.to_string()).collect();
    /// assert_eq!(unmatched, [
    ///     "no event `sched_swich` (perhaps `sched_switch`)",
    ///     "no event `sched_switch` has a field `prev_stat` (perhaps `prev_state`)",
    /// ]);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn unmatched(&self) -> Vec<Unmatched> {
        self.hooks.unmatched(&self.contexts)
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
        self.state.extensions()
    }

    /// Returns the attached extensions and data, mutably.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        self.state.extensions_mut()
    }

    /// Adds a hook for the events that a name (with optional wildcards `*` and `?`) or a
    /// [`Subscription`] selects. The hook stays until it is removed.
    ///
    /// The hook is called with an [`EventCall`] and may return a [`Flow`](lttv_hooks::Flow), or a `Result`.
    /// `Break` ends reading after this event, and so does an error, which [`read`](Self::read) returns.
    pub fn on_event<V: IntoOutcome>(
        &mut self,
        events: impl Into<Subscription>,
        hook: impl FnMut(&mut EventCall<'_, 'h>) -> V + 'h,
    ) -> HookId {
        let registration = Registration::new(events.into(), hook);
        let id = registration.id;
        self.hooks.add(&self.contexts, registration);
        id
    }

    /// Removes a hook, or one reference to it if it was added several times. Returns `false` if
    /// there is no such hook.
    pub fn remove(&mut self, id: HookId) -> bool {
        self.hooks.remove(id)
    }

    /// Adds an extension and calls its [`install`](Extension::install). Several extensions of one
    /// type may be attached.
    ///
    /// Checkpoints saved without the extension are dropped. Unless the context is before the first
    /// event, the state of extensions is then not current: see
    /// [`ContextState::update`].
    pub fn attach<E: Extension>(&mut self, extension: E) -> Handle<E> {
        let handle = self.extensions_mut().add(extension);
        let mut hooks = Commands::default();
        E::install(
            handle,
            &mut Setup {
                contexts: &self.contexts,
                extensions: self.state.extensions_mut(),
                hooks: &mut hooks,
            },
        );
        self.hooks.add_extension(&self.contexts, hooks);
        self.state.note_added();
        self.attached.push(Box::new(handle));
        handle
    }

    /// Adds plain data for hooks to share. It is not part of the state that checkpoints save.
    pub fn attach_data<T: 'static>(&mut self, data: T) -> Handle<T> {
        self.extensions_mut().add_data(data)
    }

    /// Returns the position before the next event, whether or not that event passes a
    /// [check](Self::set_filter).
    pub fn position(&mut self) -> TracesetPosition {
        let revision = self.traceset().revision();
        TracesetPosition::new(revision, self.reader.position())
    }

    /// Ends the use of the context: drops the hooks, and returns the first of the
    /// errors, so that damage is not taken for the end of the traceset. A program that accepts damage
    /// prints [`Merge::errors`](ltt_read::Merge::errors) instead.
    ///
    /// # Errors
    ///
    /// Returns an error if a read met damage since the last call of
    /// [`take_errors`](Self::take_errors).
    pub fn finish(self) -> Result<(), Error> {
        self.reader.finish()
    }

    /// Removes and returns the errors met since the last call: see
    /// [`Merge::errors`](ltt_read::Merge::errors). They do not keep other events from being delivered.
    pub fn take_errors(&mut self) -> Vec<Error> {
        self.reader.take_errors()
    }

    /// Removes and returns the notices since the last call: see [`Merge::take_notices`](ltt_read::Merge::take_notices).
    pub fn take_notices(&mut self) -> Vec<Notice> {
        self.reader.take_notices()
    }

    /// Checks that a position belongs to this traceset.
    fn check_position(&self, position: &TracesetPosition) -> Result<(), StalePosition> {
        self.check_generation(position.revision())
    }

    fn check_generation(&self, position: Revision) -> Result<(), StalePosition> {
        let traceset = self.traceset().revision();
        if position == traceset { Ok(()) } else { Err(StalePosition { position, traceset }) }
    }
}
