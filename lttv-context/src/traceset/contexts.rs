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
    /// The numbers of the tracefiles of each trace.
    numbers: Vec<Vec<TracefileNumber>>,
}

/// A trace of a traceset, with its index.
#[derive(Debug, Clone)]
pub struct TraceContext {
    index: TraceIndex,
    trace: Arc<Trace>,
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
    attributes: SharedAttributes,
}

impl Contexts {
    pub(crate) fn new(traceset: Traceset) -> Self {
        let mut contexts =
            Contexts { traceset, traces: Vec::new(), tracefiles: Vec::new(), numbers: Vec::new() };
        contexts.update();
        contexts
    }

    /// Replaces the traceset by a later state of it.
    pub(crate) fn continue_with(&mut self, traceset: Traceset) {
        self.traceset = traceset;
        self.update();
    }

    /// Returns `true` if a later state of the traceset has more than data: event types, stream
    /// classes, tracefiles or traces, or properties of tracefiles that were not known. Hooks and the
    /// filter of a context are then [prepared](crate::TracesetContext::continue_with) for it.
    pub fn is_extended_by(&self, traceset: &Traceset) -> bool {
        let (now, later) = (self.traceset.traces(), traceset.traces());
        let is_extended = |(now, later): (&Arc<Trace>, &Arc<Trace>)| {
            let classes = |trace: &Trace| {
                let tracefiles = trace.tracefiles().iter();
                tracefiles.filter(|tracefile| tracefile.stream_class().is_some()).count()
            };
            let (types, tracefiles) = (now.schema().event_types.len(), now.tracefiles().len());
            types != later.schema().event_types.len()
                || tracefiles != later.tracefiles().len()
                || classes(now) != classes(later)
        };
        now.len() != later.len()
            || now
                .iter()
                .zip(later)
                .any(|(now, later)| !Arc::ptr_eq(now, later) && is_extended((now, later)))
    }

    /// Creates the contexts of the current traces and tracefiles.
    fn update(&mut self) {
        let Contexts { traceset, traces, tracefiles, numbers } = self;
        let traces_now = traceset.traces().iter().zip(&traceset.trace_attributes).enumerate();
        *traces = traces_now
            .map(|(index, (trace, attributes))| TraceContext {
                index: TraceIndex(index),
                trace: trace.clone(),
                attributes: attributes.own.clone(),
            })
            .collect();
        tracefiles.clear();
        *numbers = vec![Vec::new(); traces.len()];
        for (number, (trace, index)) in traceset.tracefiles().into_iter().enumerate() {
            let number = TracefileNumber(number);
            numbers[trace.0].push(number);
            let attributes = traceset.trace_attributes[trace.0].tracefiles[index.0].clone();
            let (trace, span) = (traces[trace.0].clone(), OnceCell::new());
            tracefiles.push(TracefileContext { number, index, trace, span, attributes });
        }
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

    /// Iterates over the tracefiles of a trace, in the order of their indices in it. There are none
    /// if there is no such trace.
    pub fn tracefiles_of(&self, trace: TraceIndex) -> impl Iterator<Item = &TracefileContext> {
        let numbers = self.numbers.get(trace.0).map(Vec::as_slice).unwrap_or_default();
        numbers.iter().map(|number| &self.tracefiles[number.0])
    }

    /// Computes the time span of all traces together. Returns `None` if none of them has a time.
    pub fn time_span(&self) -> Option<TimeSpan> {
        self.tracefiles.iter().filter_map(TracefileContext::time_span).reduce(TimeSpan::join)
    }

    /// Computes the time span of a trace. Returns `None` if it has no time, or if there is no such
    /// trace.
    pub fn time_span_of(&self, trace: TraceIndex) -> Option<TimeSpan> {
        let spans = self.tracefiles_of(trace).filter_map(TracefileContext::time_span);
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

    /// Returns the attributes of the trace: see [`Traceset`](Traceset#attributes).
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

    /// Returns the attributes of the tracefile: see [`Traceset`](Traceset#attributes).
    pub fn attributes(&self) -> &SharedAttributes {
        &self.attributes
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
