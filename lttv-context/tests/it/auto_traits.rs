//! Guarantees about auto traits, which are checked when this test is compiled.
//!
//! Types that contain hooks, such as `TracesetContext`, stay in their thread, so that hooks may
//! borrow and share data without locks. All other types may be sent to other threads.

use std::fmt::Debug;

use lttv_context::attributes::{AttributeError, Attributes, Path, SharedAttributes};
use lttv_context::framework::{ModuleError, OptionError, OptionSpec, Options};
use lttv_context::{
    Bounds, CheckpointFileError, CheckpointPolicy, Checkpoints, ParallelReader, ReadEnd,
    StalePosition, Subscription, TimeSpan, Traceset, TracesetPosition,
};

fn shared<T: Send + Sync + Debug>() {}

#[test]
fn types_without_hooks_are_send_and_sync() {
    shared::<Traceset>();
    shared::<TracesetPosition>();
    shared::<TimeSpan>();
    shared::<Bounds>();
    shared::<ReadEnd>();
    shared::<Subscription>();
    shared::<CheckpointPolicy>();
    shared::<ParallelReader>();
    shared::<Attributes>();
    shared::<SharedAttributes>();
    shared::<Path>();
    shared::<Options>();
    shared::<OptionSpec>();
}

#[test]
fn checkpoints_are_send() {
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
