//! Tracesets: traces that are looked at together.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ltt_read::{OnFailure, OpenOptions, Trace};

/// Traces in a fixed order, to be read together.
///
/// Cloning it shares the traces. What is done to one clone does not show in the
/// others.
///
/// ```
/// use lttv_context::Traceset;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let mut twice = traceset.clone();
/// twice.add(traceset.traces()[0].clone());
/// assert_eq!((traceset.traces().len(), twice.traces().len()), (1, 2));
/// assert_ne!(traceset.generation(), twice.generation());
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Traceset {
    traces: Vec<Arc<Trace>>,
    generation: Generation,
}

/// Tells tracesets of different contents apart. Clones have the same until one
/// is changed; no two changes ever lead to the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Generation(u64);

impl Generation {
    fn fresh() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Generation(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

impl Traceset {
    /// No traces.
    pub fn new() -> Self {
        Traceset { traces: Vec::new(), generation: Generation::fresh() }
    }

    /// All traces at or below a directory: see [`open_all`](ltt_read::open_all).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ltt_read::Error> {
        ltt_read::open_all(path).map(Traceset::from)
    }

    /// Opens all traces at or below several directories, each once, as
    /// [`open`](Self::open). To read what can be read although something cannot, take
    /// the traces of [`OpenOptions::open_all_of`](ltt_read::OpenOptions::open_all_of).
    ///
    /// # Errors
    ///
    /// The first failure, as [`open_all`](ltt_read::open_all) for each of them.
    pub fn open_many<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Self, ltt_read::Error> {
        let opened = OpenOptions::new().on_failure(OnFailure::Stop).open_all_of(paths)?;
        Ok(Traceset::from(opened.traces))
    }

    /// The traces. Their place here is the index by which they are meant
    /// elsewhere.
    pub fn traces(&self) -> &[Arc<Trace>] {
        &self.traces
    }

    /// Changes with every change.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Adds a trace behind the others, and gives its index.
    pub fn add(&mut self, trace: Arc<Trace>) -> usize {
        self.traces.push(trace);
        self.generation = Generation::fresh();
        self.traces.len() - 1
    }

    /// Takes a trace out, if there is one of this index; the indices of those
    /// behind it change.
    pub fn remove(&mut self, index: usize) -> Option<Arc<Trace>> {
        let removed = (index < self.traces.len()).then(|| self.traces.remove(index))?;
        self.generation = Generation::fresh();
        Some(removed)
    }
}

impl Default for Traceset {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Vec<Arc<Trace>>> for Traceset {
    fn from(traces: Vec<Arc<Trace>>) -> Self {
        Traceset { traces, generation: Generation::fresh() }
    }
}

impl FromIterator<Arc<Trace>> for Traceset {
    fn from_iter<I: IntoIterator<Item = Arc<Trace>>>(traces: I) -> Self {
        Traceset::from(Vec::from_iter(traces))
    }
}

impl From<&Traceset> for Traceset {
    fn from(traceset: &Traceset) -> Self {
        traceset.clone()
    }
}
