//! The time spans of tracefiles.

use std::sync::Arc;

use ltt_read::{TimeSpan, Trace};

/// Computes the time span of a tracefile from the times of its packets, or from its events if
/// packet times are wrong or missing. Returns `None` if it has no times.
pub(crate) fn tracefile_span(trace: &Arc<Trace>, tracefile: usize) -> Option<TimeSpan> {
    let times = trace.packet_times(tracefile);
    if times.are_read() || times.time_span().is_some() {
        return times.time_span();
    }
    let mut cursor = trace.cursor(tracefile);
    let mut span: Option<TimeSpan> = None;
    loop {
        match cursor.advance() {
            Ok(true) => {
                if let Some(time) = cursor.event().timestamp() {
                    let instant = TimeSpan { begin: time, end: time };
                    span = Some(span.map_or(instant, |span| span.join(instant)));
                }
            }
            // Reading events will report the error.
            Err(_) if cursor.skip_packet() => {}
            Ok(false) | Err(_) => return span,
        }
    }
}
