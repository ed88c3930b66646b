//! Building of histories: changes are taken, encoded into blocks, and written.
//!
//! This is the top layer. It uses `query`, to read what was written, as well as `file` and
//! `block`.

pub(crate) mod builder;
pub(crate) mod changes;
mod current_state;
mod partial_file;
mod recover;
mod reorder;
pub(crate) mod write_block;
