//! LTTV's viewers in a terminal: lists, charts and tables of one traceset, visible together
//! and served by [`lttv_requests`] between key presses.
//!
//! * [`model`]: the data that viewers show.
//! * [`viewer`]: what a viewer is, and the registry of their kinds. Programs add their own.
//! * [`view`]: the viewers of this crate, in the colours of a [`Look`](look::Look).
//! * [`session`]: a tab: a traceset, and the data that its viewers share.
//! * [`traceset_change`]: adding a trace to a tab, and removing one.
//! * [`text`]: texts that may be longer than a line.
//! * [`app`]: the application: all tabs, the handling of keys, and the drawing of frames.
//! * [`layout`]: the file that keeps the layout of tabs.
//! * [`terminal`]: the application in the terminal of a program.
//! * [`program`]: the whole program, for the command line.
//! * [`keys`]: the keys of all viewers, and the order in which a key is looked up.

#![deny(missing_docs, clippy::print_stdout, clippy::print_stderr)]
#![forbid(unsafe_code)]

// Viewers of other crates draw with the same version.
pub use ratatui;
pub use session::{tab_notes, traceset_change};

pub mod app;
pub mod keys;
pub mod layout;
pub mod look;
pub mod model;
pub mod program;
pub mod prompt;
pub mod session;
pub mod terminal;
pub mod text;
pub mod time_text;
pub mod view;
pub mod viewer;
