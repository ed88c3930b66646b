//! Kernel states in the cache: after a first read, windows of large traces need no other.

use std::sync::Arc;

use ltt_read::{Trace, TraceIndex};
use lttv_context::{Fingerprint, Traceset};
use lttv_state::kernel::{KernelState, SavedStates};

use super::Cache;

/// The name of the file of states.
const FILE: &str = "states";

/// The name of the file of the states of analyses, in the folder of the whole traceset.
const FILE_OF_ANALYSES: &str = "states-of-analyses";

/// The first bytes of the files, with the version of the format.
const MAGIC: &[u8; 8] = b"LTTVST\x00\x01";

/// The kernel states of a traceset that are known, with those that a read adds. Each trace has its
/// own, so that they remain when others are added.
#[derive(Debug)]
pub struct KnownStates {
    cache: Option<Cache>,
    states: SavedStates,
    /// The number of states that reads had added when they were stored.
    stored: usize,
}

impl KnownStates {
    /// Loads the states of traces from the cache, if they are those of the traces as they are now.
    /// Without a cache, nothing is loaded or stored.
    pub fn of(cache: Option<Cache>, traceset: &Traceset) -> Self {
        let mut states = SavedStates::default();
        let read =
            |name, of: &Traceset| cache.as_ref()?.existing_folder(of)?.read(name, MAGIC, of).ok();
        for (at, trace) in traceset.traces().iter().enumerate() {
            if let Some(bytes) = read(FILE, &alone(trace)) {
                states.set_bytes(TraceIndex(at), bytes.to_vec());
            }
        }
        if let Some(bytes) = read(FILE_OF_ANALYSES, traceset) {
            states.set_bytes_of_analyses(&bytes);
        }
        KnownStates { cache, states, stored: 0 }
    }

    /// Returns the states, to which a read adds its own; `None` without a cache.
    pub fn states(&mut self) -> Option<&mut SavedStates> {
        self.cache.is_some().then_some(&mut self.states)
    }

    /// Stores the states in the cache, if reads have added some. Failures have no effect: another read
    /// computes the states again.
    pub fn store(&mut self, traceset: &Traceset) {
        let Some(cache) = self.cache.as_ref().filter(|_| self.states.added() > self.stored) else {
            return;
        };
        self.stored = self.states.added();
        let store = |name, of: &Traceset, bytes: Vec<u8>| {
            let folder = cache.folder(of)?;
            folder.store(name, MAGIC, &Fingerprint::of_samples(of), &bytes)
        };
        for (at, trace) in traceset.traces().iter().enumerate() {
            if KernelState::follows(trace) {
                _ = store(FILE, &alone(trace), self.states.to_bytes(TraceIndex(at)));
            }
        }
        _ = store(FILE_OF_ANALYSES, traceset, self.states.bytes_of_analyses());
    }
}

/// Returns a traceset of one trace, whose folder others with the trace share.
fn alone(trace: &Arc<Trace>) -> Traceset {
    let mut traceset = Traceset::new();
    traceset.add(Arc::clone(trace));
    traceset
}
