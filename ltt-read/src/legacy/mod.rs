//! The formats that LTTng 0.x recorded and LTTV read, before there was CTF:
//! versions 0.7 to 2.6, and the facility format of 2003.
//!
//! Such a trace is opened like any other, by [`Trace::open`](crate::Trace::open)
//! or [`open_all`](crate::open_all); [`Schema::format`] is
//! [`Format::Legacy`] then, and [`Schema::version`] says which:
//!
//! | version | recorded | what describes its events |
//! |---|---|---|
//! | 2.0 – 2.6 | 2008 – 2011 | markers: names and format strings, in a channel `metadata` |
//! | 1.0 | 2007 – 2008 | the same, in `control/facilities` |
//! | 0.7, 0.8 | 2006 – 2007 | facilities: XML files in `eventdefs` |
//! | none, given as 0.0 | 2003 | XML files of an earlier kind, and `info/system.xml` |
//!
//! Everything works as for CTF: event types, fields, cursors, indexes, merging.
//! What differs:
//!
//! * **Times** count from the zero of the traced machine's clock, about its
//!   boot, as LTTV had them, to the nanosecond. (In traces of 2003 they count from
//!   the Unix epoch.) The environment ([`Schema::env`]) has what the trace says
//!   of its start: `start_tsc` is the clock's value at `start_time_sec` and
//!   `start_time_usec` since the epoch.
//! * **Event types**: a marker with several ids has an event type for each, all
//!   of one name. From 2.3 on each channel is a stream class of that name;
//!   before, there is one stream class. The event types of a facility have its
//!   name as their [namespace](crate::schema::Identity::namespace).
//! * **Format strings** of markers are kept ([`EventType::format`]), since they say
//!   how LTTV printed fields; [`MarkerFormat`] takes them apart. Fields that are
//!   characters are integers whose class [`is_character`].
//! * **Losses** are told as [`NoticeKind::DiscardedEvents`] and, for whole
//!   sub-buffers, [`NoticeKind::LostPackets`], by the counters in sub-buffer
//!   headers (2.2 on); those of the first sub-buffer count from the trace's start.
//! * **CPU numbers** may have gaps: CPUs that were offline have no tracefile.
//!
//! [`EventType::format`]: crate::schema::EventType::format
//! [`Format::Legacy`]: crate::schema::Format::Legacy
//! [`NoticeKind::DiscardedEvents`]: crate::NoticeKind::DiscardedEvents
//! [`NoticeKind::LostPackets`]: crate::NoticeKind::LostPackets
//! [`Schema::env`]: crate::schema::Schema::env
//! [`Schema::format`]: crate::schema::Schema::format
//! [`Schema::version`]: crate::schema::Schema::version

mod block;
mod block_2003;
mod checksum;
mod clock;
mod decoder;
mod description;
mod double;
mod event_header;
mod facilities;
mod facility_class;
mod files;
mod format_string;
mod interpolation;
mod markers;
mod name;
mod open;
mod quick;
mod system;
mod version;
mod xml;

pub(crate) use decoder::{Decoder, FileKind, Packing};
pub(crate) use files::is_trace;
pub use format_string::{MarkerField, MarkerFormat, MarkerKind, MarkerSize, PrintFormat};
pub use open::from_memory;
pub(crate) use open::open;

use crate::metadata::{Diagnostic, Span};
use crate::schema::FieldClass;

/// The attributes of integers that are characters.
const CHARACTER: &str = r#"{"lttng.org,0.x":{"character":true}}"#;

/// Whether a field of a legacy trace is a character rather than a number.
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

/// Warnings that are kept.
const MAX_WARNINGS: usize = 1024;

fn warn(warnings: &mut Vec<Diagnostic>, message: String) {
    if warnings.len() < MAX_WARNINGS {
        warnings.push(Diagnostic::warning(Span::default(), message));
    }
}
