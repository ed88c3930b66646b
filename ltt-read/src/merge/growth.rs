//! Merging traces that are being recorded.

use std::mem;
use std::sync::Arc;

use super::key::{END, key, key_at, number_of, time_of};
use super::order::Order;
use super::{Merge, NO_CURSOR, cursors_of, delivery_key, is_left_out};
use crate::base::time::Timestamp;
use crate::cursor::{Cursor, Position};
use crate::trace::{Trace, TraceIndex, TracefileIndex, TracefileNumber};

impl Merge {
    /// Returns `true` if [`next`](Self::next) returned `None` because an event may still
    /// arrive that precedes all those that are left. Returns `false` at the end of the
    /// traces, and while there is a current event. [`GrowingTrace`](crate::GrowingTrace) has an
    /// example.
    pub fn is_pending(&self) -> bool {
        self.current == NO_CURSOR
            && self.loaded
            && self.order.winner() >= self.limit
            && self.limit != END
    }

    /// Returns the time up to which the order of the events is final: no event before it can
    /// still arrive. All events before it are delivered before
    /// [`is_pending`](Self::is_pending) returns `true`. Until then, it is a forecast by the
    /// times of packets, which goes back if one of their events is of a type that is not declared
    /// yet. The result is `None` if no tracefile is growing, so that all events are final, and
    /// [`Timestamp::MIN`] before the first event of a growing tracefile is known.
    pub fn watermark(&self) -> Option<Timestamp> {
        let is_read = |(number, cursor): &(usize, &Cursor)| {
            cursor.tracefile().is_growing() && !is_left_out(&self.roles, *number)
        };
        let times = self.cursors.iter().enumerate().filter(is_read).map(|(number, cursor)| {
            match self.pending.iter().find(|(pending, _)| *pending as usize == number) {
                Some((_, floor)) => *floor,
                None => {
                    let read = cursor.current().timestamp.filter(|_| self.loaded);
                    cursor.known_floor().max(read.unwrap_or(Timestamp::MIN))
                }
            }
        });
        times.min().filter(|time| *time < Timestamp::MAX)
    }

    /// Continues with later versions of the traces, which
    /// [`GrowingTrace`](crate::GrowingTrace)s returned, in the order of the previous ones.
    /// Traces after them join the merge, and so do tracefiles that are new. Their numbers
    /// follow those of all known tracefiles, so that these keep theirs.
    ///
    /// There is no current event after this call. What was delivered is not delivered again;
    /// what is delivered next is after it in the order, unless a
    /// [notice](crate::NoticeKind::LateEvents) says otherwise.
    ///
    /// # Panics
    ///
    /// If a trace is no later version of the one in its place.
    pub fn continue_with(&mut self, traces: &[Arc<Trace>]) {
        let tracefiles = |(number, trace): (usize, &Arc<Trace>)| {
            let known = self.known.get(number).copied().unwrap_or(0);
            let new = known..trace.tracefiles().len();
            new.map(move |new| (TraceIndex(number), TracefileIndex(new)))
        };
        let new: Vec<_> = traces.iter().enumerate().flat_map(tracefiles).collect();
        self.continue_with_new(traces, &new);
    }

    /// Returns `true` if a tracefile may get more data.
    pub(crate) fn is_growing(&self) -> bool {
        self.cursors.iter().any(|cursor| cursor.tracefile().is_growing())
    }

    /// Returns the number of tracefiles, also of those that are left out.
    pub(crate) fn tracefiles(&self) -> usize {
        self.cursors.len()
    }

    /// Continues with later versions of the traces, like [`continue_with`](Self::continue_with),
    /// with a choice and an order of the tracefiles that are new.
    ///
    /// # Panics
    ///
    /// If a trace is no later version of the one in its place.
    pub(crate) fn continue_with_new(
        &mut self,
        traces: &[Arc<Trace>],
        new: &[(TraceIndex, TracefileIndex)],
    ) {
        self.delivered = self.delivered.max(self.delivered_so_far());
        let current = mem::replace(&mut self.current, NO_CURSOR);
        let mut pending = mem::take(&mut self.pending);
        pending.sort_unstable();
        self.limit = END;
        for cursor in &mut self.cursors {
            if let Some(trace) = traces.get(cursor.trace_number()) {
                cursor.continue_with(trace);
            }
        }
        let known = self.cursors.len();
        self.add_tracefiles(traces, new);
        self.order = Order::new(self.cursors.len());
        self.count_bytes();
        if !self.loaded {
            return;
        }
        let mut pending = pending.into_iter().peekable();
        for (at, number) in (0..self.cursors.len()).zip(0..) {
            let floor = pending.next_if(|(waits, _)| *waits == number).map(|(_, floor)| floor);
            let key = if is_left_out(&self.roles, at) {
                END
            } else if floor.is_some() || number == current || at >= known {
                let step = self.cursors[at].advance();
                let key = self.key_after_step(number, step);
                let expected = floor.or((at >= known).then_some(Timestamp::MIN));
                let expected = expected.map(|floor| floor.max(self.delivered));
                let waits = self.pending.last().is_some_and(|(waits, _)| *waits == number);
                match expected {
                    Some(expected) if key != END && !waits => self.cursors[at].note_late(expected),
                    _ => {}
                }
                delivery_key(&self.delivery_floor, key)
            } else if self.cursors[at].has_event() {
                delivery_key(&self.delivery_floor, key(&self.cursors[at], number))
            } else {
                END
            };
            self.order.add(number, key);
        }
        self.limit_again();
        self.order.start();
    }

    /// Returns the time up to which events were delivered, as far as the current order tells.
    fn delivered_so_far(&self) -> Timestamp {
        if let Some(current) = self.current() {
            return current.timestamp().unwrap_or(Timestamp::MIN);
        }
        match self.order.winner() {
            _ if !self.loaded => Timestamp::MIN,
            END => self.latest(),
            winner => time_of(winner),
        }
    }

    /// Adds a cursor for each of some new tracefiles.
    fn add_tracefiles(&mut self, traces: &[Arc<Trace>], new: &[(TraceIndex, TracefileIndex)]) {
        self.cursors.extend(cursors_of(traces, new));
        self.known = traces.iter().map(|trace| trace.tracefiles().len()).collect();
        if !self.delivery_floor.is_empty() {
            self.delivery_floor.resize(self.cursors.len(), 0);
        }
    }

    /// Returns the first tracefile, in the order of events, that the merge waits for: the time
    /// before which none of its events follows, its number and the position in it. `None` if
    /// the merge is not [pending](Self::is_pending).
    pub(crate) fn waits_for(&self) -> Option<(Timestamp, TracefileNumber, Position)> {
        let number = TracefileNumber(number_of(self.limit) as usize);
        let cursor = self.cursors.get(number.0).filter(|_| self.is_pending())?;
        Some((time_of(self.limit), number, cursor.position()))
    }

    /// Returns the first tracefile of which an event can be delivered at `now`, a time that the merge
    /// waits for events before: what is early is delivered at once, in the order of tracefiles. Also
    /// returns the position in it.
    pub(crate) fn first_until(&self, now: Timestamp) -> Option<(TracefileNumber, Position)> {
        let end = key_at(now, u32::MAX);
        let mut pending = self.pending.clone();
        pending.sort_unstable();
        let mut pending = pending.into_iter().peekable();
        let (at, number) = (0..self.cursors.len()).zip(0..).find(|(at, number)| {
            let cursor = &self.cursors[*at];
            let of_event = || delivery_key(&self.delivery_floor, key(cursor, *number));
            let can_come = match pending.next_if(|(waits, _)| waits == number) {
                Some((_, floor)) => floor <= now,
                None => cursor.has_event() && of_event() <= end,
            };
            can_come && !is_left_out(&self.roles, *at)
        })?;
        let position = self.cursors[at].undelivered_position(self.has_read(number));
        Some((TracefileNumber(at), position))
    }

    /// Returns `true` if a tracefile has run out of events but may get more: its current event
    /// was delivered before.
    pub(super) fn is_waiting_for(&self, number: u32) -> bool {
        self.pending.iter().any(|(pending, _)| *pending == number)
    }

    /// Returns the positions in the tracefiles of a trace, before the next event of each.
    pub(crate) fn places(
        &self,
        trace: usize,
    ) -> impl Iterator<Item = (TracefileIndex, Position)> + '_ {
        let of_trace = self.cursors.iter().filter(move |cursor| cursor.trace_number() == trace);
        of_trace.map(|cursor| (cursor.tracefile_index(), cursor.position()))
    }

    /// Returns the latest time of an event that was read.
    pub(crate) fn latest(&self) -> Timestamp {
        self.cursors.iter().map(Cursor::last_timestamp).max().unwrap_or(Timestamp::MIN)
    }

    /// Returns the key that stands for the events to come of a tracefile, and limits the
    /// order by it.
    #[cold]
    pub(super) fn wait_for(&mut self, number: u32) -> u128 {
        let floor = self.cursors[number as usize].floor();
        let key = delivery_key(&self.delivery_floor, key_at(floor, number));
        self.pending.push((number, floor));
        self.limit = self.limit.min(key);
        // The tracefile loses the tournament even if its key is the least one.
        self.order.runner_up = self.order.runner_up.min(key);
        key
    }

    /// Computes the limit again after tracefiles have been left out.
    pub(super) fn limit_again(&mut self) {
        let roles = &self.roles;
        self.pending.retain(|(number, _)| !is_left_out(roles, *number as usize));
        let keys = self
            .pending
            .iter()
            .map(|(number, floor)| delivery_key(&self.delivery_floor, key_at(*floor, *number)));
        self.limit = keys.min().unwrap_or(END);
    }
}
