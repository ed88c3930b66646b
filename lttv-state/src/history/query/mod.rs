//! Queries on histories.
//!
//! `history` opens files and finds the column chunks of attributes; `cursor` steps through
//! the intervals of one attribute; `block_at` and `block_probe` search all column chunks of
//! a block for one instant. The other modules are the public queries. This layer uses
//! `file` and `block`.

mod block_at;
mod block_probe;
mod cursor;
pub(crate) mod durations;
pub(crate) mod forward_reader;
pub(crate) mod history;
pub(crate) mod intervals;
mod state_at;
mod text_cache;
