//! Writing a trace to a directory.

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::error::WriteError;
use super::metadata::{metadata_text, packed_metadata};
use super::open_streams::OpenStreams;
use super::output::{IndexFile, OutputFile, Rotation};
use super::stream::StreamWriter;
use super::stream_file::{OpenFiles, StreamFile};
use crate::schema::{Schema, StreamClassId};

const METADATA: &str = "metadata";

/// A writer of traces to directories: metadata first, then any number of data streams.
#[derive(Debug, Clone)]
pub struct TraceWriter {
    dir: PathBuf,
    schema: Arc<Schema>,
    indexed: bool,
    file_limit: Option<u64>,
    open: OpenFiles,
    streams: OpenStreams,
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
        let schema = schema.into();
        let metadata = metadata_text(&schema)?;
        let streams = OpenStreams::default();
        Self::with_metadata(dir.as_ref(), schema, METADATA, metadata.as_bytes(), streams)
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
        let schema = schema.into();
        let metadata = packed_metadata(&schema)?;
        let streams = OpenStreams::default();
        Self::with_metadata(dir.as_ref(), schema, METADATA, &metadata, streams)
    }

    /// Creates the directory, and a metadata file of a given name and content. `streams` are those
    /// of the directory.
    pub(super) fn with_metadata(
        dir: &Path,
        schema: Arc<Schema>,
        name: &str,
        metadata: &[u8],
        streams: OpenStreams,
    ) -> Result<Self, WriteError> {
        fs::create_dir_all(dir).map_err(WriteError::io(dir.display().to_string()))?;
        streams.claim(&dir.join(METADATA))?;
        let path = dir.join(name);
        fs::write(&path, metadata).map_err(WriteError::io(path.display().to_string()))?;
        let (dir, open) = (dir.to_owned(), OpenFiles::default());
        Ok(TraceWriter { dir, schema, indexed: false, file_limit: None, open, streams })
    }

    /// Enables LTTng index files for the streams that are created afterwards.
    #[must_use]
    pub fn with_index(mut self) -> Self {
        self.indexed = true;
        self
    }

    /// Divides the streams that are created afterwards into files of at most this many
    /// bytes. A file of a single packet can be larger. The files of the stream `channel0_3`
    /// are `channel0_3_0`, `channel0_3_1` and so on, as LTTng names them.
    #[must_use]
    pub fn with_file_limit(mut self, bytes: u64) -> Self {
        self.file_limit = Some(bytes);
        self
    }

    /// Returns the schema of the trace.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Creates the file of a data stream. Streams are independent: several threads can
    /// write one each. There may be any number of them: see [`StreamFile`]. Files that were in the
    /// directory before are replaced.
    ///
    /// # Errors
    ///
    /// Returns [`WriteError::NameInUse`] if another stream of this writer or the metadata has the
    /// name of one of the files, and an error if the name leads out of the directory, if there is
    /// no such stream class, or if the file cannot be created.
    pub fn stream(
        &self,
        class: StreamClassId,
        name: &str,
    ) -> Result<StreamWriter<StreamFile>, WriteError> {
        if !Path::new(name).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(WriteError::io(name)(ErrorKind::InvalidInput.into()));
        }
        if self.schema.stream_classes.get(class.index()).is_none() {
            return Err(WriteError::NotInStream { what: "stream class", index: class.0 });
        }
        let (dir, indexed, opened) = (self.dir.clone(), self.indexed, self.open.clone());
        let streams = self.streams.clone();
        let open = move |name: &str| {
            let path = dir.join(name);
            streams.claim(&path)?;
            let shown = path.display().to_string();
            let create = || WriteError::io(&shown);
            let out = StreamFile::create(path, opened.clone()).map_err(create())?;
            let index =
                indexed.then(|| IndexFile::create(&dir, name, &streams, &opened)).transpose()?;
            Ok(OutputFile { name: shown, out, index })
        };
        let shown = self.dir.join(name).display().to_string();
        let Some(limit) = self.file_limit else {
            let file = open(name)?;
            return self.open_stream(class, &shown, file, None);
        };
        let file = open(&format!("{name}_0"))?;
        let (name, mut number) = (name.to_owned(), 0_u64);
        let next = Box::new(move || {
            number += 1;
            open(&format!("{name}_{number}"))
        });
        let rotation = Some(Rotation { limit, next });
        self.open_stream(class, &shown, file, rotation)
    }

    fn open_stream(
        &self,
        class: StreamClassId,
        name: &str,
        file: OutputFile<StreamFile>,
        rotation: Option<Rotation<StreamFile>>,
    ) -> Result<StreamWriter<StreamFile>, WriteError> {
        let stream = StreamWriter::with_output(self.schema.clone(), class, name, file, rotation)?;
        Ok(stream.with_entry(self.streams.open(name)))
    }
}
