//! The context of a traceset: reads it, and calls hooks.

use std::collections::HashMap;

use ltt_read::{Error, Merge, Notice};
use lttv_hooks::{HookId, Removal, Verdict};

use crate::bounds::{Bounds, ReadEnd};
use crate::call::EventCall;
use crate::check::Check;
use crate::checkpoint::Checkpoints;
use crate::commands::{Command, Commands, Registration};
use crate::contexts::Contexts;
use crate::dispatch::Dispatch;
use crate::extension::{Extension, Extensions, Handle, Setup};
use crate::hook_set::HookSet;
use crate::late::{Ahead, Floor};
use crate::level::{Begun, ReadId};
use crate::partial::Stand;
use crate::position::{Latest, StalePosition, TracesetPosition, time_of};
use crate::saving::Saving;
use crate::subscription::Subscription;
use crate::traceset::{Generation, Traceset};

/// Reads a traceset: knows where it is in it, and delivers events to hooks.
///
/// Hooks may borrow what lives longer than the context (that is `'h`). A context
/// stays in its thread, so that hooks need not be `Send`: another thread has a
/// context of its own for the same traces, which is cheap.
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
/// let read = context.middle(&Bounds::all())?;
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
    pub(crate) begun: HashMap<ReadId, Begun<'h>>,
    /// Time of delivery of the last event, or the time sought; no event is delivered
    /// before it any more.
    pub(crate) now: i64,
    /// What is known of the events before the current position.
    pub(crate) latest: Latest,
    pub(crate) checkpoints: Checkpoints,
    pub(crate) state: State,
    pub(crate) check: Option<Check<'h>>,
    /// Where reading stands if the merge leaves out what does not pass the check: then
    /// the tracefiles do not stand where they would otherwise.
    pub(crate) stand: Option<Stand>,
    /// Which events are left out, as they were delivered before their turn.
    pub(crate) floor: Option<Floor>,
    /// Where to go back to, if events have been left out on the way here.
    pub(crate) ahead: Option<Ahead>,
}

/// What is known of the state of extensions.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    /// Whether it is that of the current position.
    pub(crate) is_current: bool,
    /// Whether nothing has been read since the first event was sought.
    pub(crate) at_begin: bool,
    /// Events since a checkpoint could be saved last.
    pub(crate) events: u64,
    pub(crate) saving: Saving,
}

impl<'h> TracesetContext<'h> {
    /// A context before the first event, without hooks.
    pub fn new(traceset: impl Into<Traceset>) -> Self {
        let contexts = Contexts::new(traceset.into());
        TracesetContext {
            merge: Merge::new(contexts.traceset().traces()),
            dispatch: Dispatch::new(&contexts),
            contexts,
            extensions: Extensions::default(),
            commands: Commands::default(),
            begun: HashMap::new(),
            now: i64::MIN,
            latest: None,
            checkpoints: Checkpoints::default(),
            state: State { is_current: true, at_begin: true, events: 0, saving: Saving::never() },
            check: None,
            stand: None,
            floor: None,
            ahead: None,
        }
    }

    /// The traceset.
    pub fn traceset(&self) -> &Traceset {
        self.contexts.traceset()
    }

    /// Its traces and tracefiles.
    pub fn contexts(&self) -> &Contexts {
        &self.contexts
    }

    /// What is attached.
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    /// What is attached, to be changed.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.extensions
    }

    /// Adds a hook for events: a name (maybe with `*` or `?`) or a
    /// [`Subscription`] says which. It stays until it is removed.
    ///
    /// It is called with an [`EventCall`], and may return a
    /// [`Flow`](lttv_hooks::Flow): to stop means to end reading after this event.
    pub fn on_event<V: Verdict>(
        &mut self,
        events: impl Into<Subscription>,
        hook: impl FnMut(&mut EventCall<'_, 'h>) -> V + 'h,
    ) -> HookId {
        let registration = Registration::new(events.into(), hook);
        let id = registration.id;
        self.dispatch.add(&self.contexts, registration, false);
        id
    }

    /// Removes a hook, or drops a reference to it. False if there is none.
    pub fn remove(&mut self, id: HookId) -> bool {
        !matches!(self.dispatch.remove(id), Removal::Absent)
    }

    /// Attaches an extension, which installs its hooks. There may be several of a
    /// type. Checkpoints saved without it are dropped. Anywhere but before the
    /// first event its state is not current: see
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

    /// Attaches plain data, for hooks to share. It is not part of the state that
    /// checkpoints save.
    pub fn attach_data<T: 'static>(&mut self, data: T) -> Handle<T> {
        self.extensions.add_plain(data)
    }

    /// Calls the hooks before reading, reads, and calls those after it, whatever
    /// ended it: [`begin`](Self::begin), [`middle`](Self::middle) and
    /// [`end`](Self::end).
    ///
    /// # Errors
    ///
    /// If the end position is of another traceset; then no hook is called.
    pub fn process(
        &mut self,
        hooks: HookSet<'h>,
        bounds: &Bounds,
    ) -> Result<ReadEnd, StalePosition> {
        if let Some(position) = bounds.end_position() {
            self.check_position(position)?;
        }
        let id = self.begin(hooks);
        let read = self.middle(bounds);
        self.end(id);
        read
    }

    /// The position before the next event, whether or not that passes a
    /// [check](Self::choose).
    pub fn position(&mut self) -> TracesetPosition {
        if let Some(position) = self.whole_position() {
            return position;
        }
        let time = self.merge.next().map(|event| self.now.max(time_of(&event)));
        let key = time.map(|time| (time, self.merge.current_tracefile() as u32));
        let positions = self.merge.positions();
        self.merge.put_back();
        TracesetPosition::new(self.traceset().generation(), key, self.latest, positions)
    }

    /// What could not be read so far: see [`Merge::errors`]. It does not keep
    /// other events from being delivered.
    pub fn errors(&self) -> &[Error] {
        self.merge.errors()
    }

    /// Takes the errors met since the last call.
    pub fn drain_errors(&mut self) -> Vec<Error> {
        self.merge.drain_errors()
    }

    /// Returns how many errors were met but not kept: see [`Merge::errors_omitted`].
    pub fn errors_omitted(&self) -> u64 {
        self.merge.errors_omitted()
    }

    /// Takes what was noticed since the last call: see [`Merge::drain_notices`].
    pub fn drain_notices(&mut self) -> Vec<Notice> {
        self.merge.drain_notices()
    }

    /// Returns how many notices came up but were not kept: see
    /// [`Merge::notices_omitted`].
    pub fn notices_omitted(&self) -> u64 {
        self.merge.notices_omitted()
    }

    /// Bytes of all tracefiles behind the current position, and in total.
    pub fn progress(&self) -> (u64, u64) {
        self.merge.progress()
    }

    /// How many packets have been entered: see [`Merge::packets_entered`].
    pub fn packets_entered(&self) -> u64 {
        self.merge.packets_entered()
    }

    /// Refuses positions of other tracesets.
    pub(crate) fn check_position(&self, position: &TracesetPosition) -> Result<(), StalePosition> {
        self.check_generation(position.generation())
    }

    pub(crate) fn check_generation(&self, position: Generation) -> Result<(), StalePosition> {
        let traceset = self.traceset().generation();
        if position == traceset { Ok(()) } else { Err(StalePosition { position, traceset }) }
    }

    /// Does what hooks asked for.
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
