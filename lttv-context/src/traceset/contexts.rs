//! The contexts of traces and tracefiles: their indices, numbers and time spans.

use std::cell::OnceCell;
use std::sync::Arc;

use ltt_read::{TimeSpan, Trace, TraceIndex, Tracefile, TracefileIndex, TracefileNumber};

use super::Traceset;
use crate::attributes::SharedAttributes;

/// The contexts of all traces and tracefiles of a traceset.
///
/// Tracefiles are numbered through the whole traceset, so that tables indexed by them can be
/// plain arrays.
#[derive(Debug)]
pub struct Contexts {
    traceset: Traceset,
    traces: Vec<TraceContext>,
    tracefiles: Vec<TracefileContext>,
}

/// A trace of a traceset, with its index.
#[derive(Debug, Clone)]
pub struct TraceContext {
    index: TraceIndex,
    trace: Arc<Trace>,
    first_tracefile: TracefileNumber,
    attributes: SharedAttributes,
}

/// A tracefile of a traceset, with its number.
#[derive(Debug)]
pub struct TracefileContext {
    number: TracefileNumber,
    index: TracefileIndex,
    /// A copy of the trace's context, at hand for each event.
    trace: TraceContext,
    span: OnceCell<Option<TimeSpan>>,
}

impl Contexts {
    pub(crate) fn new(traceset: Traceset) -> Self {
        let (mut traces, mut tracefiles) = (Vec::new(), Vec::new());
        for (trace_index, trace) in traceset.traces().iter().enumerate() {
            let first = tracefiles.len();
            let context = TraceContext {
                index: TraceIndex(trace_index),
                trace: trace.clone(),
                first_tracefile: TracefileNumber(first),
                attributes: traceset.attributes_of[trace_index].clone(),
            };
            tracefiles.extend((0..trace.tracefiles().len()).map(|index| TracefileContext {
                number: TracefileNumber(first + index),
                index: TracefileIndex(index),
                trace: context.clone(),
                span: OnceCell::new(),
            }));
            traces.push(context);
        }
        Contexts { traceset, traces, tracefiles }
    }

    /// Returns the traceset of these contexts.
    pub fn traceset(&self) -> &Traceset {
        &self.traceset
    }

    /// Returns the traces, by their index in the traceset.
    pub fn traces(&self) -> &[TraceContext] {
        &self.traces
    }

    /// Returns the tracefiles of all traces, by their number in the traceset.
    pub fn tracefiles(&self) -> &[TracefileContext] {
        &self.tracefiles
    }

    /// Returns the tracefiles of a trace, by their index in it. The slice is empty if there is no
    /// such trace.
    pub fn tracefiles_of(&self, trace: TraceIndex) -> &[TracefileContext] {
        let Some(context) = self.traces.get(trace.0) else { return &[] };
        let begin = context.first_tracefile.0;
        self.tracefiles.get(begin..begin + context.trace.tracefiles().len()).unwrap_or_default()
    }

    /// Computes the time span of all traces together. Returns `None` if none of them has a time.
    pub fn time_span(&self) -> Option<TimeSpan> {
        self.tracefiles.iter().filter_map(TracefileContext::time_span).reduce(TimeSpan::join)
    }

    /// Computes the time span of a trace. Returns `None` if it has no time, or if there is no such
    /// trace.
    pub fn time_span_of(&self, trace: TraceIndex) -> Option<TimeSpan> {
        let spans = self.tracefiles_of(trace).iter().filter_map(TracefileContext::time_span);
        spans.reduce(TimeSpan::join)
    }
}

impl TraceContext {
    /// Returns the index of the trace in the traceset.
    pub fn index(&self) -> TraceIndex {
        self.index
    }

    /// Returns the trace itself.
    pub fn trace(&self) -> &Arc<Trace> {
        &self.trace
    }

    /// Returns the attributes of the trace: see [`Traceset::attributes_of`].
    pub fn attributes(&self) -> &SharedAttributes {
        &self.attributes
    }
}

impl TracefileContext {
    /// Returns the number of the tracefile among all tracefiles of the traceset.
    pub fn number(&self) -> TracefileNumber {
        self.number
    }

    /// Returns the index of the tracefile in its trace.
    pub fn index(&self) -> TracefileIndex {
        self.index
    }

    /// Returns the index in the traceset of the tracefile's trace.
    pub fn trace_index(&self) -> TraceIndex {
        self.trace.index
    }

    /// Returns the trace that contains the tracefile.
    pub fn trace(&self) -> &Arc<Trace> {
        &self.trace.trace
    }

    /// Returns the context of the trace that contains the tracefile.
    #[inline(always)]
    pub fn trace_context(&self) -> &TraceContext {
        &self.trace
    }

    /// Returns the tracefile itself.
    pub fn tracefile(&self) -> &Tracefile {
        self.trace().tracefile(self.index)
    }

    /// Returns the time from the start of the first packet to the end of the last packet. If
    /// packets declare no times or wrong ones, it is the time from the first event to the last.
    /// Returns `None` if the events have no times either.
    ///
    /// The first call computes the [times of the packets](Trace::packet_times). If the last packet
    /// declares no end, it reads the whole tracefile. Later calls return the stored result.
    pub fn time_span(&self) -> Option<TimeSpan> {
        *self.span.get_or_init(|| self.trace().time_span_of(self.index))
    }
}
