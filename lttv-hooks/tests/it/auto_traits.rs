//! Compile-time checks of auto traits.

use std::fmt::Debug;

use lttv_hooks::{HookId, HookList, HooksById, Priority, PriorityConflict, PriorityError};

fn shared<T: Send + Sync + Debug>() {}

/// Lists have the auto traits of their hooks.
#[test]
fn lists_are_send_and_sync_if_their_hooks_are() {
    shared::<HookList<dyn Fn(&u32) + Send + Sync>>();
    shared::<HooksById<dyn Fn(&u32) + Send + Sync, u8>>();
    shared::<HookId>();
    shared::<Priority>();
}

#[test]
fn errors_can_be_passed_on() {
    fn error<T: std::error::Error + Send + Sync + 'static>() {}
    error::<PriorityError>();
    error::<PriorityConflict>();
}
