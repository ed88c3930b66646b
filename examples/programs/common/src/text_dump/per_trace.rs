//! Data of a format for each trace.

use std::sync::Arc;

use ltt_read::Trace;

/// An item for each of several traces, found by the trace itself.
#[derive(Debug)]
pub(super) struct PerTrace<T> {
    traces: Vec<Arc<Trace>>,
    items: Vec<T>,
    extents: Vec<Extent>,
    /// The index of the last item found: consecutive events are often of one trace.
    last: usize,
}

/// The numbers of a trace's parts, as far as items depend on them. They grow while a trace is
/// recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Extent {
    event_types: usize,
    stream_classes: usize,
    tracefiles: usize,
    /// The number of tracefiles whose first packet is known.
    started: usize,
}

impl Extent {
    fn of(trace: &Trace) -> Extent {
        let (schema, tracefiles) = (trace.schema(), trace.tracefiles());
        let started = tracefiles.iter().filter(|tracefile| tracefile.stream_class().is_some());
        Extent {
            event_types: schema.event_types.len(),
            stream_classes: schema.stream_classes.len(),
            tracefiles: tracefiles.len(),
            started: started.count(),
        }
    }
}

impl<T> PerTrace<T> {
    /// Creates an item for each trace.
    pub(super) fn new(traces: &[Arc<Trace>], mut make: impl FnMut(usize, &Trace) -> T) -> Self {
        let items = traces.iter().enumerate().map(|(i, trace)| make(i, trace)).collect();
        let extents = traces.iter().map(|trace| Extent::of(trace)).collect();
        PerTrace { traces: traces.to_vec(), items, extents, last: 0 }
    }

    /// Continues with later versions of the traces and with those after them. Items are made for
    /// new traces, and again for those that have more event types or tracefiles.
    pub(super) fn continue_with(
        &mut self,
        traces: &[Arc<Trace>],
        mut make: impl FnMut(usize, &Trace) -> T,
    ) {
        self.traces = traces.to_vec();
        for (number, trace) in traces.iter().enumerate() {
            let extent = Extent::of(trace);
            match (self.items.get_mut(number), self.extents.get_mut(number)) {
                (Some(item), Some(known)) => {
                    if *known != extent {
                        (*item, *known) = (make(number, trace), extent);
                    }
                }
                _ => {
                    self.items.push(make(number, trace));
                    self.extents.push(extent);
                }
            }
        }
    }

    /// Returns the item of a trace; `None` for an unknown trace.
    #[inline]
    pub(super) fn of(&mut self, trace: &Arc<Trace>) -> Option<&mut T> {
        if !self.traces.get(self.last).is_some_and(|known| Arc::ptr_eq(known, trace)) {
            self.last = self.traces.iter().position(|known| Arc::ptr_eq(known, trace))?;
        }
        self.items.get_mut(self.last)
    }
}
