//! Compile-time checks of the auto traits of public types.
//!
//! Types that hold hooks are not `Send`, so that hooks can borrow and share data without
//! locks; nor are the models that hooks fill. A dedicated thread or task serves them and
//! sends the results.

use std::fmt::Debug;

use lttv_requests::views::{Row, Segment, Timeline};
use lttv_requests::{
    Budget, Chunk, FinishReason, Finished, Owner, Pending, Reached, RequestId, SubmitError, Tab,
    TimeWindow,
};

fn shared<T: Send + Sync + Debug>() {}

#[test]
fn inputs_and_results_are_send_and_sync() {
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
fn drawn_values_are_send_and_sync() {
    shared::<Timeline<u32, u8>>();
    shared::<Row<u32, u8>>();
    shared::<Segment<u8>>();
    shared::<Tab<()>>();
}

#[test]
fn errors_are_send_sync_and_static() {
    fn error<T: std::error::Error + Send + Sync + 'static>() {}
    error::<SubmitError>();
}
