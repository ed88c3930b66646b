//! The merge of all tracefiles of several traces in time order.

mod coming;
mod damage;
mod event_sink;
mod growth;
mod key;
mod order;
mod prefetch;
mod radix_queue;
mod rewind;
mod search;
#[cfg(all(test, feature = "writer"))]
mod tests;
mod tournament;

use std::mem;
use std::sync::Arc;

use crate::base::time::Timestamp;
use crate::cursor::Cursor;
use crate::event::Event;
use crate::report::Error;
use crate::report::Notice;
use crate::trace::{Trace, TraceIndex, TracefileIndex, TracefileNumber};

use coming::Coming;
use damage::Damage;
pub use event_sink::EventSink;
use key::{END, UNTESTED, key, key_at, number_of, time_of};
use order::Order;
pub use prefetch::{Prefetch, Upcoming};
pub use search::TimeSearch;

/// The value of the field `Merge::current` if there is no current event.
pub(crate) const NO_CURSOR: u32 = u32::MAX;

/// A k-way merge of the events of many tracefiles into one sequence, ordered by
/// timestamp. Events of equal timestamps are ordered by trace, by tracefile and by their
/// place in it. Events without a timestamp come before all others. Events of one
/// tracefile keep their order, even if its clock goes back.
///
/// After damage in a packet, the merge continues with the next packet of its tracefile,
/// or, if none can be found in the file, with the tracefile's next file. Without a next
/// file, the tracefile ends at the damage. The error is kept for
/// [`errors`](Self::errors). Other tracefiles are not affected.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traces = ltt_read::open_all(path)?;
/// let mut merge = ltt_read::Merge::new(&traces);
/// while let Some(event) = merge.next() {
///     println!("{:?} {}", event.timestamp(), event.event_type().name());
/// }
/// for error in merge.errors() {
///     eprintln!("{error:?}");
/// }
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug)]
#[doc(alias("iter"))]
pub struct Merge {
    pub(crate) cursors: Vec<Cursor>,
    pub(crate) order: Order,
    coming: Coming,
    /// The cursor of the current event, which has to be advanced first.
    pub(crate) current: u32,
    /// `true` if each cursor has read its next event or is at its end.
    pub(crate) loaded: bool,
    pub(crate) damage: Damage,
    notices: Vec<Notice>,
    /// For each tracefile, the number of notices about its packet index that have been
    /// noted.
    noted: Vec<usize>,
    bytes_total: u64,
    /// The role of each tracefile; empty if all are merged.
    pub(crate) roles: Vec<Role>,
    /// For each tracefile, the least key at which its events can be delivered. This is
    /// the key of an earlier event that was skipped, if the clock went back after it.
    /// Empty if no clock did.
    delivery_floor: Vec<u128>,
    /// The least key in `order` that stands for events to come; [`END`] if there is none.
    /// The order is known up to this key and no further.
    limit: u128,
    /// The tracefiles that have run out of events but may get more, each with the time before
    /// which it should get none.
    pub(crate) pending: Vec<(u32, Timestamp)>,
    /// The time up to which events had been delivered when the traces grew last.
    delivered: Timestamp,
    /// For each trace, the number of tracefiles that it had when they were added.
    known: Vec<usize>,
}

impl Merge {
    /// Creates a merge of all tracefiles of the traces, at their start. Nothing is read
    /// yet.
    pub fn new(traces: &[Arc<Trace>]) -> Self {
        Self::with_tracefiles(traces, |_, _| true)
    }

    /// Creates a merge of some tracefiles of the traces: those for which `wanted` returns
    /// `true`, given the index of the trace and the index of the tracefile in it. The
    /// other tracefiles are never read.
    pub fn with_tracefiles(
        traces: &[Arc<Trace>],
        mut wanted: impl FnMut(TraceIndex, TracefileIndex) -> bool,
    ) -> Self {
        let all = |(number, trace): (usize, &Arc<Trace>)| {
            let tracefiles = 0..trace.tracefiles().len();
            tracefiles.map(move |index| (TraceIndex(number), TracefileIndex(index)))
        };
        let mut chosen: Vec<_> = traces.iter().enumerate().flat_map(all).collect();
        chosen.retain(|(trace, tracefile)| wanted(*trace, *tracefile));
        Self::of_tracefiles(traces, &chosen)
    }

    /// Creates a merge of some tracefiles of the traces, numbered in the order in which they
    /// are given.
    pub fn of_tracefiles(
        traces: &[Arc<Trace>],
        tracefiles: &[(TraceIndex, TracefileIndex)],
    ) -> Self {
        let cursors: Vec<Cursor> = cursors_of(traces, tracefiles).collect();
        let mut merge = Merge {
            order: Order::new(cursors.len()),
            coming: Coming::default(),
            cursors,
            current: NO_CURSOR,
            loaded: false,
            damage: Damage::default(),
            notices: Vec::new(),
            noted: Vec::new(),
            bytes_total: 0,
            roles: Vec::new(),
            delivery_floor: Vec::new(),
            limit: END,
            pending: Vec::new(),
            delivered: Timestamp::MIN,
            known: traces.iter().map(|trace| trace.tracefiles().len()).collect(),
        };
        merge.count_bytes();
        merge
    }

    /// Reads the next event in time order and returns it; `None` after the last one, or after
    /// the last one whose place in the order is final: see [`is_pending`](Self::is_pending).
    ///
    /// Damage does not end the sequence: call [`finish`](Self::finish) after the last
    /// event, or look at [`errors`](Self::errors).
    #[allow(clippy::should_implement_trait)] // events borrow the merge
    #[inline]
    pub fn next(&mut self) -> Option<Event<'_>> {
        let number = self.current;
        let Some(cursor) = self.cursors.get_mut(number as usize) else { return self.start() };
        let key = match cursor.advance_quickly() {
            Some(()) => key(cursor, number),
            None => self.advance_slowly(number),
        };
        self.select_after(number, key)
    }

    /// Reads at most `most` events in time order and passes those that `sink` wants
    /// to it, until it breaks. Returns the number of events read. If the sink broke
    /// at an event, that is [`current`](Self::current).
    ///
    /// Equivalent to calling [`next`](Self::next) repeatedly, but faster if only some of
    /// the events are wanted.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use ltt_read::schema::EventTypeId;
    /// use ltt_read::tuning::EventSink;
    /// use ltt_read::{Event, Merge, TracefileNumber};
    ///
    /// /// Stops at the tenth event of a type.
    /// struct Tenth(Option<EventTypeId>, u32);
    ///
    /// impl EventSink for Tenth {
    ///     fn accepts(&mut self, _: TracefileNumber, event: &Event<'_>) -> bool {
    ///         Some(event.type_id()) == self.0
    ///     }
    ///
    ///     fn receive(&mut self, _: &Merge, _: TracefileNumber, _: &Event<'_>) -> ControlFlow<()> {
    ///         self.1 += 1;
    ///         if self.1 == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    ///     }
    /// }
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let traces = ltt_read::open_all(path)?;
    /// let switch = traces[0].event_types_named("sched_switch").next();
    /// let mut merge = Merge::new(&traces);
    /// let events = merge.drive(u64::MAX, &mut Tenth(switch, 0));
    /// assert!(events > 10);
    /// assert_eq!(merge.current().map(|event| event.type_id()), switch);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    #[inline]
    pub fn drive(&mut self, most: u64, sink: &mut impl EventSink) -> u64 {
        let mut count = 0;
        while count < most {
            let number = self.current;
            let is_wanted = 'found: {
                match self.cursors.get_mut(number as usize) {
                    None => _ = self.start(),
                    Some(cursor) => {
                        let key = loop {
                            if cursor.advance_quickly().is_none() {
                                break self.advance_slowly(number);
                            }
                            let key = key(cursor, number);
                            if key >= self.order.runner_up {
                                break key;
                            }
                            if sink.accepts(TracefileNumber(number as usize), &cursor.event()) {
                                break 'found true;
                            }
                            count += 1;
                            if count == most {
                                return count;
                            }
                        };
                        self.select_after(number, key);
                    }
                }
                match self.current() {
                    Some(event) => sink.accepts(TracefileNumber(self.current as usize), &event),
                    None => return count,
                }
            };
            count += 1;
            if is_wanted {
                let number = self.current as usize;
                let event = self.cursors[number].event();
                if sink.receive(self, TracefileNumber(number), &event).is_break() {
                    break;
                }
            }
        }
        count
    }

    /// Reads up to the next event for which `wanted` returns `true` and returns that
    /// event; `None` if there is none. Faster than [`next`](Self::next) if few events are
    /// wanted: the others are skipped tracefile by tracefile, before events are put in
    /// order.
    ///
    /// `wanted` must be consistent: it may be called twice for one event. The order is
    /// that of [`next`](Self::next), even if a clock goes back.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let traces = ltt_read::open_all(path)?;
    /// let mut merge = ltt_read::Merge::new(&traces);
    /// let switch = traces[0].event_types_named("sched_switch").next();
    /// let mut switches = 0;
    /// while let Some(event) = merge.next_where(|event| Some(event.type_id()) == switch) {
    ///     switches += 1;
    /// }
    /// assert_eq!(switches, 497);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    #[inline]
    pub fn next_where(&mut self, mut wanted: impl FnMut(&Event<'_>) -> bool) -> Option<Event<'_>> {
        self.next_taken(|event| if wanted(event) { Decision::Stop } else { Decision::Leave })
    }

    /// Reads up to the next event that `look` accepts and returns that event, like
    /// [`next_where`](Self::next_where). An event that was accepted with [`Decision::Take`]
    /// is not tested again when it is delivered. Acceptance is forgotten after a seek,
    /// and for the events that [`next`](Self::next) returns.
    #[inline]
    pub(crate) fn next_taken(
        &mut self,
        look: impl FnMut(&Event<'_>) -> Decision,
    ) -> Option<Event<'_>> {
        self.advance_where(look).then(|| self.cursors[self.current as usize].event())
    }

    #[inline]
    fn advance_where(&mut self, mut look: impl FnMut(&Event<'_>) -> Decision) -> bool {
        // `true` if the current cursor's event has been read but not tested.
        let mut is_untested = false;
        if self.current().is_none() {
            match self.start_where() {
                Winner::Untested => is_untested = true,
                winner => return winner == Winner::Accepted,
            }
        }
        loop {
            let number = self.current;
            let mut cursor = &mut self.cursors[number as usize];
            let key = loop {
                if !mem::take(&mut is_untested) && cursor.advance_quickly().is_none() {
                    let key = self.advance_and_track(number);
                    if key >= self.limit {
                        break key;
                    }
                    cursor = &mut self.cursors[number as usize];
                }
                match look(&cursor.event()) {
                    Decision::Leave => {}
                    Decision::Take => {
                        break delivery_key(&self.delivery_floor, key(cursor, number) & !UNTESTED);
                    }
                    Decision::Stop => {
                        break delivery_key(&self.delivery_floor, key(cursor, number));
                    }
                }
            };
            if key < self.order.runner_up {
                return true;
            }
            match self.replay_where(number, key) {
                Winner::Untested => is_untested = true,
                winner => return winner == Winner::Accepted,
            }
        }
    }

    /// Selects the first event in order, if there is no current event.
    #[inline(never)]
    fn start_where(&mut self) -> Winner {
        if !self.loaded {
            self.load_all();
        }
        self.select_winner_where()
    }

    /// Selects the next event in order, after the current cursor lost the tournament.
    #[inline(never)] // for the same reason as `replay`
    fn replay_where(&mut self, number: u32, key: u128) -> Winner {
        self.order.replay(number, key);
        self.select_winner_where()
    }

    #[inline(always)]
    fn select_winner_where(&mut self) -> Winner {
        // Events that were loaded in another way have not been tested.
        let is_untested = self.order.winner() & UNTESTED != 0;
        match self.select_winner() {
            None => Winner::None,
            Some(_) if is_untested => Winner::Untested,
            Some(_) => Winner::Accepted,
        }
    }

    /// Advances a cursor to an event of any form, recovering from errors. Returns its new
    /// key.
    #[inline(never)]
    fn advance_slowly(&mut self, number: u32) -> u128 {
        let step = self.cursors[number as usize].advance();
        self.key_after_step(number, step)
    }

    /// Advances a cursor whose previous event may have been skipped. If the time of that was
    /// later, raises the tracefile's delivery floor to it. Returns the new key.
    #[inline(never)]
    fn advance_and_track(&mut self, number: u32) -> u128 {
        let before = self.cursors[number as usize].last_timestamp();
        let new = self.advance_slowly(number);
        let time = self.cursors[number as usize].current().timestamp;
        if new != END && time.is_none_or(|time| time < before) && before > Timestamp::MIN {
            if self.delivery_floor.is_empty() {
                self.delivery_floor = vec![0; self.cursors.len()];
            }
            let floor = &mut self.delivery_floor[number as usize];
            *floor = (*floor).max(key_at(before, number));
        }
        new
    }

    /// Returns the time at which the current event is delivered in the order of all
    /// events. This is its own time, or the time of an earlier event of its tracefile if
    /// the clock went back after that event while events were skipped. `None` if there is
    /// no current event, or if it has no time.
    #[inline]
    pub(crate) fn delivery_time(&self) -> Option<Timestamp> {
        let time = self.current()?.timestamp();
        match self.delivery_floor.get(self.current as usize) {
            Some(floor) if *floor > 0 => time.max(Some(time_of(*floor))),
            _ => time,
        }
    }

    /// Selects the next event in order, after the current cursor got a new key.
    #[inline(always)]
    fn select_after(&mut self, number: u32, key: u128) -> Option<Event<'_>> {
        // Streams come in bursts: most events have the same stream as the previous one.
        if key < self.order.runner_up {
            return Some(self.cursors[number as usize].event());
        }
        self.replay(number, key)
    }

    /// Selects the next event in order, after the current cursor lost the tournament.
    #[inline(never)] // so that no registers are saved for it during bursts
    fn replay(&mut self, number: u32, key: u128) -> Option<Event<'_>> {
        self.order.replay(number, key);
        if let Some(keys) = self.order.coming() {
            self.coming.prefetch(keys, &self.cursors);
        }
        self.select_winner()
    }

    /// Selects the first event in order, if there is no current event.
    #[inline(never)]
    fn start(&mut self) -> Option<Event<'_>> {
        if !self.loaded {
            self.load_all();
        }
        self.select_winner()
    }

    /// Makes the winner of the tournament the current event.
    fn select_winner(&mut self) -> Option<Event<'_>> {
        let winner = self.order.winner();
        if winner >= self.limit {
            self.current = NO_CURSOR;
            return None;
        }
        self.current = number_of(winner);
        Some(self.cursors[self.current as usize].event())
    }

    /// Seeks the position before the first event of each tracefile whose timestamp is
    /// `time` or later, forwards or backwards. Events without a timestamp are before all
    /// times except [`Timestamp::MIN`].
    ///
    /// If a packet that has to be searched is damaged, the error is kept for
    /// [`errors`](Self::errors), and the tracefile continues after the damage.
    pub fn seek(&mut self, time: Timestamp) {
        self.seek_each(|_| time);
    }

    /// Seeks a time of its own in each trace, like [`seek`](Self::seek): for readers that know what
    /// they need of some traces up to a later time than of others.
    pub fn seek_each(&mut self, time_in: impl Fn(TraceIndex) -> Timestamp) {
        let Self { cursors, roles, damage, .. } = self;
        let is_sought = |(number, _): &(usize, _)| !is_left_out(roles, *number);
        let sought = cursors.iter_mut().enumerate().filter(is_sought).map(|(_, cursor)| cursor);
        sought.for_each(|cursor| {
            seek_time(cursor, time_in(TraceIndex(cursor.trace_number())), damage)
        });
        self.reset_order();
        self.note_indexes();
    }

    /// Returns a time of delivery by which every event before `end` has been delivered:
    /// in the order of this merge, no event at or after the returned time is followed by
    /// an event before `end`. The result is `end` itself, unless the clock of a tracefile
    /// goes back. `None` if an event before `end` may follow up to the end of the traces.
    ///
    /// The events of a time window are therefore those with a time in the window that are
    /// read between [seeking](Self::seek) its start and the first event at or after the
    /// returned time.
    ///
    /// This computes the [times of packets](crate::Trace::packet_times) of all
    /// tracefiles, unless they are known.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// # let traces = ltt_read::open_all(path)?;
    /// let mut merge = ltt_read::Merge::new(&traces);
    /// let end = (0..1000).find_map(|_| merge.next()?.timestamp()).expect("a kernel's trace");
    /// // Its clock never goes back.
    /// assert_eq!(merge.delivered_by(end), Some(end));
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn delivered_by(&mut self, end: Timestamp) -> Option<Timestamp> {
        let mut by = Some(end);
        for (number, cursor) in self.cursors.iter().enumerate() {
            if !is_left_out(&self.roles, number) {
                let times = cursor.trace().packet_times(cursor.tracefile_index());
                by = by.zip(times.delivered_by(end)).map(|(a, b)| a.max(b));
            }
        }
        self.note_indexes();
        by
    }

    /// Collects the notices about index files and times of packets, each once.
    pub(crate) fn note_indexes(&mut self) {
        self.noted.resize(self.cursors.len(), 0);
        for (cursor, noted) in self.cursors.iter().zip(&mut self.noted) {
            let known = self.notices.len();
            let notices = cursor.tracefile().index.notices();
            self.notices.extend(notices.skip(*noted).cloned());
            *noted += self.notices.len() - known;
        }
    }

    /// Ends the read: returns the first of the [`errors`](Self::errors), so that damage is
    /// not taken for the end of the traces. A program that accepts damage prints
    /// [`errors`](Self::errors) instead.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let traces = ltt_read::open_all(path)?;
    /// let mut merge = ltt_read::Merge::new(&traces);
    /// let mut events = 0;
    /// while let Some(event) = merge.next() {
    ///     events += 1;
    /// }
    /// merge.finish()?;
    /// assert_eq!(events, 6087); // all of them
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the merge met damage since the last call of
    /// [`take_errors`](Self::take_errors).
    pub fn finish(mut self) -> Result<(), Error> {
        self.take_errors().into_iter().next().map_or(Ok(()), Err)
    }

    /// Returns the errors that ended tracefiles or packets so far, in the order in which
    /// the merge met them and each once. At most 4096 are kept;
    /// [`errors_omitted`](Self::errors_omitted) counts the others. Callers should look at
    /// the errors after the last event, or at the result of [`finish`](Self::finish):
    /// without this, a damaged trace cannot be told from a short one.
    pub fn errors(&self) -> &[Error] {
        self.damage.errors()
    }

    /// Returns the number of errors that were dropped since the merge was created,
    /// because 4096 were already waiting for [`take_errors`](Self::take_errors).
    ///
    /// An error that was dropped cannot be recognised: it is counted each time that the
    /// merge meets it, for instance again after a seek backwards.
    pub fn errors_omitted(&self) -> u64 {
        self.damage.omitted()
    }

    /// Returns and removes the [`errors`](Self::errors) since the last call.
    pub fn take_errors(&mut self) -> Vec<Error> {
        self.damage.drain()
    }

    /// Returns and removes the notices about all tracefiles since the last call.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        let mut notices = mem::take(&mut self.notices);
        for cursor in &mut self.cursors {
            notices.append(&mut cursor.take_notices());
        }
        notices
    }

    /// Returns the number of notices that were dropped since the merge was created,
    /// because 1024 of their tracefile were already waiting for
    /// [`take_notices`](Self::take_notices).
    pub fn notices_omitted(&self) -> u64 {
        self.cursors.iter().map(Cursor::notices_omitted).sum()
    }

    /// Returns how much of the data stream files has been read. Tracefiles that are left
    /// out count as read.
    pub fn progress(&self) -> Progress {
        let done = |(number, cursor): (usize, &Cursor)| match is_left_out(&self.roles, number) {
            true => cursor.tracefile().size(),
            false => cursor.bytes_done(),
        };
        let done = self.cursors.iter().enumerate().map(done).sum();
        Progress { done, total: self.bytes_total }
    }

    /// Removes the keys of tracefiles that are left out from the order.
    pub(crate) fn remove_left_out(&mut self) {
        self.limit_again();
        self.order.remove(|number| is_left_out(&self.roles, number as usize));
        self.order.mark_winner_untested();
    }

    /// Sums the sizes of the tracefiles.
    fn count_bytes(&mut self) {
        self.bytes_total = self.cursors.iter().map(|c| c.tracefile().size()).sum();
    }

    /// Forgets the current event and the order of the tracefiles, after cursors have moved.
    pub(crate) fn reset_order(&mut self) {
        self.current = NO_CURSOR;
        self.loaded = false;
        self.delivered = Timestamp::MIN;
        self.delivery_floor.clear();
        self.limit = END;
        self.pending.clear();
    }

    /// Reads the first event of each tracefile and plays the whole tournament.
    #[cold]
    pub(crate) fn load_all(&mut self) {
        self.current = NO_CURSOR;
        self.loaded = true;
        self.limit = END;
        self.pending.clear();
        self.order.clear();
        for number in 0..self.cursors.len() as u32 {
            let key = match is_left_out(&self.roles, number as usize) {
                true => END,
                false => {
                    let step = self.cursors[number as usize].advance();
                    self.key_after_step(number, step)
                }
            };
            self.order.add(number, key);
        }
        self.order.start();
    }

    /// Returns the key of a cursor after a step, skipping packets after errors.
    #[cold]
    fn key_after_step(&mut self, number: u32, mut step: Result<bool, Error>) -> u128 {
        let cursor = &mut self.cursors[number as usize];
        loop {
            match step {
                Ok(true) => return key(cursor, number),
                Ok(false) if cursor.is_pending() => break,
                Ok(false) => return END,
                Err(error) => {
                    self.damage.keep(error);
                    if !cursor.skip_packet() {
                        return END;
                    }
                    step = cursor.advance();
                }
            }
        }
        self.wait_for(number)
    }
}

/// The role of a tracefile in a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The tracefile is merged.
    Merged,
    /// The tracefile is left out. Its next event has been read but not delivered.
    LeftOutRead,
    /// The tracefile is left out. Its next event has not been read.
    LeftOut,
}

impl Role {
    fn is_left_out(self) -> bool {
        self != Role::Merged
    }
}

/// Returns `true` if a tracefile is left out, given the roles of a merge.
fn is_left_out(roles: &[Role], number: usize) -> bool {
    roles.get(number).is_some_and(|role| role.is_left_out())
}

/// Seeks the position before the first event of a tracefile whose timestamp is `time` or later,
/// skipping damaged packets, whose errors are kept.
fn seek_time(cursor: &mut Cursor, time: Timestamp, damage: &mut Damage) {
    if let Err(error) = cursor.seek_time(time) {
        damage.keep(error);
        cursor.seek_after_damage(time, |error| damage.keep(error));
    }
}

/// Creates cursors at the start of some tracefiles.
fn cursors_of(
    traces: &[Arc<Trace>],
    tracefiles: &[(TraceIndex, TracefileIndex)],
) -> impl Iterator<Item = Cursor> {
    let cursor = |(trace, tracefile): &(TraceIndex, TracefileIndex)| {
        traces[trace.0].cursor(*tracefile).with_trace_number(trace.0)
    };
    tracefiles.iter().map(cursor)
}

/// Returns the key at which an event is delivered, which is at least the delivery floor of
/// its tracefile.
#[inline(always)]
fn delivery_key(delivery_floor: &[u128], key: u128) -> u128 {
    match delivery_floor.get(number_of(key) as usize) {
        None => key,
        Some(floor) => key.max(*floor | key & UNTESTED),
    }
}

/// The next event in order, with respect to the filter of [`Merge::next_taken`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Winner {
    /// There are no more events.
    None,
    /// The event was accepted.
    Accepted,
    /// The event has not been tested, or has to be tested again.
    Untested,
}

/// A part of a whole, in bytes of data stream files.
// Exhaustive: a pair of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// The number of bytes that have been read.
    pub done: u64,
    /// The number of all bytes.
    pub total: u64,
}

/// The decision about an event while a merge advances.
// Exhaustive: a caller has to tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Skips the event.
    Leave,
    /// Returns the event when it is next in order, without another test.
    Take,
    /// Returns the event when it is next in order. If other events come before it, it is
    /// tested again then.
    Stop,
}
