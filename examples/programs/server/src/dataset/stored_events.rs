//! The times of events in the cache.

use std::io;

use lttv_common::cache::{CacheFolder, push_part, take_part};
use lttv_context::{Fingerprint, Traceset};
use lttv_requests::views::EventTimes;

/// The name of the file.
const FILE: &str = "events";

/// The first bytes of the file, with the version of the format.
const MAGIC: &[u8; 8] = b"LTTVET\x00\x01";

/// Reads the times of events of groups, if they are those of the traces as they are now.
pub(super) fn read(
    folder: &CacheFolder,
    traceset: &Traceset,
    sizes: &[usize],
) -> Option<Vec<EventTimes>> {
    let bytes = folder.read(FILE, MAGIC, traceset).ok()?;
    let mut rest = &*bytes;
    if *take_part(&mut rest)? != group_bytes(sizes)[..] {
        return None;
    }
    sizes.iter().map(|_| EventTimes::from_bytes(take_part(&mut rest)?)).collect()
}

/// Stores the times of events of groups. This reads the traces once more.
///
/// # Errors
///
/// If writing fails.
pub(super) fn store(
    folder: &CacheFolder,
    traceset: &Traceset,
    sizes: &[usize],
    times: &[EventTimes],
) -> io::Result<()> {
    let mut data = Vec::new();
    push_part(&mut data, &group_bytes(sizes));
    for times in times {
        let mut of = Vec::new();
        times.to_bytes(&mut of);
        push_part(&mut data, &of);
    }
    folder.store(FILE, MAGIC, &Fingerprint::of(traceset), &data)
}

fn group_bytes(sizes: &[usize]) -> Vec<u8> {
    sizes.iter().flat_map(|size| (*size as u64).to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use lttv_common::cache::Cache;

    use super::*;

    #[test]
    fn stored_times_are_those_of_the_same_groups_only() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::new(directory.path().join("cache"), u64::MAX);
        let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../../traces/ust");
        let (traceset, mut times) = (Traceset::open(traces).unwrap(), EventTimes::new());
        (0..10).for_each(|ns| times.push(ltt_read::Timestamp::from_ns(ns)));
        times.flush();
        let folder = cache.folder(&traceset).unwrap();
        assert!(read(&folder, &traceset, &[1]).is_none());
        store(&folder, &traceset, &[1], &[times]).unwrap();
        assert_eq!(read(&folder, &traceset, &[1]).unwrap()[0].len(), 10);
        assert!(read(&folder, &traceset, &[2]).is_none());
    }
}
