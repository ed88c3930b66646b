//! Spans in words and as objects, for other commands.

use lttv_state::spans::Span;

/// A span with its texts.
#[derive(Debug, Clone)]
pub(in crate::commands) struct Described {
    /// The span.
    pub(in crate::commands) span: Span,
    /// The line of `lttv spans`.
    pub(in crate::commands) line: String,
    /// The span in words, such as a system call with its arguments and its result.
    pub(in crate::commands) what: String,
    /// The object of `lttv spans --format json`.
    pub(in crate::commands) object: serde_json::Value,
}
