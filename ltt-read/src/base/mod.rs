//! Types and functions that know nothing of traces.

pub(crate) mod bits;
pub(crate) mod clock_transform;
pub mod source;
pub(crate) mod time;
pub mod uuid;
pub(crate) mod zeros;
