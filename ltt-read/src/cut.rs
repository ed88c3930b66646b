//! Going back in a merge: to the event just given, or to positions saved.

use crate::cursor::{Cursor, Position};
use crate::event::Event;
use crate::merge::{Merge, NOBODY, keep};

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
