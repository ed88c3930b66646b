//! The times of traces.

use std::cell::OnceCell;
use std::sync::Arc;

use ltt_read::{Merge, TimeSpan, Timestamp, Trace};

/// The length of the last part of the traces that is read first, in ns. It is multiplied by
/// this number squared until it contains an event.
const LAST_PART: i64 = 1_000_000;
const GROWTH: i64 = 16;

/// The times of traces, to which times that users write relate. They are determined when a time
/// needs them.
///
/// ```
/// use lttv_filter::TraceTimes;
///
/// let traces = ltt_read::open_all(concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel"))?;
/// let times = TraceTimes::of(&traces);
/// let events = times.events().expect("events with times");
/// let [packets] = times.spans() else { panic!("one trace") };
/// assert!(packets.start <= events.start && events.end <= packets.end);
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug)]
pub struct TraceTimes<'t> {
    traces: &'t [Arc<Trace>],
    spans: OnceCell<Vec<TimeSpan>>,
    events: OnceCell<Option<TimeSpan>>,
}

impl<'t> TraceTimes<'t> {
    /// Creates the times of some traces.
    pub fn of(traces: &'t [Arc<Trace>]) -> Self {
        TraceTimes { traces, spans: OnceCell::new(), events: OnceCell::new() }
    }

    /// Returns the time span of each trace that has times, which is that of its packets:
    /// [`Trace::time_span`].
    ///
    /// The first call takes the time of a first seek in the traces.
    pub fn spans(&self) -> &[TimeSpan] {
        self.spans.get_or_init(|| self.traces.iter().filter_map(Trace::time_span).collect())
    }

    /// Returns the times of the first and the last event. Returns `None` if no event has a time.
    ///
    /// This is exact, unlike [`spans`](Self::spans), which may contain the time of packets before
    /// their first and after their last event. The first call reads the first events and some of
    /// the last ones.
    pub fn events(&self) -> Option<TimeSpan> {
        *self.events.get_or_init(|| self.find_events())
    }

    /// Returns the times of the first and the last event of each trace that has times.
    pub(crate) fn event_spans(&self) -> Vec<TimeSpan> {
        if self.traces.is_empty() {
            return self.spans().to_vec();
        }
        let each = self.traces.iter().map(std::slice::from_ref);
        each.filter_map(|trace| TraceTimes::of(trace).events()).collect()
    }

    fn find_events(&self) -> Option<TimeSpan> {
        let start = times(&mut Merge::new(self.traces)).next()?;
        let declared = self.spans().iter().copied().reduce(TimeSpan::join)?;
        let mut part = LAST_PART;
        loop {
            let from = Timestamp::from_ns(declared.end.as_ns().saturating_sub(part)).max(start);
            let mut merge = Merge::new(self.traces);
            merge.seek(from);
            if let Some(end) = times(&mut merge).max() {
                return Some(TimeSpan { start, end });
            }
            if from == start {
                // Damage may hide the events that were found first.
                return Some(TimeSpan { start, end: start });
            }
            part = part.saturating_mul(GROWTH);
        }
    }
}

impl From<TimeSpan> for TraceTimes<'static> {
    /// Returns the times of something whose events are in a known span, such as a history.
    fn from(span: TimeSpan) -> Self {
        TraceTimes { traces: &[], spans: vec![span].into(), events: Some(span).into() }
    }
}

/// Iterates over the times of the remaining events.
fn times(merge: &mut Merge) -> impl Iterator<Item = Timestamp> {
    // Events without a time have no place on the time line.
    std::iter::from_fn(|| merge.next().map(|event| event.timestamp())).flatten()
}
