//! Promises that only the type system can keep: it is the build that fails.
//!
//! What holds hooks, as `TracesetContext` does, stays in its thread, so that hooks
//! may borrow and share without locks; what it works on and gives is free.

use std::fmt::Debug;

use lttv_context::attributes::{AttributeError, Attributes, Path, Pattern};
use lttv_context::modules::ModuleError;
use lttv_context::options::{OptionError, OptionSpec, Options};
use lttv_context::{
    Bounds, CheckpointFileError, Checkpoints, Parallel, ReadEnd, Saving, StalePosition,
    Subscription, TimeSpan, Traceset, TracesetPosition,
};

fn shared<T: Send + Sync + Debug>() {}

#[test]
fn all_but_what_holds_hooks_may_cross_threads() {
    shared::<Traceset>();
    shared::<TracesetPosition>();
    shared::<TimeSpan>();
    shared::<Bounds>();
    shared::<ReadEnd>();
    shared::<Subscription>();
    shared::<Saving>();
    shared::<Parallel>();
    shared::<Attributes>();
    shared::<Path>();
    shared::<Pattern>();
    shared::<Options>();
    shared::<OptionSpec>();
}

#[test]
fn checkpoints_may_be_kept_by_another_thread() {
    fn sent<T: Send + Debug>() {}
    sent::<Checkpoints>();
}

#[test]
fn errors_can_be_passed_on() {
    fn error<T: std::error::Error + Send + Sync + 'static>() {}
    error::<StalePosition>();
    error::<CheckpointFileError>();
    error::<ModuleError>();
    error::<OptionError>();
    error::<AttributeError>();
}
