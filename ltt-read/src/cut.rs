//! Going back in a merge: to the event just given, or to positions saved.

use std::iter;

use crate::cursor::{Cursor, Position};
use crate::event::Event;
use crate::merge::{Merge, NOBODY, keep, reach_all};
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

    /// The same in the order of all events, where events were passed over by
    /// [`next_where`](Self::next_where) or tracefiles are left out: all of them
    /// stand before what they have behind the event given last, wanted or not.
    /// `time` is the one of that event; if clocks go back, any before it that is
    /// later. All tracefiles are at their end if there was no event.
    ///
    /// Tracefiles are sought by time for this, so it takes longer.
    pub fn whole_positions(&self, time: Timestamp) -> Vec<Position> {
        let current = self.current as usize;
        let position = |(number, cursor): (usize, &Cursor)| {
            if current >= self.cursors.len() {
                return Position::END;
            }
            // Events of one time come by tracefile.
            let begin = match number < current {
                false if number == current => return cursor.cut(self.loaded),
                false => time,
                true if time == Timestamp::MAX => return Position::END,
                true => Timestamp::from_ns(time.ns() + 1),
            };
            let mut cursor = cursor.trace().cursor(cursor.tracefile_index());
            reach_all(iter::once(&mut cursor), begin, |_| {});
            cursor.cut(false)
        };
        self.cursors.iter().enumerate().map(position).collect()
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
            if let Err(error) = cursor.seek(*position) {
                keep(&mut self.errors, error);
                cursor.skip_packet();
            }
        }
        self.unload();
    }

    /// How many packets have been entered so far, each counted anew whenever it
    /// was sought: what seeking and bounds should keep small.
    pub fn packets_entered(&self) -> u64 {
        self.cursors.iter().map(|cursor| cursor.packets_entered()).sum()
    }
}
