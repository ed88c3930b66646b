//! The threads of user-space traces, and their events over time.

use std::collections::BTreeMap;

use ltt_read::{Timestamp, TraceIndex};
use lttv_context::EventCall;
use lttv_state::kernel::KernelState;

use super::axis::Axis;
use super::collected::Collect;
use super::thread_ids::ThreadIds;

/// The key of a thread: the index of its trace, and its id; `None` for events without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadKey {
    /// The index of the trace.
    pub trace: TraceIndex,
    /// The id of the thread in its namespace.
    pub vtid: Option<i64>,
}

/// The events of a thread in a time window.
#[derive(Debug, Clone, Default)]
pub struct Thread {
    /// The name of its process; empty if unknown.
    pub name: String,
    /// The id of its process.
    pub vpid: Option<i64>,
    /// The number of events.
    pub events: u64,
    /// The numbers of events by column.
    pub columns: Vec<u32>,
    /// The longest time between two of its events, in ns, and the time of the first of them.
    pub gap: Option<(u64, Timestamp)>,
    last: Option<Timestamp>,
}

/// The threads of all user-space traces with events in a time window.
#[derive(Debug, Default)]
pub struct Threads {
    all: BTreeMap<ThreadKey, Thread>,
    ids: ThreadIds,
    /// `true` for traces of a kernel, by their index.
    kernels: Vec<Option<bool>>,
    axis: Option<Axis>,
}

impl Threads {
    /// Iterates over all threads, by key.
    pub fn all(&self) -> impl Iterator<Item = (&ThreadKey, &Thread)> {
        self.all.iter()
    }

    /// Returns the greatest number of events of a thread in a column.
    pub fn most(&self) -> u32 {
        self.all.values().flat_map(|of| &of.columns).copied().max().unwrap_or(0)
    }
}

impl Collect for Threads {
    fn start(&mut self, axis: Axis) {
        self.axis = Some(axis);
    }

    fn event(&mut self, _: &KernelState, call: &EventCall<'_, '_>) {
        let trace = call.trace.index();
        if self.kernels.len() <= trace.0 {
            self.kernels.resize(trace.0 + 1, None);
        }
        let of_kernel = &mut self.kernels[trace.0];
        if *of_kernel.get_or_insert_with(|| KernelState::follows(call.event.trace())) {
            return;
        }
        let (Some(axis), Some(time)) = (self.axis, call.event.timestamp()) else { return };
        let Some(column) = axis.column(time) else { return };
        let of = self.ids.of(trace, &call.event);
        let thread = self.all.entry(ThreadKey { trace, vtid: of.tid }).or_default();
        if thread.columns.is_empty() {
            thread.columns = vec![0; axis.columns()];
        }
        if let Some(count) = thread.columns.get_mut(column) {
            *count = count.saturating_add(1);
        }
        thread.events += 1;
        thread.vpid = of.pid.or(thread.vpid);
        if let Some(name) = of.name.filter(|name| *name != thread.name) {
            name.clone_into(&mut thread.name);
        }
        if let Some(last) = thread.last.replace(time) {
            let gap = time.as_ns().saturating_sub(last.as_ns()).max(0).unsigned_abs();
            if thread.gap.is_none_or(|(longest, _)| gap > longest) {
                thread.gap = Some((gap, last));
            }
        }
    }
}
