//! The loop that delivers events to hooks.

use std::marker::PhantomData;

use ltt_read::Timestamp;
use ltt_read::order::SkippedTo;

use super::TracesetContext;
use super::delivery::{
    AllHooks, ByTime, Checked, Delivery, EventRecorder, Mode, PassingOnly, Pause, PlainHooks,
    StateHooks,
};
use super::time_filter::{FilterStop, TimeFilter};
use crate::bounds::{Bounds, EndReason, Limit, ReadEnd};
use crate::hooks::{HookError, Looks};
use crate::traceset::{StalePosition, TracesetPosition};

/// An error that ends a read.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The end position belongs to another traceset. Nothing was read.
    #[error(transparent)]
    Stale(#[from] StalePosition),
    /// A hook for events returned an error. The events before it were read, and its own.
    #[error(transparent)]
    Hook(Box<HookError>),
}

ltt_read::debug_as_chain!(ReadError);

/// The hooks that events are delivered to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Audience {
    /// All hooks for events.
    All,
    /// Only hooks of extensions.
    State,
}

impl<'h> TracesetContext<'h> {
    /// Reads events from the current position on and delivers them in order to hooks, until one of
    /// the bounds is met. The event that meets the bound is delivered by the next call. Events
    /// outside of the [times](Bounds::until) of the bounds are skipped.
    ///
    /// It may be called any number of times, between [`begin_read`](Self::begin_read) and [`end_read`](Self::end_read)
    /// or without them.
    ///
    /// # Errors
    ///
    /// Returns [`ReadError::Stale`] if the end position belongs to another traceset: nothing is read
    /// then. Returns [`ReadError::Hook`] after the event for which a hook returned an error, or, if that
    /// was during a seek, before the first event.
    pub fn read(&mut self, bounds: &Bounds) -> Result<ReadEnd, ReadError> {
        self.read_recording(bounds, &mut ())
    }

    /// Reads events like [`read`](Self::read), and passes each of them to a recorder as well.
    pub(crate) fn read_recording(
        &mut self,
        bounds: &Bounds,
        recorder: &mut impl EventRecorder,
    ) -> Result<ReadEnd, ReadError> {
        if let Some(error) = self.hooks.commands().take_failed() {
            return Err(ReadError::Hook(error));
        }
        let end = self.read_for(bounds, Audience::All, recorder)?;
        self.unless_failed(end)
    }

    /// Reads events and calls only the hooks of extensions.
    pub(super) fn replay(&mut self, bounds: &Bounds) -> Result<ReadEnd, ReadError> {
        let end = self.replay_on(bounds)?;
        self.unless_failed(end)
    }

    /// Replays events, and leaves the error of a hook to the next read.
    pub(super) fn replay_on(&mut self, bounds: &Bounds) -> Result<ReadEnd, StalePosition> {
        self.read_for(bounds, Audience::State, &mut ())
    }

    /// Returns the end of a read, unless a hook has failed.
    fn unless_failed(&mut self, end: ReadEnd) -> Result<ReadEnd, ReadError> {
        match self.hooks.commands().take_failed() {
            None => Ok(end),
            Some(mut error) => {
                error.read = end;
                Err(ReadError::Hook(error))
            }
        }
    }

    fn read_for<R: EventRecorder>(
        &mut self,
        bounds: &Bounds,
        audience: Audience,
        recorder: &mut R,
    ) -> Result<ReadEnd, StalePosition> {
        if let Some(position) = bounds.end_position() {
            self.check_position(position)?;
        }
        let confined = self.slice.as_ref().filter(|_| audience == Audience::All);
        let confined = confined.map(|slice| bounds.confined(slice));
        let bounds = confined.as_ref().unwrap_or(bounds);
        // Hooks called before reading may have requested changes.
        self.hooks.change(&self.contexts);
        let (end, place) = (bounds.end_time(), bounds.end_start_of());
        let is_whole = audience == Audience::All;
        let (since, until) = match is_whole {
            true => (bounds.start_time(), end),
            false => (None, None),
        };
        match audience {
            Audience::All => self.abort_read_ahead_unless(until),
            Audience::State => self.ahead.stop(),
        }
        let soonest = end.into_iter().chain(place).min();
        let (limit, limit_by_time) = (Limit::new(bounds, soonest), Limit::new(bounds, place));
        let checked = is_whole && self.check.is_some();
        let leaves_state = is_whole && self.state.is_aside();
        let filtered = checked && (leaves_state || !self.extensions().keep_state());
        let mut budget = Budget {
            events: bounds.max_events().unwrap_or(u64::MAX),
            looks: Looks { left: bounds.examined_limit().unwrap_or(u64::MAX), spent: false },
        };
        let (most, most_examined) = (budget.events, budget.looks.left);
        loop {
            let mut time_filter = if is_whole { self.time_filter(since, until) } else { None };
            let filtered = filtered && time_filter.is_none();
            match &mut self.check {
                Some(check) if filtered => self.reader.skip(&mut check.selective),
                _ => self.reader.read_all(),
            }
            let chunk = self.state.events_to_checkpoint();
            let to = (&mut budget, &mut *recorder);
            let (read, reason) = match audience {
                Audience::All if time_filter.is_some() => {
                    self.deliver::<ByTime, R>(&limit_by_time, time_filter.as_mut(), chunk, to)
                }
                Audience::All if filtered => {
                    self.deliver::<PassingOnly, R>(&limit, None, chunk, to)
                }
                Audience::All if checked => self.deliver::<Checked, R>(&limit, None, chunk, to),
                Audience::All if leaves_state => {
                    self.deliver::<PlainHooks, R>(&limit, None, chunk, to)
                }
                Audience::All => self.deliver::<AllHooks, R>(&limit, None, chunk, to),
                Audience::State => self.deliver::<StateHooks, R>(&limit, None, chunk, to),
            };
            if filtered {
                self.reader.end_skipping(skipped_to(reason, bounds, soonest), read > 0);
            }
            if read > 0 || most > budget.events {
                self.state.note_read(leaves_state);
            }
            self.count_read_events(read);
            let stop = time_filter.map(|filter| filter.stop());
            let reason = match reason {
                EndReason::EventCount if budget.events > 0 => continue,
                EndReason::EndTime if stop == Some(FilterStop::SkipEnd) => {
                    self.end_skipping();
                    continue;
                }
                EndReason::EndTime if stop == Some(FilterStop::AllDelivered) => {
                    self.finish_read_ahead();
                    EndReason::EndTime
                }
                EndReason::EndTime if stop != Some(FilterStop::Bound) => match until {
                    Some(end)
                        if place.is_none_or(|place| end < place) && self.start_read_ahead(end) =>
                    {
                        continue;
                    }
                    _ => EndReason::EndTime,
                },
                EndReason::EndOfTraceset if self.ahead.is_running() => {
                    self.finish_read_ahead();
                    EndReason::EndTime
                }
                EndReason::EndTime | EndReason::EndPosition if self.ahead.is_running() => {
                    self.abort_read_ahead_unless(None);
                    EndReason::EndTime
                }
                reason => reason,
            };
            let errors = self.merge().errors().len() as u64 + self.merge().errors_omitted();
            let examined = most_examined - budget.looks.left;
            return Ok(ReadEnd { events: most - budget.events, examined, reason, errors });
        }
    }

    /// Delivers events up to a limit, and reads at most `most` of them. Returns the number of
    /// events read and the reason for the end.
    fn deliver<M: Mode, R: EventRecorder>(
        &mut self,
        limit: &Limit<'_>,
        mut time_filter: Option<&mut TimeFilter>,
        most: u64,
        (budget, recorder): (&mut Budget, &mut R),
    ) -> (u64, EndReason) {
        let mut read = 0;
        loop {
            let time_filter = time_filter.as_deref_mut();
            let to = (&mut *budget, &mut *recorder);
            let pause = self.deliver_until_change::<M, R>(limit, time_filter, most, to, &mut read);
            let changed = self.hooks.change(&self.contexts);
            match pause {
                Some(reason) => return (read, reason),
                None => debug_assert!(changed, "there is no other reason for a pause"),
            }
        }
    }

    /// Delivers events up to a limit, and adds the number of events read to `read`. Returns `None`
    /// if a hook has requested changes of hooks, which have to be made before the next event.
    fn deliver_until_change<M: Mode, R: EventRecorder>(
        &mut self,
        limit: &Limit<'_>,
        time_filter: Option<&mut TimeFilter>,
        most: u64,
        (budget, recorder): (&mut Budget, &mut R),
        read: &mut u64,
    ) -> Option<EndReason> {
        let Self { contexts, reader, hooks, state, check, .. } = self;
        // Without skipping, each event that is looked at is delivered.
        let most = match M::SKIPS {
            true => budget.events.min(most - *read),
            false => budget.events.min(most - *read).min(budget.looks.left),
        };
        let (dispatch, commands) = hooks.ready();
        let (merge, delivered) = reader.parts();
        let leaves_state = state.is_aside();
        let mut delivery = Delivery {
            contexts,
            dispatch,
            extensions: state.extensions_mut(),
            commands,
            check: check.as_mut(),
            limit,
            time_filter,
            time: delivered.time,
            latest: delivered.latest,
            left: most,
            left_passing: budget.events,
            leaves_state,
            mode: PhantomData::<M>,
        };
        let pause = delivery.deliver(merge, &mut budget.looks, recorder);
        let (left, left_passing) = (delivery.left, delivery.left_passing);
        (delivered.time, delivered.latest) = (delivery.time, delivery.latest);
        if let Some(Pause::Before(_)) = pause {
            merge.unread();
        }
        let count = most - left;
        *read += count;
        budget.events = if M::CHECKS { left_passing } else { budget.events - count };
        if !M::SKIPS {
            budget.looks.left -= count;
        }
        match pause {
            None if reader.is_at_end() => Some(EndReason::EndOfTraceset),
            None => {
                let next = reader.next_to_come();
                let met = next.and_then(|(key, place)| limit.met_at(key, || place));
                Some(met.unwrap_or(EndReason::Pending))
            }
            Some(Pause::Before(reason)) => Some(reason),
            Some(Pause::Stopped) => Some(EndReason::Stopped),
            Some(Pause::Changed) => None,
            Some(Pause::Full) if budget.events > 0 && budget.looks.left == 0 => {
                Some(EndReason::ExaminedCount)
            }
            Some(Pause::Full) => Some(EndReason::EventCount),
        }
    }
}

/// The remaining budget of a read.
struct Budget {
    /// The number of events to deliver.
    events: u64,
    looks: Looks,
}

/// Returns the place at which a read that skipped events has ended, given the reason and the time of
/// delivery at which it stops.
fn skipped_to(reason: EndReason, bounds: &Bounds, end_time: Option<Timestamp>) -> SkippedTo<'_> {
    match reason {
        EndReason::Stopped | EndReason::EventCount => SkippedTo::Delivered,
        EndReason::ExaminedCount => SkippedTo::NextEvent,
        EndReason::Pending => SkippedTo::Pending,
        EndReason::EndOfTraceset | EndReason::EndPosition | EndReason::EndTime => {
            let position = bounds.end_position().map(TracesetPosition::order);
            SkippedTo::Bound { position, time: end_time }
        }
    }
}
