//! The trace formats of LTTng 0.x and of LTT, from before CTF: versions 0.7 to 2.6, and
//! the facility format of 2003.
//!
//! Such a trace is opened like any other, by [`Trace::open`](crate::Trace::open) or
//! [`open_all`](crate::open_all). Its [`Schema::format`] is [`Format::Legacy`], and
//! [`Schema::version`] is the version of the format:
//!
//! | version | recorded | description of the events |
//! |---|---|---|
//! | 2.0 – 2.6 | 2008 – 2011 | markers: names and format strings, in a channel `metadata` |
//! | 1.0 | 2007 – 2008 | markers, in a channel `control/facilities` |
//! | 0.7, 0.8 | 2006 – 2007 | facilities: XML files in `eventdefs` |
//! | none; 0.0 in the schema | 2003 | XML files of an earlier kind, and `info/system.xml` |
//!
//! Event types, fields, cursors, indexes and merging work as for CTF, with these
//! differences:
//!
//! * **Times** count from the zero of the traced machine's clock, which is about the time
//!   of its boot. They equal the times of LTTV to the nanosecond. In traces of 2003,
//!   times count from the Unix epoch. The environment ([`Schema::env`]) contains the
//!   recorded start of the trace: `start_tsc` is the clock's value at `start_time_sec`
//!   and `start_time_usec` since the epoch.
//! * **Event types**: a marker with several ids has an event type for each id, all with
//!   the same name. Since version 2.3, each channel is a stream class with the channel's
//!   name; before, there is one stream class. The event types of a facility have its name
//!   as their [namespace](crate::schema::Identity::namespace).
//! * **Format strings** of markers are kept in [`EventType::format`], since they define
//!   how LTTV printed the fields; [`MarkerFormat`] parses them. Character fields are
//!   integers for whose class [`is_character`] returns `true`.
//! * **Losses** are reported as [`NoticeKind::DiscardedEvents`] and, for whole
//!   sub-buffers, as [`NoticeKind::LostPackets`], from the counters in sub-buffer headers
//!   (since 2.2). The counters of the first sub-buffer count from the start of the trace.
//! * **CPU numbers** may have gaps: CPUs that were offline have no tracefile.
//!
//! [`EventType::format`]: crate::schema::EventType::format
//! [`Format::Legacy`]: crate::schema::Format::Legacy
//! [`NoticeKind::DiscardedEvents`]: crate::NoticeKind::DiscardedEvents
//! [`NoticeKind::LostPackets`]: crate::NoticeKind::LostPackets
//! [`Schema::env`]: crate::schema::Schema::env
//! [`Schema::format`]: crate::schema::Schema::format
//! [`Schema::version`]: crate::schema::Schema::version

pub(crate) mod blocks;
pub(crate) mod decode;
mod format_string;
#[cfg(feature = "writer")]
mod headers;
mod open;
#[cfg(feature = "writer")]
mod write;

pub use format_string::{MarkerField, MarkerFormat, MarkerKind, MarkerSize, PrintFormat};
#[cfg(feature = "writer")]
pub(crate) use headers::with_headers;
pub use open::{from_memory, is_character};
pub(crate) use open::{is_trace, open};
#[cfg(feature = "writer")]
pub use write::{LegacyMarker, LegacyWriter};
