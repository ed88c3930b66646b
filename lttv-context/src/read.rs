//! The loop that delivers events.

use std::mem::{replace, take};

use ltt_read::{Event, Merge, Position};
use lttv_hooks::Flow;

use crate::bounds::{Bounds, EndReason, ReadEnd};
use crate::call::EventCall;
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
            self.check(position)?;
        }
        // Hooks before reading may have asked for something.
        let commands = take(&mut self.commands);
        self.execute(commands, false);
        let limit = Limit::new(bounds);
        let most = bounds.max_events().unwrap_or(u64::MAX);
        let mut events = 0;
        loop {
            let chunk = (most - events).min(self.events_to_checkpoint());
            let read = match audience {
                Audience::All => self.deliver::<true>(&limit, chunk),
                Audience::State => self.deliver::<false>(&limit, chunk),
            };
            events += read.events;
            self.state.at_begin &= events == 0;
            self.passed(read.events);
            let reason = match read.reason {
                EndReason::EventCount if events < most => continue,
                reason => reason,
            };
            return Ok(ReadEnd { events, reason });
        }
    }

    /// Looks at events up to a position, without calling hooks. The one for which
    /// `on` says no is the next.
    pub(crate) fn scan(&mut self, end: &TracesetPosition, mut on: impl FnMut(&Event<'_>) -> bool) {
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

    /// Delivers at most so many events up to a limit.
    fn deliver<const ALL: bool>(&mut self, limit: &Limit<'_>, most: u64) -> ReadEnd {
        let mut events = 0;
        loop {
            let pause = self.deliver_unchanged::<ALL>(limit, most, &mut events);
            let changed = !self.commands.pending.is_empty();
            if changed {
                let commands = take(&mut self.commands);
                self.execute(commands, false);
            }
            match pause {
                Some(reason) => return ReadEnd { events, reason },
                None => debug_assert!(changed, "there is no other reason for a pause"),
            }
        }
    }

    /// The same, but stops without a reason once a hook has asked for something.
    fn deliver_unchanged<const ALL: bool>(
        &mut self,
        limit: &Limit<'_>,
        most: u64,
        events: &mut u64,
    ) -> Option<EndReason> {
        let Self { merge, contexts, dispatch, extensions, commands, now, latest, .. } = self;
        let mut dispatch = dispatch.ready();
        let most = most - *events;
        let mut count = 0;
        let mut time = *now;
        // That of the last event that was delivered.
        let mut last = time;
        let reason = loop {
            if count == most {
                break Some(EndReason::EventCount);
            }
            let Some(event) = merge.next() else { break Some(EndReason::EndOfTraceset) };
            let event_type = event.type_id();
            time = time.max(time_of(&event));
            let tracefile = merge.current_tracefile();
            if time >= limit.time
                && let Some(reason) = limit.met_by_current((time, tracefile as u32), merge)
            {
                merge.put_back();
                break Some(reason);
            }
            count += 1;
            let before = replace(&mut last, time);
            let (mut hooks, fields) = dispatch.at(tracefile, event_type);
            if hooks.is_empty() {
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
                latest: if count == 1 { *latest } else { Some(before) },
            };
            let flow = hooks.call_each(|hook, found| {
                if !ALL && !found.keeps_state {
                    return Flow::Continue(());
                }
                call.fields = fields.of(found);
                hook(&mut call)
            });
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
        *events += count;
        reason
    }
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
