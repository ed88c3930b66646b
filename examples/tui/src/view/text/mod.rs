//! Texts that may be longer than a line.

pub mod message;
pub mod popup;
pub mod wrap;
