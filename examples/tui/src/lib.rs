//! LTTV's viewers in a terminal: lists, charts and tables of one traceset, visible together
//! and served by [`lttv_requests`] between key presses.
//!
//! * [`model`]: the data that viewers show.
//! * [`view`]: drawing that data, in the colours of a [`Look`](look::Look).
//! * [`session`]: a tab: a traceset, and the data that its viewers share.
//! * [`app`]: the application: all tabs, the handling of keys, and the drawing of frames.

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
