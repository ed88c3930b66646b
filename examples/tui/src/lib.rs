//! LTTV's viewers in a terminal: lists, charts and tables of one traceset, all at
//! the same time, served by [`lttv_requests`] between key presses.
//!
//! * [`model`]: what viewers show.
//! * [`view`]: how that is drawn, in colours that a [`Look`](look::Look) gives.
//! * [`session`]: a tab: a traceset, its viewers, and what they have in common.
//! * [`app`]: all tabs; keys to actions, a frame to a terminal.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod app;
pub mod keys;
pub mod look;
pub mod model;
mod overview;
pub mod prompt;
pub mod session;
pub mod time_text;
pub mod view;
