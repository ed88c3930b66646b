//! Decoding of sub-buffers and events, which layouts describe only in part: their headers are
//! read by code.

mod decoder;
mod record;

pub(crate) use decoder::{Decoder, FileKind};
