//! Checkpoints in files.
//!
//! All numbers of the frame are little-endian; what is in the frames is in the
//! format of [postcard](https://postcard.jamesmunns.com/wire-format).
//!
//! ```text
//! magic    8 bytes  89 4c 43 50 0d 0a 1a 0a
//! format   u32      1
//! frames   u32      length of the content
//!          content
//!          u32      CRC-32 of all bytes of the file before it but the other sums
//! ```
//!
//! The first frame is a [`Head`]. A [`Stored`] checkpoint is in each of the others,
//! in the order of their positions. Extensions write what changed since the one
//! before, so that damage anywhere makes what follows worthless: nothing of a file
//! is used unless all of it is sound.
//!
//! # Versions
//!
//! `FORMAT` grows whenever anything of the above changes,
//! [`Codec::version`](crate::Codec::version) when the bytes or states of an
//! extension do. A file of another version is refused, never converted: it can be
//! made anew from the traces.

mod error;
mod read;
mod state;
mod write;

use serde::{Deserialize, Serialize};

pub use error::CheckpointFileError;

const MAGIC: [u8; 8] = *b"\x89LCP\r\n\x1a\n";
const FORMAT: u32 = 1;

/// What a file is about.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    /// The [`Fingerprint`](crate::Fingerprint) of the traces.
    source: Vec<u8>,
    extensions: Vec<StoredExtension>,
    checkpoints: u64,
}

/// An extension whose states are in a file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredExtension {
    name: String,
    version: u32,
    options: u64,
}

/// A checkpoint in a file.
#[derive(Debug, Serialize, Deserialize)]
struct Stored<'b> {
    /// The key of its position; `None` at the end.
    next: Option<(i64, u32)>,
    latest: Option<i64>,
    /// Where all tracefiles stand, [`Position::BYTES`](ltt_read::Position::BYTES)
    /// each.
    #[serde(borrow)]
    tracefiles: &'b [u8],
    /// By extension.
    #[serde(borrow)]
    states: Vec<&'b [u8]>,
}
