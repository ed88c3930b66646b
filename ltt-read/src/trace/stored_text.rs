//! Texts in a recording apart from its events, such as the names of the kernel's functions.

use std::path::PathBuf;

use crate::base::source::SharedBytes;
use crate::ftrace::chunk::Chunk;
use crate::report::Error;

/// A text after its size, which is read when it is needed.
#[derive(Debug)]
pub(crate) struct StoredText {
    /// The name of its section.
    pub(crate) section: &'static str,
    pub(crate) path: PathBuf,
    /// The place in the file, in bytes.
    pub(crate) offset: u64,
    pub(crate) source: SharedBytes,
    /// The number of bytes that the file lacks.
    pub(crate) missing: u64,
    /// The way to decompress the bytes, if they are compressed.
    pub(crate) packed: Option<Chunk>,
    /// The number of bytes of the size before the text.
    pub(crate) size_bytes: usize,
}

impl StoredText {
    /// Returns the text.
    pub(super) fn text(&self) -> Result<Vec<u8>, Error> {
        let wrong = |reason| Error::Section {
            path: self.path.clone(),
            section: self.section,
            offset: self.offset,
            reason,
        };
        if self.missing > 0 {
            return Err(wrong("they were cut"));
        }
        let unpacked = self.packed.as_ref().map(|chunk| chunk.unpack(self.source.get()));
        let unpacked = unpacked.transpose().map_err(|_| wrong("they cannot be decompressed"))?;
        let bytes = unpacked.as_ref().map_or(self.source.get(), |bytes| bytes.bytes());
        let text = bytes.get(self.size_bytes..).ok_or_else(|| wrong("their size is missing"))?;
        Ok(text.to_vec())
    }
}
