//! The arguments of hooks.

use ltt_read::order::{DeliveryKey, OrderPosition};
use ltt_read::{Event, Field, Merge, Timestamp, Value};
use lttv_hooks::Flow;

use super::check::Check;
use super::commands::Commands;
use crate::state::Extensions;
use crate::traceset::{Contexts, TraceContext, TracefileContext, TracesetPosition};

/// A hook for events. `Break` ends reading after the event.
pub(super) type EventHook<'h> = dyn FnMut(&mut EventCall<'_, 'h>) -> Flow + 'h;

/// A hook for the start or end of a read, at one [`Level`](crate::Level).
pub(super) type ReadHook<'h> = dyn FnMut(&mut ReadCall<'_, 'h>) -> Flow + 'h;

/// The argument of a hook for events: the event, its place, and the data that hooks share. Its
/// fields can be borrowed independently.
#[derive(Debug)]
#[non_exhaustive]
pub struct EventCall<'a, 'h> {
    /// The event that the hook is called for.
    pub event: Event<'a>,
    /// The trace that contains the event.
    pub trace: &'a TraceContext,
    /// The tracefile that contains the event.
    pub tracefile: &'a TracefileContext,
    /// All traces and tracefiles of the traceset.
    pub contexts: &'a Contexts,
    /// The fields named by the hook's [`Subscription`](crate::Subscription), in its order.
    pub fields: &'a [Field],
    /// The extensions and data attached to the context.
    pub extensions: &'a mut Extensions,
    /// The queue of hooks to add or remove before the next event.
    pub commands: &'a mut Commands<'h>,
    pub(crate) merge: &'a Merge,
    /// The time of delivery.
    pub(crate) delivery_time: Timestamp,
    /// A bound on the times of the events before.
    pub(crate) latest: Option<Timestamp>,
    /// `true` if the merge skips events.
    pub(crate) is_filtered: bool,
    /// `true` if hooks that keep no state are called for the event, `None` if that is undecided.
    pub(crate) is_heard: Option<bool>,
    /// The check that decides `is_heard`.
    pub(crate) check: Option<&'a mut Check<'h>>,
}

impl EventCall<'_, '_> {
    /// Returns the position before the event. After seeking it, the event is the next one.
    pub fn position(&self) -> TracesetPosition {
        let revision = self.contexts.traceset().revision();
        let key = DeliveryKey::new(self.delivery_time, self.tracefile.number());
        let order = match self.is_filtered {
            // The merge is not at the same place in all tracefiles.
            true => OrderPosition::before_event(key, self.latest, self.event.position()),
            false => OrderPosition::new(Some(key), self.latest, self.merge.positions()),
        };
        TracesetPosition::new(revision, order)
    }

    /// Returns the time of the event: [`Event::timestamp`], or the [time of
    /// delivery](Self::delivery_time) if the event has none. Where a clock goes back, later calls
    /// have earlier times.
    #[inline]
    pub fn event_time(&self) -> Timestamp {
        self.event.timestamp().unwrap_or(self.delivery_time)
    }

    /// Returns the time of delivery, which never decreases: the event's own time, or that of an earlier
    /// event if the clock went back since then. Returns [`Timestamp::MIN`] if no event has had a
    /// time so far.
    ///
    /// It is for what needs the order of calls, such as positions and the state of a machine. What is
    /// shown to users, counted or compared with windows is the [time of the event](Self::event_time).
    pub fn delivery_time(&self) -> Timestamp {
        self.delivery_time
    }

    /// Returns whether all hooks are called for the event, if that is already known. Returns
    /// `Some(false)` if the event is [replayed](crate::ContextState::replay) and reaches only
    /// the hooks of extensions. Returns `None` if there is a
    /// [check](crate::TracesetContext::set_filter) that has not been evaluated for the event yet.
    #[inline(always)]
    pub fn known_to_reach_all_hooks(&self) -> Option<bool> {
        self.is_heard
    }

    /// Returns `true` if all hooks are called for the event. A check that has not been evaluated
    /// yet is evaluated now, with the current state of extensions.
    #[inline]
    pub fn reaches_all_hooks(&mut self) -> bool {
        if let Some(heard) = self.is_heard {
            return heard;
        }
        let passes = |check: &mut &mut Check<'_>| check.passes(&self.event, self.extensions);
        let heard = self.check.as_mut().is_none_or(passes);
        self.is_heard = Some(heard);
        heard
    }

    /// Returns the integer in a field of the subscription, counted from 0. Returns `None` if there is no
    /// such field, if it is not an integer, or if its value is negative.
    #[inline(always)]
    pub fn unsigned(&self, field: usize) -> Option<u64> {
        self.event.unsigned(self.fields.get(field)?)
    }

    /// Returns the integer in a field of the subscription, counted from 0. Returns `None` if there is no
    /// such field, if it is not an integer, or if its value is beyond [`i64::MAX`].
    ///
    /// ```
    /// use lttv_context::{Bounds, Subscription, TracesetContext, Traceset};
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let mut failed = 0;
    /// let mut context = TracesetContext::new(Traceset::open(path)?);
    /// context.on_event(Subscription::to("syscall_exit_*").fields(["ret"]), |call| {
    ///     failed += u32::from(call.signed(0).is_some_and(|ret| ret < 0));
    /// });
    /// assert_eq!(context.read(&Bounds::all())?.errors, 0);
    /// drop(context);
    /// assert_eq!(failed, 67);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline(always)]
    pub fn signed(&self, field: usize) -> Option<i64> {
        self.event.signed(self.fields.get(field)?)
    }

    /// Returns the value of a field of the subscription, counted from 0: see [`Event::get`].
    /// Returns `None` if there is no such field, or if the event has no value for it.
    #[inline]
    pub fn value(&self, field: usize) -> Option<Value<'_>> {
        self.event.get(self.fields.get(field)?)
    }
}

/// The argument of a hook for the start or end of a read.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReadCall<'a, 'h> {
    /// The trace, or `None` at the level of the traceset.
    pub trace: Option<&'a TraceContext>,
    /// The tracefile, or `None` at the levels of trace and traceset.
    pub tracefile: Option<&'a TracefileContext>,
    /// All traces and tracefiles of the traceset.
    pub contexts: &'a Contexts,
    /// The extensions and data attached to the context.
    pub extensions: &'a mut Extensions,
    /// The queue of hooks to add or remove before the next event.
    pub commands: &'a mut Commands<'h>,
}
