//! The blocks of a growing file, as its readers have them.

use std::fs::File;
use std::io;
use std::sync::{Arc, OnceLock};

/// A frame of a growing file: read when it is first needed, and kept from then on.
///
/// A growing file is not mapped, for what touches a mapping of a file that another process
/// has truncated ends its own process. Finished files are mapped: they are replaced as a
/// whole, and never changed.
#[derive(Debug)]
pub(super) struct Piece {
    file: Arc<File>,
    offset: u64,
    len: usize,
    bytes: OnceLock<Box<[u8]>>,
}

impl Piece {
    /// A frame that is at a place of a file.
    pub(super) fn new(file: &Arc<File>, offset: u64, frame: &[u8]) -> Piece {
        let bytes = OnceLock::new();
        if !cfg!(unix) {
            // Reading elsewhere would move the place where the file is written next.
            _ = bytes.set(frame.into());
        }
        Piece { file: file.clone(), offset, len: frame.len(), bytes }
    }

    /// Its bytes; none before [`load`](Self::load).
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get().map_or(&[], |bytes| bytes)
    }

    /// Its bytes, read if they were not yet.
    pub(super) fn load(&self) -> io::Result<&[u8]> {
        if let Some(bytes) = self.bytes.get() {
            return Ok(bytes);
        }
        let mut bytes = vec![0; self.len];
        self.read(&mut bytes)?;
        // Another thread may have done the same.
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
