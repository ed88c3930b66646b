//! Writing traces: copies, parts and conversions of recordings, output of tracers and
//! simulators, and tests of analyses without recordings.
//!
//! A trace is written from a [`Schema`](crate::schema::Schema) and [`FieldValue`]s. The schema
//! can be read from another trace, built by hand, or taken from [`presets`]. The metadata
//! is printed in the schema's format, CTF 1.8 or CTF 2. The writer fills in the fields by
//! which readers decode (ids, sizes, timestamps, lengths, selectors) and checks
//! explicitly given ones against the other values, so that written events are always
//! consistent.
//!
//! ```
//! use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
//! use ltt_read::writer::{TraceWriter, FieldValue, presets};
//!
//! # let dir = std::env::temp_dir().join(format!("ltt-read-doc-{}", std::process::id()));
//! let mut schema = presets::lttng_kernel(Format::Ctf1);
//! let switch = schema.add_event_type(
//!     StreamClassId(0),
//!     "sched_switch",
//!     FieldClass::structure([
//!         ("prev_comm", presets::text_array(16)),
//!         ("prev_tid", FieldClass::sint(32, ByteOrder::Little)),
//!         ("next_tid", FieldClass::sint(32, ByteOrder::Little)),
//!     ]),
//! );
//!
//! let trace = TraceWriter::create(&dir, schema)?.with_index();
//! let mut cpu0 = trace
//!     .stream(StreamClassId(0), "channel0_0")?
//!     .with_packet_context(FieldValue::fields([("cpu_id", 0)]));
//! cpu0.event(switch, 1_000, FieldValue::structure(["swapper/0".into(), 0.into(), 42.into()]))?;
//! cpu0.event(switch, 2_500, FieldValue::fields([("prev_tid", 42)]))?; // the rest is zero
//! cpu0.finish()?;
//! # std::fs::remove_dir_all(&dir)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | write a trace into a directory | [`TraceWriter`]: index files, files of limited size |
//! | let it appear only when it is complete | [`StagedDirectory`] |
//! | write a single stream to any output | [`StreamWriter::new`], [`metadata_text`] |
//! | keep it in memory | [`MemoryTrace`] |
//! | copy events and packets of a trace | [`StreamCopier`] with a [`Transfer`] |
//! | give fields other values on the way | [`StreamCopier::event_with`] |
//! | get a schema for the other version of CTF, or from before CTF | [`Retargeted`] |
//! | write a trace of LTTng 0.x, from format strings | [`LegacyWriter`](crate::legacy::LegacyWriter) |
//!
//! A stream needs memory for one packet, whatever its length. Streams are independent, so
//! several threads can write one each. A stream that is dropped ends its last packet, as
//! `std::io::BufWriter` writes its buffer; only [`StreamWriter::finish`] returns an error of that.
//!
//! But for copying, the writer shares only the schema with the reader, so a round trip
//! tests both.

mod bits;
mod clock;
mod copy;
mod ctf2;
mod demands;
mod encode;
mod error;
mod fit;
mod float;
mod header;
mod index;
mod json;
mod memory;
mod metadata;
mod open_streams;
mod output;
mod packets;
pub mod presets;
mod record;
mod retarget;
mod roles;
mod scopes;
mod stage;
mod stream;
mod stream_file;
mod trace;
mod tsdl;
mod tsdl_names;
mod value;

pub use copy::{FieldEncoder, StreamCopier, Transfer};
pub(crate) use error::Problem;
pub use error::WriteError;
pub use index::{PacketInfo, write_index};
pub use memory::{MemoryTrace, MemoryTraceError};
pub use metadata::{metadata_text, packetized_metadata};
pub use record::Record;
pub use retarget::Retargeted;
pub use stage::StagedDirectory;
pub use stream::StreamWriter;
pub use stream_file::StreamFile;
pub use trace::TraceWriter;
pub use value::FieldValue;
