//! The loop that delivers events.

use std::marker::PhantomData;
use std::mem::take;

use ltt_read::{Event, Timestamp};

use crate::bounds::{Bounds, EndReason, Limit, ReadEnd};
use crate::check::Looks;
use crate::context::TracesetContext;
use crate::deliver::{ByTime, Checked, Delivery, Mode, Pause, ToAll, ToSome, ToState};
use crate::late::{Met, Stage};
use crate::position::{StalePosition, TracesetPosition, time_of};

/// Who gets events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// All hooks.
    All,
    /// Hooks of extensions only.
    State,
}

impl<'h> TracesetContext<'h> {
    /// Delivers events from the current position on, in order, until one of the
    /// bounds is met. The event that meets it is not delivered, but by the next
    /// call. Events outside of the [times](Bounds::until) that are bounds are left out.
    ///
    /// It may be called again and again between [`begin`](Self::begin) and
    /// [`end`](Self::end), or without these.
    ///
    /// # Errors
    ///
    /// If the end position is of another traceset; then nothing is read.
    pub fn middle(&mut self, bounds: &Bounds) -> Result<ReadEnd, StalePosition> {
        self.read(bounds, Audience::All)
    }

    /// As [`middle`](Self::middle), but calls only the hooks of extensions: to
    /// bring their state forward, with as much work at a time as wanted. None are left out,
    /// and an end time is where seeking it leads to, as by
    /// [`until_start_of`](Bounds::until_start_of).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn replay(&mut self, bounds: &Bounds) -> Result<ReadEnd, StalePosition> {
        self.read(bounds, Audience::State)
    }

    fn read(&mut self, bounds: &Bounds, audience: Audience) -> Result<ReadEnd, StalePosition> {
        if let Some(position) = bounds.end_position() {
            self.check_position(position)?;
        }
        // Hooks before reading may have asked for something.
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

    /// Looks at events up to a position, without calling hooks. The one for which
    /// `on` says no is the next.
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

    /// Delivers events up to a limit, and reads no more than so many. Tells how many
    /// were read.
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

    /// The same, but stops without a reason once a hook has asked for something.
    fn deliver_unchanged<M: Mode>(
        &mut self,
        limit: &Limit<'_>,
        stage: Option<&mut Stage>,
        most: u64,
        left: &mut Left,
        read: &mut u64,
    ) -> Option<EndReason> {
        let Self { merge, contexts, dispatch, extensions, commands, now, latest, check, .. } = self;
        // Without a check, looking at an event is delivering it.
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

/// How much may be read yet.
struct Left {
    /// Events to deliver.
    events: u64,
    looks: Looks,
}
