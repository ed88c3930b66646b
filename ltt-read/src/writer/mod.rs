//! Writing traces: to test analyses without recordings, and to test readers.
//!
//! A trace is written from a [`Schema`](crate::schema::Schema), which can be
//! read from another trace, built by hand, or taken from [`presets`], and from
//! [`Value`]s. The metadata is printed in the schema's format, CTF 1.8 or
//! CTF 2. What a reader needs to find its way (ids, sizes, timestamps, lengths,
//! selectors) is filled in; what is given explicitly is checked against the
//! rest, so that a written event is always consistent.
//!
//! ```
//! use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
//! use ltt_read::writer::{TraceWriter, Value, presets};
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
//!     .with_packet_context(Value::fields([("cpu_id", 0)]));
//! cpu0.event(switch, 1_000, Value::structure(["swapper/0".into(), 0.into(), 42.into()]))?;
//! cpu0.event(switch, 2_500, Value::fields([("prev_tid", 42)]))?; // the rest is zero
//! cpu0.finish()?;
//! # std::fs::remove_dir_all(&dir)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`LegacyWriter`] writes what LTTng 0.x recorded, from format strings.
//!
//! [`MemoryTrace`] does the same without files; [`metadata_text`] and
//! [`StreamWriter::new`] are its parts.
//!
//! Nothing here is shared with the reading side but the schema, so that a
//! round trip through both proves something.

mod bits;
mod ctf2;
mod demands;
mod encode;
mod error;
mod fit;
mod float;
mod header;
mod index;
mod json;
mod legacy;
mod memory;
mod metadata;
pub mod presets;
mod roles;
mod scopes;
mod stream;
mod trace;
mod tsdl;
mod tsdl_names;
mod value;

pub use error::{Problem, WriteError};
pub use index::{PacketInfo, write_index};
pub use legacy::{LegacyMarker, LegacyWriter};
pub use memory::{MemoryTrace, MemoryTraceError};
pub use metadata::{metadata_text, packetized_metadata};
pub use stream::{Record, StreamWriter};
pub use trace::TraceWriter;
pub use value::Value;
