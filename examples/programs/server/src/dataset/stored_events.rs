//! The times of events in the cache, with the faults that were met while they were read.

use std::io;

use lttv_common::cache::{CacheFolder, push_part, take_part};
use lttv_context::{Fingerprint, Traceset};

use super::faults::ToldFaults;
use super::time_counts::TimeCounts;

/// The name of the file.
const FILE: &str = "events";

/// The first bytes of the file, with the version of the format.
const MAGIC: &[u8; 8] = b"LTTVET\x00\x03";

/// Reads the times of events of groups, if they are those of the traces as they are now.
pub(super) fn read(
    folder: &CacheFolder,
    traceset: &Traceset,
    sizes: &[usize],
) -> Option<(Vec<TimeCounts>, ToldFaults)> {
    let bytes = folder.read(FILE, MAGIC, traceset).ok()?;
    let mut rest = &*bytes;
    if *take_part(&mut rest)? != group_bytes(sizes)[..] {
        return None;
    }
    let faults = serde_json::from_slice(take_part(&mut rest)?).ok()?;
    let times = sizes.iter().map(|_| TimeCounts::from_bytes(take_part(&mut rest)?));
    Some((times.collect::<Option<_>>()?, faults))
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
    times: &[TimeCounts],
    faults: &ToldFaults,
) -> io::Result<()> {
    let mut data = Vec::new();
    push_part(&mut data, &group_bytes(sizes));
    push_part(&mut data, &serde_json::to_vec(faults)?);
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
        let (traceset, mut times) = (Traceset::open(traces).unwrap(), TimeCounts::default());
        let time = ltt_read::Timestamp::from_ns;
        (0..10).for_each(|ns| times.push(Some(time(ns)), time(ns.max(5))));
        times.flush();
        let folder = cache.folder(&traceset).unwrap();
        assert!(read(&folder, &traceset, &[1]).is_none());
        let faults = ToldFaults { errors: vec!["damage".to_owned()], ..ToldFaults::default() };
        store(&folder, &traceset, &[1], &[times], &faults).unwrap();
        let (times, told) = read(&folder, &traceset, &[1]).unwrap();
        assert_eq!((times[0].len(), times[0].before(time(3)), told), (10, 3, faults));
        assert!(read(&folder, &traceset, &[2]).is_none());
    }
}
