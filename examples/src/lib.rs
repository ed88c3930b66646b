//! Shared parts of the example programs.

#![deny(missing_docs)]

pub mod batch_analysis;
pub mod bundled;
pub mod clap_options;
pub mod palette;
pub mod progress;
pub mod text_dump;

/// The code in the README of the repository, which has to compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
