//! The loop that delivers events to hooks.

use std::marker::PhantomData;
use std::mem::take;

use ltt_read::{Event, Timestamp};

use super::TracesetContext;
use super::delivery::{AllHooks, ByTime, Checked, Delivery, Mode, PassingOnly, Pause, StateHooks};
use super::read_ahead::{FilterStop, TimeFilter};
use crate::bounds::{Bounds, EndReason, Limit, ReadEnd};
use crate::hooks::Looks;
use crate::traceset::{StalePosition, TracesetPosition, time_of};

/// The hooks that events are delivered to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
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
    /// Returns [`StalePosition`] if the end position belongs to another traceset. Nothing is read
    /// then.
    pub fn read(&mut self, bounds: &Bounds) -> Result<ReadEnd, StalePosition> {
        self.read_for(bounds, Audience::All)
    }

    /// Reads events from the current position on, but calls only the hooks of extensions: this
    /// brings their state forward in pieces as large as the caller wants.
    ///
    /// No event is skipped. An end time stops the read at the place to which seeking it leads, as
    /// [`until_start_of`](Bounds::until_start_of) does.
    ///
    /// # Errors
    ///
    /// Returns [`StalePosition`] if the end position belongs to another traceset. Nothing is read
    /// then.
    pub fn replay_state(&mut self, bounds: &Bounds) -> Result<ReadEnd, StalePosition> {
        self.read_for(bounds, Audience::State)
    }

    fn read_for(&mut self, bounds: &Bounds, audience: Audience) -> Result<ReadEnd, StalePosition> {
        if let Some(position) = bounds.end_position() {
            self.check_position(position)?;
        }
        // Hooks called before reading may have requested changes.
        let commands = take(&mut self.commands);
        self.execute(commands, false);
        let ns = |time: Option<Timestamp>| time.map(Timestamp::as_ns);
        let (end, place) = (ns(bounds.end_time()), ns(bounds.end_start_of()));
        let is_whole = audience == Audience::All;
        let (since, until) = match is_whole {
            true => (ns(bounds.start_time()), end),
            false => (None, None),
        };
        match audience {
            Audience::All => self.abort_read_ahead_unless(until),
            Audience::State => self.read_ahead = None,
        }
        let soonest = end.into_iter().chain(place).min();
        let (limit, limit_by_time) = (Limit::new(bounds, soonest), Limit::new(bounds, place));
        let checked = is_whole && self.check.is_some();
        let filtered = checked && self.can_filter_merge();
        let mut budget = Budget {
            events: bounds.max_events().unwrap_or(u64::MAX),
            looks: Looks { left: bounds.examined_limit().unwrap_or(u64::MAX), spent: false },
        };
        let most = budget.events;
        loop {
            let mut time_filter = if is_whole { self.time_filter(since, until) } else { None };
            let filtered = filtered && time_filter.is_none();
            match filtered {
                true => self.filter_merge(),
                false => self.unfilter_merge(),
            }
            let chunk = self.events_to_checkpoint();
            let (read, reason) = match audience {
                Audience::All if time_filter.is_some() => {
                    self.deliver::<ByTime>(&limit_by_time, time_filter.as_mut(), chunk, &mut budget)
                }
                Audience::All if filtered => {
                    self.deliver::<PassingOnly>(&limit, None, chunk, &mut budget)
                }
                Audience::All if checked => {
                    self.deliver::<Checked>(&limit, None, chunk, &mut budget)
                }
                Audience::All => self.deliver::<AllHooks>(&limit, None, chunk, &mut budget),
                Audience::State => self.deliver::<StateHooks>(&limit, None, chunk, &mut budget),
            };
            if filtered {
                self.set_read_point(bounds, soonest, read, reason);
            }
            self.state.at_begin &= read == 0 && most == budget.events;
            self.count_read_events(read);
            let stop = time_filter.map(|filter| filter.stop);
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
                EndReason::EndOfTraceset if self.read_ahead.is_some() => {
                    self.finish_read_ahead();
                    EndReason::EndTime
                }
                EndReason::EndTime | EndReason::EndPosition if self.read_ahead.is_some() => {
                    self.abort_read_ahead_unless(None);
                    EndReason::EndTime
                }
                reason => reason,
            };
            return Ok(ReadEnd { events: most - budget.events, reason });
        }
    }

    /// Reads events up to a position without calling hooks. The first event for which `on` returns
    /// `false` becomes the next event.
    pub(crate) fn scan(&mut self, end: &TracesetPosition, mut on: impl FnMut(&Event<'_>) -> bool) {
        self.unfilter_merge();
        let bounds = Bounds::all().until_position(end);
        let limit = Limit::new(&bounds, None);
        while self.merge.next().is_some() {
            let Some(event) = self.merge.current() else { break };
            let now = self.now.max(time_of(&event));
            let key = (now, self.merge.current_tracefile() as u32);
            if now >= limit.time && limit.met(key, &event).is_some() || !on(&event) {
                self.merge.unread();
                break;
            }
            self.now = now;
            self.latest = Some(now);
        }
    }

    /// Delivers events up to a limit, and reads at most `most` of them. Returns the number of
    /// events read and the reason for the end.
    fn deliver<M: Mode>(
        &mut self,
        limit: &Limit<'_>,
        mut time_filter: Option<&mut TimeFilter>,
        most: u64,
        budget: &mut Budget,
    ) -> (u64, EndReason) {
        let mut read = 0;
        loop {
            let time_filter = time_filter.as_deref_mut();
            let pause = self.deliver_until_change::<M>(limit, time_filter, most, budget, &mut read);
            let changed = !self.commands.pending.is_empty();
            if changed {
                let commands = take(&mut self.commands);
                self.execute(commands, false);
            }
            match pause {
                Some(reason) => return (read, reason),
                None => debug_assert!(changed, "there is no other reason for a pause"),
            }
        }
    }

    /// Delivers events up to a limit, and adds the number of events read to `read`. Returns `None`
    /// if a hook has requested changes of hooks, which have to be made before the next event.
    fn deliver_until_change<M: Mode>(
        &mut self,
        limit: &Limit<'_>,
        time_filter: Option<&mut TimeFilter>,
        most: u64,
        budget: &mut Budget,
        read: &mut u64,
    ) -> Option<EndReason> {
        let Self { merge, contexts, dispatch, extensions, commands, now, latest, check, .. } = self;
        // Without skipping, each event that is looked at is delivered.
        let most = match M::SKIPS {
            true => budget.events.min(most - *read),
            false => budget.events.min(most - *read).min(budget.looks.left),
        };
        let mut delivery = Delivery {
            contexts,
            dispatch: dispatch.ready(),
            extensions,
            commands,
            check: check.as_mut(),
            limit,
            time_filter,
            time: *now,
            latest: *latest,
            left: most,
            left_passing: budget.events,
            mode: PhantomData::<M>,
        };
        let pause = delivery.deliver(merge, &mut budget.looks);
        (*now, *latest) = (delivery.time, delivery.latest);
        let count = most - delivery.left;
        *read += count;
        budget.events = if M::CHECKS { delivery.left_passing } else { budget.events - count };
        if !M::SKIPS {
            budget.looks.left -= count;
        }
        match pause {
            None => Some(EndReason::EndOfTraceset),
            Some(Pause::Before(reason)) => {
                merge.unread();
                Some(reason)
            }
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
