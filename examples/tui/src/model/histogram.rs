//! How many events there are in each column.

use ltt_read::Timestamp;
use lttv_context::EventCall;
use lttv_state::kernel::KernelState;

use super::axis::Axis;
use super::chart::Chart;

/// Numbers of events by column.
#[derive(Debug, Clone)]
pub struct Histogram {
    bounds: Vec<i64>,
    counts: Vec<u64>,
    column: usize,
}

impl Histogram {
    /// Numbers of events by column.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

impl Chart for Histogram {
    fn new(axis: Axis) -> Self {
        Histogram { bounds: axis.bounds(), counts: vec![0; axis.columns()], column: 0 }
    }

    fn begin(&mut self, _: &KernelState) {}

    #[inline]
    fn event(&mut self, _: &KernelState, call: &EventCall<'_, '_>) {
        let time = call.time().ns();
        while self.bounds.get(self.column + 1).is_some_and(|end| *end <= time) {
            self.column += 1;
        }
        if let Some(count) = self.counts.get_mut(self.column) {
            *count += 1;
        }
    }

    fn advance(&mut self, _: Timestamp) {}
}
