//! The bytes of files, mapped or read into memory, for other readers of large files.
//!
//! This module and `zeros` have the only `unsafe` code of the crate.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The way in which the bytes of a file are accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Access {
    /// Maps the file into memory. Pages are read when they are first used, without
    /// copying. If the file cannot be mapped, it is read as with [`Read`](Self::Read). So are
    /// files beyond the first 32,768 of a process, since systems limit the number of mappings.
    ///
    /// This promises that the bytes are those of the file as long as no process changes
    /// those that it had when it was opened. Files must not be truncated or overwritten while they are
    /// mapped. If another process *truncates* a file, reading the lost part ends this process with the
    /// signal `SIGBUS`. If it *overwrites* the file, values are wrong, and a `&str` from
    /// the file may no longer be valid UTF-8, which Rust does not allow.
    ///
    /// Files of finished recordings do not change, and finished histories are replaced as a whole. While
    /// a recording goes on, tracers append to its files, which is not seen here; but LTTng
    /// also truncates the oldest file of a channel with a fixed number of files
    /// (`--tracefile-count`). Use [`Read`](Self::Read), or a [`Follower`](crate::Follower), for
    /// files that may be rewritten.
    ///
    /// This is the default because traces and histories are often larger than memory, and
    /// because most programs read only a part of them.
    #[default]
    Map,
    /// Reads the whole file into memory when it is opened. Later changes of the file have
    /// no effect. Memory use is the size of the file.
    Read,
}

/// The most files that the process maps at a time. Linux allows 65,530 mappings of any kind, and
/// without some that are left, memory cannot be allocated.
const MOST_MAPPINGS: usize = 1 << 15;

/// The size in bytes above which the start of a file is requested when it is mapped. At the first use of
/// a page that is not in memory, systems read what is around it, which may be some MB; the files of a
/// trace would be opened one after the other at the speed of the disk.
const LARGE: usize = 256 << 10;

/// The size in bytes of a file from which on it is read into memory of its own.
const MANY_PAGES: usize = 128 << 10;

/// The size of that start in bytes.
const START: u64 = 128 << 10;

/// The size of large pages of memory, which are as large or smaller on most processors.
#[cfg(target_os = "linux")]
const LARGE_PAGE: usize = 2 << 20;

/// The most bytes that systems read ahead at one request. They ignore the rest of larger requests.
#[cfg(unix)]
const REQUEST: usize = 512 << 10;

/// The number of files that are mapped.
static MAPPINGS: AtomicUsize = AtomicUsize::new(0);

/// A permission to map a file, one of [`MOST_MAPPINGS`].
#[derive(Debug)]
struct Permit;

impl Permit {
    fn new() -> Option<Permit> {
        // Made at once, so that a failure returns it.
        let (permit, before) = (Permit, MAPPINGS.fetch_add(1, Ordering::Relaxed));
        (before < MOST_MAPPINGS).then_some(permit)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        MAPPINGS.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Debug)]
enum Bytes {
    Mapped(memmap2::Mmap, Permit),
    Owned(Vec<u8>),
    /// Memory with the first bytes of a file, which is as long.
    Filled(memmap2::MmapMut, usize),
    /// A part of another source.
    Part(Arc<FileBytes>, Range<usize>),
}

impl Bytes {
    /// Reads a file into memory whose pages the system provides at once: one after the other, at their
    /// first use, takes twice the time to read them. Returns `None` if there is no such memory.
    fn fill(mut file: &File, size: u64) -> io::Result<Option<Bytes>> {
        let size = usize::try_from(size).ok().filter(|size| *size >= MANY_PAGES);
        let memory = size.map(|size| memmap2::MmapOptions::new().len(size).populate().map_anon());
        let Some(Ok(mut memory)) = memory else { return Ok(None) };
        let mut filled = 0;
        while let Some(rest) = memory.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match file.read(rest) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Some(Bytes::Filled(memory, filled)))
    }
}

/// The bytes of one file.
#[derive(Debug)]
pub struct FileBytes(Bytes);

impl FileBytes {
    /// Opens a regular file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read, or if it is no regular file.
    pub fn open(path: &Path, access: Access) -> io::Result<FileBytes> {
        FileBytes::open_up_to(path, access, u64::MAX)
    }

    /// Opens a regular file of at most `max` bytes.
    pub(crate) fn open_up_to(path: &Path, access: Access, max: u64) -> io::Result<FileBytes> {
        let found = fs::metadata(path)?;
        if found.len() > max {
            let text = format!("file has {} bytes, the limit is {max}", found.len());
            return Err(io::Error::new(ErrorKind::FileTooLarge, text));
        }
        FileBytes::open_found(path, &found, access)
    }

    /// Opens the regular file whose metadata has been found at a path, with links followed.
    fn open_found(path: &Path, found: &Metadata, access: Access) -> io::Result<FileBytes> {
        // Opening a pipe would wait for a writer.
        check_is_file(found)?;
        FileBytes::of(&File::open(path)?, access)
    }

    /// Creates a source of all bytes that an open file has now.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read.
    pub fn of(file: &File, access: Access) -> io::Result<FileBytes> {
        FileBytes::of_found(file, &file.metadata()?, access)
    }

    /// Creates a source of all bytes that an open file had when its metadata was found.
    pub(crate) fn of_found(
        mut file: &File,
        found: &Metadata,
        access: Access,
    ) -> io::Result<FileBytes> {
        if access == Access::Map
            && let Ok(len @ 1..) = usize::try_from(found.len())
            && let Some(permit) = Permit::new()
        {
            // SAFETY: the mapping is private and read-only, and this process does not
            // change the bytes that it reads through it: traces are never written, finished
            // histories are replaced, and a history that is resumed is truncated only after
            // its last block. The operating system cannot guarantee more: another process
            // may change or truncate the file, while `bytes` returns a slice whose contents
            // Rust assumes to be constant. No safe code can rule this out, so `Access::Map`
            // documents it as the responsibility of the caller, who can choose
            // `Access::Read` instead. In practice, changed bytes lead to wrong values or
            // errors but to no access out of bounds, because each access to the slice
            // compares its index with the slice's length, which never changes. Truncation
            // raises SIGBUS.
            #[allow(unsafe_code, reason = "the only way to map a file")]
            let mapped = unsafe { memmap2::MmapOptions::new().len(len).map(file) };
            // Some file systems do not support mapping; all support reading.
            if let Ok(map) = mapped {
                let source = FileBytes(Bytes::Mapped(map, permit));
                if source.bytes().len() > LARGE {
                    source.use_large_pages();
                    source.read_ahead(0..START);
                }
                return Ok(source);
            }
        }
        file.seek(SeekFrom::Start(0))?;
        if let Some(bytes) = Bytes::fill(file, file.metadata()?.len())? {
            return Ok(FileBytes(bytes));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(FileBytes(Bytes::Owned(bytes)))
    }

    /// Creates a source from bytes in memory.
    pub fn in_memory(bytes: Vec<u8>) -> FileBytes {
        FileBytes(Bytes::Owned(bytes))
    }

    /// Creates a source of a part of the bytes of another one, which is shared. The range may exceed
    /// it.
    pub(crate) fn part(whole: &Arc<FileBytes>, range: Range<u64>) -> FileBytes {
        let len = whole.bytes().len();
        let clamp = |at: u64| usize::try_from(at).unwrap_or(len).min(len);
        let start = clamp(range.start);
        FileBytes(Bytes::Part(whole.clone(), start..clamp(range.end).max(start)))
    }

    /// Returns the source that contains a range of the bytes, and the range in it; `None` if this is
    /// no part.
    fn in_whole(&self, range: &Range<u64>) -> Option<(&FileBytes, Range<u64>)> {
        let Bytes::Part(whole, part) = &self.0 else { return None };
        let (start, end) = (part.start as u64, part.end as u64);
        let clamp = |at: u64| start.saturating_add(at).min(end);
        Some((whole, clamp(range.start)..clamp(range.end)))
    }

    /// Returns all bytes.
    #[inline(always)]
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::Part(whole, range) => whole.bytes_of(range),
            Bytes::Mapped(map, _) => map,
            Bytes::Owned(vec) => vec,
            Bytes::Filled(memory, filled) => memory.get(..*filled).unwrap_or_default(),
        }
    }

    /// Returns a range of the bytes.
    fn bytes_of(&self, range: &Range<usize>) -> &[u8] {
        self.bytes().get(range.clone()).unwrap_or_default()
    }

    /// Makes the system read large pages from the disk, which takes less time. It then reads 4 MiB when a page is
    /// used that is not there, in place of what it reads around small pages, which may be more.
    fn use_large_pages(&self) {
        #[cfg(target_os = "linux")]
        if let Bytes::Mapped(map, _) = &self.0
            && map.len() >= LARGE_PAGE
        {
            // Where the hint is refused, pages are small.
            _ = map.advise(memmap2::Advice::HugePage);
        }
    }

    /// Announces that [`populate`](Self::populate) will read all pages before they are used, so that the
    /// system reads nothing more than each large page when it is used or populated.
    pub(crate) fn will_be_populated(&self) {
        if let Bytes::Part(whole, _) = &self.0 {
            return whole.will_be_populated();
        }
        #[cfg(target_os = "linux")]
        if let Bytes::Mapped(map, _) = &self.0
            && map.len() >= LARGE_PAGE
        {
            // Where the hint is refused, more is read ahead, in an order of the system.
            _ = map.advise(memmap2::Advice::Random);
        }
    }

    /// Asks the operating system to read a range of the bytes from the disk, and does not wait for
    /// it. The range may exceed the file.
    pub(crate) fn read_ahead(&self, range: Range<u64>) {
        if let Some((whole, range)) = self.in_whole(&range) {
            return whole.read_ahead(range);
        }
        #[cfg(unix)]
        if let Bytes::Mapped(map, _) = &self.0 {
            let size = map.len() as u64;
            let (start, end) = (range.start.min(size) as usize, range.end.min(size) as usize);
            for at in (start..end).step_by(REQUEST) {
                // Where the hint is refused, pages are read when they are used.
                _ = map.advise_range(memmap2::Advice::WillNeed, at, REQUEST.min(end - at));
            }
        }
        #[cfg(not(unix))]
        let _ = range;
    }

    /// Reads a range of the bytes from the disk, in whole large pages if the file has some, and returns when
    /// they are mapped. Where this is not supported, asks for the range as
    /// [`read_ahead`](Self::read_ahead) does. The range may exceed the file.
    pub(crate) fn populate(&self, range: Range<u64>) {
        if let Some((whole, range)) = self.in_whole(&range) {
            return whole.populate(range);
        }
        #[cfg(target_os = "linux")]
        if let Bytes::Mapped(map, _) = &self.0 {
            let size = map.len() as u64;
            let (start, end) = (range.start.min(size) as usize, range.end.min(size) as usize);
            // A page that is not there any more is an error, not a signal.
            if map.advise_range(memmap2::Advice::PopulateRead, start, end - start).is_ok() {
                return;
            }
        }
        self.read_ahead(range);
    }

    /// Reads a range of the bytes from the disk, and nothing around it, and returns when it is mapped, if
    /// this is supported. The range may exceed the file.
    pub(crate) fn populate_only(&self, range: Range<u64>) {
        // These pages are on their way when they are mapped, so that the system looks for no others.
        self.read_ahead(range.clone());
        self.populate(range);
    }

    /// Gives the memory of mapped pages back to the operating system, which maps them again when
    /// they are next read.
    pub fn release_pages(&self) {
        self.release(0..u64::MAX);
    }

    /// Gives the memory of the mapped pages of a range of the bytes back to the operating system. The range
    /// may exceed the file.
    pub(crate) fn release(&self, range: Range<u64>) {
        if let Some((whole, range)) = self.in_whole(&range) {
            return whole.release(range);
        }
        #[cfg(unix)]
        if let Bytes::Mapped(map, _) = &self.0 {
            let size = map.len() as u64;
            let (start, end) = (range.start.min(size) as usize, range.end.min(size) as usize);
            if start >= end {
                return;
            }
            // SAFETY: the hint makes the next access read a page from the file again, and loses
            // bytes only where the process has changed them in memory. This mapping is never
            // written, so the contents of the slice are the same before and after, under the
            // condition that `Access::Map` has in any case: the file does not change.
            #[allow(unsafe_code, reason = "the only way to unmap pages")]
            let released = unsafe {
                map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, end - start)
            };
            // Where the hint is refused, the pages stay until the system needs their memory.
            _ = released;
        }
        #[cfg(not(unix))]
        let _ = range;
    }
}

/// Returns an error if metadata is not that of a regular file. A device may have no end.
pub(crate) fn check_is_file(found: &Metadata) -> io::Result<()> {
    match found.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file")),
    }
}

/// The bytes of a source, which is shared. Their place is kept beside the handle: a merge of thousands
/// of tracefiles need not fetch every source from memory for it.
#[derive(Debug, Clone)]
#[repr(C)]
pub(crate) struct SharedBytes {
    bytes: NonNull<[u8]>,
    /// Keeps the bytes.
    _source: Arc<FileBytes>,
}

// SAFETY: `bytes` are those of a source, which other threads may read, too.
#[allow(unsafe_code, reason = "a pointer is not sent by itself")]
unsafe impl Send for SharedBytes {}
// SAFETY: as above. The bytes are never written.
#[allow(unsafe_code, reason = "a pointer is not shared by itself")]
unsafe impl Sync for SharedBytes {}

impl SharedBytes {
    pub(crate) fn new(source: Arc<FileBytes>) -> Self {
        SharedBytes { bytes: NonNull::from(source.bytes()), _source: source }
    }

    /// Returns all bytes.
    #[inline(always)]
    pub(crate) fn get(&self) -> &[u8] {
        // SAFETY: these are all bytes of `_source`, which lives as long as the slice that is
        // returned. They do not move and never change, since a source is memory or a vector
        // that nothing modifies: it has no method that does.
        #[allow(unsafe_code, reason = "the way through the source takes a third of a visit")]
        unsafe {
            self.bytes.as_ref()
        }
    }
}

/// Prefetches the bytes at an index that will be read soon. The index may be out of range.
#[inline(always)]
pub fn prefetch(data: &[u8], at: usize) {
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

/// Prefetches a whole value that will be read soon.
#[inline(always)]
pub(crate) fn prefetch_value<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = core::ptr::from_ref(value).cast::<i8>();
        for line in 0..size_of::<T>().div_ceil(64) {
            // SAFETY: as in `prefetch`.
            #[allow(unsafe_code, reason = "there is no safe function for this")]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line * 64));
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// The bytes that are read are those of the file, whatever its size.
    #[test]
    fn files_of_any_size_are_read() {
        for size in [0, 1, MANY_PAGES - 1, MANY_PAGES, MANY_PAGES + 1, 3 << 20] {
            let content: Vec<u8> = (0..size).map(|at| (at ^ at >> 9) as u8).collect();
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&content).unwrap();
            let source = FileBytes::open(file.path(), Access::Read).unwrap();
            assert!(source.bytes() == content, "{size}");
            assert_eq!(matches!(source.0, Bytes::Filled(..)), size >= MANY_PAGES);
            // A file that has become shorter meanwhile ends earlier.
            if size > 1 << 20 {
                let mut reader = file.as_file();
                reader.seek(SeekFrom::Start(0)).unwrap();
                file.as_file().set_len(1 << 20).unwrap();
                let bytes = Bytes::fill(reader, size as u64).unwrap().unwrap();
                assert!(*FileBytes(bytes).bytes() == content[..1 << 20]);
            }
        }
    }

    /// Ranges may be empty, exceed the file, or have lost their pages since the file was mapped.
    #[test]
    fn any_range_can_be_read_at_once() {
        let content: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&content).unwrap();
        let source = FileBytes::open(file.path(), Access::Map).unwrap();
        let size = content.len() as u64;
        for range in [0..0, 0..1, 5000..size, size - 1..size + 1, size..u64::MAX, 0..u64::MAX] {
            source.populate(range.clone());
            source.populate_only(range);
            source.will_be_populated();
            assert!(source.bytes() == content);
        }
        file.as_file().set_len(4096).unwrap();
        source.populate(0..size);
        source.populate(8192..size);
        source.populate_only(8192..size);
        assert_eq!(source.bytes()[..4096], content[..4096]);
    }
}
