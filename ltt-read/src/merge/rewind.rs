//! Rewinding of a merge: to before the current event, or to saved positions.

use super::{Damage, Merge, NO_CURSOR, Role, seek_time};
use crate::base::time::Timestamp;
use crate::cursor::{Cursor, Position};
use crate::event::Event;
use crate::trace::{TracefileNumber, Waypoints};

impl Merge {
    /// Un-reads the current event: [`next`](Self::next) returns it again. Does nothing if
    /// there is no event since the last call or seek.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// # let traces = ltt_read::open_all(path)?;
    /// let mut merge = ltt_read::Merge::new(&traces);
    /// let first = merge.next().map(|event| event.timestamp());
    /// merge.unread();
    /// assert_eq!(merge.next().map(|event| event.timestamp()), first);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    #[inline]
    pub fn unread(&mut self) {
        self.current = NO_CURSOR;
        self.order.mark_winner_untested();
    }

    /// Returns the current event, which is the last one returned; `None` before the first
    /// event, after the last one, after a seek and after [`unread`](Self::unread).
    #[inline]
    pub fn current(&self) -> Option<Event<'_>> {
        self.cursors.get(self.current as usize).map(Cursor::event)
    }

    /// Returns the number of the current event's tracefile among those of all traces;
    /// `None` if there is no [current event](Self::current).
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// # let traces = ltt_read::open_all(path)?;
    /// let mut merge = ltt_read::Merge::new(&traces);
    /// assert_eq!(merge.current_tracefile(), None);
    /// let name = merge.next().map(|event| event.tracefile().name().to_owned());
    /// let number = merge.current_tracefile().expect("an event");
    /// assert_eq!(name.as_deref(), Some(traces[0].tracefiles()[number.0].name()));
    /// merge.unread();
    /// assert_eq!(merge.current_tracefile(), None);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    #[inline(always)]
    pub fn current_tracefile(&self) -> Option<TracefileNumber> {
        let number = self.current as usize;
        (number < self.cursors.len()).then_some(TracefileNumber(number))
    }

    /// Returns the positions of all tracefiles, those of the first trace first. The
    /// position is before the current event for its tracefile, and before the next event
    /// for each of the others.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// # let traces = ltt_read::open_all(path)?;
    /// # let mut merge = ltt_read::Merge::new(&traces);
    /// let time = merge.next().map(|event| event.timestamp());
    /// let positions = merge.positions();
    /// while merge.next().is_some() {}
    /// merge.seek_positions(&positions);
    /// assert_eq!(merge.next().map(|event| event.timestamp()), time);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn positions(&self) -> Vec<Position> {
        let position =
            |(cursor, number): (&Cursor, u32)| cursor.undelivered_position(self.has_read(number));
        self.cursors.iter().zip(0..).map(position).collect()
    }

    /// Returns the positions of all tracefiles, those of the first trace first, after the
    /// current event: see [`positions`](Self::positions).
    pub(crate) fn positions_after(&self) -> Vec<Position> {
        let position = |(cursor, number): (&Cursor, u32)| {
            cursor.undelivered_position(self.has_read_ahead(number))
        };
        self.cursors.iter().zip(0..).map(position).collect()
    }

    /// Notes the places at which the tracefiles are as waypoints, where they are far enough from
    /// others. There is one set for each trace of the merge, in their order. A program that calls
    /// this after each some thousands of events has the waypoints of what it has read.
    ///
    /// [`Waypoints`] has an example.
    pub fn note_waypoints(&self, waypoints: &mut [Waypoints]) {
        if waypoints.is_empty() {
            return;
        }
        for cursor in &self.cursors {
            if let Some(waypoints) = waypoints.get_mut(cursor.trace_number()) {
                cursor.note_waypoint(waypoints);
            }
        }
    }

    /// Returns `true` if the next event of a tracefile, if there is one, has been read but is
    /// not delivered yet.
    fn has_read_ahead(&self, number: u32) -> bool {
        number != self.current && self.has_read(number)
    }

    /// Returns `true` if the current or next event of a tracefile, if there is one, has been read.
    pub(super) fn has_read(&self, number: u32) -> bool {
        match self.roles.get(number as usize) {
            Some(Role::LeftOutRead) => true,
            Some(Role::LeftOut) => false,
            Some(Role::Merged) | None => self.loaded && !self.is_waiting_for(number),
        }
    }

    /// Returns the position after the current event in its tracefile; `None` if there is
    /// no current event.
    pub(crate) fn position_after(&self) -> Option<Position> {
        self.cursors.get(self.current as usize).map(Cursor::position)
    }

    /// Seeks a position in the order of all events that is given by a position in one
    /// tracefile: before or after an event whose [time of delivery](Self::delivery_time)
    /// is `time`. The other tracefiles seek that time. No tracefile is left out
    /// afterwards.
    pub(crate) fn seek_delivery(
        &mut self,
        time: Timestamp,
        tracefile: TracefileNumber,
        place: Position,
    ) {
        self.note_indexes();
        self.roles.clear();
        let Self { cursors, damage, .. } = self;
        let own = tracefile.0.min(cursors.len());
        let (before, rest) = cursors.split_at_mut(own);
        let (own, after) = rest.split_at_mut(rest.len().min(1));
        // Events of equal times are ordered by tracefile.
        match time.as_ns().checked_add(1) {
            Some(next) => {
                let next = Timestamp::from_ns(next);
                before.iter_mut().for_each(|cursor| seek_time(cursor, next, damage));
            }
            None => before.iter_mut().for_each(|cursor| seek(cursor, Position::END, damage)),
        }
        own.iter_mut().for_each(|cursor| seek(cursor, place, damage));
        after.iter_mut().for_each(|cursor| seek_time(cursor, time, damage));
        self.reset_order();
    }

    /// Leaves out all tracefiles except those for which `wanted` returns `true`, given
    /// their number. The cursors of the left-out tracefiles do not move, and those that were left
    /// out before stay so. The current event may belong to a left-out tracefile, so there is no
    /// current event after this call.
    pub fn retain_tracefiles(&mut self, mut wanted: impl FnMut(TracefileNumber) -> bool) {
        if self.current().is_some() {
            self.next();
            self.unread();
        }
        let role = |number: u32| match self.roles.get(number as usize) {
            Some(role) if role.is_left_out() => *role,
            _ if wanted(TracefileNumber(number as usize)) => Role::Merged,
            _ if self.has_read(number) => Role::LeftOutRead,
            _ => Role::LeftOut,
        };
        self.roles = (0..self.cursors.len() as u32).map(role).collect();
        if self.loaded {
            self.remove_left_out();
        }
    }

    /// Seeks positions that were returned by [`positions`](Self::positions) for a merge
    /// of the same traces. Tracefiles without a position do not move. No tracefile is left
    /// out afterwards. If a packet cannot be entered again, the error is kept for
    /// [`errors`](Self::errors).
    pub fn seek_positions(&mut self, positions: &[Position]) {
        let read = (positions.len()..self.cursors.len())
            .filter(|number| self.has_read_ahead(*number as u32))
            .collect::<Vec<_>>();
        let Self { cursors, damage, .. } = self;
        for number in read {
            let next = cursors[number].undelivered_position(true);
            seek(&mut cursors[number], next, damage);
        }
        for (cursor, position) in cursors.iter_mut().zip(positions) {
            seek(cursor, *position, damage);
        }
        self.roles.clear();
        self.reset_order();
    }

    /// Seeks a time like [`seek`](Self::seek), in all tracefiles. None is left out afterwards.
    pub(crate) fn seek_in_all(&mut self, time: Timestamp) {
        self.roles.clear();
        self.seek(time);
    }

    /// Returns the number of packets entered so far, including repetitions after seeks.
    /// This measures the work of seeks.
    pub fn packets_entered(&self) -> u64 {
        self.cursors.iter().map(|cursor| cursor.packets_entered()).sum()
    }
}

/// Seeks a position in a tracefile, or the end of its packet if that cannot be entered.
fn seek(cursor: &mut Cursor, position: Position, damage: &mut Damage) {
    if let Err(error) = cursor.seek(position) {
        damage.keep(error);
        cursor.skip_packet();
    }
}
