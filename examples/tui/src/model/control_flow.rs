//! What each process was doing, column by column.

use ltt_read::Timestamp;
use lttv_context::EventCall;
use lttv_examples::control_flow::{self, Track};
use lttv_examples::palette::Paint;
use lttv_state::kernel::{KernelState, NameId};

use super::axis::Axis;
use super::chart::Chart;
use super::strip::Strip;

pub use lttv_examples::control_flow::RowKey;

/// Rows for all processes of a time window.
pub type ControlFlow = control_flow::ControlFlow<Strip>;

/// A row: a process.
pub type ProcessRow = control_flow::ProcessRow<Strip>;

impl Track for Strip {
    /// When columns begin, and the last one ends.
    type Scale = Vec<i64>;

    #[inline]
    fn set(&mut self, bounds: &Vec<i64>, time: i64, paint: Paint, _: NameId) {
        Strip::set(self, bounds, time, paint);
    }

    fn end(&mut self, bounds: &Vec<i64>, time: i64) {
        Strip::end(self, bounds, time);
    }
}

impl Chart for ControlFlow {
    fn new(axis: Axis) -> Self {
        control_flow::ControlFlow::new(axis.bounds())
    }

    fn begin(&mut self, kernel: &KernelState) {
        let begin = Timestamp::from_ns(self.scale().first().copied().unwrap_or(0));
        control_flow::ControlFlow::begin(self, kernel, begin);
    }

    #[inline]
    fn event(&mut self, kernel: &KernelState, call: &EventCall<'_, '_>) {
        control_flow::ControlFlow::event(self, kernel, call);
    }

    fn advance(&mut self, time: Timestamp) {
        let (bounds, strips) = self.tracks_mut();
        strips.for_each(|strip| strip.advance(bounds, time.ns()));
    }
}
