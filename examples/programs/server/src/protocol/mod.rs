//! The Trace Server Protocol 0.6.0: parameters, models and samples.

pub mod models;
pub mod parameters;
pub mod samples;

/// The version of the protocol.
pub const VERSION: &str = "0.6.0";
