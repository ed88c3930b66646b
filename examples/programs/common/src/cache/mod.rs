//! The directory of data that are computed from traces, so that they open at once later. All
//! programs share it.
//!
//! Each traceset has a folder, which is named after the identities and sizes of its files. Every
//! file in it contains the fingerprint of the traces, which is compared when it is opened; a file
//! of other contents is replaced. The folders that were not used for the longest time are removed
//! when all of them exceed a limit. Open datasets hold a lock on their folders, so that several
//! servers can share the directory. Deleting it does no harm.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ltt_read::Access;
use ltt_read::source::FileBytes;
use lttv_context::{Fingerprint, Traceset};

use crate::fnv::Fnv;

mod args;
mod states;
mod waypoints;

pub use args::CacheArgs;
pub use states::KnownStates;
pub use waypoints::KnownWaypoints;

/// A directory of computed data.
#[derive(Debug, Clone)]
pub struct Cache {
    directory: PathBuf,
    /// The size in bytes that all folders should not exceed.
    limit: u64,
}

/// The folder of one traceset, which stays while this exists.
#[derive(Debug)]
pub struct CacheFolder {
    path: PathBuf,
    _lock: File,
}

/// The name of the lock file, whose time of modification is the time of the last use.
const LOCK: &str = "lock";

impl Cache {
    /// Creates a cache in a directory, which is created when it is first used.
    pub fn new(directory: PathBuf, limit: u64) -> Self {
        Cache { directory, limit }
    }

    /// Returns the folder of a traceset, and removes the oldest other ones beyond the limit.
    ///
    /// # Errors
    ///
    /// If the folder cannot be created.
    pub fn folder(&self, traceset: &Traceset) -> io::Result<CacheFolder> {
        let path = self.directory.join(key(traceset));
        fs::create_dir_all(&path)?;
        let lock = File::create(path.join(LOCK))?;
        lock.lock_shared()?;
        lock.set_modified(SystemTime::now())?;
        self.prune(&path);
        Ok(CacheFolder { path, _lock: lock })
    }

    /// Returns the folder of a traceset if there is one.
    pub fn existing_folder(&self, traceset: &Traceset) -> Option<CacheFolder> {
        let path = self.directory.join(key(traceset));
        let lock = File::open(path.join(LOCK)).ok()?;
        lock.lock_shared().ok()?;
        // The folder stays in use; where this is not allowed, it is removed earlier.
        _ = lock.set_modified(SystemTime::now());
        Some(CacheFolder { path, _lock: lock })
    }

    /// Removes the folders that were not used for the longest time, while there are too many bytes.
    fn prune(&self, keep: &Path) {
        let Ok(entries) = fs::read_dir(&self.directory) else { return };
        let folders = entries.filter_map(Result::ok).map(|entry| entry.path());
        // Only folders that a cache has created have names of this form.
        let is_key = |name: &str| name.len() == 32 && u128::from_str_radix(name, 16).is_ok();
        let is_folder = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            path.join(LOCK).is_file() && name.is_some_and(is_key)
        };
        let used = |path: &Path| fs::metadata(path.join(LOCK)).and_then(|of| of.modified());
        let mut folders: Vec<_> = folders
            .filter(is_folder)
            .map(|path| (used(&path).unwrap_or(SystemTime::UNIX_EPOCH), size(&path), path))
            .collect();
        folders.sort();
        let mut total: u64 = folders.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in folders {
            if total <= self.limit || path == keep {
                continue;
            }
            let Ok(lock) = File::open(path.join(LOCK)) else { continue };
            match lock.try_lock() {
                Ok(()) if fs::remove_dir_all(&path).is_ok() => total -= size,
                Ok(()) | Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
            }
        }
    }
}

/// Returns the size of the files in a folder.
fn size(path: &Path) -> u64 {
    let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.metadata().ok()).map(|of| of.len()).sum()
}

/// Returns the name of the folder of a traceset. Other tracesets may have the same one, if their
/// files have equal names and sizes.
fn key(traceset: &Traceset) -> String {
    let mut hash = Fnv::default();
    for trace in traceset.traces() {
        hash.add(format!("{:?} {:?}", trace.uuid(), trace.clock_transforms()).as_bytes());
        for file in trace.tracefiles().iter().flat_map(|tracefile| tracefile.files()) {
            hash.add(file.file_name().unwrap_or_default().as_encoded_bytes());
            hash.add(&fs::metadata(file).map_or(0, |of| of.len()).to_le_bytes());
        }
    }
    format!("{:032x}", hash.hash())
}

impl CacheFolder {
    /// Returns the path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Reads the data in a file of the folder, if they are those of the traces as they are now.
    /// `magic` identifies the kind of the data and the version of their format.
    ///
    /// # Errors
    ///
    /// Returns the reason why they cannot be used; they are computed again then.
    pub fn read(
        &self,
        name: &str,
        magic: &[u8; 8],
        traceset: &Traceset,
    ) -> Result<Stored, Unusable> {
        // Files of the cache are replaced as a whole.
        let source = FileBytes::open(&self.file(name), Access::Map).map_err(Unusable::Missing)?;
        let (content, sum) = source.bytes().split_last_chunk::<4>().ok_or(Unusable::Damaged)?;
        if crc32fast::hash(content) != u32::from_le_bytes(*sum) {
            return Err(Unusable::Damaged);
        }
        let mut rest = content.strip_prefix(magic).ok_or(Unusable::OtherFormat)?;
        let fingerprint = take_part(&mut rest).ok_or(Unusable::Damaged)?;
        if !Fingerprint::from_bytes(fingerprint).matches(traceset) {
            return Err(Unusable::OtherTraces);
        }
        let data = content.len() - rest.len()..content.len();
        Ok(Stored { source, data })
    }

    /// Stores data of traces with a fingerprint in a file of the folder. Other processes see the
    /// whole file or none.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub fn store(
        &self,
        name: &str,
        magic: &[u8; 8],
        fingerprint: &Fingerprint<'_>,
        data: &[u8],
    ) -> io::Result<()> {
        let mut bytes = magic.to_vec();
        push_part(&mut bytes, fingerprint.as_bytes());
        bytes.extend_from_slice(data);
        let sum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        let temporary = self.file(&format!("{name}.{}", std::process::id()));
        let written = File::create(&temporary).and_then(|mut file| file.write_all(&bytes));
        let stored = written.and_then(|()| fs::rename(&temporary, self.file(name)));
        if stored.is_err() {
            _ = fs::remove_file(&temporary);
        }
        stored
    }
}

/// Data in a file of the cache.
#[derive(Debug)]
pub struct Stored {
    source: FileBytes,
    /// The place in the file.
    data: Range<usize>,
}

impl Deref for Stored {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.source.bytes().get(self.data.clone()).unwrap_or_default()
    }
}

/// The reason why data in the cache cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// There is no such file, or it cannot be read.
    #[error("no data: {0}")]
    Missing(io::Error),
    /// The bytes of the file are not those that were stored.
    #[error("the file is damaged")]
    Damaged,
    /// The file is of another kind or version.
    #[error("the file has another format")]
    OtherFormat,
    /// The traces have changed since, or are others.
    #[error("the data are those of other traces")]
    OtherTraces,
}

/// Appends a part with its length.
pub fn push_part(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
    bytes.extend_from_slice(part);
}

/// Removes and returns the first part, which [`push_part`] has appended.
pub fn take_part<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let (length, rest) = bytes.split_first_chunk::<8>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (part, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traceset() -> Traceset {
        Traceset::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/ust")).unwrap()
    }

    #[test]
    fn stored_data_are_those_of_the_same_traces_only() {
        const MAGIC: &[u8; 8] = b"LTTVTEST";
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path().join("cache"), u64::MAX);
        let traceset = traceset();
        assert!(cache.existing_folder(&traceset).is_none());
        let folder = cache.folder(&traceset).unwrap();
        let read = |magic| folder.read("data", magic, &traceset);
        assert!(matches!(read(MAGIC), Err(Unusable::Missing(_))));
        folder.store("data", MAGIC, &Fingerprint::of(&traceset), b"some data").unwrap();
        assert_eq!(*read(MAGIC).unwrap(), *b"some data");
        assert!(cache.existing_folder(&traceset).is_some());
        assert!(matches!(read(b"LTTVTES2"), Err(Unusable::OtherFormat)));
        let other = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/kernel");
        let other = Traceset::open(other).unwrap();
        assert!(matches!(folder.read("data", MAGIC, &other), Err(Unusable::OtherTraces)));
        let bytes = fs::read(folder.file("data")).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            fs::write(folder.file("data"), &damaged[..]).unwrap();
            assert!(matches!(read(MAGIC), Err(Unusable::Damaged)), "byte {at}");
            fs::write(folder.file("data"), &bytes[..at]).unwrap();
            assert!(matches!(read(MAGIC), Err(Unusable::Damaged)), "{at} bytes");
        }
    }

    #[test]
    fn the_oldest_folders_are_removed_unless_they_are_in_use() {
        let directory = tempfile::tempdir().unwrap();
        let old = |number: u128, seconds: u64| {
            let path = directory.path().join(format!("{number:032x}"));
            fs::create_dir(&path).unwrap();
            fs::write(path.join("data"), [0; 1000]).unwrap();
            let lock = File::create(path.join(LOCK)).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            lock.set_modified(time).unwrap();
            (path, lock)
        };
        let (used, lock) = old(1, 10);
        lock.lock_shared().unwrap();
        let ((oldest, _), (newer, _)) = (old(2, 20), old(3, 30));
        let foreign = directory.path().join("something else");
        fs::create_dir(&foreign).unwrap();
        let cache = Cache::new(directory.path().to_owned(), 2500);
        let folder = cache.folder(&traceset()).unwrap();
        assert!(used.exists() && newer.exists() && foreign.exists() && folder.path.exists());
        assert!(!oldest.exists());
    }
}
