//! The loop that delivers events to hooks.

use std::marker::PhantomData;
use std::mem::take;

use ltt_read::{Event, Timestamp};

use crate::bounds::{Bounds, EndReason, Limit, ReadEnd};
use crate::check::Looks;
use crate::context::TracesetContext;
use crate::deliver::{ByTime, Checked, Delivery, Mode, Pause, ToAll, ToSome, ToState};
use crate::late::{Met, Stage};
use crate::position::{StalePosition, TracesetPosition, time_of};

/// The hooks that events are delivered to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// All hooks.
    All,
    /// Only hooks of extensions.
    State,
}

impl<'h> TracesetContext<'h> {
    /// Reads events from the current position on and delivers them in order to hooks, until one of
    /// the bounds is met. The event that meets the bound is delivered by the next call. Events
    /// outside of the [times](Bounds::until) of the bounds are skipped.
    ///
    /// It may be called any number of times, between [`begin`](Self::begin) and [`end`](Self::end)
    /// or without them.
    ///
    /// # Errors
    ///
    /// Returns [`StalePosition`] if the end position belongs to another traceset. Nothing is read
    /// then.
    pub fn middle(&mut self, bounds: &Bounds) -> Result<ReadEnd, StalePosition> {
        self.read(bounds, Audience::All)
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
    pub fn replay(&mut self, bounds: &Bounds) -> Result<ReadEnd, StalePosition> {
        self.read(bounds, Audience::State)
    }

    fn read(&mut self, bounds: &Bounds, audience: Audience) -> Result<ReadEnd, StalePosition> {
        if let Some(position) = bounds.end_position() {
            self.check_position(position)?;
        }
        // Hooks called before reading may have requested changes.
        let commands = take(&mut self.commands);
        self.execute(commands, false);
        let ns = |time: Option<Timestamp>| time.map(Timestamp::ns);
        let (end, place) = (ns(bounds.end_time()), ns(bounds.end_start_of()));
        let is_whole = audience == Audience::All;
        let (since, until) = match is_whole {
            true => (ns(bounds.start_time()), end),
            false => (None, None),
        };
        match audience {
            Audience::All => self.turn_back_unless(until),
            Audience::State => self.ahead = None,
        }
        let soonest = end.into_iter().chain(place).min();
        let (limit, limit_by_time) = (Limit::new(bounds, soonest), Limit::new(bounds, place));
        let checked = is_whole && self.check.is_some();
        let partial = checked && self.leaves_out();
        let mut left = Left {
            events: bounds.max_events().unwrap_or(u64::MAX),
            looks: Looks { left: bounds.max_looks().unwrap_or(u64::MAX), spent: false },
        };
        let most = left.events;
        loop {
            let mut stage = if is_whole { self.stage(since, until) } else { None };
            let partial = partial && stage.is_none();
            match partial {
                true => self.read_partly(),
                false => self.read_whole(),
            }
            let chunk = self.events_to_checkpoint();
            let (read, reason) = match audience {
                Audience::All if stage.is_some() => {
                    self.deliver::<ByTime>(&limit_by_time, stage.as_mut(), chunk, &mut left)
                }
                Audience::All if partial => self.deliver::<ToSome>(&limit, None, chunk, &mut left),
                Audience::All if checked => self.deliver::<Checked>(&limit, None, chunk, &mut left),
                Audience::All => self.deliver::<ToAll>(&limit, None, chunk, &mut left),
                Audience::State => self.deliver::<ToState>(&limit, None, chunk, &mut left),
            };
            if partial {
                self.came_to(bounds, soonest, read, reason);
            }
            self.state.at_begin &= read == 0 && most == left.events;
            self.passed(read);
            let met = stage.map(|stage| stage.met);
            let reason = match reason {
                EndReason::EventCount if left.events > 0 => continue,
                EndReason::EndTime if met == Some(Met::Floor) => {
                    self.pass_floors();
                    continue;
                }
                EndReason::EndTime if met == Some(Met::AllCame) => {
                    self.turn_back();
                    EndReason::EndTime
                }
                EndReason::EndTime if met != Some(Met::Bound) => match until {
                    Some(end) if place.is_none_or(|place| end < place) && self.go_ahead(end) => {
                        continue;
                    }
                    _ => EndReason::EndTime,
                },
                EndReason::EndOfTraceset if self.ahead.is_some() => {
                    self.turn_back();
                    EndReason::EndTime
                }
                EndReason::EndTime | EndReason::EndPosition if self.ahead.is_some() => {
                    self.turn_back_unless(None);
                    EndReason::EndTime
                }
                reason => reason,
            };
            return Ok(ReadEnd { events: most - left.events, reason });
        }
    }

    /// Reads events up to a position without calling hooks. The first event for which `on` returns
    /// `false` becomes the next event.
    pub(crate) fn scan(&mut self, end: &TracesetPosition, mut on: impl FnMut(&Event<'_>) -> bool) {
        self.read_whole();
        let bounds = Bounds::all().until_position(end);
        let limit = Limit::new(&bounds, None);
        while self.merge.next().is_some() {
            let Some(event) = self.merge.current() else { break };
            let now = self.now.max(time_of(&event));
            let key = (now, self.merge.current_tracefile() as u32);
            if now >= limit.time && limit.met(key, &event).is_some() || !on(&event) {
                self.merge.put_back();
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
        mut stage: Option<&mut Stage>,
        most: u64,
        left: &mut Left,
    ) -> (u64, EndReason) {
        let mut read = 0;
        loop {
            let stage = stage.as_deref_mut();
            let pause = self.deliver_unchanged::<M>(limit, stage, most, left, &mut read);
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
    fn deliver_unchanged<M: Mode>(
        &mut self,
        limit: &Limit<'_>,
        stage: Option<&mut Stage>,
        most: u64,
        left: &mut Left,
        read: &mut u64,
    ) -> Option<EndReason> {
        let Self { merge, contexts, dispatch, extensions, commands, now, latest, check, .. } = self;
        // Without skipping, each event that is looked at is delivered.
        let most = match M::LEAVES_OUT {
            true => left.events.min(most - *read),
            false => left.events.min(most - *read).min(left.looks.left),
        };
        let mut delivery = Delivery {
            contexts,
            dispatch: dispatch.ready(),
            extensions,
            commands,
            check: check.as_mut(),
            limit,
            stage,
            time: *now,
            latest: *latest,
            left: most,
            left_passing: left.events,
            mode: PhantomData::<M>,
        };
        let pause = delivery.deliver(merge, &mut left.looks);
        (*now, *latest) = (delivery.time, delivery.latest);
        let count = most - delivery.left;
        *read += count;
        left.events = if M::CHECKS { delivery.left_passing } else { left.events - count };
        if !M::LEAVES_OUT {
            left.looks.left -= count;
        }
        match pause {
            None => Some(EndReason::EndOfTraceset),
            Some(Pause::Before(reason)) => {
                merge.put_back();
                Some(reason)
            }
            Some(Pause::Stopped) => Some(EndReason::Stopped),
            Some(Pause::Changed) => None,
            Some(Pause::Full) if left.events > 0 && left.looks.left == 0 => {
                Some(EndReason::LookCount)
            }
            Some(Pause::Full) => Some(EndReason::EventCount),
        }
    }
}

/// The remaining budget of a read.
struct Left {
    /// The number of events to deliver.
    events: u64,
    looks: Looks,
}
