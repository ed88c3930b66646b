//! Reads traces of the Common Trace Format, [CTF 1.8][ctf1] and [CTF 2][ctf2]:
//! what LTTng, barectf, perf and other tracers record. And those of LTTng 0.x
//! ([`legacy`]), from before there was CTF.
//!
//! Files are mapped, metadata is compiled once to flat layouts, and of an event
//! nothing is decoded but what is asked for, and stepping from event to event
//! allocates nothing.
//!
//! # Reading a trace
//!
//! [`open_all`] opens all traces at or below a directory, such as a whole LTTng
//! session; [`Merge`] gives their events in time order:
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
//! assert_eq!(switches, 497);
//! # Ok::<(), ltt_read::Error>(())
//! ```
//!
//! # Fields, fast
//!
//! [`Event::field`] searches a name in each event. A [`Field`] handle is found
//! once; reading through it is a comparison and a load. [`EventTypeId`]s are
//! dense, so that what belongs to an event type can be kept in a plain table:
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
//! for tracefile in 0..trace.tracefiles().len() {
//!     let mut cursor = trace.cursor(tracefile);
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
//! To see every field of an event, implement a [`Visitor`]: that is cheaper than
//! asking for the fields one by one.
//!
//! # A stretch of time, and what went wrong in it
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
//! for notice in events.drain_notices() {
//!     if let NoticeKind::DiscardedEvents { count, .. } = notice.kind {
//!         eprintln!("{notice} (count: {count:?})");
//!     }
//! }
//! for error in events.errors() {
//!     eprintln!("{error}");
//! }
//! # Ok::<(), ltt_read::Error>(())
//! ```
//!
//! # What is what
//!
//! | | |
//! |---|---|
//! | [`Trace`] | one directory with a `metadata` file (or several, if a session was rotated), or a legacy trace: a [`Schema`] and tracefiles |
//! | [`Tracefile`] | one data stream: what one CPU wrote to one channel |
//! | [`Packet`] | a part of a tracefile that can be decoded by itself |
//! | [`Cursor`] | reads one tracefile; [`Position`] is a place to come back to |
//! | [`Merge`] | reads many tracefiles in time order |
//! | [`Event`] | the record that a cursor stands on: a borrowed view |
//! | [`choice`] | which events are wanted, so that others need not be read |
//! | [`Field`], [`Value`], [`Visitor`] | three ways to what an event holds: by handle, by name, all of it |
//! | [`Notice`], [`Error`] | what was odd, and what could not be read |
//! | [`aliases`] | what kernel events were called over the years |
//!
//! # Units
//!
//! * Times are nanoseconds since the Unix epoch ([`Timestamp`]), or since the
//!   origin of the trace's clock if it has no absolute one (see
//!   [`ClockOrigin`](schema::ClockOrigin)). *Cycles* are what the tracer recorded.
//! * Sizes and offsets in a file are in bytes, except where the documentation
//!   says bits: within a packet CTF counts bits.
//! * Packets are numbered per file, tracefiles per trace, all from 0.
//!
//! # Errors and notices
//!
//! An [`Error`] is for what cannot be read, a [`Notice`] for what can be read but
//! is worth knowing: discarded events, lost packets, a clock that went back, an
//! index file that is wrong. Both name file, packet and offset. An error in one
//! tracefile leaves the others alone: with a [`Cursor`], the caller decides
//! whether to [skip the packet](Cursor::skip_packet); a [`Merge`] does so by
//! itself and collects the errors. What was sound before the damage is delivered
//! first. Where no packet can be found after the damage, reading goes on with the
//! next file of the tracefile. Metadata that cannot be used comes with line, column and what was
//! expected there ([`MetadataError`](metadata::MetadataError)).
//!
//! # Hostile input
//!
//! No input makes this crate panic, loop or fill the memory. Every length is
//! checked against its packet before it is used; nothing is allocated by a
//! number found in a data stream. Field classes may be nested 64 deep; a type
//! may have 2²⁰ fields; array elements without bits are limited to 65536; a
//! cursor keeps 1024 notices until they are taken, and counts the others. Directories
//! are searched 16 deep, each once, so that links cannot lead in circles. What exceeds a limit is an
//! error.
//!
//! What does grow with the data: an [`Index`] has an entry for each packet, and a
//! [`Merge`] keeps an error for each packet that it had to give up, up to 4096, and
//! counts the others ([`Merge::errors_omitted`]).
//!
//! # Files
//!
//! Metadata and data stream files are mapped into memory unless [`OpenOptions`] say
//! otherwise. If another process *truncates* a mapped file, touching the lost
//! part kills this process (`SIGBUS`). Tracers only append, so this is rare; use
//! [`Access::Read`] for files that are being rewritten. A trace is as long as its
//! files were when it was opened. Nothing is ever written.
//!
//! # Threads
//!
//! A [`Trace`] is immutable and shared by [`Arc`](std::sync::Arc). Cursors and
//! merges own all that changes while reading, so any number of them may read one
//! trace at once:
//!
//! ```
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel/kernel");
//! let trace = ltt_read::Trace::open(path)?;
//! let count = |tracefile| {
//!     let mut cursor = trace.cursor(tracefile);
//!     let mut events = 0;
//!     while cursor.advance()? {
//!         events += 1;
//!     }
//!     Ok::<u64, ltt_read::Error>(events)
//! };
//! let events: u64 = std::thread::scope(|scope| {
//!     let workers: Vec<_> =
//!         (0..trace.tracefiles().len()).map(|t| scope.spawn(move || count(t))).collect();
//!     workers.into_iter().map(|w| w.join().expect("no panic")).sum::<Result<_, _>>()
//! })?;
//! assert_eq!(events, 6087);
//! # Ok::<(), ltt_read::Error>(())
//! ```
//!
//! # Features
//!
//! * `writer` (off by default): the module `writer`, which writes traces to test
//!   programs with.
//!
//! [ctf1]: https://diamon.org/ctf/v1.8.3/
//! [ctf2]: https://diamon.org/ctf/
//! [`EventTypeId`]: schema::EventTypeId
//! [`Schema`]: schema::Schema

#![deny(missing_docs)]
#![deny(unsafe_code)]

/// The code in the README, which has to compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;

pub mod aliases;
mod bits;
pub mod choice;
mod cursor;
mod cut;
mod discover;
mod duplicates;
mod error;
mod event;
mod field;
mod file_id;
mod findings;
mod grouping;
mod index;
mod layout;
pub mod legacy;
mod merge;
pub mod metadata;
mod notice;
mod open;
mod packet;
mod quirks;
mod range_test;
pub mod schema;
mod search;
mod source;
mod time;
mod trace;
mod tracefile;
pub mod uuid;
mod value;
mod visit;
#[cfg(feature = "writer")]
pub mod writer;
mod zeros;

pub use cursor::{Cursor, Position};
pub use discover::find_traces;
pub use error::{DecodeError, Error, Place};
pub use event::Event;
pub use field::{Field, FieldStep};
pub use findings::OnFailure;
pub use index::{Index, IndexEntry, PacketTimes};
pub use layout::FieldInfo;
pub use merge::{Listener, Look, Merge};
pub use notice::{Notice, NoticeKind};
pub use open::{OpenOptions, Opened, open_all};
pub use packet::Packet;
pub use range_test::{RangeTest, RangeTests};
pub use search::TimeSearch;
pub use source::Access;
pub use time::{TimeSpan, Timestamp};
pub use trace::Trace;
pub use tracefile::{Tracefile, UserProcess};
pub use value::{ArrayView, StructView, Value, labels};
pub use visit::{StrValue, Visitor};
