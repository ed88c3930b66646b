//! Access to the bytes of a file: mapped, read as a whole, or read frame by frame.
//!
//! This is the only module of the crate with `unsafe` code.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::history::error::HistoryError;

/// A way to access the bytes of a history file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Access {
    /// Map the file into memory. The system reads pages when they are first used, and can
    /// drop them again, so that memory does not grow with the file. Where the file system
    /// does not support mapping, the file is read instead.
    ///
    /// If another process truncates the file while it is mapped, an access to the lost part
    /// ends this process (`SIGBUS`). If it overwrites bytes, later answers may be wrong.
    /// Builders do neither: they replace a finished file as a whole, by renaming. A growing
    /// file is never mapped by its readers.
    #[default]
    Map,
    /// Read the whole file into memory. Later changes of the file have no effect.
    Read,
}

#[derive(Debug)]
enum Backing {
    Mapped(memmap2::Mmap),
    Owned(Vec<u8>),
}

/// The bytes of one file.
#[derive(Debug)]
pub(crate) struct Source(Backing);

impl Source {
    pub(crate) fn open(path: &Path, access: Access) -> Result<Source, HistoryError> {
        let file = File::open(path);
        file.and_then(|file| Source::of(&file, access))
            .map_err(|error| HistoryError::Io { path: path.to_owned(), error })
    }

    /// Creates a source of all bytes that an open file has now.
    pub(crate) fn of(mut file: &File, access: Access) -> io::Result<Source> {
        use std::io::{Read, Seek};
        if access == Access::Map && file.metadata()?.len() > 0 {
            // SAFETY: the mapping is read-only, and this process does not change the bytes
            // that it reads through it: finished files are replaced, and a resumed file is
            // truncated only past its last block. Another process can still change the
            // file; no check can exclude that, and `Access::Map` leaves it to the caller.
            // All accesses are bounds-checked at each use, so changed bytes give wrong
            // values. A truncated file raises SIGBUS. `Access::Read` avoids both.
            #[allow(unsafe_code, reason = "the one mapping")]
            let mapped = unsafe { memmap2::Mmap::map(file) };
            // Mapping fails on some file systems; reading always works.
            if let Ok(map) = mapped {
                return Ok(Source(Backing::Mapped(map)));
            }
        }
        let mut bytes = Vec::new();
        file.seek(io::SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes)?;
        Ok(Source(Backing::Owned(bytes)))
    }

    pub(crate) fn in_memory(bytes: Vec<u8>) -> Source {
        Source(Backing::Owned(bytes))
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.0 {
            Backing::Mapped(map) => map,
            Backing::Owned(vec) => vec,
        }
    }
}

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

/// Prefetches the cache line at byte `at`, which may lie outside of `data`. Does nothing on
/// processors other than x86-64.
#[inline(always)]
pub(crate) fn prefetch(data: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place = data.as_ptr().wrapping_add(at);
        // SAFETY: a prefetch is a hint that accepts any address. It neither faults nor
        // changes anything that a program can observe.
        #[allow(unsafe_code, reason = "a hint that no safe code can give")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(place.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (data, at);
}
