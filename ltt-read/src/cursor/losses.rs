//! The losses of a tracefile, from the counters of its packets.

use std::sync::Arc;

use super::Cursor;
use crate::report::Notice;
use crate::trace::{Trace, TracefileIndex};

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

impl Cursor {
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
