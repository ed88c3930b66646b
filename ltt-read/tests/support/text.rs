//! A trace as text: a line for each event of each tracefile, with all its fields.

use std::fmt::Write;
use std::sync::Arc;

use ltt_read::schema::Scope;
use ltt_read::{Trace, Value};

/// Returns a line for each event in file order, tracefile by tracefile.
pub(crate) fn text(trace: &Arc<Trace>) -> String {
    let mut text = String::new();
    for mut cursor in trace.cursors() {
        while let Some(event) = cursor.next().unwrap() {
            let time = event.timestamp().map(|time| time.as_ns());
            _ = write!(text, "{time:?} {}", event.event_type().name());
            for scope in [Scope::CommonContext, Scope::SpecificContext, Scope::Payload] {
                if let Some(fields) = event.scope(scope) {
                    _ = write!(text, " {}", Value::Struct(fields));
                }
            }
            text.push('\n');
        }
    }
    text
}
