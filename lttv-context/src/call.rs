//! What hooks get to see.

use ltt_read::{Event, Field, Merge, Timestamp, Value};
use lttv_hooks::Flow;

use crate::check::Check;
use crate::commands::Commands;
use crate::contexts::{Contexts, TraceContext, TracefileContext};
use crate::extension::Extensions;
use crate::position::{Latest, TracesetPosition};

/// A hook for events.
pub type EventHook<'h> = dyn FnMut(&mut EventCall<'_, 'h>) -> Flow + 'h;

/// A hook for the begin or end of reading.
pub type LevelHook<'h> = dyn FnMut(&mut LevelCall<'_, 'h>) -> Flow + 'h;

/// What a hook gets for an event: the event, where it is, and all that hooks
/// share. Its parts can be used side by side.
#[derive(Debug)]
#[non_exhaustive]
pub struct EventCall<'a, 'h> {
    /// The event.
    pub event: Event<'a>,
    /// The trace that it is in.
    pub trace: &'a TraceContext,
    /// The tracefile that it is in.
    pub tracefile: &'a TracefileContext,
    /// All traces and tracefiles.
    pub contexts: &'a Contexts,
    /// The fields that the hook's [`Subscription`](crate::Subscription) asked
    /// for, in that order.
    pub fields: &'a [Field],
    /// What has been attached to the context.
    pub extensions: &'a mut Extensions,
    /// Hooks to add or remove before the next event.
    pub commands: &'a mut Commands<'h>,
    pub(crate) merge: &'a Merge,
    /// That of its delivery.
    pub(crate) time: i64,
    pub(crate) latest: Latest,
    /// Whether events have been left out.
    pub(crate) is_partial: bool,
    /// Whether hooks hear of it that keep no state; `None` while that is open.
    pub(crate) is_heard: Option<bool>,
    /// Tells that.
    pub(crate) check: Option<&'a mut Check<'h>>,
}

impl EventCall<'_, '_> {
    /// The position before the event: who goes there gets it again.
    pub fn position(&self) -> TracesetPosition {
        let generation = self.contexts.traceset().generation();
        let number = self.tracefile.number();
        let positions = match self.is_partial {
            true => {
                let mut merge = Merge::new(self.contexts.traceset().traces());
                merge.seek_cut(self.time(), number, self.event.position());
                merge.positions()
            }
            false => self.merge.positions(),
        };
        TracesetPosition::new(generation, Some((self.time, number as u32)), self.latest, positions)
    }

    /// The time of its delivery: its own, or that of an event before it if its
    /// clock went back. [`Timestamp::MIN`] if there was no time yet.
    pub fn time(&self) -> Timestamp {
        Timestamp::from_ns(self.time)
    }

    /// Whether all hooks get the event, as far as that is known: false if it is
    /// [replayed](crate::TracesetContext::replay), for those of extensions only;
    /// `None` if there is a [check](crate::TracesetContext::choose) that has not been
    /// asked yet.
    #[inline(always)]
    pub fn heard_in_advance(&self) -> Option<bool> {
        self.is_heard
    }

    /// Whether all hooks get the event. A check that has not been asked yet is asked
    /// now, with the state that it finds.
    #[inline]
    pub fn is_heard(&mut self) -> bool {
        if let Some(heard) = self.is_heard {
            return heard;
        }
        let passes = |check: &mut &mut Check<'_>| check.passes(&self.event, self.extensions);
        let heard = self.check.as_mut().is_none_or(passes);
        self.is_heard = Some(heard);
        heard
    }

    /// The integer in the subscription's field of a number, counted from 0: see
    /// [`Event::integer`]. `None` if there is no such field, or no integer.
    #[inline(always)]
    pub fn integer(&self, field: usize) -> Option<u64> {
        self.event.integer(self.fields.get(field)?)
    }

    /// The value of the subscription's field of a number, counted from 0: see
    /// [`Event::get`].
    #[inline]
    pub fn value(&self, field: usize) -> Option<Value<'_>> {
        self.event.get(self.fields.get(field)?)
    }
}

/// What a hook gets for the begin or end of reading.
#[derive(Debug)]
#[non_exhaustive]
pub struct LevelCall<'a, 'h> {
    /// The trace; `None` at the traceset's level.
    pub trace: Option<&'a TraceContext>,
    /// The tracefile; `None` at the levels above.
    pub tracefile: Option<&'a TracefileContext>,
    /// All traces and tracefiles.
    pub contexts: &'a Contexts,
    /// What has been attached to the context.
    pub extensions: &'a mut Extensions,
    /// Hooks to add or remove before the next event.
    pub commands: &'a mut Commands<'h>,
}
