//! Statistics of a whole traceset, collected on several threads.

use std::slice;
use std::sync::Arc;

use ltt_read::{Merge, Timestamp, Trace};
use lttv_context::{
    Bounds, CheckpointPolicy, Checkpoints, ParallelReader, Traceset, TracesetContext,
};

use super::Statistics;
use crate::kernel::KernelState;

/// Computes the statistics of a traceset on a number of threads. The result does not depend
/// on that number.
///
/// One thread reads the events once and collects. With several threads, a first pass
/// follows the kernel state only and saves checkpoints, from which the threads then collect
/// one slice of time each. This is faster if collecting costs more than following the
/// state, or if the checkpoints, which are returned as well, are needed anyway.
pub fn statistics(traceset: &Traceset, threads: usize) -> (Statistics, Option<Checkpoints>) {
    if threads <= 1 {
        let mut context = TracesetContext::new(traceset);
        let kernel = context.attach(KernelState::new());
        let statistics = Statistics::attach(&mut context, kernel);
        let _ = context.read(&Bounds::all());
        return (Statistics::take(&mut context, statistics, kernel), None);
    }
    let mut first = TracesetContext::new(traceset);
    first.attach(KernelState::new());
    first.set_checkpoint_policy(CheckpointPolicy::default());
    let _ = first.replay_state(&Bounds::all());
    let checkpoints = first.checkpoints().clone();
    drop(first);
    // A slice may start or end after the end of a trace.
    let ends: Vec<Timestamp> = traceset.traces().iter().map(last_event).collect();
    let parts = ParallelReader::new(traceset).threads(threads).run(|slice| {
        let mut context = slice.context();
        let kernel = context.attach(KernelState::new());
        // The checkpoints fit this context, which has the same extension. Without them,
        // everything before the slice would be replayed.
        let _ = context.set_checkpoints(checkpoints.clone());
        context.seek_time_with_state(slice.start());
        let begin = |trace: usize| Some(slice.start().min(ends[trace]));
        let statistics = Statistics::attach_from(&mut context, kernel, begin, true);
        let read = slice.read(&mut context);
        debug_assert!(read.is_ok(), "the state is that at the start of the slice");
        let end = |trace: usize| slice.end().map(|end| end.min(ends[trace]));
        Statistics::of_each(context.extensions(), statistics, kernel, end)
    });
    let mut parts = parts.results.into_iter();
    let mut all = parts.next().unwrap_or_default();
    parts.for_each(|part| all.add(&part));
    (all, Some(checkpoints))
}

/// Returns the time of the last event of a trace; [`Timestamp::MIN`] if it has no events.
fn last_event(trace: &Arc<Trace>) -> Timestamp {
    let packets = (0..trace.tracefiles().len()).flat_map(|at| trace.packet_index(at).entries());
    let mut begins: Vec<Timestamp> = packets.map(|packet| packet.start).collect();
    begins.sort_unstable();
    begins.dedup();
    let mut merge = Merge::new(slice::from_ref(trace));
    let last_from = |begin: Timestamp| {
        merge.seek(begin);
        let times = std::iter::from_fn(|| merge.next().map(|event| event.timestamp()));
        times.flatten().max()
    };
    // The packet with the latest start contains the last event, unless it is empty or
    // damaged.
    begins.into_iter().rev().find_map(last_from).unwrap_or(Timestamp::MIN)
}
