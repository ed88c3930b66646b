//! Runs: successive events with headers of the usual form and bodies of fixed size.

use super::{Current, Cursor};
use crate::base::time::Timestamp;
use crate::layout::program::Window;
use crate::layout::tables::Body;
use crate::schema::EventTypeId;

/// An event of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RunEvent {
    pub(crate) event_type: EventTypeId,
    pub(crate) time: Timestamp,
    /// The start of its body, in bits from the start of the packet.
    pub(crate) body: u64,
}

/// The data by which fields of the events of a run are read.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) body: &'a Body,
    pub(crate) window: Window<'a>,
}

impl Cursor {
    /// Reads at most `most` events of the current packet, as long as they are of the usual form and
    /// have no anomaly, and passes them to `take`. An event for which it returns `false` is not read.
    /// Returns the number of events read.
    #[inline(always)]
    pub(crate) fn read_run(&mut self, most: u64, mut take: impl FnMut(RunEvent) -> bool) -> u64 {
        let Some(table) = self.table.as_deref() else { return 0 };
        let Some(quick) = &table.quick else { return 0 };
        let anchor = table.body_anchor as usize;
        if self.scratch.slots.len() <= anchor {
            return 0;
        }
        let data = self.source.bytes().get(self.packet.offset as usize..).unwrap_or(&[]);
        let (mut read, mut last) = (0, None);
        let (mut next, mut clock, mut time) = (self.next, self.clock, self.last_timestamp);
        while read < most {
            let Some(header) = quick.read(&table.event_ids, data, next, clock) else { break };
            let Some(bits) = header.entry.fixed() else { break };
            let end = header.end + bits;
            if end > self.content_end || header.time < time {
                break;
            }
            let event_type = header.entry.event();
            if !take(RunEvent { event_type, time: header.time, body: header.end }) {
                break;
            }
            last = Some((header, clock));
            (next, clock, time) = (end, header.cycles, header.time);
            read += 1;
        }
        let Some((header, clock_before)) = last else { return 0 };
        self.current = Current {
            begin: header.begin,
            event_type: header.entry.event(),
            timestamp: Some(time),
            cycles: clock,
            clock_before,
        };
        self.scratch.slots[anchor] = header.end;
        (self.next, self.clock, self.last_timestamp) = (next, clock, time);
        read
    }
}
