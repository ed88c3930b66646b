//! Writing of a trace to memory.

use std::sync::Arc;

use super::error::WriteError;
use super::metadata::metadata_text;
use super::open_streams::OpenStreams;
use super::stream::StreamWriter;
use crate::schema::{Schema, StreamClassId};
use crate::{Error, Trace};

/// A writer of traces that stay in memory, for example for tests of an analysis.
///
/// ```
/// use ltt_read::schema::{ByteOrder, FieldClass, Format, StreamClassId};
/// use ltt_read::writer::{MemoryTrace, FieldValue, presets};
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
///         .with_packet_context(FieldValue::fields([("cpu_id", cpu)]));
///     stream.event(wake, 1_000 + cpu, FieldValue::fields([("tid", 42)]))?;
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
    streams: OpenStreams,
}

impl MemoryTrace {
    /// Creates a trace without tracefiles.
    pub fn new(schema: impl Into<Arc<Schema>>) -> Self {
        MemoryTrace { schema: schema.into(), files: Vec::new(), streams: OpenStreams::default() }
    }

    /// Creates a data stream of a class, with the name that its file would have.
    /// [`MemoryTrace::add`] makes it part of the trace.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such stream class.
    pub fn stream(
        &self,
        class: StreamClassId,
        name: &str,
    ) -> Result<StreamWriter<Vec<u8>>, WriteError> {
        let stream = StreamWriter::new(self.schema.clone(), class, name, Vec::new())?;
        Ok(stream.with_entry(self.streams.open_in_memory(name)))
    }

    /// Finishes a data stream and adds it to the trace as a tracefile.
    ///
    /// # Errors
    ///
    /// Returns an error if the last packet of the stream cannot be finished.
    pub fn add(&mut self, stream: StreamWriter<Vec<u8>>) -> Result<(), WriteError> {
        let name = stream.name().to_owned();
        self.files.push((name, stream.finish()?));
        Ok(())
    }

    /// Opens the written trace. The metadata is printed and parsed, as for other traces.
    ///
    /// # Errors
    ///
    /// Returns [`MemoryTraceError::Write`] if the format of the schema cannot express it, or if
    /// streams were created and neither added nor finished ([`WriteError::OpenStreams`]),
    /// and [`MemoryTraceError::Read`] if the trace cannot be opened.
    pub fn open(self) -> Result<Arc<Trace>, MemoryTraceError> {
        self.streams.check()?;
        let metadata = metadata_text(&self.schema)?;
        Ok(Trace::from_memory(metadata.as_bytes(), self.files)?)
    }
}

/// An error from opening a trace in memory.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum MemoryTraceError {
    /// The metadata cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The trace cannot be opened.
    #[error(transparent)]
    Read(#[from] Error),
}

crate::debug_as_chain!(MemoryTraceError);
