//! Requests by script: what the program `request_replay` runs.

mod log;
mod replay;
mod script;

pub use replay::{ReplayError, Replayed, replay};
pub use script::{Priority, Request, Script, Start};
