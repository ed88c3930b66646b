//! Streams of record batches for Arrow's C interface, which a thread produces.

use std::ffi::CStr;
use std::mem;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};
use std::time::Duration;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use lttv_arrow::Damage;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::warn_of_damage;
use crate::events::OnDamage;
use crate::outside::{check_signals, is_outside};
use crate::strings;

/// The time between two looks for an interrupt by the user.
const PATIENCE: Duration = Duration::from_millis(50);

/// The number of batches that wait for the consumer.
const WAITING: usize = 2;

/// The receiver of the batches of a producer, which also tells whether it should go on.
pub(crate) struct Output {
    send: mpsc::SyncSender<Result<RecordBatch, ArrowError>>,
    stop: Arc<AtomicBool>,
}

impl Output {
    /// Passes a batch on.
    pub(crate) fn batch(&self, batch: RecordBatch) -> ControlFlow<()> {
        match self.send.send(strings::batch(&batch)) {
            Ok(()) => self.step(),
            Err(_) => ControlFlow::Break(()),
        }
    }

    /// Breaks if no more batches are wanted.
    pub(crate) fn step(&self) -> ControlFlow<()> {
        match self.stop.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// Returns the flag that ends the producer.
    pub(crate) fn stop_flag(&self) -> &Arc<AtomicBool> {
        &self.stop
    }
}

/// The damage and the exceptions that the streams of one table met.
#[derive(Debug, Default)]
pub(crate) struct Met {
    state: Mutex<MetState>,
}

#[derive(Debug, Default)]
struct MetState {
    /// Damage of which no warning has been issued.
    pending: Option<Damage>,
    /// The exception that ended a stream.
    raised: Option<PyErr>,
}

impl Met {
    fn state(&self) -> MutexGuard<'_, MetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the exception that ended a stream, for callers that know better than the consumer.
    pub(crate) fn take_raised(&self) -> Option<PyErr> {
        self.state().raised.take()
    }

    /// Issues the warnings that could not be issued when the damage was met.
    pub(crate) fn warn(&self, py: Python<'_>) -> PyResult<()> {
        let pending = self.state().pending.take();
        pending.map_or(Ok(()), |of| warn_of_damage(py, &of.errors, of.errors_omitted, &of.notices))
    }
}

/// The batches of a table.
pub(crate) struct Batches {
    schema: SchemaRef,
    batches: Option<Receiver<Result<RecordBatch, ArrowError>>>,
    stop: Arc<AtomicBool>,
    producer: Option<JoinHandle<Result<Damage, ArrowError>>>,
    /// The thread that requested the stream: it has the interpreter, or can wait for it.
    opener: ThreadId,
    met: Arc<Met>,
    on_damage: OnDamage,
}

impl Batches {
    /// Starts a producer.
    pub(crate) fn new(
        schema: SchemaRef,
        (met, on_damage): (&Arc<Met>, OnDamage),
        produce: impl FnOnce(&Output) -> Result<Damage, ArrowError> + Send + 'static,
    ) -> Batches {
        let stop = Arc::new(AtomicBool::new(false));
        let (send, batches) = mpsc::sync_channel(WAITING);
        let output = Output { send, stop: Arc::clone(&stop) };
        Batches {
            schema,
            batches: Some(batches),
            stop,
            producer: Some(thread::spawn(move || produce(&output))),
            opener: thread::current().id(),
            met: Arc::clone(met),
            on_damage,
        }
    }

    /// Waits for a batch, without the interpreter.
    fn wait(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        loop {
            let Some(batches) = self.batches.take() else { return Ok(None) };
            // Another thread may be called by one that has the interpreter.
            let is_opener = thread::current().id() == self.opener && !is_outside();
            let (batches, received) = if is_opener {
                let attached = Python::attach(|py| {
                    let waited = py.detach(move || {
                        let received = batches.recv_timeout(PATIENCE);
                        (batches, received)
                    });
                    (waited, check_signals(py))
                });
                let (waited, signals) = attached;
                if let Err(raised) = signals {
                    self.met.state().raised = Some(raised);
                    return Err(ArrowError::ExternalError("interrupted".into()));
                }
                waited
            } else {
                let received = batches.recv_timeout(PATIENCE);
                (batches, received)
            };
            match received {
                Ok(batch) => {
                    self.batches = Some(batches);
                    return batch.map(Some);
                }
                Err(RecvTimeoutError::Timeout) => self.batches = Some(batches),
                Err(RecvTimeoutError::Disconnected) => return self.end().map(|()| None),
            }
        }
    }

    /// Takes the result of the producer.
    fn end(&mut self) -> Result<(), ArrowError> {
        let Some(producer) = self.producer.take() else { return Ok(()) };
        let ended = producer.join();
        let damage = ended.map_err(|_| ArrowError::ExternalError("an internal error".into()))??;
        match (self.on_damage, damage.errors.first()) {
            (OnDamage::Raise, Some(error)) => {
                let text = ltt_read::ErrorChain(error).to_string();
                return Err(ArrowError::ExternalError(text.into()));
            }
            (OnDamage::Ignore, _) => return Ok(()),
            _ => {}
        }
        let losses = damage.notices.iter().any(|notice| notice.kind.is_loss());
        if damage.errors.is_empty() && !losses {
            return Ok(());
        }
        self.met.state().pending = Some(damage);
        if thread::current().id() == self.opener && !is_outside() {
            // A warning may be an error, by the settings of the user.
            if let Err(raised) = Python::attach(|py| self.met.warn(py)) {
                let text = raised.to_string();
                self.met.state().raised = Some(raised);
                return Err(ArrowError::ExternalError(text.into()));
            }
        }
        Ok(())
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.wait().transpose()
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // A producer that waits for the consumer ends.
        drop(mem::take(&mut self.batches));
        if let Some(producer) = self.producer.take() {
            let _ = producer.join();
        }
    }
}

/// Returns the capsule of a stream.
pub(crate) fn stream_capsule<'py>(
    py: Python<'py>,
    batches: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    const NAME: &CStr = c"arrow_array_stream";
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), NAME)
}

/// Returns the capsule of a schema.
pub(crate) fn schema_capsule<'py>(
    py: Python<'py>,
    schema: &SchemaRef,
) -> PyResult<Bound<'py, PyCapsule>> {
    const NAME: &CStr = c"arrow_schema";
    let schema = FFI_ArrowSchema::try_from(&**schema)
        .map_err(|error| pyo3::exceptions::PyValueError::new_err(error.to_string()))?;
    PyCapsule::new_with_value(py, schema, NAME)
}
