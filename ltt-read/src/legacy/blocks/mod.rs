//! The headers of sub-buffers ("blocks") and of events, and the clocks by which they count.

pub(crate) mod block;
pub(crate) mod block_2003;
pub(crate) mod clock;
mod double;
pub(crate) mod event_header;
mod interpolation;
mod packing;
mod quick;
pub(crate) mod version;

pub(crate) use interpolation::interpolate;
pub(crate) use packing::{Packing, packing};
pub(crate) use quick::Quick;
