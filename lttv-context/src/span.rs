//! The time between the begin of something and its end.

use std::sync::Arc;

use ltt_read::{TimeSpan, Timestamp, Trace};

/// The span of a tracefile by its packets, or by its events where packets do not
/// tell.
pub(crate) fn tracefile_span(trace: &Arc<Trace>, tracefile: usize) -> Option<TimeSpan> {
    let entries = trace.packet_index(tracefile).entries();
    let begin = entries.iter().map(|packet| packet.begin).min()?;
    let end = entries.iter().map(|packet| packet.end).max()?;
    if begin > Timestamp::MIN && end < Timestamp::MAX {
        return Some(TimeSpan { begin, end });
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
