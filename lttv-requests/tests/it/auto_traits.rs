//! Compile-time checks of the auto traits of public types.
//!
//! Types that hold hooks are not `Send`, so that hooks can borrow and share data without
//! locks; nor are the models that hooks fill. A dedicated thread or task serves them and
//! sends the results.

use std::fmt::Debug;

use lttv_requests::{
    Budget, ChunkReport, FinishReason, Finished, Notification, Owner, Pending, RequestId,
    SubmitError,
};

fn shared<T: Send + Sync + Debug>() {}

#[test]
fn inputs_and_results_are_send_and_sync() {
    shared::<Owner>();
    shared::<RequestId>();
    shared::<Budget>();
    shared::<ChunkReport>();
    shared::<Finished>();
    shared::<FinishReason>();
    shared::<Pending>();
    shared::<Notification>();
}

#[cfg(feature = "views")]
#[test]
fn drawn_values_are_send_and_sync() {
    use lttv_requests::views::{Row, Segment, SharedView, TimeWindow, Timeline};

    shared::<TimeWindow>();
    shared::<Timeline<u32, u8>>();
    shared::<Row<u32, u8>>();
    shared::<Segment<u8>>();
    shared::<SharedView<()>>();
}

#[test]
fn errors_are_send_sync_and_static() {
    fn error<T: std::error::Error + Send + Sync + 'static>() {}
    error::<SubmitError>();
}
