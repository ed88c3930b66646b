//! Writing a trace to a directory.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::WriteError;
use super::metadata::{metadata_text, packetized_metadata};
use super::stream::StreamWriter;
use crate::schema::{Schema, StreamClassId};

/// The size of a metadata packet in bytes.
const METADATA_PACKET: usize = 4096;

/// A writer of traces to directories: metadata first, then any number of data streams.
#[derive(Debug, Clone)]
pub struct TraceWriter {
    dir: PathBuf,
    schema: Arc<Schema>,
    indexed: bool,
}

impl TraceWriter {
    /// Creates the directory, if it does not exist, and writes the metadata as plain
    /// text.
    ///
    /// # Errors
    ///
    /// Returns an error if the format cannot express the schema, or if a file cannot be
    /// written.
    pub fn create(
        dir: impl AsRef<Path>,
        schema: impl Into<Arc<Schema>>,
    ) -> Result<Self, WriteError> {
        Self::with_metadata(dir.as_ref(), schema.into(), |_, text| text.into_bytes())
    }

    /// Creates the directory, if it does not exist, and writes the metadata in packets.
    ///
    /// # Errors
    ///
    /// Returns an error if the format cannot express the schema, or if a file cannot be
    /// written.
    pub fn create_packetized(
        dir: impl AsRef<Path>,
        schema: impl Into<Arc<Schema>>,
    ) -> Result<Self, WriteError> {
        Self::with_metadata(dir.as_ref(), schema.into(), |schema, text| {
            packetized_metadata(schema, &text, METADATA_PACKET)
        })
    }

    fn with_metadata(
        dir: &Path,
        schema: Arc<Schema>,
        pack: impl FnOnce(&Schema, String) -> Vec<u8>,
    ) -> Result<Self, WriteError> {
        let metadata = pack(&schema, metadata_text(&schema)?);
        fs::create_dir_all(dir).map_err(WriteError::io(dir.display().to_string()))?;
        let path = dir.join("metadata");
        fs::write(&path, metadata).map_err(WriteError::io(path.display().to_string()))?;
        Ok(TraceWriter { dir: dir.to_owned(), schema, indexed: false })
    }

    /// Enables LTTng index files for the streams that are created afterwards.
    #[must_use]
    pub fn with_index(mut self) -> Self {
        self.indexed = true;
        self
    }

    /// Returns the schema of the trace.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Creates the file of a data stream. Streams are independent: several threads can
    /// write one each.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such stream class, or if the file cannot be
    /// created.
    pub fn stream(
        &self,
        class: StreamClassId,
        name: &str,
    ) -> Result<StreamWriter<File>, WriteError> {
        let path = self.dir.join(name);
        let shown = path.display().to_string();
        let file = File::create(&path).map_err(WriteError::io(&shown))?;
        let stream = StreamWriter::new(self.schema.clone(), class, &shown, file)?;
        if !self.indexed {
            return Ok(stream);
        }
        let index = self.dir.join("index");
        fs::create_dir_all(&index).map_err(WriteError::io(index.display().to_string()))?;
        Ok(stream.with_index(index.join(format!("{name}.idx"))))
    }
}
