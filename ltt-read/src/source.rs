//! The bytes of a file: mapped, or read into memory.
//!
//! Besides [`zeros`](crate::zeros), this is the only module of the crate with `unsafe`
//! code.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use crate::error::Error;

/// How the bytes of files, metadata and data streams, are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Access {
    /// Map the file into memory. Nothing is read before it is needed, and
    /// reading does not copy. If another process *truncates* the file while it
    /// is mapped, touching the lost part ends this process (`SIGBUS`); do not
    /// use it for files that are being rewritten. Where the file system cannot
    /// map, the file is read instead.
    #[default]
    Map,
    /// Read the whole file into memory when it is opened. Safe whatever
    /// happens to the file, but memory grows with the trace.
    Read,
}

#[derive(Debug)]
enum Bytes {
    Mapped(memmap2::Mmap),
    Owned(Vec<u8>),
}

/// The bytes of one file.
#[derive(Debug)]
pub(crate) struct Source(Bytes);

impl Source {
    pub(crate) fn open(path: &Path, access: Access) -> Result<Source, Error> {
        Source::open_up_to(path, access, u64::MAX)
    }

    /// Opens a file, which must be a regular one of no more than some bytes.
    pub(crate) fn open_up_to(path: &Path, access: Access, most: u64) -> Result<Source, Error> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        // Opening a pipe would wait for a writer, and a device may never end.
        let found = fs::metadata(path).map_err(io)?;
        if !found.is_file() {
            return Err(io(io::Error::new(ErrorKind::InvalidInput, "not a regular file")));
        }
        if found.len() > most {
            let text = format!("larger than the {most} bytes that such a file may have");
            return Err(io(io::Error::new(ErrorKind::FileTooLarge, text)));
        }
        if access == Access::Read {
            return std::fs::read(path).map(|v| Source(Bytes::Owned(v))).map_err(io);
        }
        let file = File::open(path).map_err(io)?;
        if file.metadata().map_err(io)?.len() == 0 {
            return Ok(Source(Bytes::Owned(Vec::new())));
        }
        // SAFETY: the mapping is private and read-only. What remains is that
        // another process may change or truncate the file. Changed bytes are
        // harmless: they are plain integers that every use re-checks against
        // the slice's length. Truncation raises SIGBUS, which `Access::Map`
        // documents as the caller's choice; `Access::Read` avoids it.
        #[allow(unsafe_code, reason = "the one mapping")]
        let mapped = unsafe { memmap2::Mmap::map(&file) };
        match mapped {
            Ok(map) => Ok(Source(Bytes::Mapped(map))),
            // Some file systems cannot map: reading works everywhere.
            Err(_) => std::fs::read(path).map(|v| Source(Bytes::Owned(v))).map_err(io),
        }
    }

    pub(crate) fn in_memory(bytes: Vec<u8>) -> Source {
        Source(Bytes::Owned(bytes))
    }

    #[inline(always)]
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::Mapped(map) => map,
            Bytes::Owned(vec) => vec,
        }
    }
}

/// Has the processor fetch the bytes of a place that will be read soon, as if in
/// passing; there need not be any.
#[inline(always)]
pub(crate) fn fetch(data: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place = data.as_ptr().wrapping_add(at);
        // SAFETY: this is a hint, that may be of any address: it neither faults nor
        // changes anything that a program could see.
        #[allow(unsafe_code, reason = "a hint that no safe code can give")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(place.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (data, at);
}
