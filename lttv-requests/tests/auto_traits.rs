//! Promises that only the type system can keep: it is the build that fails.
//!
//! What holds hooks stays in its thread, so that hooks may borrow and share without
//! locks, and the models that hooks fill with it: a thread or task of its own serves
//! them, and what comes of it is sent.

use std::fmt::Debug;

use lttv_requests::views::{Row, Segment, Timeline};
use lttv_requests::{
    Budget, Chunk, FinishReason, Finished, Owner, Pending, Reached, RequestId, SubmitError, Tab,
    TimeWindow,
};

fn shared<T: Send + Sync + Debug>() {}

#[test]
fn what_is_asked_and_told_may_cross_threads() {
    shared::<Owner>();
    shared::<RequestId>();
    shared::<Budget>();
    shared::<Chunk>();
    shared::<Finished>();
    shared::<FinishReason>();
    shared::<Pending>();
    shared::<Reached>();
    shared::<TimeWindow>();
}

#[test]
fn what_is_drawn_may_cross_threads() {
    shared::<Timeline<u32, u8>>();
    shared::<Row<u32, u8>>();
    shared::<Segment<u8>>();
    shared::<Tab<()>>();
}

#[test]
fn errors_can_be_passed_on() {
    fn error<T: std::error::Error + Send + Sync + 'static>() {}
    error::<SubmitError>();
}
