//! The tracefiles whose events come soon, whose memory is prefetched in groups.

use crate::cursor::Cursor;

/// The number of tracefiles that are prefetched at once.
const GROUP: usize = 8;

/// The number of steps of prefetching: each finds where the next one looks.
pub(super) const STEPS: usize = 2;

/// Tracefiles that wait until the group of their step is full.
///
/// What a tracefile needs is in pages of its own, and a processor does not go on after a prefetch
/// before it has found the page. It looks for several pages at a time if prefetches follow each
/// other.
#[derive(Debug, Default)]
pub(super) struct Coming {
    groups: [[u32; GROUP]; STEPS],
    waiting: usize,
}

impl Coming {
    /// Adds a tracefile to the group of each step: of those whose cursors are prefetched, then of
    /// those whose data are.
    #[inline(always)]
    pub(super) fn push(&mut self, steps: [u32; STEPS], cursors: &[Cursor]) {
        let at = self.waiting % GROUP;
        for (group, number) in self.groups.iter_mut().zip(steps) {
            group[at] = number;
        }
        self.waiting = at + 1;
        if self.waiting == GROUP {
            self.prefetch(cursors);
        }
    }

    #[inline(never)]
    fn prefetch(&self, cursors: &[Cursor]) {
        let [far, soon] = &self.groups;
        let of = |group: &[u32; GROUP]| group.map(|number| cursors.get(number as usize));
        of(soon).into_iter().flatten().for_each(Cursor::prefetch_next);
        of(far).into_iter().flatten().for_each(Cursor::prefetch);
    }
}
