//! The indices of traces and tracefiles, each a type of its own.

/// The index of a trace among those that are read together, in the order in which they
/// were given.
///
/// ```
/// use ltt_read::{Merge, TraceIndex};
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let traces = ltt_read::open_all(path)?;
/// let mut merge = Merge::new(&traces);
/// let event = merge.next().expect("an event");
/// assert_eq!(event.trace_index(), TraceIndex(0));
/// assert!(std::sync::Arc::ptr_eq(event.trace(), &traces[event.trace_index().0]));
/// # Ok::<(), ltt_read::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TraceIndex(pub usize);

/// The index of a tracefile in its trace, as in
/// [`Trace::tracefiles`](crate::Trace::tracefiles).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TracefileIndex(pub usize);

/// The number of a tracefile among those of all traces that are read together. The
/// tracefiles of the first trace come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TracefileNumber(pub usize);
