//! Writing a trace to memory.

use std::sync::Arc;

use super::error::WriteError;
use super::metadata::metadata_text;
use super::stream::StreamWriter;
use crate::schema::{Schema, StreamClassId};
use crate::{Error, Trace};

/// Writes a trace that never touches a disk: what most tests of an analysis
/// want.
///
/// ```
/// use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
/// use ltt_read::writer::{MemoryTrace, Value, presets};
///
/// let mut schema = presets::lttng_kernel(Format::Ctf2);
/// let number = FieldClass::sint(32, ByteOrder::Little);
/// let wake = FieldClass::structure([("tid", number)]);
/// let wake = schema.add_event_type(StreamClassId(0), "sched_waking", wake);
///
/// let mut trace = MemoryTrace::new(schema);
/// for cpu in 0..2_u64 {
///     let mut stream = trace
///         .stream(StreamClassId(0), &format!("channel0_{cpu}"))?
///         .with_stream_id(cpu)
///         .with_packet_context(Value::fields([("cpu_id", cpu)]));
///     stream.event(wake, 1_000 + cpu, Value::fields([("tid", 42)]))?;
///     trace.add(stream)?;
/// }
/// let trace = trace.open()?;
/// assert_eq!(trace.tracefiles().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct MemoryTrace {
    schema: Arc<Schema>,
    files: Vec<(String, Vec<u8>)>,
}

impl MemoryTrace {
    /// A trace without tracefiles yet.
    pub fn new(schema: impl Into<Arc<Schema>>) -> Self {
        MemoryTrace { schema: schema.into(), files: Vec::new() }
    }

    /// Begins a data stream of a class, under the name that its file would
    /// have. It is part of the trace once it is [added](MemoryTrace::add).
    ///
    /// # Errors
    ///
    /// If there is no such stream class.
    pub fn stream(
        &self,
        class: StreamClassId,
        name: &str,
    ) -> Result<StreamWriter<Vec<u8>>, WriteError> {
        StreamWriter::new(self.schema.clone(), class, name, Vec::new())
    }

    /// Finishes a data stream and makes it a tracefile of the trace.
    ///
    /// # Errors
    ///
    /// If its last packet cannot be finished.
    pub fn add(&mut self, stream: StreamWriter<Vec<u8>>) -> Result<(), WriteError> {
        let name = stream.name().to_owned();
        self.files.push((name, stream.finish()?));
        Ok(())
    }

    /// Opens what was written, through its metadata as any other trace.
    ///
    /// # Errors
    ///
    /// [`MemoryTraceError::Write`] if the format of the schema has no words
    /// for it; [`MemoryTraceError::Read`] if no reader can be made for it.
    pub fn open(self) -> Result<Arc<Trace>, MemoryTraceError> {
        let metadata = metadata_text(&self.schema)?;
        Ok(Trace::from_memory(metadata.as_bytes(), self.files)?)
    }
}

/// Why a trace in memory does not open.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryTraceError {
    /// Its metadata cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// It cannot be read.
    #[error(transparent)]
    Read(#[from] Error),
}
