//! Skipping event records without making them the current event, for seeking.

use super::header::Quick;
use crate::layout::ids::IdEntry;
use crate::layout::program::{Scratch, Window};
use crate::layout::skip::LOOKAHEAD;
use crate::layout::tables::{StreamTable, Tables};

/// A boundary between two event records of a packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Boundary {
    /// The start of the next record or of the padding before it, in bits.
    pub(crate) next: u64,
    /// The value of the default clock before it, in cycles.
    pub(crate) clock: u64,
}

/// A skipper of the event records of a packet that are before a time.
#[derive(Debug)]
pub(crate) struct RecordSkipper<'s> {
    pub(crate) quick: &'s Quick,
    pub(crate) table: &'s StreamTable,
    pub(crate) tables: &'s Tables,
    pub(crate) window: Window<'s>,
    pub(crate) scratch: &'s mut Scratch,
    /// The current boundary.
    pub(crate) at: Boundary,
    /// The size of a header in bytes, rounded up.
    pub(crate) header: u8,
    /// The value of the default clock, in cycles, before which records are skipped.
    pub(crate) before: u64,
}

impl RecordSkipper<'_> {
    /// Skips at most `max` records whose headers have the quick form and that have no
    /// anomaly. Returns the number of skipped records.
    pub(crate) fn skip(&mut self, max: u64) -> u64 {
        match self.quick.one_load {
            true => self.skip_predicted::<true>(max),
            false => self.skip_predicted::<false>(max),
        }
    }

    /// Skips records one after the other, without branchless skipping: with a single
    /// skipper, branch prediction wins, because no other work could be done while sizes are
    /// loaded.
    #[inline(always)]
    fn skip_predicted<const SIMPLE: bool>(&mut self, max: u64) -> u64 {
        let mut skipped = 0;
        while skipped < max && self.step::<SIMPLE, false>() {
            skipped += 1;
        }
        skipped
    }

    /// Skips a record. Returns `false` if it must not or cannot be skipped.
    #[inline(always)]
    fn step<const SIMPLE: bool, const BRANCHLESS: bool>(&mut self) -> bool {
        self.end_of_next::<SIMPLE, BRANCHLESS>().is_some_and(|(end, cycles)| {
            let is_within = end <= self.window.end;
            if is_within {
                self.at = Boundary { next: end, clock: cycles };
            }
            is_within
        })
    }

    /// Returns the end of the next record in bits, and its clock value in cycles.
    #[inline(always)]
    fn end_of_next<const SIMPLE: bool, const BRANCHLESS: bool>(&mut self) -> Option<(u64, u64)> {
        let quick = self.quick;
        let begin = (self.at.next + quick.align_mask) & !quick.align_mask;
        let data = self.window.data.get((begin / 8) as usize..)?;
        let record = if BRANCHLESS { data.first_chunk::<LOOKAHEAD>() } else { None };
        let (id, now) = match record {
            Some(record) => quick.words::<SIMPLE>(record, 0)?,
            None => quick.words::<SIMPLE>(data, 0)?,
        };
        let cycles = quick.cycles(now, self.at.clock);
        if id.wrapping_sub(quick.low) > quick.span || cycles >= self.before {
            return None;
        }
        let (ids, body) = (&self.table.event_ids, begin + quick.bits);
        if let Some(record) = record
            && let Some(skip) = ids.skip(id)
            && let Some(size) = skip.size(record, self.header)
        {
            return Some((body + 8 * size, cycles));
        }
        let entry = ids.entry(id)?;
        match entry.fixed() {
            Some(bits) => Some((body + bits, cycles)),
            None => Some((self.dynamic_end(entry, body)?, cycles)),
        }
    }

    /// Returns the end of a body of dynamic size, in bits; `None` if its layout is not
    /// compiled yet, needs the header, or does not fit the data.
    #[inline(always)]
    fn dynamic_end(&mut self, entry: IdEntry, body: u64) -> Option<u64> {
        let region = &self.tables.ready_body(entry)?.region;
        match &region.byte_aligned_skip {
            Some(skip) => Some(8 * skip.end(self.window.data, body / 8)?),
            None => region.end(self.window, body, self.scratch),
        }
    }
}

/// Skips records of several packets, interleaved, until one of the skippers stops. Returns
/// the index of that skipper. The loads that find the end of a record depend on each other;
/// the processor executes those of the other skippers meanwhile.
pub(crate) fn skip_interleaved(skippers: &mut [RecordSkipper<'_>]) -> usize {
    match skippers.iter().all(|skipper| skipper.quick.one_load) {
        true => first_to_stop::<true>(skippers),
        false => first_to_stop::<false>(skippers),
    }
}

#[inline(always)]
fn first_to_stop<const SIMPLE: bool>(skippers: &mut [RecordSkipper<'_>]) -> usize {
    if skippers.is_empty() {
        return 0;
    }
    loop {
        let stopped = skippers.iter_mut().position(|skipper| !skipper.step::<SIMPLE, true>());
        if let Some(stopped) = stopped {
            return stopped;
        }
    }
}
