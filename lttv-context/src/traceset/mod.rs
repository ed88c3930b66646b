//! Tracesets: ordered lists of traces that are read together, and places in them.

mod contexts;
mod growth;
mod position;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::attributes::SharedAttributes;
use ltt_read::{OnFailure, OpenOptions, Trace, TraceIndex};

use growth::Growth;

pub use contexts::{Contexts, TraceContext, TracefileContext};
pub(crate) use position::time_of;
pub use position::{StalePosition, TracesetPosition};

/// An ordered list of traces to be read together.
///
/// Clones share the traces, but adding or removing a trace changes only one clone.
///
/// ```
/// use lttv_context::Traceset;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let mut twice = traceset.clone();
/// twice.add(traceset.traces()[0].clone());
/// assert_eq!((traceset.traces().len(), twice.traces().len()), (1, 2));
/// assert_ne!(traceset.revision(), twice.revision());
/// # Ok::<(), ltt_read::Error>(())
/// ```
///
/// # Attributes
///
/// A traceset, each of its [traces](TraceContext::attributes) and each of their
/// [tracefiles](TracefileContext::attributes) have attributes, to which analyses add their results
/// for others to find. A trace that is in the traceset twice has attributes for each place. Clones share them, and a context has a clone of its
/// traceset: all contexts of one traceset, also in other threads, have the same attributes. When a
/// clone is changed, its traceset gets a copy of the attributes, since results for all traces may
/// no longer hold, and its remaining traces keep theirs.
///
/// ```
/// use lttv_context::{Bounds, TracesetContext, Traceset};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traceset = Traceset::open(path)?;
/// let mut count = 0_u64;
/// let mut context = TracesetContext::new(&traceset);
/// context.on_event("sched_switch", |_| count += 1);
/// assert_eq!(context.read(&Bounds::all())?.errors, 0);
/// drop(context);
/// traceset.attributes().update(|tree| tree.set_at("scheduler/switches", count))?;
///
/// let other = TracesetContext::new(&traceset);
/// let found = other.traceset().attributes().snapshot();
/// assert_eq!(found.to_string(), "scheduler\n  switches: 497\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Traceset {
    traces: Vec<Arc<Trace>>,
    revision: Revision,
    attributes: SharedAttributes,
    /// The attributes of the traces, by index.
    trace_attributes: Vec<TraceAttributes>,
    /// The growth of a traceset that is being recorded; `None` if it never was.
    growth: Option<Growth>,
}

/// The attributes of a trace and of its tracefiles, by index.
#[derive(Debug, Clone)]
struct TraceAttributes {
    own: SharedAttributes,
    tracefiles: Vec<SharedAttributes>,
}

impl TraceAttributes {
    fn new(tracefiles: usize) -> Self {
        let mut attributes = TraceAttributes { own: Default::default(), tracefiles: Vec::new() };
        attributes.grow(tracefiles);
        attributes
    }

    /// Adds the attributes of tracefiles that are new.
    fn grow(&mut self, tracefiles: usize) {
        self.tracefiles.resize_with(tracefiles, SharedAttributes::new);
    }
}

/// A number that identifies the contents of a traceset. A clone has the revision of the
/// original until one of them is changed. Each change leads to a new revision, except that
/// [growth](Traceset::continue_with) leads to none: what was there before stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Revision(u64);

impl Revision {
    fn unique() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Revision(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

impl Traceset {
    /// Creates a traceset without traces.
    pub fn new() -> Self {
        Traceset::from(Vec::new())
    }

    /// Opens all traces at or below a directory: see [`open_all`](ltt_read::open_all).
    ///
    /// # Errors
    ///
    /// Returns an error under the conditions of [`open_all`](ltt_read::open_all).
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ltt_read::Error> {
        ltt_read::open_all(path).map(Traceset::from)
    }

    /// Opens all traces at or below several directories, each trace once, and otherwise like
    /// [`open`](Self::open). To read the remaining traces when some cannot be opened, use the
    /// traces of [`OpenOptions::open_all_of`](ltt_read::OpenOptions::open_all_of).
    ///
    /// # Errors
    ///
    /// Returns the first failure, under the conditions of [`open_all`](ltt_read::open_all) for each
    /// directory.
    pub fn open_many<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Self, ltt_read::Error> {
        let opened = OpenOptions::new().on_failure(OnFailure::Stop).open_all_of(paths)?;
        Ok(Traceset::from(opened.traces))
    }

    /// Returns the traces. The place of a trace in this slice is its index everywhere else.
    pub fn traces(&self) -> &[Arc<Trace>] {
        &self.traces
    }

    /// Returns the revision, which changes with every change of the traceset.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Adds a trace after the others and returns its index.
    pub fn add(&mut self, trace: Arc<Trace>) -> TraceIndex {
        self.traces.push(trace);
        let tracefiles = self.traces.last().map_or(0, |trace| trace.tracefiles().len());
        self.trace_attributes.push(TraceAttributes::new(tracefiles));
        self.note_change();
        TraceIndex(self.traces.len() - 1)
    }

    /// Removes and returns a trace. The indices of the traces after it decrease by one. Returns
    /// `None` if there is no trace of this index.
    pub fn remove(&mut self, index: TraceIndex) -> Option<Arc<Trace>> {
        let removed = (index.0 < self.traces.len()).then(|| self.traces.remove(index.0))?;
        self.trace_attributes.remove(index.0);
        self.note_change();
        Some(removed)
    }

    /// Returns the attributes of the traceset.
    pub fn attributes(&self) -> &SharedAttributes {
        &self.attributes
    }

    /// Makes this traceset differ from its clones.
    fn note_change(&mut self) {
        self.revision = Revision::unique();
        self.attributes = self.attributes.separate();
        self.renumber();
    }
}

impl Default for Traceset {
    fn default() -> Self {
        Self::new()
    }
}

impl From<Vec<Arc<Trace>>> for Traceset {
    fn from(traces: Vec<Arc<Trace>>) -> Self {
        let of_trace = |trace: &Arc<Trace>| TraceAttributes::new(trace.tracefiles().len());
        let trace_attributes = traces.iter().map(of_trace).collect();
        let (revision, attributes) = (Revision::unique(), SharedAttributes::new());
        Traceset { traces, revision, attributes, trace_attributes, growth: None }
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
