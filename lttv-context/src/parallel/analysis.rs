//! Analyses whose slices are computed on several threads.

use ltt_read::{Event, Timestamp, TracefileNumber};

/// An analysis that reads a traceset in slices, on several threads.
///
/// A slice passes through four stages:
///
/// 1. [`record`](Self::record) writes down what the analysis needs of its events. It knows nothing of
///    the events before the slice.
/// 2. [`resolve`](Self::resolve) applies what was recorded to the state at the start of the slice,
///    and notes in the slice what depends on that state. Slices are resolved in order, one after the
///    other, so this should do as little as possible.
/// 3. [`compute`](Self::compute) does what needs nothing else than the slice. Threads compute
///    different slices at the same time.
/// 4. [`add`](Self::add) adds the slice to the result: in order, or in any order to the parts of
///    [`Joining`].
///
/// No event is read or applied twice. [`read_analysis`](crate::TracesetContext::read_analysis) reads on several threads, and
/// the result does not depend on their number if these laws hold:
///
/// * *Slices compose.* Resolving, computing and adding two adjacent slices in order leads to the same
///   state and the same result as the one slice of all their events.
/// * *Identity.* A slice without events changes neither state nor result.
/// * *Parts commute*, if there is a [`joining`](Self::joining): slices may be added to any of several
///   parts in any order, and the parts be joined in any order.
///
/// `lttv_context::testing::check_slices`, with the feature `testing`, checks them for random slices of
/// a traceset.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use ltt_read::{Event, Timestamp, TracefileNumber};
/// use lttv_context::{Bounds, Joining, SliceAnalysis, SliceThreads, Traceset, TracesetContext};
/// use lttv_hooks::Flow;
///
/// /// Counts system calls by the thread that was switched in last on their CPU.
/// struct CallsByThread;
///
/// /// What a slice did: counts by CPU and thread. The thread is `None` before the first switch, which
/// /// is known only when the slices before are.
/// #[derive(Default)]
/// struct Calls {
///     counts: BTreeMap<(Option<u32>, Option<u64>), u64>,
///     running: BTreeMap<Option<u32>, u64>,
/// }
///
/// impl SliceAnalysis for CallsByThread {
///     type Slice = Calls;
///     type State = BTreeMap<Option<u32>, u64>;
///     type Part = BTreeMap<Option<u64>, u64>;
///
///     fn record(&self, calls: &mut Calls, _: (TracefileNumber, Timestamp), event: &Event<'_>) {
///         let (cpu, name) = (event.tracefile().cpu(), event.event_type().name());
///         if name.starts_with("syscall_entry_") {
///             *calls.counts.entry((cpu, calls.running.get(&cpu).copied())).or_default() += 1;
///         } else if name == "sched_switch" {
///             let tid = event.field("next_tid").and_then(|tid| tid.as_u64());
///             calls.running.insert(cpu, tid.unwrap_or(0));
///         }
///     }
///
///     fn resolve(&self, running: &mut Self::State, calls: &mut Calls) {
///         for ((cpu, thread), count) in std::mem::take(&mut calls.counts) {
///             let thread = thread.or(running.get(&cpu).copied());
///             *calls.counts.entry((cpu, thread)).or_default() += count;
///         }
///         running.extend(&calls.running);
///     }
///
///     fn add(&self, part: &mut Self::Part, calls: &mut Calls) {
///         for ((_, thread), count) in &calls.counts {
///             *part.entry(*thread).or_default() += count;
///         }
///     }
///
///     fn joining(&self) -> Option<Joining<Self::Part>> {
///         let join = |part: &mut Self::Part, other: Self::Part| {
///             other.into_iter().for_each(|(thread, n)| *part.entry(thread).or_default() += n);
///         };
///         Some(Joining { empty: Default::default, join })
///     }
/// }
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut results = [1, 2].map(|threads| {
///     let mut context = TracesetContext::new(Traceset::open(path).expect("a trace"));
///     let (mut running, mut calls) = Default::default();
///     let threads = SliceThreads::new(threads).slice_events(100);
///     let read = context.read_analysis(
///         &CallsByThread,
///         (&mut running, &mut calls),
///         &Bounds::all(),
///         threads,
///         |_| Flow::Continue(()),
///     );
///     assert_eq!(read.expect("no position").events, 6087);
///     calls
/// });
/// assert!(results[0].len() > 10);
/// assert_eq!(results[0], results[1]);
/// ```
pub trait SliceAnalysis: Sync {
    /// A slice: recorded, then resolved and computed.
    type Slice: Default + Send + 'static;

    /// The state between two slices.
    type State: Send;

    /// The result of slices.
    type Part: Send;

    /// The number of events of a slice, unless the caller [sets](crate::SliceThreads::slice_events) another
    /// one. By default there are so few that the slices under way fit in the cache of a processor, for
    /// analyses that record most events. More are better if much is done in order, since fewer threads
    /// wait for each other.
    const SLICE_EVENTS: u64 = 1 << 13;

    /// Records an event that was delivered at a time, after the hooks of the context for it.
    fn record(&self, slice: &mut Self::Slice, at: (TracefileNumber, Timestamp), event: &Event<'_>);

    /// Records an event that only extensions get: it does not pass the check of the context, or is
    /// outside of the [times](crate::Bounds::since) of the bounds, where a clock goes back. The default
    /// does nothing.
    fn record_unheard(
        &self,
        slice: &mut Self::Slice,
        at: (TracefileNumber, Timestamp),
        event: &Event<'_>,
    ) {
        let (_, _, _) = (slice, at, event);
    }

    /// Applies a slice to the state at its start, which becomes that at its end. Notes in the slice
    /// what depends on the state.
    fn resolve(&self, state: &mut Self::State, slice: &mut Self::Slice);

    /// Computes what depends on nothing but the slice. The default does nothing.
    fn compute(&self, slice: &mut Self::Slice) {
        let _ = slice;
    }

    /// Adds a slice that has been resolved and computed.
    fn add(&self, part: &mut Self::Part, slice: &mut Self::Slice);

    /// Returns how parts are joined, if slices can be added to several parts in any order, as sums
    /// can. The default is `None`: slices are added in order to one result.
    fn joining(&self) -> Option<Joining<Self::Part>> {
        None
    }

    /// Makes a slice empty. The default replaces it; keeping its memory for the next slice is faster.
    fn clear(&self, slice: &mut Self::Slice) {
        *slice = Self::Slice::default();
    }
}

/// The operations on the parts of a result: slices may be added to different parts in any order.
#[derive(Debug, Clone, Copy)]
pub struct Joining<P> {
    /// Returns a part without slices.
    pub empty: fn() -> P,
    /// Adds another part.
    pub join: fn(&mut P, P),
}
