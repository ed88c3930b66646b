//! Fast, lazy reader of Linux trace files: CTF 1.8 and CTF 2 over mmap.

#![deny(missing_docs)]

pub mod layout;
pub mod metadata;
pub mod schema;
pub mod uuid;
mod visit;
#[cfg(feature = "writer")]
pub mod writer;

pub use visit::{StrValue, Visitor};
