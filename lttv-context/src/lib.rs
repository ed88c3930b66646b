//! Traceset, trace and tracefile contexts.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod attributes;
pub mod batch;
pub mod modules;
pub mod options;
pub mod session;

mod bounds;
mod call;
mod checkpoint;
mod commands;
mod context;
mod contexts;
mod dispatch;
mod extension;
mod hook_set;
mod level;
mod parallel;
mod pattern;
mod position;
mod read;
mod seek;
mod slice;
mod span;
mod state;
mod step;
mod subscription;
mod traceset;

pub use bounds::{Bounds, EndReason, ReadEnd};
pub use call::{EventCall, EventHook, LevelCall, LevelHook};
pub use checkpoint::Checkpoints;
pub use commands::Commands;
pub use context::TracesetContext;
pub use contexts::{Contexts, TraceContext, TracefileContext};
pub use extension::{Extension, Extensions, Handle, Setup};
pub use hook_set::{HookSet, Level};
pub use level::ReadId;
pub use parallel::{Parallel, ParallelRead};
pub use position::{StalePosition, TracesetPosition};
pub use slice::Slice;
pub use span::TimeSpan;
pub use subscription::{Scope, Subscription};
pub use traceset::{Generation, Traceset};
