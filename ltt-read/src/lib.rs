//! Fast, lazy reader of Linux trace files: CTF 1.8 and CTF 2 over mmap.

#![deny(missing_docs)]
#![deny(unsafe_code)]

mod bits;
mod cursor;
mod discover;
mod error;
mod event;
mod field;
mod index;
pub mod layout;
mod merge;
pub mod metadata;
mod notice;
mod packet;
mod quirks;
pub mod schema;
mod source;
mod time;
mod trace;
mod tracefile;
pub mod uuid;
mod value;
mod visit;
#[cfg(feature = "writer")]
pub mod writer;

pub use cursor::{Cursor, Position};
pub use discover::find_traces;
pub use error::{DecodeError, Error, Place};
pub use event::Event;
pub use field::Field;
pub use index::{Index, IndexEntry};
pub use merge::Merge;
pub use notice::{Notice, NoticeKind};
pub use packet::Packet;
pub use source::Access;
pub use time::Timestamp;
pub use trace::{OpenOptions, Trace, open_all};
pub use tracefile::Tracefile;
pub use value::{ArrayView, StructView, Value, labels};
pub use visit::{StrValue, Visitor};
