//! The files of a data stream and of its packet index.

use std::fmt;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::WriteError;
use super::index::{PacketInfo, write_entry, write_header};
use super::open_streams::OpenStreams;
use super::stream_file::{OpenFiles, StreamFile};

/// The current file of a data stream, and how to continue in another one.
pub(super) struct Output<W> {
    /// The name or path, for error messages.
    name: String,
    out: W,
    index: Option<IndexFile>,
    /// The number of bytes in the current file.
    offset: u64,
    rotation: Option<Rotation<W>>,
}

/// The rule by which a stream continues in another file.
pub(super) struct Rotation<W> {
    /// The size that a file of more than one packet does not exceed, in bytes.
    pub(super) limit: u64,
    /// Creates the next file.
    pub(super) next: Box<dyn FnMut() -> Result<OutputFile<W>, WriteError> + Send>,
}

/// A file of a data stream, with its index if it has one.
pub(super) struct OutputFile<W> {
    pub(super) name: String,
    pub(super) out: W,
    pub(super) index: Option<IndexFile>,
}

impl<W: fmt::Debug> fmt::Debug for Output<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Output { name, out, index, offset, rotation } = self;
        f.debug_struct("Output")
            .field("name", name)
            .field("out", out)
            .field("index", index)
            .field("offset", offset)
            .field("limit", &rotation.as_ref().map(|rotation| rotation.limit))
            .finish()
    }
}

impl<W: Write> Output<W> {
    pub(super) fn new(file: OutputFile<W>, rotation: Option<Rotation<W>>) -> Self {
        let OutputFile { name, out, index } = file;
        Output { name, out, index, offset: 0, rotation }
    }

    /// Writes a packet, followed by zeros up to its total size. Returns its offset in its
    /// file, in bytes.
    pub(super) fn packet(&mut self, bytes: &[u8], packet: PacketInfo) -> Result<u64, WriteError> {
        let size = packet.total_bits / 8;
        let full = |rotation: &mut Rotation<W>| self.offset + size > rotation.limit;
        if self.offset > 0 && self.rotation.as_mut().is_some_and(full) {
            self.rotate()?;
        }
        self.out.write_all(bytes).map_err(WriteError::io(&self.name))?;
        let padding = size.saturating_sub(bytes.len() as u64);
        let mut zeros = std::io::Read::take(std::io::repeat(0), padding);
        std::io::copy(&mut zeros, &mut self.out).map_err(WriteError::io(&self.name))?;
        let offset = self.offset;
        if let Some(index) = &mut self.index {
            index.add(&PacketInfo { offset, ..packet })?;
        }
        self.offset += size;
        Ok(offset)
    }

    fn rotate(&mut self) -> Result<(), WriteError> {
        self.flush()?;
        let Some(rotation) = &mut self.rotation else { return Ok(()) };
        let OutputFile { name, out, index } = (rotation.next)()?;
        (self.name, self.out, self.index, self.offset) = (name, out, index, 0);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.out.flush().map_err(WriteError::io(&self.name))?;
        match &mut self.index {
            Some(index) => index.flush(),
            None => Ok(()),
        }
    }

    pub(super) fn finish(mut self) -> Result<W, WriteError> {
        self.flush()?;
        Ok(self.out)
    }
}

/// The size of the buffer of an index in bytes, which each stream has.
const INDEX_BUFFER: usize = 1 << 12;

/// A packet index that is written along with its stream.
#[derive(Debug)]
pub(super) struct IndexFile {
    path: PathBuf,
    out: BufWriter<StreamFile>,
}

impl IndexFile {
    /// Creates the index `index/NAME.idx` of a stream file `NAME` in a directory.
    pub(super) fn create(
        dir: &Path,
        name: &str,
        streams: &OpenStreams,
        open: &OpenFiles,
    ) -> Result<Self, WriteError> {
        let folder = dir.join("index");
        fs::create_dir_all(&folder).map_err(WriteError::io(folder.display().to_string()))?;
        let path = folder.join(format!("{name}.idx"));
        streams.claim(&path)?;
        let failed = || WriteError::io(path.display().to_string());
        let file = StreamFile::create(path.clone(), open.clone()).map_err(failed())?;
        let mut out = BufWriter::with_capacity(INDEX_BUFFER, file);
        write_header(&mut out).map_err(failed())?;
        Ok(IndexFile { path, out })
    }

    fn add(&mut self, packet: &PacketInfo) -> Result<(), WriteError> {
        write_entry(&mut self.out, packet).map_err(self.failed())
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.out.flush().map_err(self.failed())
    }

    fn failed(&self) -> impl FnOnce(std::io::Error) -> WriteError + use<> {
        WriteError::io(self.path.display().to_string())
    }
}
