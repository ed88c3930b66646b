//! Traceset, trace and tracefile contexts.
//!
//! This crate will own the order of events: it merges the tracefiles of all
//! traces of a traceset in one total order and delivers each event to hooks,
//! between exact bounds, with positions that can be saved and sought.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod attributes;
pub mod modules;
pub mod options;
pub mod session;
