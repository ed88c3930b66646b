//! Promises that only the type system can keep: it is the build that fails.

use std::fmt::Debug;

use lttv_hooks::{
    Deferred, HookId, HookList, HooksById, Priority, PriorityConflict, PriorityError,
};

fn shared<T: Send + Sync + Debug>() {}

/// Lists are as free as the hooks in them.
#[test]
fn lists_of_hooks_that_may_cross_threads_may_too() {
    shared::<HookList<dyn Fn(&u32) + Send + Sync>>();
    shared::<HooksById<dyn Fn(&u32) + Send + Sync, u8>>();
    shared::<Deferred<dyn Fn(&u32) + Send + Sync>>();
    shared::<HookId>();
    shared::<Priority>();
}

#[test]
fn errors_can_be_passed_on() {
    fn error<T: std::error::Error + Send + Sync + 'static>() {}
    error::<PriorityError>();
    error::<PriorityConflict>();
}
