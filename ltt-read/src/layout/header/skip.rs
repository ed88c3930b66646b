//! Passing over event records without standing on them.

use super::Quick;
use crate::layout::leap::NEAR;
use crate::layout::program::{Scratch, Window};
use crate::layout::tables::{IdEntry, StreamTable, Tables};
use crate::time::Timestamp;

/// A place between two event records of a packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// Where the next begins (or its padding), in bits.
    pub(crate) next: u64,
    /// The default clock before it.
    pub(crate) clock: u64,
}

/// A way over the event records of a packet, up to a time.
#[derive(Debug)]
pub(crate) struct Lane<'l> {
    pub(crate) quick: &'l Quick,
    pub(crate) table: &'l StreamTable,
    pub(crate) tables: &'l Tables,
    pub(crate) window: Window<'l>,
    pub(crate) scratch: &'l mut Scratch,
    pub(crate) place: Place,
    /// The size of a header in bytes, if it is whole bytes.
    pub(crate) header: u8,
    /// Only records before this value of the default clock are passed over.
    pub(crate) before: u64,
}

impl Quick {
    /// The default clock's value at which a time is reached; `None` if its value does
    /// not tell.
    pub(crate) fn cycles_reaching(&self, time: Timestamp) -> Option<u64> {
        self.converter.cycles_reaching(time)
    }

    /// The size of a header in bytes; `None` if it is not small.
    pub(crate) fn size(&self) -> Option<u8> {
        u8::try_from(self.bits.div_ceil(8)).ok()
    }
}

impl Lane<'_> {
    /// Passes over records, `most` at most, as long as their headers have the quick form
    /// and nothing is out of the ordinary. Tells how many.
    pub(crate) fn skip(&mut self, most: u64) -> u64 {
        match self.quick.simple {
            true => self.skip_by::<true>(most),
            false => self.skip_by::<false>(most),
        }
    }

    /// Without leaps: who has nothing else to do while sizes are found is quicker to
    /// guess what comes next, as it is foreseen more often than not.
    #[inline(always)]
    fn skip_by<const SIMPLE: bool>(&mut self, most: u64) -> u64 {
        let mut passed = 0;
        while passed < most && self.step::<SIMPLE, false>() {
            passed += 1;
        }
        passed
    }

    /// Passes over a record, if it is one to be passed over.
    #[inline(always)]
    fn step<const SIMPLE: bool, const LEAPS: bool>(&mut self) -> bool {
        self.end_of_next::<SIMPLE, LEAPS>().is_some_and(|(end, cycles)| {
            let is_within = end <= self.window.end;
            if is_within {
                self.place = Place { next: end, clock: cycles };
            }
            is_within
        })
    }

    /// Where the next record ends, and its clock.
    #[inline(always)]
    fn end_of_next<const SIMPLE: bool, const LEAPS: bool>(&mut self) -> Option<(u64, u64)> {
        let quick = self.quick;
        let begin = (self.place.next + quick.align_mask) & !quick.align_mask;
        let data = self.window.data.get((begin / 8) as usize..)?;
        let near = if LEAPS { data.first_chunk::<NEAR>() } else { None };
        let (id, now) = match near {
            Some(near) => quick.words::<SIMPLE>(near, 0)?,
            None => quick.words::<SIMPLE>(data, 0)?,
        };
        let cycles = quick.cycles(now, self.place.clock);
        if id.wrapping_sub(quick.low) > quick.span || cycles >= self.before {
            return None;
        }
        let (ids, body) = (&self.table.event_ids, begin + quick.bits);
        if let Some(near) = near
            && let Some(leap) = ids.leap(id)
            && let Some(size) = leap.size(near, self.header)
        {
            return Some((body + 8 * size, cycles));
        }
        let entry = ids.entry(id)?;
        match entry.fixed() {
            Some(bits) => Some((body + bits, cycles)),
            None => Some((self.dynamic_end(entry, body)?, cycles)),
        }
    }

    /// Where a body ends whose size is not fixed; `None` if it is better found elsewhere.
    #[inline(always)]
    fn dynamic_end(&mut self, entry: IdEntry, body: u64) -> Option<u64> {
        let region = &self.tables.ready_body(entry)?.region;
        match &region.strides {
            Some(strides) => Some(8 * strides.end(self.window.data, body / 8)?),
            None => region.end(self.window, body, self.scratch),
        }
    }
}

/// Passes over records of several packets by turns, until one of the lanes stops: tells
/// which. Where a record ends is told by loads that wait for each other; those of other
/// lanes are done meanwhile.
pub(crate) fn skip_together(lanes: &mut [Lane<'_>]) -> usize {
    match lanes.iter().all(|lane| lane.quick.simple) {
        true => first_to_stop::<true>(lanes),
        false => first_to_stop::<false>(lanes),
    }
}

#[inline(always)]
fn first_to_stop<const SIMPLE: bool>(lanes: &mut [Lane<'_>]) -> usize {
    if lanes.is_empty() {
        return 0;
    }
    loop {
        if let Some(stopped) = lanes.iter_mut().position(|lane| !lane.step::<SIMPLE, true>()) {
            return stopped;
        }
    }
}
