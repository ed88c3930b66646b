//! Decoding of the formats of LTTng 0.x and LTT, which layouts describe only in part: the
//! headers of sub-buffers ("blocks") and events are read by code.

pub(crate) mod block;
pub(crate) mod block_2003;
pub(crate) mod clock;
mod decoder;
mod double;
mod event_header;
mod interpolation;
mod packing;
mod quick;
mod record;
pub(crate) mod version;

pub(crate) use decoder::{Decoder, FileKind};
pub(crate) use packing::Packing;
pub(crate) use quick::Quick;
