//! Going back in a merge: to the event just given, or to positions saved.

use crate::cursor::{Cursor, Position};
use crate::event::Event;
use crate::merge::{Damage, Merge, NOBODY, reach_all};
use crate::time::Timestamp;

impl Merge {
    /// Takes the event back that was given last: [`next`](Self::next) gives it
    /// again. Without one since the last call or seek, it does nothing.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
    /// # let traces = ltt_read::open_all(path)?;
    /// let mut merge = ltt_read::Merge::new(&traces);
    /// let first = merge.next().map(|event| event.timestamp());
    /// merge.put_back();
    /// assert_eq!(merge.next().map(|event| event.timestamp()), first);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    #[inline]
    pub fn put_back(&mut self) {
        self.current = NOBODY;
        self.tree.open_winner();
    }

    /// The event given last, once more; `None` after the last, after a seek and
    /// when it was put back.
    #[inline]
    pub fn current(&self) -> Option<Event<'_>> {
        self.cursors.get(self.current as usize).map(Cursor::event)
    }

    /// The number of that event's tracefile among those of all traces, counted
    /// from 0; more than there are, if there is no event.
    #[inline(always)]
    pub fn current_tracefile(&self) -> usize {
        self.current as usize
    }

    /// Where all tracefiles stand, those of the first trace first: before the
    /// event given last, and before what each of the others has next.
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
        self.cursors.iter().map(|cursor| cursor.cut(self.loaded)).collect()
    }

    /// As [`positions`](Self::positions), but after the event given last.
    pub fn next_positions(&self) -> Vec<Position> {
        let cut = |(number, cursor): (usize, &Cursor)| {
            cursor.cut(self.loaded && number != self.current as usize)
        };
        self.cursors.iter().enumerate().map(cut).collect()
    }

    /// Where the tracefile of the event given last stands after that event; `None`
    /// without such an event.
    pub fn position_after(&self) -> Option<Position> {
        self.cursors.get(self.current as usize).map(Cursor::position)
    }

    /// Goes to a cut in the order of all events, told by a place in one tracefile:
    /// before or after an event whose [time of delivery](Self::delivery_time) is `time`.
    /// The other tracefiles are sought by that time. No tracefile is left out any more.
    pub fn seek_cut(&mut self, time: Timestamp, tracefile: usize, place: Position) {
        self.note_indexes();
        self.left_out.clear();
        let Self { cursors, damage, .. } = self;
        let own = tracefile.min(cursors.len());
        let (before, rest) = cursors.split_at_mut(own);
        let (own, after) = rest.split_at_mut(rest.len().min(1));
        // Events of one time come by tracefile.
        match time.ns().checked_add(1) {
            Some(next) => {
                let next = Timestamp::from_ns(next);
                reach_all(before.iter_mut(), next, |error| damage.keep(error));
            }
            None => before.iter_mut().for_each(|cursor| go(cursor, Position::END, damage)),
        }
        own.iter_mut().for_each(|cursor| go(cursor, place, damage));
        reach_all(after.iter_mut(), time, |error| damage.keep(error));
        self.unload();
    }

    /// Leaves tracefiles out from now on, but those of the numbers that are
    /// `wanted`; the others stay where they are and are not touched. As the event
    /// given last may be one of theirs, there is none after this.
    pub fn leave_out(&mut self, wanted: impl FnMut(usize) -> bool) {
        if self.current().is_some() {
            self.next();
            self.put_back();
        }
        self.left_out = (0..self.cursors.len()).map(wanted).map(|wanted| !wanted).collect();
        if self.loaded {
            self.silence();
        }
    }

    /// Leaves none out any more, and goes to positions: as
    /// [`seek_positions`](Self::seek_positions).
    pub fn read_whole(&mut self, positions: &[Position]) {
        self.left_out.clear();
        self.seek_positions(positions);
    }

    /// Goes to positions saved by [`positions`](Self::positions) in a merge of
    /// the same traces. What keeps a packet from being entered again is kept for
    /// [`errors`](Self::errors). Tracefiles without a position stay where they are.
    pub fn seek_positions(&mut self, positions: &[Position]) {
        for (cursor, position) in self.cursors.iter_mut().zip(positions) {
            go(cursor, *position, &mut self.damage);
        }
        self.unload();
    }

    /// How many packets have been entered so far, each counted anew whenever it
    /// was sought: what seeking and bounds should keep small.
    pub fn packets_entered(&self) -> u64 {
        self.cursors.iter().map(|cursor| cursor.packets_entered()).sum()
    }
}

/// Goes to a place in a tracefile, or after its packet if that cannot be entered.
fn go(cursor: &mut Cursor, position: Position, damage: &mut Damage) {
    if let Err(error) = cursor.seek(position) {
        damage.keep(error);
        cursor.skip_packet();
    }
}
