//! Shared parts of the example programs.

#![deny(missing_docs)]

pub mod text_dump;
