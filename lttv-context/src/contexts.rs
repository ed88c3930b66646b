//! What is known of the traces of a traceset and of their tracefiles while they
//! are read.

use std::cell::OnceCell;
use std::sync::Arc;

use ltt_read::{TimeSpan, Trace, Tracefile};

use crate::span::tracefile_span;
use crate::traceset::Traceset;

/// The contexts of all traces and tracefiles of a traceset.
///
/// Tracefiles are numbered through the whole traceset, so that tables for them
/// can be plain arrays.
#[derive(Debug)]
pub struct Contexts {
    traceset: Traceset,
    traces: Vec<TraceContext>,
    tracefiles: Vec<TracefileContext>,
}

/// A trace of a traceset.
#[derive(Debug, Clone)]
pub struct TraceContext {
    index: usize,
    trace: Arc<Trace>,
    first_tracefile: usize,
}

/// A tracefile of a trace of a traceset.
#[derive(Debug)]
pub struct TracefileContext {
    number: usize,
    index: usize,
    /// That of its trace once more, at hand for each event.
    trace: TraceContext,
    span: OnceCell<Option<TimeSpan>>,
}

impl Contexts {
    pub(crate) fn new(traceset: Traceset) -> Self {
        let (mut traces, mut tracefiles) = (Vec::new(), Vec::new());
        for (trace_index, trace) in traceset.traces().iter().enumerate() {
            let first_tracefile = tracefiles.len();
            let context =
                TraceContext { index: trace_index, trace: trace.clone(), first_tracefile };
            tracefiles.extend((0..trace.tracefiles().len()).map(|index| TracefileContext {
                number: first_tracefile + index,
                index,
                trace: context.clone(),
                span: OnceCell::new(),
            }));
            traces.push(context);
        }
        Contexts { traceset, traces, tracefiles }
    }

    /// The traceset.
    pub fn traceset(&self) -> &Traceset {
        &self.traceset
    }

    /// The traces, by their index in the traceset.
    pub fn traces(&self) -> &[TraceContext] {
        &self.traces
    }

    /// The tracefiles of all traces, by their number in the traceset.
    pub fn tracefiles(&self) -> &[TracefileContext] {
        &self.tracefiles
    }

    /// The tracefiles of a trace, by their index in it; none if there is no such
    /// trace.
    pub fn tracefiles_of(&self, trace: usize) -> &[TracefileContext] {
        let Some(context) = self.traces.get(trace) else { return &[] };
        let begin = context.first_tracefile;
        self.tracefiles.get(begin..begin + context.trace.tracefiles().len()).unwrap_or_default()
    }

    /// The time that the traces span together; `None` if there is no time in any.
    pub fn time_span(&self) -> Option<TimeSpan> {
        self.tracefiles.iter().filter_map(TracefileContext::time_span).reduce(TimeSpan::join)
    }

    /// The time that a trace spans.
    pub fn time_span_of(&self, trace: usize) -> Option<TimeSpan> {
        let spans = self.tracefiles_of(trace).iter().filter_map(TracefileContext::time_span);
        spans.reduce(TimeSpan::join)
    }
}

impl TraceContext {
    /// Its index in the traceset.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The trace.
    pub fn trace(&self) -> &Arc<Trace> {
        &self.trace
    }

    /// The number of its first tracefile in the traceset.
    pub fn first_tracefile(&self) -> usize {
        self.first_tracefile
    }
}

impl TracefileContext {
    /// Its number among all tracefiles of the traceset.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Its index in its trace.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The index of its trace in the traceset.
    pub fn trace_index(&self) -> usize {
        self.trace.index
    }

    /// The trace that it is in.
    pub fn trace(&self) -> &Arc<Trace> {
        &self.trace.trace
    }

    /// What is known of that trace in the traceset.
    #[inline(always)]
    pub fn trace_context(&self) -> &TraceContext {
        &self.trace
    }

    /// The tracefile.
    pub fn tracefile(&self) -> &Tracefile {
        &self.trace().tracefiles()[self.index]
    }

    /// The time from the begin of its first packet to the end of its last one, or
    /// from event to event where packets declare no times or wrong ones; `None` if events
    /// have none either.
    ///
    /// This needs the [times of its packets](Trace::packet_times). Without an end of its
    /// last packet, all of it is read, once.
    pub fn time_span(&self) -> Option<TimeSpan> {
        *self.span.get_or_init(|| tracefile_span(self.trace(), self.index))
    }
}
