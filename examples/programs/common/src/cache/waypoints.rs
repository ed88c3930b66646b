//! Waypoints in the cache: after a first read, windows of large traces begin at once.

use std::sync::Arc;

use ltt_read::Trace;
use ltt_read::tuning::Waypoints;
use lttv_context::{Fingerprint, Traceset};

use super::{Cache, CacheFolder, Unusable};

/// The name of the file of waypoints.
const FILE: &str = "waypoints";

/// The first bytes of the file, with the version of the format.
const MAGIC: &[u8; 8] = b"LTTVWP\x00\x01";

/// The size of traces in bytes from which on waypoints are kept. In smaller ones, what a seek reads
/// takes less time than to compare the traces with those of the file.
const WORTH: u64 = 64 << 20;

/// The waypoints of a traceset that are known, with those that a read adds.
#[derive(Debug)]
pub struct KnownWaypoints {
    cache: Option<Cache>,
    sets: Vec<Waypoints>,
    /// The number of those that came from the cache.
    stored: usize,
}

impl KnownWaypoints {
    /// Creates an empty set, or one that ignores everything if the traces are small or there is no
    /// cache.
    pub fn new(cache: Option<Cache>, traces: &[Arc<Trace>]) -> Self {
        Self::of_large(cache, traces, WORTH)
    }

    /// Creates a set like [`new`](Self::new) for traces of at least some bytes.
    fn of_large(cache: Option<Cache>, traces: &[Arc<Trace>], worth: u64) -> Self {
        let tracefiles = traces.iter().flat_map(|trace| trace.tracefiles());
        let size: u64 = tracefiles.map(|tracefile| tracefile.size()).sum();
        let cache = cache.filter(|_| size >= worth);
        let sets = match &cache {
            Some(_) => traces.iter().map(|trace| Waypoints::new(trace)).collect(),
            None => Vec::new(),
        };
        KnownWaypoints { cache, sets, stored: 0 }
    }

    /// Lets the seeks in the traces begin at the waypoints in the cache, if they are those of the
    /// traces as they are now.
    pub fn use_stored(&mut self, traceset: &Traceset) {
        let Some(sets) = self.stored(traceset) else { return };
        for (trace, set) in traceset.traces().iter().zip(&sets) {
            trace.use_waypoints(set.clone());
        }
        self.stored = count(&sets);
        self.sets = sets;
    }

    /// Returns the waypoints of each trace, to which a read adds its own.
    pub fn sets(&mut self) -> &mut [Waypoints] {
        &mut self.sets
    }

    /// Stores the waypoints in the cache, if these are more than what is there. Failures have no
    /// effect: another read will find the waypoints again.
    pub fn store(&self, traceset: &Traceset) {
        let found = count(&self.sets);
        let is_new = || self.stored(traceset).is_none_or(|stored| count(&stored) < found);
        if found == self.stored || !is_new() {
            return;
        }
        let folder = self.cache.as_ref().and_then(|cache| cache.folder(traceset).ok());
        if let Some(folder) = folder {
            let data: Vec<Vec<u8>> = self.sets.iter().map(Waypoints::to_bytes).collect();
            _ = folder.store(FILE, MAGIC, &Fingerprint::of_samples(traceset), &joined(&data));
        }
    }

    fn stored(&self, traceset: &Traceset) -> Option<Vec<Waypoints>> {
        let folder = self.cache.as_ref()?.existing_folder(traceset)?;
        read(&folder, traceset).ok()
    }
}

fn count(sets: &[Waypoints]) -> usize {
    sets.iter().map(Waypoints::len).sum()
}

fn joined(parts: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    parts.iter().for_each(|part| super::push_part(&mut bytes, part));
    bytes
}

/// Reads the waypoints in a folder, one set for each trace.
fn read(folder: &CacheFolder, traceset: &Traceset) -> Result<Vec<Waypoints>, Unusable> {
    let bytes = folder.read(FILE, MAGIC, traceset)?;
    let rest = &mut &*bytes;
    let set = |_| Waypoints::from_bytes(super::take_part(rest)?);
    let sets: Option<Vec<_>> = traceset.traces().iter().map(set).collect();
    sets.filter(|_| rest.is_empty()).ok_or(Unusable::Damaged)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use lttv_context::{Bounds, Subscription, TracesetContext};
    use lttv_traces::{Input, Kind};

    use super::*;

    /// Opens a traceset with the waypoints in a cache. Returns their number, too.
    fn open(trace: &Path, cache: &Cache) -> (Traceset, usize) {
        let traceset = Traceset::open(trace).unwrap();
        KnownWaypoints::of_large(Some(cache.clone()), traceset.traces(), 0).use_stored(&traceset);
        let waypoints = traceset.traces().iter().filter_map(|trace| trace.waypoints());
        let count = waypoints.map(Waypoints::len).sum();
        (traceset, count)
    }

    /// Reads everything, and stores the waypoints.
    fn read(trace: &Path, cache: &Cache) -> Vec<i64> {
        let traceset = Traceset::open(trace).unwrap();
        let mut known = KnownWaypoints::of_large(Some(cache.clone()), traceset.traces(), 0);
        let mut times = Vec::new();
        let mut context = TracesetContext::new(&traceset);
        context.on_event(Subscription::to_every_event(), |call| {
            times.extend(call.event.timestamp().map(|time| time.as_ns()));
        });
        while context.read(&Bounds::all().max_examined(5000)).unwrap().events > 0 {
            context.merge().note_waypoints(known.sets());
        }
        drop(context);
        known.store(&traceset);
        times
    }

    #[test]
    fn windows_are_the_same_with_waypoints_and_damage_is_ignored() {
        let directory = tempfile::tempdir().unwrap();
        let trace = directory.path().join("trace");
        Input::new(Kind::Kernel, 60_000).cpus(2).write(&trace).unwrap();
        let cache = Cache::new(directory.path().join("cache"), u64::MAX);
        let times = read(&trace, &cache);
        let (traceset, count) = open(&trace, &cache);
        assert!(times.len() == 60_000 && count > 10, "{count} waypoints");
        for begin in times.iter().step_by(7919) {
            let window = |traceset: &Traceset| {
                let mut times = Vec::new();
                let mut context = TracesetContext::new(traceset);
                context.on_event(Subscription::to_every_event(), |call| {
                    times.extend(call.event.timestamp().map(|time| time.as_ns()));
                });
                context.seek_time(ltt_read::Timestamp::from_ns(*begin));
                assert_eq!(context.read(&Bounds::all().max_examined(1000)).unwrap().errors, 0);
                drop(context);
                times
            };
            let expected = times.iter().skip_while(|time| *time < begin).take(1000);
            assert!(window(&traceset).iter().eq(expected), "from {begin}");
        }
        // Another read adds nothing, so that the file stays the same.
        let folder = cache.existing_folder(&traceset).unwrap();
        let file = folder.file(FILE);
        let stored = fs::read(&file).unwrap();
        read(&trace, &cache);
        assert!(fs::read(&file).unwrap() == stored);
        for at in (0..stored.len()).step_by(stored.len() / 50) {
            let mut damaged = stored.clone();
            damaged[at] ^= 0x10;
            fs::write(&file, damaged).unwrap();
            assert_eq!(open(&trace, &cache).1, 0, "byte {at}");
        }
        // What is damaged is replaced, and what is of changed traces is not used.
        read(&trace, &cache);
        assert_eq!(open(&trace, &cache).1, count);
        let data = fs::File::options().write(true).open(trace.join("channel0_1")).unwrap();
        data.set_modified(SystemTime::now() + Duration::from_secs(1)).unwrap();
        assert_eq!(open(&trace, &cache).1, 0);
    }
}
