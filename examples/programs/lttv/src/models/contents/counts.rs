//! Counting of events.

use std::ops::ControlFlow;
use std::sync::Arc;

use ltt_read::schema::EventTypeId;
use ltt_read::tuning::EventSink;
use ltt_read::{Event, Merge, Trace, TracefileNumber};
use lttv_common::progress::Progress;
use lttv_common::report::Report;

/// The total size in bytes up to which all events are counted without being asked: about as long
/// as opening the traces takes.
const SMALL: u64 = 16 << 20;

/// The number of events between two updates of the progress.
const BATCH: u64 = 1 << 16;

/// The number of events by tracefile and by event type.
#[derive(Debug)]
pub(crate) struct Counts {
    /// For each trace, the number of its first tracefile among those of all traces.
    first: Vec<usize>,
    /// For each tracefile of all traces, the number of events of each type; empty if they are
    /// not counted.
    by_tracefile: Vec<Vec<u64>>,
    is_counted: bool,
}

impl Counts {
    /// Counts the events if that is wanted, or if the traces are small. Reports damage.
    pub(crate) fn of(traces: &[Arc<Trace>], wanted: bool, report: &mut Report) -> Self {
        let tracefiles = traces.iter().flat_map(|trace| trace.tracefiles());
        let is_counted = wanted || tracefiles.map(|of| of.size()).sum::<u64>() <= SMALL;
        let mut counts = Counts { first: Vec::new(), by_tracefile: Vec::new(), is_counted };
        for trace in traces {
            counts.first.push(counts.by_tracefile.len());
            let types = if is_counted { trace.schema().event_types.len() } else { 0 };
            counts.by_tracefile.extend(trace.tracefiles().iter().map(|_| vec![0; types]));
        }
        if !is_counted {
            return counts;
        }
        let mut merge = Merge::new(traces);
        let mut progress = Progress::new(false);
        while merge.drive(BATCH, &mut counts) == BATCH {
            progress.update(merge.progress());
            merge.take_notices();
        }
        drop(progress);
        report.errors(merge.errors(), merge.errors_omitted());
        counts
    }

    /// Returns the number of all events; `None` if they are not counted.
    pub(crate) fn total(&self) -> Option<u64> {
        self.is_counted.then(|| self.by_tracefile.iter().flatten().sum())
    }

    /// Returns the number of events of a tracefile.
    pub(crate) fn of_tracefile(&self, trace: usize, tracefile: usize) -> Option<u64> {
        let counts = self.by_tracefile.get(self.first.get(trace)? + tracefile)?;
        self.is_counted.then(|| counts.iter().sum())
    }

    /// Returns the number of events of a type.
    pub(crate) fn of_type(&self, trace: usize, id: EventTypeId) -> Option<u64> {
        self.is_counted
            .then(|| self.tracefiles(trace).filter_map(|counts| counts.get(id.index())).sum())
    }

    /// Returns the number of events of a trace.
    pub(crate) fn of_trace(&self, trace: usize) -> Option<u64> {
        self.is_counted.then(|| self.tracefiles(trace).flatten().sum())
    }

    fn tracefiles(&self, trace: usize) -> impl Iterator<Item = &Vec<u64>> {
        let start = self.first.get(trace).copied().unwrap_or(0);
        let end = self.first.get(trace + 1).copied().unwrap_or(self.by_tracefile.len());
        self.by_tracefile.get(start..end).unwrap_or_default().iter()
    }
}

impl EventSink for Counts {
    fn accepts(&mut self, TracefileNumber(tracefile): TracefileNumber, event: &Event<'_>) -> bool {
        let counts = self.by_tracefile.get_mut(tracefile);
        if let Some(count) = counts.and_then(|of| of.get_mut(event.type_id().index())) {
            *count += 1;
        }
        false
    }

    fn receive(&mut self, _: &Merge, _: TracefileNumber, _: &Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
