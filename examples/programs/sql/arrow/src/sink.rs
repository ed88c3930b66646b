//! The receiver of a read.

use std::ops::ControlFlow;

use arrow_array::RecordBatch;
use ltt_read::Progress;

/// A receiver of record batches.
pub trait Sink {
    /// Receives a batch of the table with this number. Returns [`ControlFlow::Break`] to end the
    /// read.
    fn batch(&mut self, table: usize, batch: RecordBatch) -> ControlFlow<()>;

    /// Is called regularly, also while no event is wanted. Returns [`ControlFlow::Break`] to end the
    /// read.
    fn step(&mut self, progress: Progress) -> ControlFlow<()> {
        let _ = progress;
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(usize, RecordBatch) -> ControlFlow<()>> Sink for F {
    fn batch(&mut self, table: usize, batch: RecordBatch) -> ControlFlow<()> {
        self(table, batch)
    }
}
