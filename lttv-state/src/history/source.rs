//! The bytes of a file: mapped, or read into memory.
//!
//! This is the only module of the crate with `unsafe` code.

use std::fs::File;
use std::path::Path;

use super::error::Error;

/// How the bytes of a history file are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Access {
    /// Map the file into memory: nothing is read before it is needed, and what
    /// was read can be forgotten again, so memory does not grow with the file.
    /// If another process *truncates* the file while it is mapped, touching the
    /// lost part ends this process (`SIGBUS`). A finished history file is never changed,
    /// unless by hand: builders replace it as a whole, by renaming. Growing files are not
    /// mapped by their readers. Where the file system cannot map, the file is read
    /// instead.
    #[default]
    Map,
    /// Read the whole file into memory. Safe whatever happens to the file.
    Read,
}

#[derive(Debug)]
enum Bytes {
    Mapped(memmap2::Mmap),
    Owned(Vec<u8>),
}

/// The bytes of one file.
#[derive(Debug)]
pub(super) struct Source(Bytes);

impl Source {
    pub(super) fn open(path: &Path, access: Access) -> Result<Source, Error> {
        let file = File::open(path);
        file.and_then(|file| Source::of(&file, access))
            .map_err(|source| Error::Io { path: path.to_owned(), source })
    }

    /// The bytes of an open file, as long as it is now.
    pub(super) fn of(mut file: &File, access: Access) -> std::io::Result<Source> {
        use std::io::{Read, Seek};
        if access == Access::Map && file.metadata()?.len() > 0 {
            // SAFETY: the mapping is private and read-only. What remains is that
            // another process may change or truncate the file. Changed bytes
            // are harmless: they are plain integers that every use re-checks
            // against the slice's length. Truncation raises SIGBUS, which
            // `Access::Map` documents as the caller's choice; `Access::Read`
            // avoids it.
            #[allow(unsafe_code, reason = "the one mapping")]
            let mapped = unsafe { memmap2::Mmap::map(file) };
            // Some file systems cannot map: reading works everywhere.
            if let Ok(map) = mapped {
                return Ok(Source(Bytes::Mapped(map)));
            }
        }
        let mut bytes = Vec::new();
        file.seek(std::io::SeekFrom::Start(0))?;
        file.read_to_end(&mut bytes)?;
        Ok(Source(Bytes::Owned(bytes)))
    }

    pub(super) fn in_memory(bytes: Vec<u8>) -> Source {
        Source(Bytes::Owned(bytes))
    }

    #[inline(always)]
    pub(super) fn bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::Mapped(map) => map,
            Bytes::Owned(vec) => vec,
        }
    }
}

/// Has the processor fetch the bytes of a place that will be read soon, as if in
/// passing; there need not be any. (`ltt-read` has the same; histories do without it.)
#[inline(always)]
pub(super) fn fetch(data: &[u8], at: usize) {
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
