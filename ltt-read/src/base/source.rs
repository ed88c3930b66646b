//! The bytes of a file, mapped or read into memory.
//!
//! This module and [`zeros`](crate::zeros) have the only `unsafe` code of the crate.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

/// The way in which the bytes of files, both metadata and data streams, are accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Access {
    /// Maps the file into memory. Pages are read when they are first used, without
    /// copying. If the file cannot be mapped, it is read as with [`Read`](Self::Read).
    ///
    /// Files must not be truncated or overwritten while they are mapped. If another
    /// process *truncates* a file, reading the lost part ends this process with the
    /// signal `SIGBUS`. If it *overwrites* the file, events have wrong values, and a
    /// `&str` from a string field may no longer be valid UTF-8, which Rust does not
    /// allow. Tracers only append to their files; appended data is not seen. Use
    /// [`Read`](Self::Read) for files that may be rewritten.
    ///
    /// This is the default because traces are often larger than memory, and because most
    /// programs read only a part of them.
    #[default]
    Map,
    /// Reads the whole file into memory when it is opened. Later changes of the file have
    /// no effect. Memory use is the size of the trace.
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
    pub(crate) fn open(path: &Path, access: Access) -> io::Result<Source> {
        Source::open_up_to(path, access, u64::MAX)
    }

    /// Opens a regular file of at most `max` bytes.
    pub(crate) fn open_up_to(path: &Path, access: Access, max: u64) -> io::Result<Source> {
        // Opening a pipe would wait for a writer, and a device may have no end.
        let found = fs::metadata(path)?;
        if !found.is_file() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file"));
        }
        if found.len() > max {
            let text = format!("file has {} bytes, the limit is {max}", found.len());
            return Err(io::Error::new(ErrorKind::FileTooLarge, text));
        }
        if access == Access::Read {
            return fs::read(path).map(|v| Source(Bytes::Owned(v)));
        }
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Source(Bytes::Owned(Vec::new())));
        }
        // SAFETY: the mapping is private and read-only, and this process does not change
        // the file. The operating system cannot guarantee more: another process may
        // change or truncate the file, while `bytes` returns a slice whose contents Rust
        // assumes to be constant. No safe code can rule this out, so `Access::Map`
        // documents it as the responsibility of the caller, who can choose `Access::Read`
        // instead. In practice, changed bytes lead to wrong values or errors but to no
        // access out of bounds, because each access to the slice compares its index with
        // the slice's length, which never changes. Truncation raises SIGBUS.
        #[allow(unsafe_code, reason = "the only way to map a file")]
        let mapped = unsafe { memmap2::Mmap::map(&file) };
        match mapped {
            Ok(map) => Ok(Source(Bytes::Mapped(map))),
            // Some file systems do not support mapping; all support reading.
            Err(_) => fs::read(path).map(|v| Source(Bytes::Owned(v))),
        }
    }

    /// Creates a source from bytes in memory.
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

/// Prefetches the bytes at an index that will be read soon. The index may be out of range.
#[inline(always)]
pub(crate) fn prefetch(data: &[u8], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let place = data.as_ptr().wrapping_add(at);
        // SAFETY: the instruction is a hint that accepts any address. It neither faults
        // nor has an effect on memory.
        #[allow(unsafe_code, reason = "there is no safe function for this")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(place.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (data, at);
}
