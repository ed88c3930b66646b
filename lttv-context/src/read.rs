//! The loop that delivers events.

use std::marker::PhantomData;
use std::mem::take;

use ltt_read::Event;

use crate::bounds::{Bounds, EndReason, Limit, ReadEnd};
use crate::check::Looks;
use crate::context::TracesetContext;
use crate::deliver::{Checked, Delivery, Mode, Pause, ToAll, ToSome, ToState};
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
    /// call.
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
    /// bring their state forward, with as much work at a time as wanted.
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
        let limit = Limit::new(bounds);
        let checked = audience == Audience::All && self.check.is_some();
        let partial = checked && self.leaves_out();
        if partial {
            self.read_partly()
        } else {
            self.read_whole()
        }
        let mut left = Left {
            events: bounds.max_events().unwrap_or(u64::MAX),
            looks: Looks { left: bounds.max_looks().unwrap_or(u64::MAX), spent: false },
        };
        let most = left.events;
        loop {
            let chunk = self.events_to_checkpoint();
            let (read, reason) = match audience {
                Audience::All if partial => self.deliver::<ToSome>(&limit, chunk, &mut left),
                Audience::All if checked => self.deliver::<Checked>(&limit, chunk, &mut left),
                Audience::All => self.deliver::<ToAll>(&limit, chunk, &mut left),
                Audience::State => self.deliver::<ToState>(&limit, chunk, &mut left),
            };
            if partial {
                self.came_to(bounds, read, reason);
            }
            self.state.at_begin &= read == 0 && most == left.events;
            self.passed(read);
            match reason {
                EndReason::EventCount if left.events > 0 => {}
                reason => return Ok(ReadEnd { events: most - left.events, reason }),
            }
        }
    }

    /// Looks at events up to a position, without calling hooks. The one for which
    /// `on` says no is the next.
    pub(crate) fn scan(&mut self, end: &TracesetPosition, mut on: impl FnMut(&Event<'_>) -> bool) {
        self.read_whole();
        let bounds = Bounds::all().until_position(end);
        let limit = Limit::new(&bounds);
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
        most: u64,
        left: &mut Left,
    ) -> (u64, EndReason) {
        let mut read = 0;
        loop {
            let pause = self.deliver_unchanged::<M>(limit, most, left, &mut read);
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
