//! The details of a state, which are shown when the user points at it.

use ltt_read::Timestamp;
use lttv_common::escape;
use lttv_requests::views::Segment;

/// Returns the lines of a hint with the times of a segment.
pub(super) fn times<S>(of: &Segment<S>, origin: Timestamp) -> String {
    let seconds = |time: Timestamp| time.as_ns().saturating_sub(origin.as_ns()) as f64 / 1e9;
    let (begin, end) = (seconds(of.start), seconds(of.end));
    format!("\n{begin:.9} – {end:.9} s\n{:.3} µs", of.length() as f64 / 1e3)
}

/// Escapes each line of a text for XML.
pub(super) fn lines_escaped(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(escape::xml).collect();
    lines.join("\n")
}
