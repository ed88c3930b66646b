//! The loop that delivers events.

use std::mem::{replace, take};

use ltt_read::{Event, Merge, Position};
use lttv_hooks::Flow;

use crate::bounds::{Bounds, EndReason, ReadEnd};
use crate::call::EventCall;
use crate::check::Looks;
use crate::context::TracesetContext;
use crate::position::{Key, StalePosition, TracesetPosition, time_of};

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
        let mut dispatch = dispatch.ready();
        // Without a check, looking at an event is delivering it.
        let most = match M::LEAVES_OUT {
            true => left.events.min(most - *read),
            false => left.events.min(most - *read).min(left.looks.left),
        };
        let (mut count, mut delivered) = (0, 0);
        let mut time = *now;
        // That of the last event that was delivered.
        let mut last = time;
        let reason = loop {
            if count == most || M::CHECKS && delivered == left.events {
                break Some(EndReason::EventCount);
            }
            let event = match check {
                Some(check) if M::LEAVES_OUT => {
                    match check.advance(merge, extensions, limit.time, &mut left.looks) {
                        true => merge.current(),
                        false => None,
                    }
                }
                _ => merge.next(),
            };
            let Some(event) = event else { break Some(EndReason::EndOfTraceset) };
            if M::LEAVES_OUT && left.looks.spent {
                merge.put_back();
                break Some(EndReason::LookCount);
            }
            let event_type = event.type_id();
            time = time.max(time_of(&event));
            let tracefile = merge.current_tracefile();
            if time >= limit.time {
                if let Some(reason) = limit.met_by_current((time, tracefile as u32), merge) {
                    merge.put_back();
                    break Some(reason);
                }
                // Only before the limit has it been asked already.
                if M::LEAVES_OUT
                    && let (Some(check), Some(event)) = (&mut *check, merge.current())
                    && !check.passes(&event, extensions)
                {
                    continue;
                }
            }
            count += 1;
            let before = replace(&mut last, time);
            let (mut hooks, fields) = dispatch.at(tracefile, event_type);
            if hooks.is_empty() && !M::CHECKS {
                continue;
            }
            let Some(event) = merge.current() else { continue };
            let tracefile = &contexts.tracefiles()[tracefile];
            let mut call = EventCall {
                event,
                trace: &contexts.traces()[tracefile.trace_index()],
                tracefile,
                contexts,
                fields: &[],
                extensions,
                commands,
                merge,
                key: (time, tracefile.number() as u32),
                latest: match M::LEAVES_OUT {
                    true => Some(time),
                    false if count == 1 => *latest,
                    false => Some(before),
                },
                is_partial: M::LEAVES_OUT,
            };
            let mut passes = None;
            let mut ask = |call: &EventCall<'_, '_>| {
                let ask = || check.as_mut().is_none_or(|c| c.passes(&call.event, call.extensions));
                *passes.get_or_insert_with(ask)
            };
            let flow = hooks.call_runs(|run, found| {
                if M::STATE_ONLY && !found.keeps_state
                    || M::CHECKS && !found.keeps_state && !ask(&call)
                {
                    return Flow::Continue(());
                }
                let fields = fields.of(found);
                run.call_each(|hook| {
                    call.fields = fields;
                    hook(&mut call)
                })
            });
            if M::CHECKS {
                delivered += u64::from(ask(&call));
            }
            if flow.is_break() {
                break Some(EndReason::Stopped);
            }
            if !commands.pending.is_empty() {
                break None;
            }
        };
        *now = time;
        if count > 0 {
            *latest = Some(last);
        }
        *read += count;
        left.events -= if M::CHECKS { delivered } else { count };
        if !M::LEAVES_OUT {
            left.looks.left -= count;
        }
        match reason {
            Some(EndReason::EventCount) if left.events > 0 && left.looks.left == 0 => {
                Some(EndReason::LookCount)
            }
            reason => reason,
        }
    }
}

/// How much may be read yet.
struct Left {
    /// Events to deliver.
    events: u64,
    looks: Looks,
}

/// Ways to deliver events.
trait Mode {
    /// Only hooks of extensions are called.
    const STATE_ONLY: bool = false;
    /// Events are checked as they are delivered.
    const CHECKS: bool = false;
    /// Only events that pass the check are read.
    const LEAVES_OUT: bool = false;
}

struct ToAll;
struct ToState;
struct Checked;
struct ToSome;

impl Mode for ToAll {}

impl Mode for ToState {
    const STATE_ONLY: bool = true;
}

impl Mode for Checked {
    const CHECKS: bool = true;
}

impl Mode for ToSome {
    const LEAVES_OUT: bool = true;
}

/// The bounds of a read but for the number of events.
struct Limit<'b> {
    /// Nothing is met before this time.
    time: i64,
    end_time: Option<i64>,
    position: Option<(Key, Option<&'b Position>)>,
}

impl<'b> Limit<'b> {
    fn new(bounds: &'b Bounds) -> Self {
        let end_time = bounds.end_time().map(|time| time.ns());
        let position = bounds.end_position().map(|end| (end.key(), end.place()));
        let position_time = position.map_or(i64::MAX, |(key, _)| key.0);
        Limit { time: end_time.unwrap_or(i64::MAX).min(position_time), end_time, position }
    }

    /// Which bound the event meets that a merge has just given.
    #[cold]
    #[inline(never)]
    fn met_by_current(&self, key: Key, merge: &Merge) -> Option<EndReason> {
        self.met(key, &merge.current()?)
    }

    /// Which bound an event meets.
    fn met(&self, key: Key, event: &Event<'_>) -> Option<EndReason> {
        if let Some((end, place)) = self.position {
            let is_at = key == end && place.is_none_or(|place| event.position() >= *place);
            if key > end || is_at {
                return Some(EndReason::EndPosition);
            }
        }
        self.end_time.is_some_and(|end| key.0 >= end).then_some(EndReason::EndTime)
    }
}
