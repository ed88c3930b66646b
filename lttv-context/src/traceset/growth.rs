//! Tracesets that are being recorded.
//!
//! A growing traceset is handed the versions of its traces. It numbers tracefiles in the order in
//! which they were found, so that positions stay valid. Filters use their spans of time to seek only once
//! a traceset is complete.

use std::sync::Arc;

use ltt_read::order::OrderedReader;
use ltt_read::{Trace, TraceIndex, TracefileIndex};

use super::{TraceAttributes, Traceset};

/// The growth of a traceset.
#[derive(Debug, Clone)]
pub(super) struct Growth {
    /// `true` if the traces may grow, and other traces may follow.
    is_open: bool,
    /// The tracefiles in the order in which they were found, which is that of their numbers.
    tracefiles: Arc<Vec<(TraceIndex, TracefileIndex)>>,
}

/// # Growing
///
/// Traces that are being recorded are read as versions: see
/// [`GrowingTrace`](ltt_read::GrowingTrace). The owner of a traceset passes later versions to
/// [`continue_with`](Self::continue_with), and the traceset to its contexts:
/// [`TracesetContext::continue_with`](crate::TracesetContext::continue_with) has an example. A
/// [`Recording`](crate::Recording) does both.
///
/// Positions, numbers of tracefiles and the [revision](Self::revision) stay valid while a
/// traceset grows.
impl Traceset {
    /// Creates a traceset without traces that may grow. Reads of it end with
    /// [`EndReason::Pending`](crate::EndReason::Pending) until it is [complete](Self::complete).
    pub fn growing() -> Traceset {
        let growth = Growth { is_open: true, tracefiles: Arc::default() };
        Traceset { growth: Some(growth), ..Traceset::new() }
    }

    /// Returns `true` if the traces may grow, and if traces may follow.
    pub fn is_growing(&self) -> bool {
        self.growth.as_ref().is_some_and(|growth| growth.is_open)
    }

    /// Replaces the traces by later versions, which [`GrowingTrace`](ltt_read::GrowingTrace)s
    /// returned, in the order of the previous ones. Traces after them join the traceset.
    ///
    /// Clones do not grow. Their positions are valid here nevertheless.
    ///
    /// # Panics
    ///
    /// If the traceset is not [growing](Self::is_growing), or if there are fewer traces than
    /// before.
    pub fn continue_with(&mut self, traces: &[Arc<Trace>]) {
        assert!(traces.len() >= self.traces.len(), "a traceset only grows");
        let Some(growth) = self.growth.as_mut().filter(|growth| growth.is_open) else {
            panic!("the traceset is complete")
        };
        let is_new =
            |at: &usize| self.traces.get(*at).is_none_or(|old| has_more(old, &traces[*at]));
        for at in (0..traces.len()).filter(is_new) {
            let known = self.traces.get(at).map_or(0, |trace| trace.tracefiles().len());
            let new = known..traces[at].tracefiles().len();
            let new = new.map(|index| (TraceIndex(at), TracefileIndex(index)));
            Arc::make_mut(&mut growth.tracefiles).extend(new);
        }
        self.traces = traces.to_vec();
        self.trace_attributes.resize_with(traces.len(), || TraceAttributes::new(0));
        for (attributes, trace) in self.trace_attributes.iter_mut().zip(traces) {
            attributes.grow(trace.tracefiles().len());
        }
    }

    /// Notes that no trace grows any more, and that no trace follows.
    pub fn complete(&mut self) {
        if let Some(growth) = &mut self.growth {
            growth.is_open = false;
        }
    }

    /// Lists the tracefiles in the order of their numbers: those of the first trace first, unless
    /// the traceset has grown.
    pub(crate) fn tracefiles(&self) -> Vec<(TraceIndex, TracefileIndex)> {
        match &self.growth {
            Some(growth) => growth.tracefiles.to_vec(),
            None => by_trace(&self.traces),
        }
    }

    /// Creates a reader of all traces, at their start.
    pub(crate) fn reader(&self) -> OrderedReader {
        OrderedReader::new(&self.traces, &self.tracefiles(), self.is_growing())
    }

    /// Numbers the tracefiles anew, after a trace was added or removed.
    pub(super) fn renumber(&mut self) {
        if let Some(growth) = &mut self.growth {
            growth.tracefiles = Arc::new(by_trace(&self.traces));
        }
    }
}

/// Lists the tracefiles of traces.
fn by_trace(traces: &[Arc<Trace>]) -> Vec<(TraceIndex, TracefileIndex)> {
    let tracefiles = |(at, trace): (usize, &Arc<Trace>)| {
        let tracefiles = 0..trace.tracefiles().len();
        tracefiles.map(move |index| (TraceIndex(at), TracefileIndex(index)))
    };
    traces.iter().enumerate().flat_map(tracefiles).collect()
}

/// Returns `true` if a version of a trace has more tracefiles than an earlier one.
fn has_more(earlier: &Trace, later: &Trace) -> bool {
    later.tracefiles().len() > earlier.tracefiles().len()
}
