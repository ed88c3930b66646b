//! The losses of a tracefile, from the counters of its packets.

use std::sync::Arc;

use super::{Cursor, Position};
use crate::base::time::Timestamp;
use crate::layout::program::Scratch;
use crate::packet::Packet;
use crate::report::Notice;
use crate::trace::{IndexEntry, Trace, TracefileIndex};

impl Trace {
    /// Returns the losses of a tracefile in file order: a notice for each range of time in
    /// which the tracer discarded events, and for each gap of missing packets.
    ///
    /// These are the notices of these two kinds that reading the whole tracefile reports. No
    /// events are read: the header and context of each packet have the counters. A reader of a
    /// time window needs this, since it does not see the packets of which no event is in the
    /// window; [`losses_from`](Self::losses_from) reads less for it.
    ///
    /// ```
    /// use ltt_read::{NoticeKind, TracefileIndex};
    ///
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// for tracefile in (0..trace.tracefiles().len()).map(TracefileIndex) {
    ///     for loss in trace.losses(tracefile) {
    ///         if let NoticeKind::DiscardedEvents { count, start, end } = loss.kind {
    ///             println!("{count:?} events between {start:?} and {end:?}");
    ///         }
    ///     }
    /// }
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn losses(self: &Arc<Self>, tracefile: TracefileIndex) -> Vec<Notice> {
        self.cursor(tracefile).losses_ahead()
    }
}

impl Trace {
    /// Returns the latest time of the events of a packet from a position in it on; `None` if none has a time. Their headers are
    /// read.
    ///
    /// ```
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// let tracefile = ltt_read::TracefileIndex(0);
    /// let mut cursor = trace.cursor(tracefile);
    /// let first = cursor.next()?.expect("an event").position();
    /// let mut last = None;
    /// while cursor.advance_in_packet()? {
    ///     last = cursor.event().timestamp();
    /// }
    /// assert_eq!(trace.latest_time_in_packet(tracefile, first), last);
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn latest_time_in_packet(
        self: &Arc<Self>,
        tracefile: TracefileIndex,
        position: Position,
    ) -> Option<Timestamp> {
        let mut cursor = self.cursor(tracefile);
        cursor.seek(position).ok()?;
        let mut last = None;
        while let Ok(true) = cursor.advance_in_packet() {
            last = last.max(cursor.event().timestamp());
        }
        last
    }

    /// Iterates over the packets after that with a number in a file and before that of a position, from their
    /// headers and contexts: damaged ones are left out. This needs the [packet index](Self::packet_index).
    ///
    /// ```
    /// # let trace = ltt_read::Trace::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel"))?;
    /// let tracefile = ltt_read::TracefileIndex(0);
    /// let mut cursor = trace.cursor(tracefile);
    /// let (mut last, mut number) = (ltt_read::Position::START, 0);
    /// while let Some(event) = cursor.next()? {
    ///     (last, number) = (event.position(), event.packet().number);
    /// }
    /// let between = trace.packets_between(tracefile, (0, 0), last);
    /// assert!(between.map(|packet| packet.number).eq(1..number.max(1)));
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If `tracefile` is out of range.
    pub fn packets_between(
        &self,
        tracefile: TracefileIndex,
        after: (usize, u64),
        before: Position,
    ) -> impl Iterator<Item = Packet> + '_ {
        let index = self.packet_index(tracefile);
        let entries = index.entries();
        let place = |entry: &IndexEntry| (entry.file as usize, entry.number);
        let from = entries.partition_point(|entry| place(entry) <= after);
        let end = (before.file as usize, before.packet_number);
        let between = entries.get(from..).unwrap_or_default().iter();
        let mut scratch = Scratch::default();
        between.take_while(move |entry| place(entry) < end).filter_map(move |entry| {
            let (clock, file) = (entry.clock_before, self.tracefile(tracefile).file(entry.file)?);
            file.packet(self.decoder(), entry.offset, entry.number, clock, &mut scratch).ok()
        })
    }
}

impl Cursor {
    /// Returns the packet after the current one; `None` if there is none that can be read next.
    pub(crate) fn packet_after(&self) -> Option<Packet> {
        let (of, at) = (self.tracefile(), &self.packet);
        let (mut file, mut offset, mut number) =
            (self.file, at.offset.checked_add(at.size)?, at.number + 1);
        if offset >= of.file(file)?.size() {
            (file, offset, number) = (file.checked_add(1)?, 0, 0);
        }
        let duplicates = of.duplicates.get();
        if at.missing > 0 || duplicates.is_some_and(|of| of.contains(file as usize, offset)) {
            return None;
        }
        let clock = at.end_cycles.unwrap_or(self.clock);
        of.file(file)?.packet(&self.decoder, offset, number, clock, &mut Scratch::default()).ok()
    }

    /// Returns the losses from the next packet on.
    pub(crate) fn losses_ahead(&mut self) -> Vec<Notice> {
        let mut losses = Vec::new();
        loop {
            let step = self.next_packet();
            let notices = self.take_notices();
            losses.extend(notices.into_iter().filter(|notice| notice.kind.is_loss()));
            match step {
                Ok(true) => {}
                // The reader of the events will report the error.
                Err(_) if self.skip_packet() => {}
                Ok(false) | Err(_) => return losses,
            }
        }
    }
}
