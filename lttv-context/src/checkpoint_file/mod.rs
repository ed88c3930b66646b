//! Checkpoints in files.
//!
//! All numbers outside of the content of frames are little-endian. The content of a frame has
//! the format of [postcard](https://postcard.jamesmunns.com/wire-format).
//!
//! ```text
//! magic    8 bytes  89 4c 43 50 0d 0a 1a 0a
//! format   u32      1
//! frames   u32      length of the content
//!          content
//!          u32      CRC-32 of all previous bytes of the file except other checksums
//! ```
//!
//! The first frame contains a [`Header`]. Each of the others contains a [`StoredCheckpoint`],
//! in the order of their positions. Extensions write the difference from the previous
//! checkpoint, so damage invalidates everything after it. For this reason a file is used only
//! if all of it is intact.
//!
//! # Versions
//!
//! `FORMAT` increases whenever the above changes, and [`Codec::version`](crate::Codec::version)
//! whenever the bytes or states of an extension do. A file of another version is refused and
//! never converted: it can be created again from the traces.

mod error;
mod read;
mod state;
mod write;

use serde::{Deserialize, Serialize};

pub use error::{CheckpointFileError, CheckpointFileFault};

const MAGIC: [u8; 8] = *b"\x89LCP\r\n\x1a\n";
const FORMAT: u32 = 1;

/// The header of a file: the traces and extensions whose checkpoints it contains.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// The [`Fingerprint`](crate::Fingerprint) of the traces.
    source: Vec<u8>,
    extensions: Vec<StoredExtension>,
    checkpoints: u64,
}

/// An extension whose states are stored in a file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredExtension {
    name: String,
    version: u32,
    options: u64,
}

/// A stored checkpoint.
#[derive(Debug, Serialize, Deserialize)]
struct StoredCheckpoint<'b> {
    /// The key of the position, or `None` at the end.
    next: Option<(i64, u32)>,
    latest: Option<i64>,
    /// The positions in all tracefiles, [`Position::BYTES`](ltt_read::Position::BYTES) bytes each.
    #[serde(borrow)]
    tracefiles: &'b [u8],
    /// The states of the extensions, in the order of [`Header::extensions`].
    #[serde(borrow)]
    states: Vec<&'b [u8]>,
}
