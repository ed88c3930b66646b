//! Reads traces in the Common Trace Format, [CTF 1.8][ctf1] and [CTF 2][ctf2], as
//! recorded by LTTng, barectf, perf and other tracers, recordings of [`ftrace`] and [`perf`], and
//! traces of LTTng 0.x and its predecessors ([`legacy`]), which are older than CTF.
//!
//! Data stream files are memory-mapped, and metadata is compiled once to flat layouts.
//! Only the fields that the caller reads are decoded. Stepping from event to event
//! allocates no memory.
//!
//! # Reading a trace
//!
//! [`open_all`] opens all traces at or below a directory, such as a whole LTTng session.
//! [`Merge`] reads their events in time order:
//!
//! ```
//! use ltt_read::{Merge, open_all};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! let traces = open_all(path)?;
//! let mut events = Merge::new(&traces);
//! let mut switches = 0;
//! while let Some(event) = events.next() {
//!     if event.event_type().name() == "sched_switch" {
//!         let next = event.field("next_comm").and_then(|comm| comm.as_str());
//!         println!("{:?}: {:?}", event.timestamp(), next.map(|text| text.to_str_lossy()));
//!         switches += 1;
//!     }
//! }
//! events.finish()?; // an error if a trace is damaged
//! assert_eq!(switches, 497);
//! # Ok::<(), ltt_read::Error>(())
//! ```
//!
//! # Reading fields through handles
//!
//! [`Event::field`] looks a name up in each event. A [`Field`] handle is found once;
//! reading an integer through it takes a comparison and a load. [`EventTypeId`]s are
//! dense, so data about event types can be kept in a vector:
//!
//! ```
//! use ltt_read::schema::Scope;
//! use ltt_read::{Field, Trace};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
//! let trace = Trace::open(path)?;
//! // Several stream classes may each have an event type of this name.
//! let mut next_tid: Vec<Option<Field>> = vec![None; trace.schema().event_types.len()];
//! for id in trace.event_types_named("sched_switch") {
//!     next_tid[id.index()] = trace.field(id, Scope::Payload, "next_tid");
//! }
//!
//! let mut to_idle = 0;
//! for mut cursor in trace.cursors() {
//!     while let Some(event) = cursor.next()? {
//!         if let Some(field) = &next_tid[event.type_id().index()] {
//!             to_idle += u32::from(event.integer(field) == Some(0));
//!         }
//!     }
//! }
//! assert!(to_idle > 0);
//! # Ok::<(), ltt_read::Error>(())
//! ```
//!
//! To read every field of an event, implement a [`Visitor`]: this is cheaper than reading
//! the fields one by one.
//!
//! # Time windows, notices and errors
//!
//! ```
//! use ltt_read::{Merge, NoticeKind, Timestamp, open_all};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
//! # let (from, to) = (1_795_233_416_300_000_000, 1_795_233_416_400_000_000);
//! let traces = open_all(path)?;
//! let mut events = Merge::new(&traces);
//! events.seek(Timestamp::from_ns(from));
//! while let Some(event) = events.next() {
//!     if event.timestamp() >= Some(Timestamp::from_ns(to)) {
//!         break;
//!     }
//! }
//! for notice in events.take_notices() {
//!     if let NoticeKind::DiscardedEvents { count, .. } = notice.kind {
//!         eprintln!("{notice} (count: {count:?})");
//!     }
//! }
//! for error in events.errors() {
//!     eprintln!("{error:?}");
//! }
//! # Ok::<(), ltt_read::Error>(())
//! ```
//!
//! # Overview of the types
//!
//! | | |
//! |---|---|
//! | [`Trace`] | the contents of one directory with a `metadata` file (several directories if a session was rotated), of a buffer of ftrace, of a recording of perf, or of a legacy trace: a [`Schema`] and tracefiles |
//! | [`Tracefile`] | one data stream: the events that one CPU recorded in one channel |
//! | [`Packet`] | a part of a tracefile that can be decoded by itself |
//! | [`Cursor`] | a reader of one tracefile, which can return to a [`Position`] |
//! | [`Merge`] | a reader of many tracefiles in time order |
//! | [`GrowingTrace`], [`Follower`] | traces that are still being recorded |
//! | [`Event`] | a borrowed view of the current event record of a cursor |
//! | [`OwnedEvent`] | a copy of an event that can be kept or sent to another thread |
//! | [`selection`] | a description of the wanted events, so that the others need not be read |
//! | [`Field`], [`Value`], [`Visitor`] | three ways to read fields: by handle, by name, or all of them |
//! | [`Notice`], [`Error`] | anomalies that do not stop reading, and data that cannot be read |
//! | [`columns`] | fields of many events, each in a vector of its own |
//! | [`index`] | the places and times of packets |
//! | [`tuning`] | cheaper ways to read large traces |
//!
//! # Units
//!
//! * Times are in nanoseconds since the Unix epoch ([`Timestamp`]), or since the origin
//!   of the trace's clock if that has no absolute origin (see
//!   [`ClockOrigin`](schema::ClockOrigin)). *Cycles* are the clock values that the tracer
//!   recorded.
//! * Sizes and offsets in a file are in bytes, unless the documentation says bits: CTF
//!   counts bits within a packet.
//! * Packets are numbered per file and tracefiles per trace, both from 0.
//!
//! # Errors and notices
//!
//! An [`Error`] is about data that cannot be read. A [`Notice`] is about data that can be
//! read but has an anomaly: discarded events, lost packets, a clock that went back, a
//! wrong index file. Both name the file, the packet and the offset. An error in one
//! tracefile does not affect the others: with a [`Cursor`], the caller decides whether to
//! [skip the packet](Cursor::skip_packet); a [`Merge`] always skips it and collects the
//! errors. Sound events before the damage are delivered first. If no packet can be found
//! after the damage, reading continues with the next file of the tracefile. An error in
//! the metadata has the line, the column and the expected tokens
//! ([`MetadataError`](metadata::MetadataError)).
//!
//! # Hostile input
//!
//! No input should make this crate panic, loop forever or exhaust memory; the tests and
//! fuzz targets check this. Every length is checked against its packet before it is used,
//! and no allocation has a size that comes from a data stream. Field classes may be
//! nested 64 deep; a type may have 2²⁰ fields; elements of arrays that take no bits are
//! limited to 65536; a cursor keeps 1024 notices until they are taken and counts the
//! others. Directories are searched 16 deep, each once, so cycles of links are harmless.
//! Input beyond a limit is an error.
//!
//! Two structures grow with the data: an [`Index`](index::Index) has an entry for each packet, and a
//! [`Merge`] keeps an error for each packet that it skipped, up to 4096, and counts the
//! others ([`Merge::errors_omitted`]).
//!
//! # Traces that are being recorded
//!
//! A [`GrowingTrace`] gets metadata and packets as they arrive, from wherever; a [`Follower`]
//! reads those that a tracer writes to files. Both return *versions* of traces: immutable
//! [`Trace`]s, each of which extends the previous one. A [`Merge`] continues with the next
//! version ([`Merge::continue_with`]); [`Merge::is_pending`] tells the end of what has arrived
//! from the end of the traces, and [`Merge::watermark`] up to which time the order is final.
//!
//! # Files
//!
//! Metadata and data stream files are mapped into memory unless [`OpenOptions`] select
//! [`Access::Read`]. If another process *truncates* a mapped file, reading the lost part
//! ends this process with `SIGBUS`. If another process *overwrites* it, events have wrong
//! values: see [`Access::Map`] for when that happens. Use [`Access::Read`] for
//! files that are being rewritten. The size of a trace is the size of its files when it
//! was opened, unless a [`Follower`] reads it, which never maps files. The crate never writes
//! to the files of a trace.
//!
//! # Threads
//!
//! A [`Trace`] is immutable and shared through an [`Arc`](std::sync::Arc). Cursors and
//! merges own all state that changes while reading, so any number of them may read one
//! trace at the same time:
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
//! let trace = ltt_read::Trace::open(path)?;
//! let count = |mut cursor: ltt_read::Cursor| {
//!     let mut events = 0;
//!     while cursor.advance()? {
//!         events += 1;
//!     }
//!     Ok::<u64, ltt_read::Error>(events)
//! };
//! let events: u64 = std::thread::scope(|scope| {
//!     let workers: Vec<_> =
//!         trace.cursors().map(|cursor| scope.spawn(move || count(cursor))).collect();
//!     workers.into_iter().map(|w| w.join().expect("no panic")).sum::<Result<_, _>>()
//! })?;
//! assert_eq!(events, 6087);
//! # Ok::<(), ltt_read::Error>(())
//! ```
//!
//! # Features
//!
//! * `compression` (on by default): reads compressed recordings of [`ftrace`] and [`perf`].
//! * `live` (off by default): adds the module `live`, which reads sessions of LTTng over the
//!   network while they are recorded.
//! * `reader` (on by default): reads traces. Without it, only times, UUIDs and [access to
//!   files](source) remain, with few dependencies.
//! * `serde` (off by default): serializes [`OwnedEvent`]s and their values, and serializes
//!   and deserializes [`Timestamp`]s as nanoseconds.
//! * `writer` (off by default): adds the module `writer`, which writes, copies and converts
//!   traces.
//! * `zstd` (off by default): decompresses the pages of [`ftrace`] by the library of zstd in C, which is faster
//!   and needs a C compiler.
//!
//! [ctf1]: https://diamon.org/ctf/v1.8.3/
//! [ctf2]: https://diamon.org/ctf/
//! [`EventTypeId`]: schema::EventTypeId
//! [`Schema`]: schema::Schema

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "reader"),
    allow(dead_code, reason = "readers are the only users of some parts")
)]
#![deny(missing_docs)]
#![deny(unsafe_code)]

/// The code in the README, compiled as a documentation test.
#[cfg(all(doctest, feature = "reader"))]
#[doc = include_str!("../README.md")]
pub struct Readme;

#[cfg(all(test, feature = "writer"))]
extern crate self as ltt_read; // for what unit tests share with others

mod base;
#[cfg(feature = "reader")]
pub mod columns;
#[cfg(feature = "reader")]
mod cursor;
#[cfg(feature = "reader")]
mod event;
#[cfg(feature = "reader")]
mod files;
#[cfg(feature = "reader")]
mod format;
#[cfg(feature = "reader")]
pub mod ftrace;
#[cfg(feature = "reader")]
mod growth;
#[cfg(feature = "reader")]
pub mod index;
#[cfg(feature = "reader")]
mod layout;
#[cfg(feature = "reader")]
pub mod legacy;
#[cfg(feature = "live")]
pub mod live;
#[cfg(feature = "reader")]
mod merge;
#[cfg(feature = "reader")]
pub mod metadata;
#[cfg(feature = "reader")]
mod open;
#[cfg(feature = "reader")]
pub mod order;
#[cfg(feature = "reader")]
mod packet;
#[cfg(feature = "reader")]
pub mod perf;
#[cfg(feature = "reader")]
mod report;
#[cfg(feature = "reader")]
pub mod schema;
#[cfg(feature = "reader")]
pub mod selection;
#[cfg(feature = "reader")]
mod trace;
#[cfg(feature = "reader")]
mod tracepoint;
#[cfg(feature = "reader")]
pub mod tuning;
#[cfg(feature = "writer")]
pub mod writer;

pub use base::clock_transform::{ClockTransform, ClockTransformError};
pub use base::error_chain::ErrorChain;
pub use base::source;
pub use base::source::Access;
pub use base::time::{ParseTimestampError, TimeRangeError, TimeSpan, Timestamp};
pub use base::uuid;
#[cfg(feature = "reader")]
pub use cursor::{Cursor, Position};
#[cfg(feature = "reader")]
pub use event::{
    ArrayView, Event, Field, FieldStep, OwnedEvent, OwnedStruct, OwnedValue, StrValue, StructView,
    Value, Visitor,
};
#[cfg(feature = "reader")]
pub use files::findings::OnFailure;
#[cfg(feature = "reader")]
pub use growth::{Follower, GrowingTrace};
#[cfg(feature = "reader")]
pub use layout::FieldInfo;
#[cfg(feature = "reader")]
pub use merge::{Merge, Progress};
#[cfg(feature = "reader")]
pub use open::{OpenOptions, Opened, find_traces, open_all, open_bytes};
#[cfg(feature = "reader")]
pub use packet::Packet;
#[cfg(feature = "reader")]
pub use report::{DecodeError, Error, LayoutError, Notice, NoticeKind, Place};
#[cfg(feature = "reader")]
pub use trace::{
    BuildId, ProcessMapping, Trace, TraceIndex, Tracefile, TracefileIndex, TracefileNumber,
    UserProcess,
};
