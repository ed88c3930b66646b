//! All tracefiles of several traces, in time order.

mod damage;
mod key;
mod listener;
mod seek;
mod tournament;

use std::mem;
use std::sync::Arc;

use crate::cursor::Cursor;
use crate::error::Error;
use crate::event::Event;
use crate::notice::Notice;
use crate::time::Timestamp;
use crate::trace::Trace;

pub(crate) use damage::Damage;
use key::{END, OPEN, key, key_at, number_of, time_of};
pub use listener::Listener;
pub(crate) use seek::reach_all;
use tournament::Tournament;

/// No cursor.
pub(crate) const NOBODY: u32 = u32::MAX;

/// Merges the events of many tracefiles into one sequence, ordered by
/// timestamp; events of one time by trace, tracefile and place in it. Events
/// without a time come before all others. Those of one tracefile keep their
/// order even where its clock goes back.
///
/// After damage in a packet, the next packet of its tracefile is read; if none can be
/// found in that file, the tracefile's next file is read, and without one the tracefile
/// ends there. The error is kept for [`errors`](Self::errors), and the other tracefiles
/// go on.
///
/// ```
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traces = ltt_read::open_all(path)?;
/// let mut merge = ltt_read::Merge::new(&traces);
/// while let Some(event) = merge.next() {
///     println!("{:?} {}", event.timestamp(), event.event_type().name());
/// }
/// for error in merge.errors() {
///     eprintln!("{error}");
/// }
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug)]
pub struct Merge {
    pub(crate) cursors: Vec<Cursor>,
    pub(crate) tree: Tournament,
    /// The cursor whose event was given last, to be advanced first.
    pub(crate) current: u32,
    /// Whether each cursor stands on its next event, or has none.
    pub(crate) loaded: bool,
    pub(crate) damage: Damage,
    notices: Vec<Notice>,
    /// How many of the notices about the packet index of each tracefile have been noted.
    noted: Vec<usize>,
    bytes_total: u64,
    /// Which tracefiles are left out for now; empty if none is.
    pub(crate) left_out: Vec<bool>,
    /// By tracefile, the key that its events have to wait for: that of an earlier event,
    /// which was passed over, if the clock went back after it. Empty if no clock did.
    awaited: Vec<u128>,
}

impl Merge {
    /// All tracefiles of these traces, from their beginning. Nothing is read yet.
    pub fn new(traces: &[Arc<Trace>]) -> Self {
        Self::of_tracefiles(traces, |_, _| true)
    }

    /// Some tracefiles of these traces: those for which `wanted`, asked with the
    /// numbers of a trace and of a tracefile in it, says yes. The others are not
    /// touched.
    pub fn of_tracefiles(
        traces: &[Arc<Trace>],
        mut wanted: impl FnMut(usize, usize) -> bool,
    ) -> Self {
        let mut cursors = Vec::new();
        for (number, trace) in traces.iter().enumerate() {
            for tracefile in (0..trace.tracefiles().len()).filter(|t| wanted(number, *t)) {
                cursors.push(trace.cursor(tracefile).of_trace(number));
            }
        }
        let bytes_total = cursors.iter().map(|c| c.tracefile().size()).sum();
        Merge {
            tree: Tournament::new(cursors.len()),
            cursors,
            current: NOBODY,
            loaded: false,
            damage: Damage::default(),
            notices: Vec::new(),
            noted: Vec::new(),
            bytes_total,
            left_out: Vec::new(),
            awaited: Vec::new(),
        }
    }

    /// The next event in time order; `None` after the last.
    #[allow(clippy::should_implement_trait)] // events borrow the merge
    #[inline]
    pub fn next(&mut self) -> Option<Event<'_>> {
        let number = self.current;
        let Some(cursor) = self.cursors.get_mut(number as usize) else { return self.begin() };
        let key = match cursor.advance_quickly() {
            Some(()) => key(cursor, number),
            None => self.advance_any(number),
        };
        self.play(number, key)
    }

    /// Goes on over events, in order, until there are no more, or so many, or the
    /// listener breaks. Tells how many they were; the last is
    /// [`current`](Self::current) if the listener broke at it.
    ///
    /// The same as [`next`](Self::next) again and again, but faster for one who wants
    /// but some of the events.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use ltt_read::schema::EventTypeId;
    /// use ltt_read::{Event, Listener, Merge};
    ///
    /// /// Stops at the tenth event of a type.
    /// struct Tenth(Option<EventTypeId>, u32);
    ///
    /// impl Listener for Tenth {
    ///     fn wants(&mut self, _: usize, event: &Event<'_>) -> bool {
    ///         Some(event.type_id()) == self.0
    ///     }
    ///
    ///     fn hear(&mut self, _: &Merge, _: usize, _: &Event<'_>) -> ControlFlow<()> {
    ///         self.1 += 1;
    ///         if self.1 == 10 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    ///     }
    /// }
    ///
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// let traces = ltt_read::open_all(path)?;
    /// let switch = traces[0].event_types_named("sched_switch").next();
    /// let mut merge = Merge::new(&traces);
    /// let events = merge.tell(u64::MAX, &mut Tenth(switch, 0));
    /// assert!(events > 10);
    /// assert_eq!(merge.current().map(|event| event.type_id()), switch);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    #[inline]
    pub fn tell(&mut self, most: u64, listener: &mut impl Listener) -> u64 {
        let mut told = 0;
        while told < most {
            let number = self.current;
            let is_wanted = 'found: {
                match self.cursors.get_mut(number as usize) {
                    None => _ = self.begin(),
                    Some(cursor) => {
                        let key = loop {
                            if cursor.advance_quickly().is_none() {
                                break self.advance_any(number);
                            }
                            let key = key(cursor, number);
                            if key >= self.tree.runner_up {
                                break key;
                            }
                            if listener.wants(number as usize, &cursor.event()) {
                                break 'found true;
                            }
                            told += 1;
                            if told == most {
                                return told;
                            }
                        };
                        self.play(number, key);
                    }
                }
                match self.current() {
                    Some(event) => listener.wants(self.current_tracefile(), &event),
                    None => return told,
                }
            };
            told += 1;
            if is_wanted {
                let number = self.current_tracefile();
                let event = self.cursors[number].event();
                if listener.hear(self, number, &event).is_break() {
                    break;
                }
            }
        }
        told
    }

    /// The next event for which `wanted` says yes; `None` if there is none any
    /// more. Faster than [`next`](Self::next) if few are wanted: the others are
    /// passed tracefile by tracefile, before they are put in order.
    ///
    /// `wanted` must not change its mind: it may be asked twice of one event. The
    /// order is that of [`next`](Self::next), also where a clock goes back.
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
        self.next_taken(|event| if wanted(event) { Look::Stop } else { Look::Leave })
    }

    /// As [`next_where`](Self::next_where), but what was taken once stays taken,
    /// and is not looked at again when its turn comes. Going anywhere else forgets
    /// that; so does [`next`](Self::next) for the events that it gives.
    #[inline]
    pub fn next_taken(&mut self, look: impl FnMut(&Event<'_>) -> Look) -> Option<Event<'_>> {
        self.advance_taken(look).then(|| self.cursors[self.current as usize].event())
    }

    #[inline]
    fn advance_taken(&mut self, mut look: impl FnMut(&Event<'_>) -> Look) -> bool {
        // Whether the current cursor stands on an event that was not looked at.
        let mut stands = false;
        if self.current().is_none() {
            match self.begin_taken() {
                Turn::Open => stands = true,
                turn => return turn == Turn::Taken,
            }
        }
        loop {
            let number = self.current;
            let mut cursor = &mut self.cursors[number as usize];
            let key = loop {
                if !mem::take(&mut stands) && cursor.advance_quickly().is_none() {
                    if self.advance_past(number) == END {
                        break END;
                    }
                    cursor = &mut self.cursors[number as usize];
                }
                match look(&cursor.event()) {
                    Look::Leave => {}
                    Look::Take => break in_order(&self.awaited, key(cursor, number) & !OPEN),
                    Look::Stop => break in_order(&self.awaited, key(cursor, number)),
                }
            };
            if key < self.tree.runner_up {
                return true;
            }
            match self.turn_taken(number, key) {
                Turn::Open => stands = true,
                turn => return turn == Turn::Taken,
            }
        }
    }

    /// Goes to the event whose turn it is where none has been given before it.
    #[inline(never)]
    fn begin_taken(&mut self) -> Turn {
        if !self.loaded {
            self.load_all();
        }
        self.winner_taken()
    }

    /// Goes to the event whose turn it is, once the current cursor's is no more.
    #[inline(never)] // as `turn`
    fn turn_taken(&mut self, number: u32, key: u128) -> Turn {
        self.tree.replay(number as usize, key);
        self.winner_taken()
    }

    #[inline(always)]
    fn winner_taken(&mut self) -> Turn {
        // It may have been loaded by other means than looking at it.
        let is_open = self.tree.winner() & OPEN != 0;
        match self.winner() {
            None => Turn::Nobodys,
            Some(_) if is_open => Turn::Open,
            Some(_) => Turn::Taken,
        }
    }

    /// Advances a cursor in whatever way it takes; gives its key.
    #[inline(never)]
    fn advance_any(&mut self, number: u32) -> u128 {
        let step = self.cursors[number as usize].advance();
        self.settle(number, step)
    }

    /// The same where the event before may have been passed over: if its time was
    /// later, the new one has to wait for that.
    #[inline(never)]
    fn advance_past(&mut self, number: u32) -> u128 {
        let before = self.cursors[number as usize].last_timestamp();
        let new = self.advance_any(number);
        let time = self.cursors[number as usize].current().timestamp;
        if new != END && time.is_none_or(|time| time < before) && before > Timestamp::MIN {
            if self.awaited.is_empty() {
                self.awaited = vec![0; self.cursors.len()];
            }
            let awaited = &mut self.awaited[number as usize];
            *awaited = (*awaited).max(key_at(before, number));
        }
        new
    }

    /// When the event given last is delivered in the order of all events: at its own
    /// time, or at that of an earlier event of its tracefile from which the clock went
    /// back while events were passed over. `None` if there is no event, or no time.
    #[inline]
    pub fn delivery_time(&self) -> Option<Timestamp> {
        let time = self.current()?.timestamp();
        match self.awaited.get(self.current as usize) {
            Some(awaited) if *awaited > 0 => time.max(Some(time_of(*awaited))),
            _ => time,
        }
    }

    /// The event whose turn it is, after the current cursor got a new key.
    #[inline(always)]
    fn play(&mut self, number: u32, key: u128) -> Option<Event<'_>> {
        // Streams come in bursts: most events follow one of the same stream.
        if key < self.tree.runner_up {
            return Some(self.cursors[number as usize].event());
        }
        self.turn(number, key)
    }

    /// The event whose turn it is, once the current cursor's is no more.
    #[inline(never)] // so that nothing is put aside for it while bursts last
    fn turn(&mut self, number: u32, key: u128) -> Option<Event<'_>> {
        self.tree.replay(number as usize, key);
        self.winner()
    }

    /// The event whose turn it is, where none has been given before it.
    #[inline(never)]
    fn begin(&mut self) -> Option<Event<'_>> {
        if !self.loaded {
            self.load_all();
        }
        self.winner()
    }

    /// The event whose turn it is.
    fn winner(&mut self) -> Option<Event<'_>> {
        let winner = self.tree.winner();
        if winner == END {
            self.current = NOBODY;
            return None;
        }
        self.current = number_of(winner);
        Some(self.cursors[self.current as usize].event())
    }

    /// Goes before the first event of each tracefile whose timestamp is `time`
    /// or later. Backwards is as good as forwards. Events without a time come
    /// before all times but [`Timestamp::MIN`].
    pub fn seek(&mut self, time: Timestamp) {
        let Self { cursors, left_out, damage, .. } = self;
        let is_sought = |(number, _): &(usize, _)| left_out.get(*number) != Some(&true);
        let sought = cursors.iter_mut().enumerate().filter(is_sought).map(|(_, cursor)| cursor);
        reach_all(sought, time, |error| damage.keep(error));
        self.unload();
        self.note_indexes();
    }

    /// Returns a time by which every event before `end` has been delivered: no event at or
    /// after it, in the order of this merge, is followed by one before `end`. That is `end`
    /// itself, unless the clock of a tracefile goes back. `None` if such an event may come
    /// as long as there are events.
    ///
    /// So the events of a window are those between its times that come after
    /// [seeking](Self::seek) its start and before the first event at the returned time or
    /// later.
    ///
    /// This needs the [times of packets](crate::Trace::packet_times).
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
            if self.left_out.get(number) != Some(&true) {
                let times = cursor.trace().packet_times(cursor.tracefile_index());
                by = by.zip(times.delivered_by(end)).map(|(a, b)| a.max(b));
            }
        }
        self.note_indexes();
        by
    }

    /// Notes what is wrong with index files and times of packets, each once.
    pub(crate) fn note_indexes(&mut self) {
        self.noted.resize(self.cursors.len(), 0);
        for (cursor, noted) in self.cursors.iter().zip(&mut self.noted) {
            let known = self.notices.len();
            let notices = cursor.tracefile().index.notices();
            self.notices.extend(notices.skip(*noted).cloned());
            *noted += self.notices.len() - known;
        }
    }

    /// Errors that ended tracefiles or spoilt packets so far, in the order in
    /// which they were met, each once; no more than the first 4096 of them:
    /// [`errors_omitted`](Self::errors_omitted) counts the others. Look at them
    /// after the last event: without, a damaged trace cannot be told from a short
    /// one.
    pub fn errors(&self) -> &[Error] {
        self.damage.errors()
    }

    /// Returns how many errors were met since the merge was made, but not kept,
    /// because 4096 were waiting for [`drain_errors`](Self::drain_errors) already.
    ///
    /// An error that is not kept cannot be recognised: it counts once for each time
    /// that the merge meets it, for instance again after a seek backwards.
    pub fn errors_omitted(&self) -> u64 {
        self.damage.omitted()
    }

    /// Takes the [`errors`](Self::errors) met since the last call.
    pub fn drain_errors(&mut self) -> Vec<Error> {
        self.damage.drain()
    }

    /// Takes the notices of all tracefiles that came up since the last call.
    pub fn drain_notices(&mut self) -> Vec<Notice> {
        let mut notices = mem::take(&mut self.notices);
        for cursor in &mut self.cursors {
            notices.append(&mut cursor.take_notices());
        }
        notices
    }

    /// Returns how many notices came up since the merge was made, but were not kept,
    /// because 1024 of their tracefile were waiting for
    /// [`drain_notices`](Self::drain_notices) already.
    pub fn notices_omitted(&self) -> u64 {
        self.cursors.iter().map(Cursor::notices_omitted).sum()
    }

    /// Bytes of all data stream files read so far, and in total. Tracefiles that
    /// are left out count as read.
    pub fn progress(&self) -> (u64, u64) {
        let done = |(number, cursor): (usize, &Cursor)| match self.left_out.get(number) {
            Some(true) => cursor.tracefile().size(),
            _ => cursor.bytes_done(),
        };
        (self.cursors.iter().enumerate().map(done).sum(), self.bytes_total)
    }

    /// Takes the keys of tracefiles that are left out from the tournament.
    pub(crate) fn silence(&mut self) {
        for (number, _) in self.left_out.iter().enumerate().filter(|(_, left_out)| **left_out) {
            self.tree.set(number, END);
        }
        self.tree.play_all();
        self.tree.open_winner();
    }

    /// To be called when cursors have been moved.
    pub(crate) fn unload(&mut self) {
        self.current = NOBODY;
        self.loaded = false;
        self.awaited.clear();
    }

    #[cold]
    pub(crate) fn load_all(&mut self) {
        self.current = NOBODY;
        self.loaded = true;
        for number in 0..self.cursors.len() as u32 {
            let key = match self.left_out.get(number as usize) {
                Some(true) => END,
                _ => {
                    let step = self.cursors[number as usize].advance();
                    self.settle(number, step)
                }
            };
            self.tree.set(number as usize, key);
        }
        self.tree.play_all();
    }

    /// The key of a cursor after a step, recovering from errors.
    #[cold]
    fn settle(&mut self, number: u32, mut step: Result<bool, Error>) -> u128 {
        let cursor = &mut self.cursors[number as usize];
        loop {
            match step {
                Ok(true) => return key(cursor, number),
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
    }
}

/// The key of an event that may have to wait for an earlier one of its tracefile.
#[inline(always)]
fn in_order(awaited: &[u128], key: u128) -> u128 {
    match awaited.get(number_of(key) as usize) {
        None => key,
        Some(awaited) => key.max(*awaited | key & OPEN),
    }
}

/// What is known of the event whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// There is none.
    Nobodys,
    /// It was taken.
    Taken,
    /// It has to be looked at.
    Open,
}

/// What to do with an event that a merge has come to: see [`Merge::next_taken`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// Pass over it.
    Leave,
    /// Give it when its turn comes.
    Take,
    /// Give it when its turn comes, if it is not left then: it is looked at again.
    Stop,
}
