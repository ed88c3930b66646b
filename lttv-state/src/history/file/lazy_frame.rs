//! Frames of a growing file, which are read one by one.

use std::fs::File;
use std::io;
use std::sync::{Arc, OnceLock};

/// A frame of a growing file, read when it is first used and kept from then on.
///
/// A growing file is not mapped: if another process truncated it, an access to the mapping
/// would end this process. A finished file can be mapped, since builders never change it.
#[derive(Debug)]
pub(crate) struct LazyFrame {
    file: Arc<File>,
    offset: u64,
    len: usize,
    bytes: OnceLock<Box<[u8]>>,
}

impl LazyFrame {
    /// Creates the frame at byte `offset` of a file; `frame` is its content at present.
    pub(crate) fn new(file: &Arc<File>, offset: u64, frame: &[u8]) -> LazyFrame {
        let bytes = OnceLock::new();
        if !cfg!(unix) {
            // Elsewhere, reading would move the file position at which the next frame is
            // written.
            _ = bytes.set(frame.into());
        }
        LazyFrame { file: file.clone(), offset, len: frame.len(), bytes }
    }

    /// Returns the bytes of the frame; none before [`load`](Self::load).
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get().map_or(&[], |bytes| bytes)
    }

    /// Returns the bytes of the frame, read from the file on the first call.
    pub(crate) fn load(&self) -> io::Result<&[u8]> {
        if let Some(bytes) = self.bytes.get() {
            return Ok(bytes);
        }
        let mut bytes = vec![0; self.len];
        self.read(&mut bytes)?;
        // If another thread has read them in the meantime, its copy is used.
        Ok(self.bytes.get_or_init(|| bytes.into()))
    }

    #[cfg(unix)]
    fn read(&self, bytes: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&*self.file, bytes, self.offset)
    }

    #[cfg(not(unix))]
    fn read(&self, _: &mut [u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
