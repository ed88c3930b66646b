//! Guarantees by the type system: a violation fails to compile.

use std::fmt::Debug;

use lttv_state::filter::KernelFields;
use lttv_state::history::{Builder, History, IntervalBuilder, Live};
use lttv_state::kernel::{KernelState, TraceState};
use lttv_state::kernel_history::{KernelHistory, Snapshot};
use lttv_state::stats::Statistics;
use lttv_state::tree::Tree;
use lttv_state::value::StateValue;

fn shared<T: Send + Sync + Debug>() {}

#[test]
fn results_can_be_shared_by_threads() {
    shared::<History>();
    shared::<Live>();
    shared::<Tree>();
    shared::<StateValue<'_>>();
    shared::<<KernelState as lttv_context::Extension>::Checkpoint>();
    shared::<Snapshot>();
    shared::<Statistics>();
    shared::<KernelFields>();
}

/// These types change while they are used, so that one thread owns them.
#[test]
fn builders_can_move_to_another_thread() {
    fn sent<T: Send + Debug>() {}
    sent::<Builder>();
    sent::<IntervalBuilder>();
    sent::<KernelState>();
    sent::<TraceState>();
    sent::<KernelHistory>();
}

#[test]
fn errors_are_send_and_sync() {
    fn error<T: std::error::Error + Send + Sync + 'static>() {}
    error::<lttv_state::history::HistoryError>();
    error::<lttv_state::tree::TreeError>();
}
