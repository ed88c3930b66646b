//! Scripted requests: the implementation of the program `request_replay`.

mod log;
mod replay;
mod script;

pub use replay::{ReplayError, Replayed, replay};
pub use script::{Priority, Request, Script, Start};
