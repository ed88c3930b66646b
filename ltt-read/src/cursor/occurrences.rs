//! The search for the event types of which a trace has events.

use std::sync::Arc;

use crate::format::describes_other_events;
use crate::schema::EventTypeId;
use crate::trace::{Trace, TracefileIndex};

/// The number of events of each tracefile that are read before all of them.
const FIRST: u64 = 1 << 13;

impl Trace {
    /// Returns `true` if the trace may have events of one of the types that `is_wanted` chooses.
    ///
    /// Most tracers describe the events that they were told to record, so that the description of a type is the answer.
    /// Recordings of ftrace describe all events of the kernel: there the answer is `true` only if such an event was
    /// recorded. For this, the first events of each tracefile are read, and all events if none of these is wanted,
    /// once for each trace. While the trace grows, every type that is described may follow.
    ///
    /// ```
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/ftrace");
    /// let [trace] = &*ltt_read::open_all(path)? else { panic!("one trace") };
    /// let occurs = |name| {
    ///     trace.event_types_named(name).next().is_some()
    ///         && trace.may_have_events(|id| trace.event_type(id).name() == name)
    /// };
    /// assert!(occurs("sched:sched_switch"));
    /// // It is described, too.
    /// assert!(!occurs("ftrace:funcgraph_entry"));
    /// # Ok::<(), ltt_read::Error>(())
    /// ```
    pub fn may_have_events(
        self: &Arc<Self>,
        mut is_wanted: impl FnMut(EventTypeId) -> bool,
    ) -> bool {
        let types = (0..self.schema().event_types.len() as u32).map(EventTypeId);
        let mut wanted = types.filter(|id| is_wanted(*id)).map(EventTypeId::index);
        let tracefiles = self.tracefiles();
        let is_growing =
            tracefiles.is_empty() || tracefiles.iter().any(|tracefile| tracefile.is_growing());
        if is_growing || !describes_other_events(self.schema()) {
            return wanted.next().is_some();
        }
        let wanted: Vec<usize> = wanted.collect();
        if wanted.is_empty() {
            return false;
        }
        let has_some = |found: &[bool]| wanted.iter().any(|at| found[*at]);
        let occurrences = self.occurrences();
        has_some(occurrences.among_first.get_or_init(|| found(self, FIRST)))
            || has_some(occurrences.among_all.get_or_init(|| found(self, u64::MAX)))
    }
}

/// Reads a number of events of each tracefile, past damaged packets. Returns, for each event type, whether one of them
/// has it.
fn found(trace: &Arc<Trace>, most: u64) -> Box<[bool]> {
    let mut found = vec![false; trace.schema().event_types.len()];
    for tracefile in 0..trace.tracefiles().len() {
        let mut cursor = trace.cursor(TracefileIndex(tracefile));
        let mut events = 0;
        while events < most {
            match cursor.advance() {
                Ok(true) => {
                    found[cursor.event().type_id().index()] = true;
                    events += 1;
                }
                Ok(false) => break,
                Err(_) if cursor.skip_packet() => {}
                Err(_) => break,
            }
        }
    }
    found.into()
}
