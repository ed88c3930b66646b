//! What should be known of a filter, on standard error.

use std::io::{IsTerminal, Write, stderr};

use lttv_filter::FilterNotes;

/// Writes that a filter, or a part of it, is never or always true, if that is so.
pub fn report(notes: &FilterNotes) {
    let mut errors = stderr().lock();
    let drawn = notes.render(errors.is_terminal());
    // Where notes cannot be written, the filter works nevertheless.
    _ = errors.write_all(drawn.as_bytes());
}
