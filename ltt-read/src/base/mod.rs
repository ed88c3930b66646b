//! Types and functions that know nothing of traces.

#[cfg(feature = "reader")]
pub(crate) mod bits;
pub(crate) mod clock_transform;
pub(crate) mod error_chain;
pub mod source;
pub(crate) mod time;
pub mod uuid;
#[cfg(feature = "reader")]
pub(crate) mod zeros;
