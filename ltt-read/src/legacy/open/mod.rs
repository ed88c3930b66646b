//! Opening of traces: from files to a schema and tracefiles.

mod assemble;
mod checksum;
mod description;
mod facilities;
mod facility_class;
mod files;
mod markers;
mod name;
mod system;
mod xml;

pub use assemble::from_memory;
pub(crate) use assemble::open;
pub(crate) use files::is_trace;

use crate::metadata::{Diagnostic, Span};
use crate::schema::FieldClass;

/// The user attributes of integers that are characters.
const CHARACTER: &str = r#"{"lttng.org,0.x":{"character":true}}"#;

/// Returns `true` if a field class of a legacy trace is for characters rather than
/// numbers.
///
/// ```
/// use ltt_read::legacy::is_character;
/// use ltt_read::schema::{ByteOrder, FieldClass};
///
/// assert!(!is_character(&FieldClass::uint(8, ByteOrder::Little)));
/// ```
pub fn is_character(class: &FieldClass) -> bool {
    class.attributes.as_deref() == Some(CHARACTER)
}

/// The maximum number of stored warnings.
const MAX_WARNINGS: usize = 1024;

fn warn(warnings: &mut Vec<Diagnostic>, message: String) {
    if warnings.len() < MAX_WARNINGS {
        warnings.push(Diagnostic::warning(Span::default(), message));
    }
}
