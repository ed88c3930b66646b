//! The time between the begin of something and its end.

use std::sync::Arc;

use ltt_read::{TimeSpan, Trace};

/// Returns the span of a tracefile by its packets, or by its events where packets are wrong
/// or do not declare it.
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
            // Reading will report it.
            Err(_) if cursor.skip_packet() => {}
            Ok(false) | Err(_) => return span,
        }
    }
}
