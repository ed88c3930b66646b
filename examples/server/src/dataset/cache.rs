//! The directory of data that are computed from traces, so that they open at once later.
//!
//! Each traceset has a folder, which is named after the identities and sizes of its files. Every
//! file in it contains the fingerprint of the traces, which is compared when it is opened; a file
//! of other contents is replaced. The folders that were not used for the longest time are removed
//! when all of them exceed a limit. Open datasets hold a lock on their folders, so that several
//! servers can share the directory. Deleting it does no harm.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lttv_context::{Fingerprint, Traceset};
use lttv_requests::views::EventTimes;
use uuid::Uuid;

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
/// The name of the file of event times.
const EVENTS: &str = "events";
/// The first bytes of a file of event times, with the version of the format.
const MAGIC: &[u8; 8] = b"LTTVET\x00\x01";

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
        let path = self.directory.join(key(traceset).to_string());
        fs::create_dir_all(&path)?;
        let lock = File::create(path.join(LOCK))?;
        lock.lock_shared()?;
        lock.set_modified(SystemTime::now())?;
        self.prune(&path);
        Ok(CacheFolder { path, _lock: lock })
    }

    /// Removes the folders that were not used for the longest time, while there are too many bytes.
    fn prune(&self, keep: &Path) {
        let Ok(entries) = fs::read_dir(&self.directory) else { return };
        let folders = entries.filter_map(Result::ok).map(|entry| entry.path());
        // Only folders that a cache has created have names of this form.
        let is_folder = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            path.join(LOCK).is_file() && name.is_some_and(|name| Uuid::parse_str(name).is_ok())
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
fn key(traceset: &Traceset) -> Uuid {
    let mut text = String::new();
    for trace in traceset.traces() {
        text += &format!("{:?} {:?}\n", trace.uuid(), trace.clock_transforms());
        for tracefile in trace.tracefiles() {
            for file in tracefile.files() {
                let name = file.file_name().unwrap_or_default();
                let size = fs::metadata(file).map_or(0, |of| of.len());
                text += &format!("{name:?} {size}\n");
            }
        }
    }
    Uuid::new_v5(&Uuid::NAMESPACE_OID, text.as_bytes())
}

impl CacheFolder {
    /// Returns the path of a file in the folder.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Reads the times of events of groups, if they are those of the traces as they are now.
    pub(super) fn events(&self, traceset: &Traceset, sizes: &[usize]) -> Option<Vec<EventTimes>> {
        let bytes = fs::read(self.file(EVENTS)).ok()?;
        let (bytes, sum) = bytes.split_last_chunk::<4>()?;
        if crc32fast::hash(bytes) != u32::from_le_bytes(*sum) {
            return None;
        }
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let fingerprint = Fingerprint::from_bytes(part(&mut rest)?);
        if !fingerprint.matches(traceset) || *part(&mut rest)? != group_bytes(sizes)[..] {
            return None;
        }
        sizes.iter().map(|_| EventTimes::from_bytes(part(&mut rest)?)).collect()
    }

    /// Stores the times of events of groups. This reads the traces once more.
    ///
    /// # Errors
    ///
    /// If writing fails.
    pub(super) fn store_events(
        &self,
        traceset: &Traceset,
        sizes: &[usize],
        times: &[EventTimes],
    ) -> io::Result<()> {
        let mut bytes = MAGIC.to_vec();
        push(&mut bytes, Fingerprint::of(traceset).as_bytes());
        push(&mut bytes, &group_bytes(sizes));
        for times in times {
            let mut of = Vec::new();
            times.to_bytes(&mut of);
            push(&mut bytes, &of);
        }
        let sum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&sum.to_le_bytes());
        // Other servers see the whole file or none.
        let temporary = self.file(&format!("{EVENTS}.{}", std::process::id()));
        let mut file = File::create(&temporary)?;
        file.write_all(&bytes)?;
        fs::rename(&temporary, self.file(EVENTS))
    }
}

fn group_bytes(sizes: &[usize]) -> Vec<u8> {
    sizes.iter().flat_map(|size| (*size as u64).to_le_bytes()).collect()
}

fn push(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
    bytes.extend_from_slice(part);
}

fn part<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
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
        Traceset::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/ust")).unwrap()
    }

    #[test]
    fn stored_times_are_those_of_the_same_traces_only() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path().join("cache"), u64::MAX);
        let (traceset, mut times) = (traceset(), EventTimes::new());
        (0..10).for_each(|ns| times.push(ltt_read::Timestamp::from_ns(ns)));
        times.flush();
        let folder = cache.folder(&traceset).unwrap();
        assert!(folder.events(&traceset, &[1]).is_none());
        folder.store_events(&traceset, &[1], &[times]).unwrap();
        assert_eq!(folder.events(&traceset, &[1]).unwrap()[0].len(), 10);
        assert!(folder.events(&traceset, &[2]).is_none());
        let other = concat!(env!("CARGO_MANIFEST_DIR"), "/../traces/kernel");
        assert!(folder.events(&Traceset::open(other).unwrap(), &[1]).is_none());
        let bytes = fs::read(folder.file(EVENTS)).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            fs::write(folder.file(EVENTS), &damaged[..]).unwrap();
            assert!(folder.events(&traceset, &[1]).is_none(), "byte {at}");
        }
    }

    #[test]
    fn the_oldest_folders_are_removed_unless_they_are_in_use() {
        let directory = tempfile::tempdir().unwrap();
        let old = |number: u128, seconds: u64| {
            let path = directory.path().join(Uuid::from_u128(number).to_string());
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
