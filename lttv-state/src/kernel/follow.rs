//! Following the kernel state of whole traces on several threads.

use ltt_read::schema::EventTypeId;
use ltt_read::{Event, Timestamp, TraceIndex, TracefileNumber};
use lttv_context::{
    Bounds, Handle, ReadEnd, SliceAnalysis, SliceThreads, StalePosition, TracesetContext,
};
use lttv_hooks::Flow;

use super::recorded::{Followed, Follower, FollowerObserver, RecordedEvents, Recorder};
use super::{KernelState, Transition};

/// An analysis of the changes of kernel states, for [`follow_state`].
pub trait StateObserver: Send {
    /// Is called after each event that can change the state, in order. The state of its trace is that
    /// after the event, with its [effect](super::TraceState::effect).
    fn changed(&mut self, kernel: &KernelState, change: StateChange);
}

/// An event that can change the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateChange {
    /// The index of its trace.
    pub trace: TraceIndex,
    /// The number of its tracefile in the traceset.
    pub tracefile: TracefileNumber,
    /// The meaning for the state.
    pub transition: Transition,
    /// The time of its delivery.
    pub time: Timestamp,
}

/// The result of [`follow_state`].
#[derive(Debug)]
#[non_exhaustive]
pub struct StateFollowed {
    /// The kernel state after the last event.
    pub kernel: KernelState,
    /// The end of the read.
    pub end: ReadEnd,
}

/// Follows the kernel state of the traces of a context, which is at their start, on two threads, and
/// calls an observer. `kernel` is the state there, such as [`KernelState::new`].
///
/// The calling thread reads the events and records what the state needs of them, slice by slice; the
/// state follows the slices in order, on whichever thread is free. The observer sees what a hook after
/// the state would see on one thread, apart from the events themselves. `passed` is called after each
/// slice of some thousand events, and ends the read by `Break`. Errors and notices are those of the
/// context.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use lttv_context::{SliceThreads, Traceset, TracesetContext};
/// use lttv_hooks::Flow;
/// use lttv_state::kernel::{KernelState, StateChange, StateObserver, follow_state};
///
/// /// The number of system calls and interrupts that ended, by name.
/// #[derive(Default)]
/// struct Endings(BTreeMap<String, u64>);
///
/// impl StateObserver for Endings {
///     fn changed(&mut self, kernel: &KernelState, change: StateChange) {
///         let Some(state) = kernel.trace(change.trace) else { return };
///         for ended in state.effect().ended() {
///             *self.0.entry(state.name(ended.submode).to_owned()).or_default() += 1;
///         }
///     }
/// }
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/traces/kernel");
/// let mut context = TracesetContext::new(Traceset::open(path)?);
/// let (mut endings, threads) = (Endings::default(), SliceThreads::new(2));
/// let go_on = |_: &mut TracesetContext<'_>| Flow::Continue(());
/// let read = follow_state(&mut context, KernelState::new(), &mut endings, threads, go_on)?;
/// assert_eq!(read.end.events, 6087);
/// assert!(endings.0.len() > 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Returns [`StalePosition`] in the cases of [`TracesetContext::read_analysis`], none of which occurs
/// here.
pub fn follow_state<'h, O: StateObserver>(
    context: &mut TracesetContext<'h>,
    kernel: KernelState,
    observer: &mut O,
    threads: SliceThreads,
    passed: impl FnMut(&mut TracesetContext<'h>) -> Flow,
) -> Result<StateFollowed, StalePosition> {
    context.refuse_growth::<KernelState>();
    let (recorder, kernel) = Recorder::new(context.contexts(), kernel);
    let follower = Follower::new(context.contexts(), recorder.clone(), kernel);
    let mut state = (follower, Observed(observer));
    let analysis = InSlices { recorder, observer: std::marker::PhantomData };
    let slice = analysis.attach(context);
    let result = (&mut state, &mut ());
    let end = context.read_analysis(&analysis, slice, result, &Bounds::all(), threads, passed)?;
    Ok(StateFollowed { kernel: state.0.into_kernel(), end })
}

/// A state that is followed in slices, by an observer that is called in order.
struct InSlices<'o, O> {
    recorder: Recorder,
    observer: std::marker::PhantomData<fn(&'o mut O)>,
}

impl<'o, O: StateObserver> SliceAnalysis for InSlices<'o, O> {
    type Slice = RecordedEvents;
    type State = (Follower, Observed<'o, O>);
    type Part = ();

    const RECORDS: bool = true;

    fn attach(&self, context: &mut TracesetContext<'_>) -> Handle<RecordedEvents> {
        context.attach_data(RecordedEvents::default())
    }

    #[inline]
    fn record(
        &self,
        slice: &mut RecordedEvents,
        at: (TracefileNumber, Timestamp),
        event: &Event<'_>,
    ) {
        self.recorder.record_change(slice, at, event);
    }

    fn resolve(&self, (follower, observer): &mut Self::State, slice: &mut RecordedEvents) {
        follower.follow(slice, observer);
    }

    fn add(&self, (): &mut (), _: &mut RecordedEvents) {}

    fn clear(&self, slice: &mut RecordedEvents) {
        slice.clear();
    }
}

/// An observer that is called for changes only.
struct Observed<'o, O>(&'o mut O);

impl<O: StateObserver> FollowerObserver for Observed<'_, O> {
    #[inline]
    fn changed(&mut self, kernel: &mut KernelState, followed: Followed) {
        let Followed { trace, tracefile, transition, time, .. } = followed;
        let time = Timestamp::from_ns(time);
        self.0.changed(kernel, StateChange { trace, tracefile, transition, time });
    }

    fn elsewhere(
        &mut self,
        _: (usize, i64),
        _: (TraceIndex, EventTypeId),
        _: (u32, Option<usize>),
    ) {
    }
}
