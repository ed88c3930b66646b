//! Functions that benchmarks of reading share.

use std::sync::Arc;
use std::time::Duration;

use ltt_read::schema::{EventType, EventTypeId, FieldKind, Scope};
use ltt_read::{Error, Event, Field, Timestamp, Trace, TracefileIndex};
use lttv_context::Traceset;
use rustix::time::{ClockId, clock_gettime};

/// Returns the number of events of generated traces: `LTTV_BENCH_EVENTS`, half a million by
/// default.
pub fn bench_events() -> u64 {
    let events = std::env::var("LTTV_BENCH_EVENTS").ok().and_then(|text| text.parse().ok());
    events.unwrap_or(500_000)
}

/// Returns the processor time of this thread.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Calls `each` for all events, one tracefile after the other.
///
/// # Errors
///
/// If a tracefile is damaged.
#[inline(always)]
pub fn each_event(trace: &Arc<Trace>, mut each: impl FnMut(&Event<'_>)) -> Result<(), Error> {
    for tracefile in 0..trace.tracefiles().len() {
        let mut cursor = trace.cursor(TracefileIndex(tracefile));
        while cursor.advance()? {
            each(&cursor.event());
        }
    }
    Ok(())
}

/// Returns, for each event type, the handles of the first two integers of its payload, or
/// of fewer if there are fewer.
pub fn first_two_integers(trace: &Trace) -> Vec<Vec<Field>> {
    let handles = |id: EventTypeId| {
        let FieldKind::Struct(payload) = &trace.event_type(id).payload.as_ref()?.kind else {
            return None;
        };
        let integers =
            payload.members.iter().filter(|m| matches!(m.class.kind, FieldKind::Integer(..)));
        integers.take(2).map(|m| trace.field(id, Scope::Payload, &m.name)).collect()
    };
    let ids = (0..trace.schema().event_types.len() as u32).map(EventTypeId);
    ids.map(|id| handles(id).unwrap_or_default()).collect()
}

/// Returns the times of the first and the last event.
///
/// # Errors
///
/// If a tracefile is damaged.
pub fn time_range(trace: &Arc<Trace>) -> Result<(Timestamp, Timestamp), Error> {
    let (mut first, mut last) = (Timestamp::MAX, Timestamp::MIN);
    each_event(trace, |event| {
        if let Some(time) = event.timestamp() {
            (first, last) = (first.min(time), last.max(time));
        }
    })?;
    Ok((first, last))
}

/// Returns the handles of fields, by trace and event type: those of the named event type,
/// and none for other types.
pub fn handles(traceset: &Traceset, event: &str, fields: &[String]) -> Vec<Vec<Vec<Field>>> {
    let of_trace = |trace: &Arc<Trace>| {
        let types = (0..).map(EventTypeId).zip(&trace.schema().event_types);
        let of_type = |(id, event_type): (EventTypeId, &EventType)| {
            let wanted = fields.iter().filter(|_| event_type.name() == event);
            wanted.filter_map(|name| trace.field(id, Scope::Payload, name)).collect()
        };
        types.map(of_type).collect()
    };
    traceset.traces().iter().map(of_trace).collect()
}
