//! Shared parts of the example programs.

#![deny(missing_docs)]

mod reader;
pub mod text_dump;
