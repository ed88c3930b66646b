//! Building of histories: changes are taken, encoded into blocks, and written.
//!
//! A [`Builder`](builder::Builder) advances a clock, changes the present states, and has the
//! writer write a block whenever enough intervals have ended.
//!
//! This is the top layer. It uses `query`, to read what was written, as well as `file` and
//! `block`.

mod block_writer;
pub(crate) mod builder;
mod clock;
mod current_state;
#[cfg(feature = "kernel")]
pub(crate) mod draft;
mod intervals;
pub(crate) mod live;
mod partial_file;
mod recover;
mod reorder;
pub(crate) mod settings;
pub(crate) mod states;
pub(crate) mod unordered;
