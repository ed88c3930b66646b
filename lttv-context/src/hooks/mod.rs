//! Hooks: the choice of events for them, their arguments, and the tables that lead to them.

mod call;
mod check;
mod commands;
mod dispatch;
mod hook_set;
mod outcome;
mod pattern;
mod subscription;
mod unmatched;

pub use call::{EventCall, ReadCall};
pub(crate) use check::{Check, Looks};
pub use commands::Commands;
pub(crate) use commands::{Command, Registration};
pub(crate) use dispatch::{Dispatch, Ready};
pub(crate) use hook_set::Moment;
pub use hook_set::{HookSet, Level};
pub use outcome::{HookError, IntoOutcome};
#[cfg(feature = "synchronize")]
pub(crate) use pattern::Pattern;
pub use subscription::{Scope, Subscription};
pub use unmatched::Unmatched;
