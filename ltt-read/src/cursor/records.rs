//! Advancing by records of ring buffers and by samples, whose headers have the size of the record.

use super::{Current, Cursor, PREFETCH_DISTANCE};
use crate::base::source::prefetch;
use crate::format::FoundSample;
use crate::layout::program::Window;
use crate::layout::record::HEADER_BITS;

impl Cursor {
    /// Reads the next event if it is a short record of a known type without an anomaly. Otherwise
    /// returns `None` and changes nothing.
    #[inline(never)] // the frequent form of CTF has a path of its own
    pub(super) fn advance_by_record(&mut self) -> Option<()> {
        self.advance_by_record_of::<true>()
    }

    /// Reads an event whose fields have to be located. This is a function of its own because it makes
    /// calls: the plain path then need not save registers for them.
    #[inline(never)]
    fn advance_by_located_record(&mut self) -> Option<()> {
        self.advance_by_record_of::<false>()
    }

    /// Reads the next record; with `PLAIN`, only fields with constant places are found here.
    #[inline(always)]
    fn advance_by_record_of<const PLAIN: bool>(&mut self) -> Option<()> {
        let table = self.table.as_deref()?;
        let records = table.records.as_ref()?;
        let data = self.bytes.get().get(self.packet.offset as usize..)?;
        let begin = self.next;
        let record = records.short(data, (begin / 8) as usize)?;
        let body = begin + HEADER_BITS;
        let end = body + record.bits;
        if end > self.content_end {
            return None;
        }
        let entry = table.event_ids.entry(record.id)?;
        let cycles = self.clock.wrapping_add(record.delta);
        let time = records.time(cycles)?;
        if time < self.last_timestamp {
            return None;
        }
        match entry.fixed() {
            Some(bits) if bits <= record.bits => {
                *self.scratch.slots.get_mut(table.body_anchor as usize)? = body;
            }
            Some(_) => return None,
            None if PLAIN => return self.advance_by_located_record(),
            None => {
                let layout = self.decoder.tables.ready_body(entry)?;
                layout.region.end(Window { data, end }, body, &mut self.scratch)?;
            }
        }
        self.current = Current {
            begin,
            event_type: entry.event(),
            timestamp: Some(time),
            cycles,
            clock_before: self.clock,
        };
        prefetch(data, (end / 8) as usize + PREFETCH_DISTANCE);
        (self.next, self.clock, self.last_timestamp) = (end, cycles, time);
        Some(())
    }

    /// Reads the next event if it is a sample with a time without an anomaly. Otherwise returns `None` and changes
    /// nothing.
    #[inline(never)] // the frequent form of CTF has a path of its own
    pub(super) fn advance_by_sample(&mut self) -> Option<()> {
        let decoder = &*self.decoder;
        let table = self.table.as_deref()?;
        let data = self.bytes.get().get(self.packet.offset as usize..)?;
        let FoundSample { begin, end, event_type, cycles } = decoder.sample(data, self.next)?;
        let time = table.clock.as_ref()?.timestamp(cycles)?;
        if end > self.content_end || time < self.last_timestamp {
            return None;
        }
        let body = decoder.tables.compiled_body(event_type)?;
        body.region.end(Window { data, end }, begin, &mut self.scratch)?;
        self.current =
            Current { begin, event_type, timestamp: Some(time), cycles, clock_before: self.clock };
        prefetch(data, (end / 8) as usize + PREFETCH_DISTANCE);
        (self.next, self.clock, self.last_timestamp) = (end, cycles, time);
        Some(())
    }
}
