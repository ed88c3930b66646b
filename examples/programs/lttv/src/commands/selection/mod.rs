//! The options that select what commands show. Each command has those that have a meaning for it.

mod condition;
mod groups;
mod spans;
mod threads;

pub use groups::{CpuArgs, DurationArgs, NameArgs, NumberArgs, ThreadArgs};
pub use spans::SelectionArgs;

pub(crate) use condition::{all_of, with_conditions};
pub(crate) use threads::{Thread, ThreadFilter};
