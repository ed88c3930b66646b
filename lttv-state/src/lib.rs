//! Kernel state, statistics, the attribute tree and the interval history.
//!
//! [`kernel`] rebuilds what a system was doing at any instant from the events of
//! its kernel trace; [`stats`] accounts for its time.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

#[cfg(feature = "kernel")]
pub mod kernel;
#[cfg(feature = "kernel")]
pub mod stats;
